// Package diagnostics explains and fixes what tools report about code, and
// proposes refactorings of a selection.
//
// Every answer goes the same way: code around the place is put into a short
// prompt, evidence is looked up before the model is asked (agent/loop), and what
// it says is checked. Citations must name lines that it was shown (agent/cite);
// an answer that cites nothing, or whose diff is refused (diagnostics/patch), is
// objected to once: the model is told why, may look up more, and answers again. What a syntax tree
// decides is not asked for: renaming within a function (rename.go), and whether a
// change that is to document code leaves the code alone.
//
// A model of few parameters is not asked for a diff: it is asked what must stand in place of
// the problem's line, with no tools and an answer that begins with code (line.go).
//
// A name whose import is missing is looked up (package imports). Where the other files of the
// workspace leave no doubt, no model is asked (missingimport.go).
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
//   - a diff fits without its indentation or context being corrected, and is not a
//     whole declaration written anew
//   - a fix changes the lines around the problem
//   - the answer was not cut off, and has a reason
//
// Nothing here writes a file.
package diagnostics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/loop"
	"quarry/agent/prompt"
	"quarry/agent/toolcall"
	"quarry/diagnostics/imports"
	"quarry/diagnostics/patch"
	"quarry/retrieval/workspace"
)

// Tools are what evidence is looked up with; agent.Toolbox has them.
type Tools interface {
	loop.Tools
	Definitions(names ...string) json.RawMessage
}

// offered are the tools that the model may call. They read; there are few because
// their definitions take up its context.
var offered = []string{"retrieve_context", "read_file", "search_symbols"}

func known(name string) bool { return slices.Contains(offered, name) }

// Parts are what an assistant works with.
type Parts struct {
	Chat  agent.Chat
	Tools Tools
	Files agent.Files
	// Occurs answers whether a word stands anywhere in the workspace. Nil takes
	// every word for known.
	Occurs func(ctx context.Context, word string) bool
	// ContextTokens is the model's context length.
	ContextTokens int
	// MaxTokens bounds an answer, Temperature is 0 for the likeliest.
	MaxTokens   int
	Temperature float64
	// Imports finds missing imports without a model; nil finds none.
	Imports *imports.Finder
	// Form is what a fix is written as; FormNow, if not nil, says it when a model is to be asked, and
	// may wait for that one.
	Form    Form
	FormNow func(ctx context.Context) (Form, error)
	// Time bounds an answer, all turns together; 0 is patience.
	Time time.Duration
}

// Assistant explains, fixes and refactors. It is safe for concurrent use.
type Assistant struct {
	parts Parts
	patch *patch.Patcher
}

// New makes an assistant.
func New(p Parts) *Assistant {
	if p.Time == 0 {
		p.Time = patience
	}
	return &Assistant{parts: p, patch: patch.New(p.Files)}
}

// patience is how long an answer may take, all turns together: a laptop's model
// reads some hundred tokens a second and writes ten.
const patience = 4 * time.Minute

// budget shares the model's context between the code around the place and the
// evidence, in bytes.
func (a *Assistant) budget() (about, found int) {
	const (
		bytesPerToken = 3    // on the safe side for code
		fixed         = 1600 // the system's turn and what stands around code
		least         = 4096 // what retrieve_context answers at least
	)
	room := (a.parts.ContextTokens-a.parts.MaxTokens)*bytesPerToken - fixed - len(a.parts.Tools.Definitions(offered...))
	about = min(max(room*2/5, 1500), 8000)
	return about, min(max(room-about, least), 12_000)
}

// task is one thing that the model is asked for.
type task struct {
	name  string // of its templates
	about promptContext
	// selects says that its prompt quotes what is selected, besides the code around.
	selects bool
	query   string // what evidence is looked up for
	form    Form   // of a change
	// show gets the words as they come; nil where nobody reads along.
	show func(text string) bool
	// validate answers why an answer is not taken, "" if it is. It is asked about
	// every answer, the last one too.
	validate func(s *answer) string
	// complete says whether an answer needs no more words.
	complete func(text string) bool
}

// answer is what the model answered to a task.
type answer struct {
	text      string // what is for the user, its citations checked
	whole     string // as the model wrote it
	citations []agent.Citation
	removed   int
	cut       bool
	again     bool   // an answer before it was objected to
	evidence  string // what the tools showed
	objection string // why it is not taken, "" if it is

	reading patch.Reading // of an answer that is a change
	refusal *patch.Refusal
}

