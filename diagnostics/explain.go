package diagnostics

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/agent"
)

// Explain says what causes a problem and what the smallest safe fix is. emit gets
// the first answer as it is written; what is returned is checked, and may be a
// second one. An error is that of the model or of ctx.
func (a *Assistant) Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error) {
	stopped := false
	e := task{
		name: "explain", about: a.problemContext(p),
		show: func(text string) bool {
			stopped = stopped || !emit(text)
			return !stopped
		},
		validate: func(s *answer) string {
			if len(s.citations) == 0 && !stopped {
				return uncited
			}
			return ""
		},
	}
	e.query = e.problemQuery()
	answers, err := a.ask(ctx, e)
	if err != nil {
		return agent.Explanation{}, err
	}
	best := answers[len(answers)-1]
	if best.objection != "" {
		best = answers[0] // the one that the user has read
	}
	d := best.common()
	n := a.unknownQuoted(ctx, best, e.about)
	if ctx.Err() != nil {
		return agent.Explanation{}, ctx.Err()
	}
	if n != "" {
		d.unless(false, "it mentions `%s`, which does not occur in the workspace", n)
	}
	return agent.Explanation{
		Text: strings.TrimSpace(best.text), Confidence: d.confidence(), Citations: best.citations, Removed: best.removed,
	}, nil
}

// uncited objects to an answer that rests on nothing.
const uncited = "it names no place that you were shown. Look up more if you need it, and name each place that you rely on as path:line-line"

func (a *Assistant) problemContext(p agent.Problem) promptContext {
	s := a.newContext(p.Location)
	s.Severity, s.Source, s.Code, s.Message = string(p.Severity), p.Source, p.Code, p.Message
	return s
}

// Query is what is looked up about a problem, and the names that it has to do with: those on its line,
// first those that its message has, and what no word of prose in it looks like.
func (a *Assistant) Query(p agent.Problem) (words string, names []string) {
	about := a.problemContext(p)
	first := func(name string) (r rune, rest string) {
		r, n := utf8.DecodeRuneInString(name)
		return r, name[n:]
	}
	said, line := namesIn(clipped(p.Message, 1000)), namesIn(clipped(about.LineText, 1000))
	for _, name := range said {
		if _, rest := first(name); slices.Contains(line, name) || strings.ContainsFunc(rest, func(r rune) bool { return r == '_' || unicode.IsUpper(r) }) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Concat(line, said) {
		if r, _ := first(name); !slices.Contains(names, name) && (slices.Contains(line, name) || unicode.IsUpper(r)) {
			names = append(names, name)
		}
	}
	return task{about: about}.problemQuery(), names
}

// problemQuery is what evidence is looked up for: the tool's words, and the names
// on the line, which its words may leave out.
func (e task) problemQuery() string {
	return clipped(e.about.Message+" "+strings.Join(namesIn(e.about.LineText), " "), 400)
}

// clipped is at most n bytes of a text, between characters.
func clipped(text string, n int) string {
	return strings.ToValidUTF8(text[:min(len(text), n)], "")
}
