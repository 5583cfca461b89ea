package diagnostics

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/agent"
	"quarry/agent/prompt"
	"quarry/diagnostics/patch"
	"quarry/index/lang"
)

// A model of few parameters copies what it was shown: of a declaration that it is to write
// anew it leaves the fault as it is, and of a diff it writes the example. What it can do is
// to say what must stand in place of one line, with a few lines around it, no tools, and an
// answer that begins with code. Where that comes to nothing it is asked once more, for JSON
// with a reason: it then thinks of something else (bench/models.md has the figures).

const (
	// linesAround is how many lines are shown on each side of the problem's.
	linesAround = 12
	// longestLine is the longest line, in bytes, that is asked for.
	longestLine = 400
	// lineTokens is how long an answer may be.
	lineTokens = 200
)

// narrow shows the lines around the problem alone. It answers false, with nothing changed,
// if its line is too long to be written again.
func (s *promptContext) narrow() bool {
	if len(s.LineText) > longestLine {
		return false
	}
	lines := strings.Split(strings.TrimRight(s.doc.Text, "\n"), "\n")
	if s.Line > len(lines) { // behind the last one
		return false
	}
	from, to := max(1, s.Line-linesAround), min(len(lines), s.Line+linesAround)
	for from < s.Line && len(lines[from-1]) > longestLine {
		from++
	}
	for to > s.Line && len(lines[to-1]) > longestLine {
		to--
	}
	s.From, s.To, s.Head, s.HeadTo = from, to, "", 0
	s.Text = plain(strings.Join(lines[from-1:to], "\n"))
	return true
}

// Alike are names of the file that are like one that it has nowhere else, which the problem
// is about: it may be one of them misspelt. Name is "" if there is none.
type Alike struct {
	Name string
	Like []string
}

// Misspelt is what the name may mean that the problem is about. Nothing is said of a member,
// whose like would be its siblings, nor where the tool says what is meant.
func (s promptContext) Misspelt() Alike {
	const mostAlike, shortest = 3, 4
	like := func(n, name string) float64 {
		if n == name || len(n) < shortest {
			return 0
		}
		return patch.Likeness(n, name)
	}
	said := namesIn(s.Message)
	for _, name := range namesIn(s.LineText) {
		if len(name) < shortest || !slices.Contains(said, name) || strings.Contains(s.LineText, "."+name) || countWord(s.doc.Text, name) != 1 {
			continue
		}
		isLike := func(n string) bool { return like(n, name) >= .7 }
		if slices.ContainsFunc(said, isLike) {
			continue
		}
		names := slices.DeleteFunc(namesIn(s.code()), func(n string) bool { return !isLike(n) })
		slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(like(y, name), like(x, name)) })
		if len(names) > 0 {
			return Alike{name, names[:min(len(names), mostAlike)]}
		}
	}
	return Alike{}
}

// code is the file without its lines of comment.
func (s promptContext) code() string {
	comment := lang.Of(s.Language).Comment
	var b strings.Builder
	for line := range strings.Lines(s.doc.Text) {
		if !comment.Starts(strings.TrimSpace(line)) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// countWord is how often a name stands in text as a whole word.
func countWord(text, name string) (n int) {
	for _, w := range aName().FindAllString(text, -1) {
		if w == name {
			n++
		}
	}
	return n
}

// reasoned is the second answer's form.
var reasoned = json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"},"reason":{"type":"string"}},"required":["code","reason"]}`)

// fixLine asks what must stand in place of the problem's line.
func (a *Assistant) fixLine(ctx context.Context, e task) (agent.Proposal, error) {
	within, cancel := context.WithTimeout(ctx, a.parts.Time)
	defer cancel()
	patcher := a.patch.For(e.about.doc, nil)
	var last error
	for again, ask := range []func(context.Context, promptContext) ([]string, string, error){a.line, a.lineWithReason} {
		written, reason, err := ask(within, e.about)
		switch {
		case ctx.Err() != nil:
			return agent.Proposal{}, ctx.Err()
		case within.Err() != nil:
			return agent.Proposal{}, a.tooSlow()
		case err != nil && again > 0: // the first answer's fault tells more than that a server knows no schema
			return a.noLine(e, last)
		case err != nil:
			return agent.Proposal{}, err
		}
		s := &answer{text: reason, again: again > 0, citations: e.quoted()}
		if s.reading, err = patcher.InPlace(ctx, e.about.Line, e.about.From, e.about.To, written); err == nil {
			return a.finish(ctx, e, e.fixTitle(), s), nil
		}
		last = err
	}
	if ctx.Err() != nil {
		return agent.Proposal{}, ctx.Err()
	}
	return a.noLine(e, last)
}

// noLine is what a user is told when neither answer is a change.
func (a *Assistant) noLine(e task, last error) (agent.Proposal, error) {
	if refusal := (*patch.Refusal)(nil); errors.As(last, &refusal) && refusal.Reason == patch.Unchanged {
		return agent.Proposal{Title: e.fixTitle(), Reason: "The model wrote the line again as it is; it knows no fix.", Confidence: agent.Low, Citations: e.quoted()}, nil
	}
	return agent.Proposal{}, refusedChange(last)
}

// line has the model write the line. Its answer begins with a fence, so that it writes code.
func (a *Assistant) line(ctx context.Context, about promptContext) (written []string, reason string, err error) {
	fence := about.Fence()
	c := a.lineConversation("line", about)
	c.Begin = fence + about.Language + "\n"
	end := "\n" + fence
	var text strings.Builder
	reply, err := a.parts.Chat.Chat(ctx, c, func(piece string) bool {
		text.WriteString(piece)
		return !strings.Contains(strings.TrimPrefix(text.String(), c.Begin), end)
	})
	if err != nil {
		return nil, "", err
	}
	code := strings.TrimPrefix(reply.Text, c.Begin)
	if inner, ok := strings.CutPrefix(strings.TrimLeft(code, "\n"), "```"); ok && strings.Contains(inner, end) { // begun anew
		_, code, _ = strings.Cut(inner, "\n")
	}
	code, _, _ = strings.Cut("\n"+code, end)
	return linesOf(code), "", nil
}

// lineWithReason has the model write the line and why, as JSON.
func (a *Assistant) lineWithReason(ctx context.Context, about promptContext) (written []string, reason string, err error) {
	c := a.lineConversation("linereason", about)
	c.Format = reasoned
	reply, err := a.parts.Chat.Chat(ctx, c, func(string) bool { return true })
	if err != nil {
		return nil, "", err
	}
	var said struct{ Code, Reason string }
	if err := json.Unmarshal([]byte(reply.Text), &said); err != nil {
		return nil, "", errNothing
	}
	return linesOf(said.Code), reasonOf(said.Reason), nil
}

func (a *Assistant) lineConversation(system string, about promptContext) agent.Conversation {
	return agent.Conversation{
		Messages: []agent.Message{
			{Role: "system", Text: prompt.Text(prompts, system+".system.tmpl", about)},
			{Role: "user", Text: prompt.Text(prompts, "line.user.tmpl", about)},
		},
		Temperature: a.parts.Temperature,
		MaxTokens:   min(lineTokens, a.parts.MaxTokens),
	}
}

// linesOf are the lines of a model's code, none of nothing.
func linesOf(code string) []string {
	code = strings.Trim(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	if strings.TrimSpace(code) == "" || !utf8.ValidString(code) {
		return nil
	}
	return strings.Split(code, "\n")
}