// errNothing means that no answer came of the model's turns.
var errNothing = errors.New("the model gave no answer; ask again, or choose a larger model")

// tooSlow is that the time was over before there was an answer.
func (a *Assistant) tooSlow() error {
	return fmt.Errorf("no answer within %.0f minutes; ask again when the machine is less busy, or choose a smaller model", a.parts.Time.Minutes())
}

// ask has a task answered. It returns the answers in order, one or two: the
// second follows an objection to the first.
func (a *Assistant) ask(ctx context.Context, e task) ([]*answer, error) {
	_, found := a.budget()
	seen := loop.NewEvidence(e.quoted()...)
	checker := cite.NewChecker(pinned{a.parts.Files, e.about.doc}, seen.Shown)
	var answers []*answer
	weigh := func(text string) *answer {
		text = strings.TrimSpace(toolcall.AfterThought(text))
		s := &answer{whole: text, evidence: seen.Text(), again: len(answers) > 0}
		words := text
		if e.complete != nil { // what looks like a place within code is code
			words = beforeCode(text)
		}
		c := checker.Check(ctx, words)
		s.text, s.citations, s.removed = c.Text, c.Citations, c.Removed
		s.objection = e.validate(s)
		return s
	}
	shown, turn := 0, 0
	out, err := loop.New(a.parts.Chat, a.parts.Tools).Run(ctx, loop.Task{
		Messages: e.messages(), First: e.retrieval(found), Offered: a.parts.Tools.Definitions(offered...), Known: known, Evidence: seen,
		Temperature: a.parts.Temperature, MaxTokens: a.parts.MaxTokens,
		Limits: loop.Limits{Turns: 4, Calls: 6, Bytes: 2 * found, Time: a.parts.Time},
		Read: func(now int, text string) loop.Verdict {
			if now != turn {
				shown, turn = 0, now
			}
			if end := toolcall.Begin(text); e.show != nil && len(answers) == 0 && end > shown {
				piece := text[shown:end]
				shown = end
				if !e.show(piece) {
					return loop.Enough
				}
			}
			if e.complete != nil && e.complete(text) && weigh(text).objection == "" {
				return loop.Enough
			}
			return loop.Undecided
		},
		Object: func(text string) string {
			s := weigh(text)
			if s.objection == "" || s.whole == "" {
				return ""
			}
			answers = append(answers, s)
			return prompt.Text(prompts, "object.tmpl", s.objection)
		},
	})
	if err != nil {
		return nil, err
	}
	if last := weigh(out.Text); last.whole != "" && out.Stop != loop.Broken {
		last.cut = out.Cut || out.Stop == loop.OutOfTime
		answers = append(answers, last)
	}
	switch {
	case len(answers) == 0 && out.Stop == loop.OutOfTime:
		return nil, a.tooSlow()
	case len(answers) == 0:
		return nil, errNothing
	}
	return answers, nil
}

// retrieval is the look-up that is made before the model is asked.
func (e task) retrieval(bytes int) []toolcall.Call {
	args, err := json.Marshal(map[string]any{
		"query": e.query, "current_path": e.about.Name, "language": e.about.Language, "max_chunks": 6, "max_total_bytes": bytes,
	})
	if err != nil {
		panic("diagnostics: " + err.Error()) // strings and numbers
	}
	return []toolcall.Call{{Name: "retrieve_context", Arguments: args}}
}

// pinned are the files with one of them as it was when the user asked. It is the
// one that a name means which several folders have.
type pinned struct {
	agent.Files
	doc agent.Document
}

func (p pinned) Locate(ctx context.Context, name string) (string, error) {
	own := p.Files.Name(p.doc.Path)
	if name == own {
		return p.doc.Path, nil
	}
	at, err := p.Files.Locate(ctx, name)
	if several := (*workspace.Ambiguous)(nil); errors.As(err, &several) && slices.Contains(several.Choices, own) {
		return p.doc.Path, nil
	}
	return at, err
}

func (p pinned) Text(path string) (string, error) {
	if path == p.doc.Path {
		return p.doc.Text, nil
	}
	return p.Files.Text(path)
}
