package eval

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func spans(paths ...string) []Span {
	out := make([]Span, len(paths))
	for i, p := range paths {
		out[i] = Span{Path: p, StartLine: 1, EndLine: 5}
	}
	return out
}

func file(p string) Span { return Span{Path: p} }

// The expected values are worked out by hand from 1/log2(rank+1):
// rank 1: 1, rank 2: .63093, rank 3: .5, rank 4: .43068, rank 10: .28906.
func TestRank(t *testing.T) {
	many := make([]Span, 12)
	for i := range many {
		many[i] = Span{Path: string(rune('a' + i)), StartLine: 1, EndLine: 1}
	}
	for _, c := range []struct {
		name    string
		targets []Span
		results []Span
		ndcg    float64
		best    int
	}{
		{"first", []Span{file("a.go")}, spans("a.go", "b.go"), 1, 1},
		{"second", []Span{file("b.go")}, spans("a.go", "b.go"), .63093, 2},
		{"none", []Span{file("c.go")}, spans("a.go", "b.go"), 0, 0},
		{"no results", []Span{file("c.go")}, nil, 0, 0},
		{"no targets", nil, spans("a.go"), 0, 0},
		{"two of two", []Span{file("b.go"), file("a.go")}, spans("a.go", "b.go"), 1, 1},
		{"two at 1 and 3", []Span{file("a.go"), file("c.go")}, spans("a.go", "b.go", "c.go"), 1.5 / 1.63093, 1},
		{"one of two", []Span{file("a.go"), file("z.go")}, spans("a.go", "b.go"), 1 / 1.63093, 1},
		{"first match of a target counts", []Span{file("a.go")}, spans("b.go", "a.go", "a.go"), .63093, 2},
		{"suffix of the target", []Span{file("src/x/a.go")}, spans("x/a.go"), 1, 1},
		{"suffix of the result", []Span{file("x/a.go")}, spans("src/x/a.go"), 1, 1},
		{"suffix not at a slash", []Span{file("xa.go")}, spans("src/a.go", "a.go"), 0, 0},
		{"span hit at its edge", []Span{{"a.go", 5, 9}}, spans("a.go"), 1, 1},
		{"span missed", []Span{{"a.go", 6, 9}}, spans("a.go"), 0, 0},
		{"two spans on one rank count once", []Span{{"a.go", 1, 2}, {"a.go", 4, 5}}, spans("a.go"), 1 / 1.63093, 1},
		{"rank 10 counts", []Span{file("j")}, many, .28906, 10},
		{"rank 11 does not", []Span{file("k")}, many, 0, 0},
		{"ideal is capped at ten", []Span{file("a"), file("b"), file("c"), file("d"), file("e"), file("f"), file("g"),
			file("h"), file("i"), file("j"), file("k"), file("l")}, many, 1, 1},
	} {
		got := Rank(c.targets, c.results)
		if math.Abs(got.NDCG-c.ndcg) > 1e-4 || got.Best != c.best {
			t.Errorf("%s: NDCG %.5f best %d, want %.5f best %d", c.name, got.NDCG, got.Best, c.ndcg, c.best)
		}
	}
}

func TestRankCountsSpans(t *testing.T) {
	got := Rank([]Span{{"a.go", 1, 2}, {"a.go", 90, 95}, file("a.go")}, spans("a.go"))
	if got.Spans != 2 || got.SpansFound != 1 {
		t.Errorf("spans %d found %d, want 2 and 1", got.Spans, got.SpansFound)
	}
}

func TestSummarize(t *testing.T) {
	r := Summarize([]Outcome{
		{Repository: "a", Language: "go", Category: "x", NDCG: 1, Best: 1, Took: time.Millisecond},
		{Repository: "a", Language: "go", Category: "y", NDCG: 0, Best: 0, Took: 2 * time.Millisecond},
		{Repository: "a", Language: "go", Category: "y", NDCG: .5, Best: 3, Took: 3 * time.Millisecond},
		{Repository: "b", Language: "go", Category: "x", NDCG: 1, Best: 6, Took: 4 * time.Millisecond, Spans: 2, SpansFound: 1},
	})
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	near("overall", r.Overall.NDCG, .75)
	near("category y", r.Categories["y"].NDCG, .25)
	near("language go", r.Languages["go"].NDCG, .75)
	near("hit@1 of a", r.Repositories["a"].Hit1, 1./3)
	near("hit@5 of a", r.Repositories["a"].Hit5, 2./3)
	near("hit@10 of b", r.Repositories["b"].Hit10, 1)
	near("span recall", r.Overall.SpanRecall, .5)
	near("p50", r.LatencyMS.P50, 2)
	if r.Halves != nil {
		t.Errorf("halves of a set without held questions: %v", r.Halves)
	}
	halves := Summarize([]Outcome{{NDCG: 1}, {NDCG: .5}, {NDCG: .25, Held: true}}).Halves
	near("open half", halves["open"].NDCG, .75)
	near("held half", halves["held"].NDCG, .25)
	if r.Overall.Questions != 4 {
		t.Errorf("questions = %d", r.Overall.Questions)
	}
}

func TestCompare(t *testing.T) {
	run := func(shift float64) Report {
		var o []Outcome
		for i := range 20 {
			o = append(o, Outcome{Repository: string(rune('a' + i)), NDCG: .5 + float64(i)/100 + shift*float64(i%2)})
		}
		return Summarize(o)
	}
	same := Compare(run(0), run(0))
	if same != (Interval{}) {
		t.Errorf("a run differs from itself: %+v", same)
	}
	better := Compare(run(0), run(.1))
	if math.Abs(better.Difference-.05) > 1e-9 || better.Low <= 0 || better.High <= better.Difference || better.Low >= better.Difference {
		t.Errorf("interval of a gain of .05: %+v", better)
	}
	if again := Compare(run(0), run(.1)); again != better {
		t.Errorf("the interval is not reproducible: %+v then %+v", better, again)
	}
}

func TestReadQuestions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("ok", `[{"query":"q","category":"c","held":true,"relevant":["a.go",{"path":"b.go","start_line":3,"end_line":4}],"secondary":["c.go"]}]`)
	qs, err := ReadQuestions(dir, "ok")
	if err != nil {
		t.Fatal(err)
	}
	if len(qs) != 1 || len(qs[0].Targets) != 3 || !qs[0].Held || qs[0].Targets[1] != (Span{"b.go", 3, 4}) || qs[0].Targets[2] != file("c.go") {
		t.Errorf("questions = %+v", qs)
	}
	write("bad", `[{"query":"q","relevant":[]}]`)
	write("worse", `[{"query":"q","relevant":[{"start_line":3}]}]`)
	for _, name := range []string{"bad", "worse", "missing"} {
		if _, err := ReadQuestions(dir, name); err == nil {
			t.Errorf("ReadQuestions(%s) succeeded", name)
		}
	}
}

func TestReadRepositoriesRefusesPaths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "repos.json")
	for text, ok := range map[string]bool{
		`[{"name":"gin","language":"go","benchmark_root":null}]`: true,
		`[{"name":"../gin"}]`:                      false,
		`[{"name":"gin","benchmark_root":"../x"}]`: false,
		`[{"name":"gin","benchmark_root":"/etc"}]`: false,
		`{}`: false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRepositories(path); (err == nil) != ok {
			t.Errorf("ReadRepositories(%s): %v, want ok %v", text, err, ok)
		}
	}
}
