package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"quarry/completion"
	"quarry/completion/crossfile"
)

// ModelReport is how a model filled holes, with prompts of several makes.
type ModelReport struct {
	Model string `json:"model"`
	// Scores are one for each kind of prompt, over the same holes.
	Scores []Score `json:"scores"`
	// Holes has every answer, by hole and in the order of Scores.
	Holes []ModelHole `json:"holes"`
}

// ModelHole is one hole and what each kind of prompt got for it.
type ModelHole struct {
	Repository string        `json:"repository"`
	Path       string        `json:"path"`
	Want       string        `json:"want"`
	Answers    []ModelAnswer `json:"answers"`
}

// ModelAnswer is one answer to a hole.
type ModelAnswer struct {
	Prompt string `json:"prompt"`
	// Text is what would be shown, "" for nothing; Note says why.
	Text  string `json:"text"`
	Note  string `json:"note,omitempty"`
	Right bool   `json:"right"`
	// Tokens is the prompt's length as the model counts it.
	Tokens int `json:"tokens"`
}

// ModelPrompts are the kinds of prompt in a ModelReport: what quarry sends, the
// same without the code of other files, and no model at all.
const (
	WithOthers    = "model, other files too"
	WithoutOthers = "model, this file"
	WithoutModel  = "no model"
)

// FillByModel has gen fill n holes of each repository, as if the user had asked,
// with opt's budgets, with and without the code of other files. Of its several
// candidates only the first is asked for. each gets a hole when it is done, and may
// be nil. A model that cannot be asked is an error: what the model-free engine says
// in its place must not be taken for the model's.
func FillByModel(ctx context.Context, gen completion.Generator, opt completion.Options, repositories []Repository, n int, seed uint64,
	each func(ModelHole),
) (ModelReport, error) {
	report := ModelReport{Model: gen.Model()}
	outcomes := map[string][]outcome{}
	kinds := []string{WithOthers, WithoutOthers, WithoutModel}
	for _, r := range repositories {
		v, err := read(r, crossfile.Similar)
		if err != nil {
			return report, fmt.Errorf("%s: %w", r.Name, err)
		}
		opt.Repository = &completion.Repository{}
		for _, d := range r.Documents {
			opt.Repository.Add(d.Root, d.Path, d.Text)
		}
		opt.Debounce, opt.Candidates, opt.Alone = -1, 1, true
		alone := opt
		alone.Context = nil
		opt.Context = unhurried{v.source}
		engines := []*completion.Engine{completion.New(gen, opt), completion.New(gen, alone), completion.New(nil, alone)}
		closeAll := func() {
			for _, e := range engines {
				e.Close()
			}
		}
		// The sample of a repository does not depend on the others.
		for _, h := range Holes(r, n, rand.New(rand.NewPCG(seed, 0))) {
			done := ModelHole{Repository: r.Name, Path: h.Request.Path, Want: h.Want}
			// What the open files hold would reach the prompt that is to do without.
			h.Request.Open = nil
			for i, e := range engines {
				o, a, err := report.fill(ctx, e, h, kinds[i])
				if err != nil {
					closeAll()
					return report, fmt.Errorf("%s: %w", r.Name, err)
				}
				outcomes[kinds[i]] = append(outcomes[kinds[i]], o)
				done.Answers = append(done.Answers, a)
			}
			report.Holes = append(report.Holes, done)
			if each != nil {
				each(done)
			}
		}
		closeAll()
	}
	for _, kind := range kinds {
		report.Scores = append(report.Scores, score(kind, outcomes[kind]))
	}
	return report, nil
}

func (r ModelReport) fill(ctx context.Context, e *completion.Engine, h Hole, kind string) (outcome, ModelAnswer, error) {
	req := h.Request
	req.Manual = true
	res, err := e.Complete(ctx, req)
	e.Forget(req.Key)
	if err != nil {
		return outcome{}, ModelAnswer{}, err
	}
	if kind != WithoutModel && res.Engine != r.Model {
		return outcome{}, ModelAnswer{}, fmt.Errorf("the model did not answer: %s", res.Note)
	}
	o, line := judge(h, "", false), ""
	if len(res.Items) > 0 {
		line = lineOf(req, res.Items[0])
		o = judge(h, line, true)
	}
	o.engine, o.took = kind, res.Timings.Total
	return o, ModelAnswer{Prompt: kind, Text: line, Note: res.Note, Right: o.right, Tokens: res.Prompt.Tokens}, nil
}

// lineOf is what the cursor's line has behind the cursor once an item is accepted.
// The item may go on below, and replace brackets.
func lineOf(req completion.Request, it completion.Item) string {
	before := req.Text[it.Start:req.Offset]
	line, _, _ := strings.Cut(before+it.Text[min(len(it.Text), len(before)):], "\n")
	return strings.TrimPrefix(line, before)
}

// String is the hole in one line: what is wanted, and of each prompt a + or the line
// it got instead.
func (h ModelHole) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s: %q", h.Repository, h.Path, h.Want)
	for _, a := range h.Answers {
		if a.Right {
			b.WriteString("  +")
		} else {
			fmt.Fprintf(&b, "  %q", a.Text)
		}
	}
	return b.String()
}

// String is the report as a Markdown table.
func (r ModelReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | holes | shown | exact match | precision | edit similarity | prompt tokens | p50 ms | p95 ms |\n|---|---|---|---|---|---|---|---|---|\n", r.Model)
	for i, s := range r.Scores {
		tokens := 0
		for _, h := range r.Holes {
			tokens += h.Answers[i].Tokens
		}
		fmt.Fprintf(&b, "| %s | %d | %.1f %% | %.3f | %.3f | %.3f | %d | %s | %s |\n", s.Engine, s.Holes,
			100*float64(s.Shown)/float64(max(s.Holes, 1)), s.ExactMatch, s.Precision, s.EditSimilarity,
			tokens/max(len(r.Holes), 1), milliseconds(s.P50), milliseconds(s.P95))
	}
	return b.String()
}
