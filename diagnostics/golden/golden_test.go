package golden_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/completion"
	"quarry/diagnostics/golden"
)

func suite(t *testing.T) golden.Suite {
	t.Helper()
	s, err := golden.Load(filepath.Join("..", "..", "testdata", "golden"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// engines answer everything with what they hold.
type engines struct {
	answer      agent.Answer
	explanation agent.Explanation
	proposal    func(p agent.Problem) agent.Proposal
	item        func(r completion.Request) completion.Item
	err         error
}

func (e engines) Ask(context.Context, agent.Question, func(string) bool) (agent.Answer, error) {
	return e.answer, e.err
}

func (e engines) Explain(context.Context, agent.Problem, func(string) bool) (agent.Explanation, error) {
	return e.explanation, e.err
}

func (e engines) Fix(_ context.Context, p agent.Problem) (agent.Proposal, error) {
	if e.err != nil {
		return agent.Proposal{}, e.err
	}
	return e.proposal(p), nil
}

func (e engines) Complete(_ context.Context, r completion.Request) (completion.Result, error) {
	if e.err != nil {
		return completion.Result{}, e.err
	}
	return completion.Result{Items: []completion.Item{e.item(r)}}, nil
}

func task(t *testing.T, s golden.Suite, id string) golden.Task {
	t.Helper()
	for _, task := range s.Tasks {
		if task.ID == id {
			return task
		}
	}
	t.Fatalf("there is no task %s", id)
	return golden.Task{}
}

func run(t *testing.T, id string, e engines) golden.Outcome {
	t.Helper()
	s := suite(t)
	out, err := s.Run(t.Context(), task(t, s, id), e)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every task of the suite is about what its workspace holds.
func TestSuiteFitsItsWorkspace(t *testing.T) {
	s := suite(t)
	for _, task := range s.Tasks {
		out, err := s.Run(t.Context(), task, engines{err: errors.New("not now")})
		if err != nil || out.Failed != "not now" || out.Shown || out.Right {
			t.Errorf("%s: %+v, %v", task.ID, out, err)
		}
		for _, place := range task.Locations {
			c, ok := cite.Parse(place)
			e := engines{answer: agent.Answer{Citations: []agent.Citation{c}}, explanation: agent.Explanation{Citations: []agent.Citation{c}}}
			if out, err := s.Run(t.Context(), task, e); !ok || err != nil || out.Invalid > 0 || !out.Right {
				t.Errorf("%s: the place %s does not stand (%+v, %v)", task.ID, place, out, err)
			}
		}
		if task.Kind == golden.Where && len(task.Locations) == 0 && !task.Unanswerable {
			t.Errorf("%s has no place", task.ID)
		}
	}
}

func TestAnswersAreJudged(t *testing.T) {
	cite := func(path string, first, last int) agent.Answer {
		return agent.Answer{Text: "there", Citations: []agent.Citation{{Path: path, StartLine: first, EndLine: last}}}
	}
	for name, c := range map[string]struct {
		id           string
		answer       agent.Answer
		right        bool
		hallucinated bool
	}{
		"the place":            {"where-go-reserve", cite("inventory/stock.go", 50, 55), true, false},
		"another place":        {"where-go-reserve", cite("inventory/stock.go", 1, 5), false, false},
		"lines there are not":  {"where-go-reserve", cite("inventory/stock.go", 50, 5000), true, true},
		"a file there is not":  {"where-go-reserve", cite("inventory/depot.go", 1, 2), false, true},
		"withheld":             {"where-go-reserve", agent.Answer{Text: "Not in the evidence", Unfounded: true}, false, false},
		"an answer to nothing": {"where-nothing-kafka", cite("inventory/stock.go", 1, 5), false, true},
		"none to nothing":      {"where-nothing-kafka", agent.Answer{Text: "Not in the evidence", Unfounded: true}, true, false},
	} {
		if out := run(t, c.id, engines{answer: c.answer}); out.Right != c.right || out.Hallucinated != c.hallucinated {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func TestChangesAreJudged(t *testing.T) {
	at := func(p agent.Problem, edits ...agent.TextEdit) agent.Proposal {
		return agent.Proposal{Files: []agent.FileChange{{Path: p.Document.Path, Base: agent.HashText(p.Document.Text), Edits: edits}}}
	}
	for name, c := range map[string]struct {
		change                 func(p agent.Problem) agent.Proposal
		applies, parses, right bool
	}{
		"right": {func(p agent.Problem) agent.Proposal {
			return at(p, agent.TextEdit{Start: p.Start, End: p.End, New: "TotalValue"})
		}, true, true, true},
		"wrong": {func(p agent.Problem) agent.Proposal {
			return at(p, agent.TextEdit{Start: p.Start, End: p.End, New: "Value"})
		}, true, true, false},
		"broken": {func(p agent.Problem) agent.Proposal {
			return at(p, agent.TextEdit{Start: p.Start, End: p.End, New: "TotalValue())) {"})
		}, true, false, false},
		"beyond the end": {func(p agent.Problem) agent.Proposal {
			return at(p, agent.TextEdit{Start: p.Start, End: len(p.Document.Text) + 1, New: "TotalValue"})
		}, false, false, false},
		"of an older text": {func(p agent.Problem) agent.Proposal {
			change := at(p, agent.TextEdit{Start: p.Start, End: p.End, New: "TotalValue"})
			change.Files[0].Base = agent.HashText("")
			return change
		}, false, false, false},
		"of another file": {func(p agent.Problem) agent.Proposal {
			change := at(p, agent.TextEdit{Start: p.Start, End: p.End, New: "TotalValue"})
			change.Files[0].Path += "x"
			return change
		}, false, false, false},
	} {
		out := run(t, "fix-go", engines{proposal: c.change})
		if !out.Changed || out.Applies != c.applies || out.Parses != c.parses || out.Right != c.right {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if out := run(t, "fix-go", engines{proposal: func(agent.Problem) agent.Proposal { return agent.Proposal{Reason: "I know none."} }}); out.Changed || out.Shown || out.Right {
		t.Errorf("no change: %+v", out)
	}
}

func TestCompletionsAreJudged(t *testing.T) {
	for text, want := range map[string][2]bool{ // parses, right
		"order.totalCents();": {true, true},
		"0;":                  {true, false},
		"order.totalCents(":   {false, false},
	} {
		out := run(t, "complete-java", engines{item: func(r completion.Request) completion.Item {
			return completion.Item{Text: text, Start: r.Offset, End: r.Offset}
		}})
		if !out.Applies || out.Parses != want[0] || out.Right != want[1] {
			t.Errorf("%q: %+v", text, out)
		}
	}
}

func TestSum(t *testing.T) {
	r := golden.Sum([]golden.Outcome{
		{Kind: golden.Fix, Shown: true, Right: true, Changed: true, Applies: true, Parses: true, Citations: 2},
		{Kind: golden.Fix, Failed: "no"},
		{Kind: golden.Where, Shown: true, Citations: 3, Invalid: 1, Removed: 2, Hallucinated: true},
	})
	if f := r.Kinds[golden.Fix]; f.Tasks != 2 || f.Right != 1 || f.Failed != 1 || f.Parsed != 1 || f.Citations != 2 {
		t.Errorf("fix %+v", f)
	}
	if a := r.All; a.Tasks != 3 || a.Citations != 5 || a.Invalid != 1 || a.Removed != 2 || a.Hallucinated != 1 {
		t.Errorf("all %+v", a)
	}
	if table := r.Table(); strings.Count(table, "\n") != 5 {
		t.Errorf("table:\n%s", table)
	}
}

func TestQuestionsAreSummed(t *testing.T) {
	all := []golden.Outcome{
		{Kind: golden.Where, Shown: true, Right: true, Offered: true},
		{Kind: golden.Where, Shown: true},
		{Kind: golden.Where, Offered: true},
		{Kind: golden.Where, Unanswered: true, Offered: true},
		{Kind: golden.Where, Unanswerable: true, Right: true},
		{Kind: golden.Where, Unanswerable: true, Shown: true, Hallucinated: true},
		{Kind: golden.Explain, Unanswered: true},
	}
	table := golden.Sum(golden.Answered(all)).Table()
	want := "questions: 1 of 3 answerable right, 1 withheld, 1 another place (the place was among what the model was shown in 2); 1 of 2 unanswerable refused\n"
	if !strings.HasSuffix(table, want) {
		t.Errorf("table:\n%s", table)
	}
	if q := golden.Sum(all).Questions; q.Offered != 3 || q.Answerable != 4 {
		t.Errorf("asked: %+v", q)
	}
}

// offering are engines that know what was shown.
type offering struct {
	engines
	offered []agent.Citation
}

func (o offering) Offered() []agent.Citation { return o.offered }

// What a model is not shown it cannot choose; whether it was is told of every question.
func TestWhatTheModelWasShown(t *testing.T) {
	s := suite(t)
	for at, want := range map[agent.Citation]bool{
		{Path: "inventory/stock.go", StartLine: 50, EndLine: 50}: true,
		{Path: "inventory/stock.go", StartLine: 1, EndLine: 5}:   false,
		{Path: "inventory/depot.go", StartLine: 50, EndLine: 55}: false,
	} {
		e := offering{engines{answer: agent.Answer{Unfounded: true}}, []agent.Citation{at}}
		if out, err := s.Run(t.Context(), task(t, s, "where-go-reserve"), e); err != nil || out.Offered != want || out.Right {
			t.Errorf("%v: %+v, %v", at, out, err)
		}
	}
}
