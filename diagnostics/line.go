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

// mostCompared bounds how many letters are held against letters to find what is alike: a tenth of a
// second, and what ten names take in a file of 50,000 names of ten letters.
const mostCompared = 50_000_000

// misspelt is what the name may mean that the problem is about. Nothing is said of a member,
// whose like would be its siblings, nor where the tool says what is meant, nor in a file whose
// names are too many or too long to be held against it. The error is that of ctx.
func (s promptContext) misspelt(ctx context.Context) (Alike, error) {
	const mostAlike, shortest, alike = 3, 4, .7
	said, err := namesWithin(ctx, s.Message)
	if err != nil {
		return Alike{}, err
	}
	isSaid := map[string]bool{}
	for _, n := range said {
		isSaid[n] = true
	}
	var asked []string
	times := map[string]int{} // of the names asked, in the document
	for _, name := range namesIn(s.LineText) {
		if len(name) >= shortest && isSaid[name] && !strings.Contains(s.LineText, "."+name) {
			asked, times[name] = append(asked, name), 0
		}
	}
	if len(asked) == 0 {
		return Alike{}, nil
	}
	n := 0
	for w := range names(s.doc.Text) {
		if n++; n%lookEvery == 0 && ctx.Err() != nil {
			return Alike{}, ctx.Err()
		}
		if _, ok := times[w]; ok {
			times[w]++
		}
	}
	inCode, err := namesWithin(ctx, s.code())
	if err != nil {
		return Alike{}, err
	}
	left := mostCompared
	for _, name := range asked {
		if times[name] != 1 {
			continue
		}
		like := map[string]float64{}
		isLike := func(n string) bool {
			mine, theirs := min(len(n), patch.MostCompared), min(len(name), patch.MostCompared)
			if n == name || len(n) < shortest || 2*float64(min(mine, theirs)) < alike*float64(mine+theirs) {
				return false
			}
			if left -= mine * theirs; left < 0 {
				return false
			}
			much := patch.Similarity(n, name)
			if much >= alike {
				like[n] = much
			}
			return much >= alike
		}
		if slices.ContainsFunc(said, isLike) {
			continue
		}
		var list []string
		for i, n := range inCode {
			if i%lookEvery == 0 && ctx.Err() != nil {
				return Alike{}, ctx.Err()
			}
			if isLike(n) {
				list = append(list, n)
			}
		}
		if left < 0 {
			return Alike{}, nil
		}
		slices.SortStableFunc(list, func(x, y string) int { return cmp.Compare(like[y], like[x]) })
		if len(list) > 0 {
			return Alike{name, list[:min(len(list), mostAlike)]}, nil
		}
	}
	return Alike{}, nil
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

// reasoned is the second answer's form.
var reasoned = json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"},"reason":{"type":"string"}},"required":["code","reason"]}`)

// fixLine asks what must stand in place of the problem's line.
func (a *Assistant) fixLine(ctx context.Context, e task) (agent.Proposal, error) {
	within, cancel := context.WithTimeout(ctx, a.parts.Time)
	defer cancel()
	var err error
	if e.about.Misspelt, err = e.about.misspelt(ctx); err != nil {
		return agent.Proposal{}, err
	}
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
