package engines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/agent/cite"
	"quarry/agent/loop"
	"quarry/diagnostics"
	"quarry/diagnostics/imports"
	"quarry/index/syntax"
	"quarry/model"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// Available implements assist.Assistant. A model that is being loaded will answer.
func (c *Core) Available() error {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime == nil {
		return e.noModel()
	}
	if err := e.runtime.Ready(); err != nil && !errors.Is(err, model.ErrNoFIM) && !errors.Is(err, model.ErrLoading) {
		return err
	}
	return nil
}

// gone is why no model can answer, where err is of asking one and nobody was shown any of an answer. The
// error of a request is known sooner than what the watcher finds out.
func (c *Core) gone(err error, said bool) error {
	if err == nil || said {
		return nil
	}
	if gone := c.Available(); gone != nil {
		return gone
	}
	if errors.Is(err, model.ErrUnreachable) || errors.Is(err, model.ErrBroken) {
		return err
	}
	return nil
}

// Explain implements assist.Assistant.
func (c *Core) Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error) {
	if gone := c.Available(); gone != nil {
		return c.explainNearest(ctx, p, gone)
	}
	seen, said := &witness{Tools: c.tools}, false
	x, err := c.Assistant(c, Assisting{tools: seen}).Explain(workspace.Question(ctx), p, func(text string) bool {
		said = true
		return emit(text)
	})
	if gone := c.gone(err, said); gone != nil && ctx.Err() == nil {
		return c.explainNearest(ctx, p, gone)
	}
	x.Backend, x.Missing = seen.backend, seen.missing
	return x, err
}

// explainNearest explains without a model: by the import that is missing, or else by what declares the
// names that the problem has to do with, and the locations that are nearest to it.
func (c *Core) explainNearest(ctx context.Context, p agent.Problem, reason error) (agent.Explanation, error) {
	if _, err := c.Learned(ctx); err != nil {
		return agent.Explanation{}, err
	}
	assistant := c.Assistant(c, Assisting{})
	if x, ok := assistant.ExplainImport(workspace.Question(ctx), p); ok {
		return x, nil
	}
	ctx = workspace.Question(ctx)
	words, names := assistant.Query(p)
	r, _, err := c.nearest(ctx, "problem", agent.Question{Text: words}, reason)
	if err != nil {
		return agent.Explanation{}, err
	}
	var b strings.Builder
	declared := c.declarations(ctx, p.Document.Path, names)
	for _, s := range declared {
		at := agent.Citation{Path: c.Name(s.Path), StartLine: int(s.Span.StartLine), EndLine: int(s.Span.EndLine)}
		r.Citations = append(r.Citations, at)
		fmt.Fprintf(&b, "- %s `%s`\n", cite.Format(at), s.Qualified())
	}
	if len(declared) > 0 {
		r.Text += "\nDeclarations of the names in the problem and its line:\n\n" + b.String()
	}
	return agent.Explanation{Text: r.Text, Citations: r.Citations, Backend: r.Backend, Missing: r.Missing}, ctx.Err()
}

// declarations are one of each name that the workspace declares, a few of them: that of the file itself, or
// else a function or a type of another.
func (c *Core) declarations(ctx context.Context, file string, names []string) (list []workspace.Symbol) {
	const most, lookedUp, shortest, looked = 4, 24, 3, 8
	for _, name := range names[:min(len(names), lookedUp)] {
		if len(list) == most || ctx.Err() != nil {
			break
		}
		if len(name) < shortest {
			continue
		}
		found, err := c.Symbols(ctx, name, nil, looked)
		if err != nil {
			continue
		}
		named := func(s workspace.Symbol) bool { return s.Name == name && s.Path == file }
		at := slices.IndexFunc(found.List, named)
		if at < 0 {
			at = slices.IndexFunc(found.List, func(s workspace.Symbol) bool {
				return s.Name == name && s.Container == "" && s.Kind != syntax.KindField && s.Kind != syntax.KindVar && s.Kind != syntax.KindConst
			})
		}
		if at >= 0 {
			list = append(list, found.List[at])
		}
	}
	return list
}

// witness notes what tools answered by, and what they could not look at. One task calls it, one
// call behind the other.
type witness struct {
	diagnostics.Tools
	backend []string
	missing *workspace.Missing
}

func (w *witness) Call(ctx context.Context, name string, args json.RawMessage) agent.Envelope {
	e := w.Tools.Call(ctx, name, args)
	for _, b := range e.Meta.Backend {
		if !slices.Contains(w.backend, b) {
			w.backend = append(w.backend, b)
		}
	}
	w.missing = cmp.Or(w.missing, e.Meta.Incomplete)
	return e
}

