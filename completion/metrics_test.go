package completion

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// Every request counts once, under what became of it.
func TestMetrics(t *testing.T) {
	model := says("one", "Two()", "\n")
	e := newEngine(t, model, Options{Off: Off{Languages: []string{"yaml"}}, Context: &finder{found: []Snippet{{Path: "o.go", StartLine: 1, EndLine: 1, Text: "func oneTwo()"}}}})
	const doc = "package a\n\nfunc f() {\n\tx := ‸\n}\n"
	complete(t, e, at(t, "a.go", "go", doc))
	complete(t, e, at(t, "a.go", "go", "package a\n\nfunc f() {\n\tx := one‸\n}\n"))
	complete(t, e, at(t, "a.yaml", "yaml", "a: ‸\n"))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Complete(cancelled, at(t, "b.go", "go", doc)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	e.Prefetch(at(t, "a.go", "go", "package a\n\nfunc f() {\n\tx := oneTwo()\n\t‸\n}\n"))
	model.ready = errors.New("the model is away")
	complete(t, e, at(t, "c.go", "go", doc))
	e.Close()
	m := e.Metrics()
	timed := m.AnswerP50 > 0 && m.ContextP95 > 0 || runtime.GOOS == "windows" // whose clock moves in steps
	if !timed || m.AnswerP95 < m.AnswerP50 || m.ContextP95 < m.ContextP50 || m.PromptTokens <= m.Launched {
		t.Errorf("%+v", m)
	}
	want := Metrics{Requests: 5, Model: 1, Reused: 1, Local: 1, Overtaken: 1, Unanswered: 1, Shown: 2, Accepted: 1, Launched: 2}
	m.AnswerP50, m.AnswerP95, m.ContextP50, m.ContextP95, m.PromptTokens = 0, 0, 0, 0, 0
	if m != want {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
}

func TestPercentilesOfARing(t *testing.T) {
	var r ring
	if p50, p95 := r.percentiles(); p50 != 0 || p95 != 0 {
		t.Errorf("of nothing: %v, %v", p50, p95)
	}
	r.add(7)
	if p50, p95 := r.percentiles(); p50 != 7 || p95 != 7 {
		t.Errorf("of one: %v, %v", p50, p95)
	}
	for i := range 2 * recentTimes {
		r.add(time.Duration(i + 1))
	}
	// The last 256 of 512: 257 to 512.
	if p50, p95 := r.percentiles(); p50 != 384 || p95 != 500 {
		t.Errorf("of the last: %v, %v", p50, p95)
	}
}
