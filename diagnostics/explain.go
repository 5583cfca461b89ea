package diagnostics

import (
	"context"
	"strings"

	"quarry/agent"
)

// Explain says what causes a problem and what the smallest safe fix is. emit gets
// the first answer as it is written; what is returned is checked, and may be a
// second one. An error is that of the model or of ctx.
func (a *Assistant) Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error) {
	e := errand{name: "explain", scene: a.problemScene(p), tokens: explainTokens}
	e.query = e.problemQuery()
	stopped := false
	first, err := a.ask(ctx, e, "", func(text string) bool {
		stopped = stopped || !emit(text)
		return !stopped
	})
	if err != nil {
		return agent.Explanation{}, err
	}
	best, again := first, false
	if len(first.citations) == 0 && !stopped {
		second, err := a.ask(ctx, e, uncited, nil)
		if err != nil && err != errNothing {
			return agent.Explanation{}, err
		}
		if err == nil && len(second.citations) > 0 {
			best, again = second, true
		}
	}
	d := best.common(again)
	if n := a.unknownQuoted(ctx, best, e.scene); n != "" {
		d.unless(false, "it speaks of `%s`, which stands nowhere in the workspace", n)
	}
	return agent.Explanation{
		Text: strings.TrimSpace(best.text), Confidence: d.confidence(), Citations: best.citations, Removed: best.removed,
	}, nil
}

// uncited is what the model is told about an answer that cites nothing.
const uncited = "it cites nothing. Look up what you need, and name each place that you rely on as path:line-line"

func (a *Assistant) problemScene(p agent.Problem) scene {
	s := a.newScene(p.Place)
	s.Severity, s.Source, s.Code, s.Message = string(p.Severity), p.Source, p.Code, p.Message
	return s
}

// problemQuery is what evidence is looked up for: the tool's words, and the names
// on the line, which its words may leave out.
func (e errand) problemQuery() string {
	const most = 400
	q := e.scene.Message + " " + strings.Join(namesIn(e.scene.LineText), " ")
	return strings.ToValidUTF8(q[:min(len(q), most)], "")
}