// Fix implements assist.Assistant.
func (c *Core) Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
	// What other files import may need no model; what is not known yet is waited for, within a bound.
	if _, err := c.Learned(ctx); err != nil {
		return agent.Proposal{}, err
	}
	return c.Assistant(c, Assisting{formNow: c.form}).Fix(workspace.Question(ctx), p)
}

// form is what the model is asked to write for a fix.
func (c *Core) form(ctx context.Context) (form diagnostics.Form, err error) {
	small, err := c.isSmall(ctx)
	if small { // it copies what it is shown (bench/models.md)
		form = diagnostics.Line
	}
	return form, err
}

// Imports implements assist.Assistant.
func (c *Core) Imports(ctx context.Context, p agent.Problem) []agent.Import {
	return c.Assistant(c, Assisting{}).Imports(ctx, p)
}

// isSmall answers whether the model is one of few parameters, which decides how it is asked.
// Nobody knows before its server was looked at; what is wrong with that is said by who asks it.
func (c *Core) isSmall(ctx context.Context) (bool, error) {
	c.mu.Lock()
	runtime := c.engines.runtime
	c.mu.Unlock()
	if runtime == nil {
		return false, nil
	}
	if err := runtime.WaitReady(ctx); err != nil && ctx.Err() != nil {
		return false, ctx.Err()
	}
	return runtime.Small(), nil
}

// Refactor implements assist.Assistant.
func (c *Core) Refactor(ctx context.Context, sel agent.Selection) (agent.Proposal, error) {
	return c.Assistant(c, Assisting{}).Refactor(workspace.Question(ctx), sel)
}

// Assisting is how the assistant for problems and selections is asked; the zero value is
// how users are answered.
type Assisting struct {
	// Form is what a model writes for a change.
	Form diagnostics.Form
	// Time is how long an answer may take, 0 for the assistant's own limit.
	Time time.Duration
	// formNow, if not nil, says it when the model is to be asked.
	formNow func(ctx context.Context) (diagnostics.Form, error)
	// tools are what is looked up with, nil for the Core's.
	tools diagnostics.Tools
}

// Assistant is the assistant for problems and selections, with the settings of now. chat
// answers; it is the Core but for evaluations.
func (c *Core) Assistant(chat agent.Chat, how Assisting) *diagnostics.Assistant {
	if how.tools == nil {
		how.tools = c.tools
	}
	c.mu.Lock()
	contextTokens := c.engines.settings.Ollama.ContextSize
	c.mu.Unlock()
	return diagnostics.New(diagnostics.Parts{
		Chat: chat, Tools: how.tools, Files: c.Workspace, Occurs: c.occurs, Imports: imports.New(c.Workspace), Form: how.Form, FormNow: how.formNow, Time: how.Time,
		ContextTokens: contextTokens, MaxTokens: model.ChatPreset.MaxTokens, Temperature: model.ChatPreset.Temperature,
	})
}

// occurs answers whether a word stands anywhere in the workspace. Where that
// cannot be found out it is taken to.
func (c *Core) occurs(ctx context.Context, word string) bool {
	answer, err := c.Search(ctx, retrieval.Request{Query: retrieval.Parse(`"`+word+`"`, time.Now()), Limit: 1, Signals: retrieval.SignalsLexical})
	return err != nil || len(answer.Results) > 0
}

// Ask implements assist.Assistant.
func (c *Core) Ask(ctx context.Context, q agent.Question, emit func(text string) bool) (agent.Answer, error) {
	r, err := c.AskOrSearch(ctx, q, 0, ask.Watch{Text: emit})
	return r.Answer, err
}

// AskOrSearch is AskWithin where a model can answer; elsewhere the answer is the locations
// that are nearest to the question. Nothing is said not to be there while the first index
// is being made; where workspace.WithProgress shows how far that is, what was not found is
// looked for again when it is whole.
func (c *Core) AskOrSearch(ctx context.Context, q agent.Question, limit time.Duration, w ask.Watch) (ask.Report, error) {
	r, again, err := c.askOrSearch(workspace.Question(ctx), q, limit, w)
	if err != nil || !again {
		return r, err
	}
	whole, err := c.Workspace.Whole(ctx)
	if err == nil && whole {
		r, _, err = c.askOrSearch(workspace.Question(ctx), q, limit, w)
	}
	return r, err
}

