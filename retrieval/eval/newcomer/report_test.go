package newcomer

import (
	"math"
	"strings"
	"testing"

	"quarry/retrieval"
	"quarry/retrieval/eval"
)

func TestJudge(t *testing.T) {
	results := []retrieval.Result{
		{Path: "a.go", StartLine: 1, EndLine: 9},
		{Path: "b.go", StartLine: 1, EndLine: 9, More: []retrieval.Location{{StartLine: 40, EndLine: 60}}},
		{Path: "c.go", StartLine: 20, EndLine: 30},
	}
	for _, c := range []struct {
		name              string
		answers           []eval.Span
		file, place, also int
	}{
		{"first", []eval.Span{{Path: "a.go", StartLine: 9, EndLine: 12}}, 1, 1, 1},
		{"other lines of the first", []eval.Span{{Path: "a.go", StartLine: 10, EndLine: 12}}, 1, 0, 0},
		{"listed under the second", []eval.Span{{Path: "b.go", StartLine: 50, EndLine: 51}}, 2, 0, 2},
		{"an alternative", []eval.Span{{Path: "b.go", StartLine: 90, EndLine: 91}, {Path: "c.go", StartLine: 20, EndLine: 20}}, 2, 3, 3},
		{"a path's end is no path", []eval.Span{{Path: "x/a.go", StartLine: 1, EndLine: 2}}, 0, 0, 0},
	} {
		o := judge(Question{Answers: c.answers}, results)
		if o.File != c.file || o.Place != c.place || o.Also != c.also || o.Lines != 9 {
			t.Errorf("%s: file %d place %d also %d lines %d, want %d %d %d 9", c.name, o.File, o.Place, o.Also, o.Lines, c.file, c.place, c.also)
		}
	}
}

func outcomes() []Outcome {
	return []Outcome{
		{Repository: "a", Language: "go", Kind: Behaviour, ID: "a-1", File: 1, Place: 1, Also: 1, Lines: 10},
		{Repository: "a", Language: "go", Kind: Symbol, ID: "a-2", File: 1, Place: 0, Also: 1, Lines: 30},
		{Repository: "a", Language: "go", Kind: Architecture, ID: "a-3", File: 3, Place: 6, Also: 4, Lines: 20},
		{Repository: "a", Language: "go", Kind: Message, ID: "a-4", File: 2, Place: 2, Also: 2},
		{Repository: "b", Language: "c", Kind: Behaviour, ID: "b-1", Question: "why?", Answers: []eval.Span{{Path: "x.c", StartLine: 1, EndLine: 2}}},
	}
}

func TestSummarize(t *testing.T) {
	r := summarize(Counts{2, 4, 1}, Fit, outcomes())
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	a := r.Repositories["a"].Questions
	near("NDCG of a", a.NDCG, (1+1+.5)/3)
	near("file@1 of a", a.File1, 2./3)
	near("file@5 of a", a.File5, 1)
	near("place@1 of a", a.Place1, 1./3)
	near("place@5 of a", a.Place5, 1./3)
	near("also@1 of a", a.Also1, 2./3)
	near("also@5 of a", a.Also5, 1)
	near("within of a", a.Within, .5)
	near("lines of a", a.Lines, 20)
	near("overall", r.Overall.Questions.NDCG, (1+1+.5)/6)
	near("messages, which b has none of", r.Overall.Messages.NDCG, 1/math.Log2(3))
	near("behaviour", r.Kinds[Behaviour].File1, .5)
	near("go", r.Languages["go"].Questions.File5, 1)
	if r.Asked != (Counts{2, 4, 1}) || r.Overall.Questions.Asked != 4 || len(r.Outcomes) != 5 {
		t.Errorf("asked %+v, %d outcomes", r.Asked, len(r.Outcomes))
	}
	if held := summarize(Counts{}, Held, outcomes()); held.Outcomes != nil {
		t.Errorf("the held half shows %d outcomes", len(held.Outcomes))
	}
}

func TestCompare(t *testing.T) {
	before, after := summarize(Counts{}, Fit, outcomes()), outcomes()
	after[4].File = 1
	r := summarize(Counts{}, Fit, after)
	if err := r.Compare(before); err != nil {
		t.Fatal(err)
	}
	if got := r.Change["file first"]; got.Difference != .5 || got.Low != 0 || got.High != 1 {
		t.Errorf("one of two repositories gained 1: %+v", got)
	}
	if got := r.Change["message's file first"]; got != (eval.Interval{}) {
		t.Errorf("no message changed: %+v", got)
	}
	if err := r.Compare(summarize(Counts{}, Held, outcomes())); err == nil {
		t.Error("the halves were compared with each other")
	}
}

func TestWrite(t *testing.T) {
	r := summarize(Counts{2, 4, 1}, Fit, outcomes())
	if err := r.Compare(r); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteMisses(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"fit half: 2 repositories, 4 questions, 1 messages. The whole set: 2, 4, 1 (wanted: 20, 300, 100).",
		"a                          3    0.833",
		"file NDCG@10           +0.000 (+0.000 to +0.000)",
		"b-1 (behaviour): file -, place -, also -\n  why?\n  = x.c:1-2",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "a-1") {
		t.Errorf("a hit is listed as a miss:\n%s", b.String())
	}
	if got := (Counts{20, 300, 100}).missing(); got != "" {
		t.Errorf("a full set: %q", got)
	}
}
