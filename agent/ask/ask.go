// Package ask answers questions about a workspace with citations that can be looked
// up.
//
// Something is always looked up before the model is asked, and what it writes is
// checked as it comes (page.go): each citation must be in the workspace, have
// these lines and overlap lines it was shown. Nothing is shown to the user before
// the first citation that stands, and what was shown is never taken back. An answer
// without any such citation is none: the user is told that the evidence has no
// answer, and where the nearest locations are.
package ask

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/loop"
	"quarry/agent/prompt"
	"quarry/agent/toolcall"
)

// Tools are what a question may be looked up with; agent.Toolbox has them.
type Tools interface {
	loop.Tools
	Definitions(names ...string) json.RawMessage
}

// offered are the tools for questions. There are few because their definitions
// take up the model's context.
var offered = []string{"retrieve_context", "read_file", "search_text", "search_symbols"}

// Options are how much may be spent on an answer.
type Options struct {
	// ContextTokens is the model's context length.
	ContextTokens int
	// MaxTokens bounds the answer, 512 if 0.
	MaxTokens int
	// Temperature is 0 for the likeliest answer.
	Temperature float64
	// Time bounds the whole, two minutes if 0.
	Time time.Duration
	// Choose has the model choose between pieces of evidence instead of looking
	// things up and citing them itself, which small models cannot do.
	Choose bool
}

// Assistant answers questions. It is safe for concurrent use.
type Assistant struct {
	chat  agent.Chat
	tools Tools
	files cite.Files
	opts  Options
	// formless is how often in a row the model's server refused a form for an answer and
	// gave one without.
	formless atomic.Int32
}

// New makes an assistant.
func New(chat agent.Chat, tools Tools, files cite.Files, opts Options) *Assistant {
	if opts.MaxTokens <= 0 {
		opts.MaxTokens = 512
	}
	if opts.Time <= 0 {
		opts.Time = 2 * time.Minute
	}
	return &Assistant{chat: chat, tools: tools, files: files, opts: opts}
}

// Watch follows an answer while it comes about. Its functions may be nil.
type Watch struct {
	// Text gets what may be shown, piece by piece; the pieces together are the
	// beginning of the answer's text. It ends the answer by returning false.
	Text func(text string) bool
	// Step gets every step when it is done.
	Step func(loop.Step)
}

// Report is an answer and how it came about.
type Report struct {
	agent.Answer
	// Dropped is how many points were left out because no citation was left that
	// proves them.
	Dropped int
	// Stop is why the model was asked no more.
	Stop  loop.Stop
	Steps []loop.Step
	// Offered are the lines that a small model was shown to choose between.
	Offered []agent.Citation
	// FirstShown is when the first text could be shown, counted from the question.
	FirstShown time.Duration
}

//go:embed prompts
var promptFiles embed.FS

var prompts = prompt.Templates(promptFiles, "prompts")

// Ask answers a question. It fails if ctx ends or the model cannot be asked.
func (a *Assistant) Ask(ctx context.Context, q agent.Question, w Watch) (Report, error) {
	if a.opts.Choose {
		return a.choose(ctx, q, w)
	}
	begin := time.Now()
	opening, quoted := a.opening(q)
	seen := loop.NewEvidence(quoted...)
	definitions := a.tools.Definitions(offered...)
	budget := a.budget(opening, definitions)
	checker := cite.NewChecker(a.files, seen.Shown)
	// A unit of text is checked once, so that what was shown of an answer stays
	// true to the end even if files change meanwhile.
	checked := map[string]cite.Checked{}
	check := func(text string) cite.Checked {
		c, ok := checked[text]
		if !ok {
			c = checker.Check(ctx, text)
			checked[text] = c
		}
		return c
	}

	var report Report
	shown, turn, cut := "", 0, false
	show := func(p page) (more bool) {
		rest, ok := strings.CutPrefix(p.text, shown)
		if rest == "" || !ok {
			return true
		}
		if shown == "" {
			report.FirstShown = time.Since(begin)
		}
		shown = p.text
		return w.Text == nil || w.Text(rest)
	}
	out, err := loop.New(a.chat, a.tools).Run(ctx, loop.Task{
		Messages:    opening,
		First:       a.lookUp(q, budget),
		Offered:     definitions,
		Known:       known,
		Evidence:    seen,
		Temperature: a.opts.Temperature,
		MaxTokens:   a.opts.MaxTokens,
		Limits:      loop.Limits{Turns: 5, Calls: 8, Bytes: budget, Time: a.opts.Time},
		Show:        w.Step,
		Read: func(now int, text string) loop.Verdict {
			if now != turn {
				turn, checked = now, map[string]cite.Checked{}
			}
			p := compose(check, text, false)
			if !p.founded() {
				return loop.Undecided
			}
			if cut = !show(p) || p.enough; cut {
				return loop.Enough
			}
			return loop.Final
		},
		Object: func(text string) string {
			if p := compose(check, text, true); p.founded() || p.refused {
				return ""
			}
			return prompt.Text(prompts, "object.tmpl", nil)
		},
	})
	report.Stop, report.Steps = out.Stop, out.Steps
	if err != nil {
		return report, err
	}
	whole := out.Stop == loop.Answered && !out.Cut && !cut
	p := compose(check, out.Text, whole)
	p.finish(out, seen.Pieces(), check)
	show(p)
	report.Answer = agent.Answer{Text: p.text, Citations: p.citations, Removed: p.removed, Unfounded: p.unfounded}
	report.Dropped = p.dropped
	return report, nil
}