// askOrSearch is AskOrSearch with what is known by now; again says that it found nothing in a part
// of the index.
func (c *Core) askOrSearch(ctx context.Context, q agent.Question, limit time.Duration, w ask.Watch) (r ask.Report, again bool, err error) {
	if err := c.Available(); err != nil {
		return c.nearest(ctx, "question", q, err)
	}
	// The first search waits for the index, within a bound; what is missing then is said.
	first, before, err := c.locations(ctx, q, 1)
	if err != nil {
		return ask.Report{}, false, err
	}
	if before != nil {
		w.Text = nil
	}
	workspace.Waited(ctx)
	said := false
	if show := w.Text; show != nil {
		w.Text = func(text string) bool {
			said = true
			return show(text)
		}
	}
	r, err = c.AskWithin(ctx, q, limit, w)
	if gone := c.gone(err, said); gone != nil && ctx.Err() == nil {
		return c.nearest(ctx, "question", q, gone)
	}
	r.Backend, r.Missing = first.Backend, before
	if err == nil && r.Unfounded && before != nil {
		r.Unfounded = false // nobody knows
		r.Text = "Nothing was found yet: " + before.String() + ". Ask again when the status says that it is done.\n"
		r.Removed = 0
		again = true
	}
	return r, again, err
}

// nearestLocations are as many as can be looked at at once.
const nearestLocations = 5

// nearest answers without a model what someone wants to know of a question or a problem; again is as
// of askOrSearch.
func (c *Core) nearest(ctx context.Context, what string, q agent.Question, reason error) (r ask.Report, again bool, err error) {
	found, missing, err := c.locations(ctx, q, nearestLocations)
	if err != nil {
		return ask.Report{}, false, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "No model can answer now: %v.\n\n", reason)
	nothing := len(found.Results) == 0
	a := agent.Answer{Unfounded: nothing && missing == nil, Backend: found.Backend, Missing: missing}
	switch {
	case nothing && missing != nil:
		fmt.Fprintf(&b, "Search found nothing yet: %s.\n", missing)
	case missing != nil:
		fmt.Fprintf(&b, "These may not be the nearest: %s.\n", missing)
	case nothing:
		b.WriteString("Search found nothing for the words of the " + what + ".\n")
	}
	if !nothing {
		b.WriteString("Nearest code found by search:\n\n")
	}
	for _, r := range found.Results {
		at := agent.Citation{Path: c.Name(filepath.Join(r.Root, filepath.FromSlash(r.Path))), StartLine: r.StartLine, EndLine: r.EndLine}
		a.Citations = append(a.Citations, at)
		b.WriteString("- " + cite.Format(at))
		if r.Symbol != "" {
			fmt.Fprintf(&b, " `%s`", r.Symbol)
		}
		b.WriteByte('\n')
	}
	a.Text = b.String()
	return ask.Report{Answer: a}, nothing && missing != nil, nil
}

// locations searches for the words of a question. What search could not look at yet is in
// missing, and no error.
func (c *Core) locations(ctx context.Context, q agent.Question, most int) (found workspace.Answer, missing *workspace.Missing, err error) {
	found, err = c.Search(ctx, retrieval.Request{Query: retrieval.Parse(q.Text, time.Now()), Limit: most, Signals: retrieval.SignalsAll})
	var notReady *workspace.NotReady
	if errors.As(err, &notReady) {
		return found, &notReady.Missing, nil
	}
	return found, found.Missing, err
}

// AskWithin answers a question with the model and settings of now, within limit, the
// assistant's own if 0.
func (c *Core) AskWithin(ctx context.Context, q agent.Question, limit time.Duration, w ask.Watch) (ask.Report, error) {
	small, err := c.isSmall(ctx)
	if err != nil {
		return ask.Report{}, err
	}
	return c.AskOf(ctx, c, small, q, limit, w)
}

// AskOf is AskWithin with another chat in the Core's place, for evaluations; small says
// that its model is asked as one of few parameters.
func (c *Core) AskOf(ctx context.Context, chat agent.Chat, small bool, q agent.Question, limit time.Duration, w ask.Watch) (ask.Report, error) {
	c.mu.Lock()
	contextTokens := c.engines.settings.Ollama.ContextSize
	c.mu.Unlock()
	show := w.Step
	w.Step = func(s loop.Step) {
		c.log.Debug("ask", "turn", s.Turn, "tool", s.Tool, "outcome", s.Outcome, "bytes", s.Bytes, "tokens", s.Tokens, "took", s.Took)
		if show != nil {
			show(s)
		}
	}
	return ask.New(chat, c.tools, c.Workspace, ask.Options{
		ContextTokens: contextTokens, MaxTokens: model.ChatPreset.MaxTokens, Temperature: model.ChatPreset.Temperature, Time: limit, Choose: small,
	}).Ask(ctx, q, w)
}
