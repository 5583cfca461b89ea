// Package diagnostics explains and fixes what tools report about code, and
// proposes refactorings of a selection.
//
// Every answer goes the same way: code around the place is put into a short
// prompt, evidence is looked up before the model is asked (agent/loop), and what
// it says is checked. Citations must name lines that it was shown (agent/cite);
// an answer that cites nothing, or whose diff is refused (diagnostics/patch), is
// asked for once more, with the reason and more evidence. What a syntax tree
// decides is not asked for: renaming within a function (rename.go), and whether a
// change that is to document code leaves the code alone.
//
// # Confidence
//
// A confidence is not the model's opinion of itself. It is high when every check
// of the list holds, medium when one does not, low when several do not, and the
// reason of a proposal names those that do not (confidence.go):
//
//   - it cites what it was shown, and no citation had to be taken out
//   - the names it calls or quotes occur in the code shown or in the workspace
//   - the first answer was taken
//   - a diff fits without its indentation or context being corrected
//   - a fix changes the lines around the problem
//   - the answer was not cut off
//
// Nothing here writes a file.
package diagnostics

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/loop"
	"quarry/agent/toolcall"
	"quarry/diagnostics/patch"
)

// Loop carries out tasks with a model and tools; loop.Loop does.
type Loop interface {
	Run(ctx context.Context, t loop.Task) (loop.Outcome, error)
}

// Parts are what an assistant works with.
type Parts struct {
	Loop  Loop
	Files agent.Files
	// Offered are the definitions of the tools that the model may call, as
	// agent.Conversation has them; they only read. Known says which names are
	// tools.
	Offered json.RawMessage
	Known   func(name string) bool
	// Occurs answers whether a word stands anywhere in the workspace. Nil takes
	// every word for known.
	Occurs func(ctx context.Context, word string) bool
}

// Assistant explains, fixes and refactors. It is safe for concurrent use.
type Assistant struct {
	parts Parts
	patch *patch.Patcher
}

// New makes an assistant.
func New(p Parts) *Assistant { return &Assistant{parts: p, patch: patch.New(p.Files)} }

// What an answer may cost. A laptop's model reads some hundred tokens a second,
// four bytes each, and writes ten: the bytes shown are read in half a minute.
var limits = loop.Limits{Turns: 4, Calls: 6, Bytes: 16_000, Time: 4 * time.Minute}

const (
	// evidenceBytes is how much the retrieval before the first answer may show;
	// with little around the place that is most of a prompt of 3,000 tokens.
	evidenceBytes  = 6_000
	evidenceChunks = 5
	// explainTokens and changeTokens limit an answer.
	explainTokens = 512
	changeTokens  = 1024
)

// errand is one thing that the model is asked for.
type errand struct {
	name   string // of its templates
	scene  scene
	query  string // what evidence is looked up for
	tokens int
	// wantsCode says that the answer holds code, which ends with a fence.
	wantsCode bool
}

// said is what the model answered to an errand.
type said struct {
	text      string // what is for the person, its citations checked
	whole     string // as the model wrote it
	citations []agent.Citation
	removed   int
	cut       bool
	evidence  string // what it was shown besides the scene
}

// errNothing means that no answer came of the model's turns.
var errNothing = errors.New("the model gave no answer; ask again, or choose a larger model in the settings")

// ask has an errand answered. refused is why an earlier answer was not taken, ""
// at the first attempt: it is told to the model, and more evidence is looked up.
func (a *Assistant) ask(ctx context.Context, e errand, refused string, show func(text string) bool) (said, error) {
	e.scene.Refused = refused
	t := loop.Task{
		Messages: e.messages(), First: e.retrieval(refused != ""), Offered: a.parts.Offered, Known: a.parts.Known,
		MaxTokens: e.tokens, Limits: limits, Read: reader(show, e.wantsCode),
	}
	if refused != "" {
		t.Temperature = 0.2 // the likeliest answer was the one refused
	}
	out, err := a.parts.Loop.Run(ctx, t)
	if err != nil {
		return said{}, err
	}
	text := strings.TrimSpace(toolcall.AfterThought(out.Text))
	if out.Stop == loop.Broken || text == "" {
		return said{}, errNothing
	}
	names := []string{e.scene.Name}
	var evidence strings.Builder
	for _, r := range out.Results {
		names = append(names, pathsIn(r.Envelope.Data)...)
		evidence.Write(r.Envelope.Data)
	}
	words := text
	if e.wantsCode { // what looks like a place within code is code
		words = beforeCode(text)
	}
	checked := cite.NewChecker(pinned{a.parts.Files, e.scene.doc}, func() []string { return names }).Check(ctx, words)
	return said{
		text: checked.Text, whole: text, citations: checked.Citations, removed: checked.Removed,
		cut: out.Cut || out.Stop == loop.OutOfTime, evidence: evidence.String(),
	}, nil
}

// reader shows an answer as it is written, but no tool call, and ends one that is
// complete: code behind a closed fence.
func reader(show func(text string) bool, wantsCode bool) func(turn int, text string) loop.Verdict {
	shown, of := 0, 0
	return func(turn int, text string) loop.Verdict {
		if turn != of {
			shown, of = 0, turn
		}
		if show != nil {
			if end := toolcall.Begin(text); end > shown {
				piece := text[shown:end]
				shown = end
				if !show(piece) {
					return loop.Enough
				}
			}
		}
		if wantsCode && fenceClosed(text) {
			return loop.Enough
		}
		return loop.Undecided
	}
}

// fenceClosed says whether a text has a fence that labels itself a diff, and its
// end.
func fenceClosed(text string) bool {
	_, inside, ok := strings.Cut(text, "```diff\n")
	return ok && (strings.Contains(inside, "\n```\n") || strings.HasSuffix(inside, "\n```"))
}

// retrieval is the look-up that is made before the model is asked. A second
// attempt looks wider.
func (e errand) retrieval(again bool) []toolcall.Call {
	chunks, bytes := evidenceChunks, evidenceBytes
	if again {
		chunks, bytes = 2*chunks, 2*bytes
	}
	args, err := json.Marshal(map[string]any{
		"query": e.query, "current_path": e.scene.Name, "language": e.scene.Language,
		"max_chunks": chunks, "max_total_bytes": bytes,
	})
	if err != nil {
		panic("diagnostics: " + err.Error()) // strings and numbers
	}
	return []toolcall.Call{{Name: "retrieve_context", Arguments: args}}
}

// pathsIn are the files that a tool's answer names.
func pathsIn(data json.RawMessage) (names []string) {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return nil
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				visit(x)
			}
		case map[string]any:
			if p, ok := v["path"].(string); ok {
				names = append(names, p)
			}
			for _, x := range v {
				visit(x)
			}
		}
	}
	visit(value)
	return names
}

// pinned are the files with one of them as it was when the person asked.
type pinned struct {
	agent.Files
	doc agent.Document
}

func (p pinned) Locate(ctx context.Context, name string) (string, error) {
	if name == p.Files.Name(p.doc.Path) {
		return p.doc.Path, nil
	}
	return p.Files.Locate(ctx, name)
}

func (p pinned) Text(path string) (string, error) {
	if path == p.doc.Path {
		return p.doc.Text, nil
	}
	return p.Files.Text(path)
}
