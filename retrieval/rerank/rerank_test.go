package rerank

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden prompt")

// lengths is a model that likes long passages: a point for each letter x.
type lengths struct {
	busy  bool
	reply string // in place of a score
	fail  error
	asked []string
	until func() // called for each question
}

func (m *lengths) Name() string { return "lengths" }
func (m *lengths) Idle() bool   { return !m.busy }
func (m *lengths) Answer(ctx context.Context, prompt string, schema json.RawMessage) (string, error) {
	m.asked = append(m.asked, prompt)
	if m.until != nil {
		m.until()
	}
	if !json.Valid(schema) {
		return "", errors.New("the schema is no JSON")
	}
	if err := errors.Join(m.fail, ctx.Err()); err != nil || m.reply != "" {
		return m.reply, err
	}
	b, err := json.Marshal(map[string]int{"score": strings.Count(prompt[strings.Index(prompt, "Code:"):], "x")})
	return string(b), err
}

func TestRank(t *testing.T) {
	m := &lengths{}
	r := New(ByModel(m))
	now := time.Unix(0, 0)
	r.now = func() time.Time { return now }
	rank := func(query string, passages ...string) []int {
		t.Helper()
		order, scores, err := r.Rank(t.Context(), query, passages)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range passages {
			if want := float64(strings.Count(p, "x")) / 10; scores[i] != want {
				t.Errorf("%q has score %v, want %v", p, scores[i], want)
			}
		}
		return order
	}
	if got := rank("q", "x a", "xxx", "x b", "xx"); !slices.Equal(got, []int{1, 3, 0, 2}) {
		t.Errorf("order %v", got)
	}
	if got := rank("q", "xxx", "xxxx", "xx"); !slices.Equal(got, []int{1, 0, 2}) || len(m.asked) != 5 {
		t.Errorf("order %v after %d questions, want only one for the new passage", got, len(m.asked))
	}
	rank("another", "xxx")
	now = now.Add(kept)
	rank("q", "xxx")
	if len(m.asked) != 7 {
		t.Errorf("%d questions: another query and an old score ask anew", len(m.asked))
	}
	for range most {
		now = now.Add(time.Second)
		rank("q"+now.String(), "x")
	}
	if len(r.known) > most {
		t.Errorf("%d scores kept", len(r.known))
	}
}

// Without all scores the order is not touched, and what was said is kept.
func TestNoOrder(t *testing.T) {
	gone := errors.New("gone")
	for name, m := range map[string]*lengths{
		"busy":       {busy: true},
		"gone":       {fail: gone},
		"no JSON":    {reply: "eight"},
		"no score":   {reply: "{}"},
		"out of ten": {reply: `{"score":11}`},
	} {
		if order, _, err := New(ByModel(m)).Rank(t.Context(), "q", []string{"x", "xx"}); err == nil {
			t.Errorf("%s: order %v", name, order)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	m := &lengths{}
	m.until = func() {
		if len(m.asked) == 2 {
			cancel()
		}
	}
	r := New(ByModel(m))
	if _, _, err := r.Rank(ctx, "q", []string{"x", "xx", "xxx"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, ok := r.recall(question{"lengths", "q", sha256.Sum256([]byte("x"))}); !ok {
		t.Error("the score before that is forgotten")
	}
}

func TestPromptIsGolden(t *testing.T) {
	got := promptFor("where is the queue emptied", "queue.go\nfunc (q *Queue) Drain() {}\n"+strings.Repeat("é", passageBytes))
	const golden = "testdata/judge.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("the prompt is\n%s\nwant (%v; rewrite with -update)\n%s", got, err, want)
	}
}