func known(name string) bool { return slices.Contains(offered, name) }

// questionData fills question.tmpl.
type questionData struct {
	Question       string
	Path, Language string
	Start, End     int    // lines of what is selected, 0 for the whole file
	Code           string // the selection, each line with its number
}

// mostSelected is how much of a selection is put into the question.
const mostSelected = 4000

// opening is the conversation's beginning, and which lines it quotes.
func (a *Assistant) opening(q agent.Question) (messages []agent.Message, quoted []agent.Citation) {
	data := questionData{Question: q.Text}
	if at := q.About; at != nil {
		data.Path, data.Language = a.files.Name(at.Document.Path), at.Document.Language
		if at.Start < at.End {
			text := at.Document.Text
			start, end := at.Start, at.End
			start = strings.LastIndexByte(text[:start], '\n') + 1
			if rest, _, _ := strings.Cut(text[end:], "\n"); text[end-1] != '\n' {
				end += len(rest)
			}
			end = start + len(strings.TrimRight(text[start:end], "\n"))
			data.Start = 1 + strings.Count(text[:start], "\n")
			selected := text[start:max(start, end)]
			if len(selected) > mostSelected {
				selected = selected[:mostSelected]
				selected = strings.ToValidUTF8(selected[:max(strings.LastIndexByte(selected, '\n'), mostSelected/2)], "")
			}
			data.End = data.Start + strings.Count(selected, "\n")
			data.Code = prompt.Number(selected, data.Start)
			quoted = []agent.Citation{{Path: data.Path, StartLine: data.Start, EndLine: data.End}}
		}
	}
	return []agent.Message{
		{Role: "system", Text: prompt.Text(prompts, "system.tmpl", nil)},
		{Role: "user", Text: prompt.Text(prompts, "question.tmpl", data)},
	}, quoted
}

// bytesPerToken is on the safe side for code in any of the vocabularies.
const bytesPerToken = 3

// budget is how many bytes of results the context has room for.
func (a *Assistant) budget(opening []agent.Message, definitions json.RawMessage) int {
	// The calls themselves and the roles' marks take up room too.
	const slack = 300
	bytes := (a.opts.ContextTokens - a.opts.MaxTokens - slack) * bytesPerToken
	for _, m := range opening {
		bytes -= len(m.Text)
	}
	return max(bytes-len(definitions), leastEvidence)
}

// leastEvidence is what retrieve_context answers at least.
const leastEvidence = 4096

// lookUp is what is looked up before the model is asked.
func (a *Assistant) lookUp(q agent.Question, budget int) []toolcall.Call {
	query, current, language := q.Text, "", ""
	if at := q.About; at != nil {
		current, language = a.files.Name(at.Document.Path), at.Document.Language
		if at.Start < at.End {
			line, _, _ := strings.Cut(strings.TrimSpace(at.Document.Text[at.Start:at.End]), "\n")
			query += "\n" + line
		}
	}
	const mostChunks = 8
	calls := []toolcall.Call{call("retrieve_context", map[string]any{
		"query": query, "current_path": current, "language": language, "max_chunks": mostChunks,
		// A third is left for what the model looks up itself.
		"max_total_bytes": min(max(budget*2/3, leastEvidence), 60_000),
	})}
	if q.About != nil && q.About.Start == q.About.End {
		lines := strings.Count(q.About.Document.Text, "\n") + 1
		calls = append([]toolcall.Call{call("read_file", map[string]any{
			"path": current, "start_line": 1, "end_line": lines, "max_bytes": max(budget/3, 1024),
		})}, calls...)
	}
	return calls
}

func call(name string, args map[string]any) toolcall.Call {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("the arguments of %s: %v", name, err)) // strings and numbers
	}
	return toolcall.Call{Name: name, Arguments: raw}
}
