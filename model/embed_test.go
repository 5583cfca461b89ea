package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestRealEmbeddings(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	o := start(t, options(s.URL)) // there is no Granite: embeddings do not need one
	if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrModelMissing) {
		t.Fatalf("the completion model: %v", err)
	}
	e := o.NewEmbedder("tiny-bert")
	if _, err := e.Embed(soon(t), []string{"x"}); !errors.Is(err, model.ErrModelMissing) || !strings.Contains(err.Error(), "quarry model pull tiny-bert") {
		t.Errorf("without the model: %v", err)
	}
	s.CreateBert("tiny-bert", ollamatest.TinyBert)

	texts := make([]string, 40)
	for i := range texts {
		texts[i] = fmt.Sprintf("func f%d() int { return %d }", i, i*i)
	}
	texts[7] = " \n"
	texts[8] = strings.Repeat("a very long text ", 500)
	vectors, err := e.Embed(soon(t), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		switch {
		case i == 7:
			if v != nil {
				t.Error("a blank text has a vector")
			}
		case len(v) != ollamatest.TinyBert.Embedding || math.Abs(length(v)-1) > 1e-5:
			t.Errorf("text %d: %d dimensions, length %v", i, len(v), length(v))
		}
	}
	query, err := e.EmbedQuery(soon(t), texts[3])
	if err != nil {
		t.Fatal(err)
	}
	if same := dot(query, vectors[3]); same < 0.9999 {
		t.Errorf("a text and itself: cosine %v", same)
	}
	if other := dot(query, vectors[8]); other > 0.9999 {
		t.Errorf("a text and a very different one: cosine %v", other)
	}
	if list := e.Check(context.Background()); len(list) != 1 || !list[0].OK || !strings.Contains(list[0].Detail, "64 dimensions") {
		t.Errorf("check: %+v", list)
	}
}

// embedding is a runtime on a fake that has both models, and its Embedder.
func embedding(t *testing.T) (*modeltest.Server, *model.Runtime, *model.Embedder, *manualClock) {
	t.Helper()
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "bert"})
	clock := newManualClock()
	opt := options(s.URL)
	opt.Clock = clock
	o := ready(t, opt)
	return s, o, o.NewEmbedder("bert"), clock
}

// numbered answers [n, 0] for the text "n", so that order can be checked.
func numbered(r modeltest.Request) (a modeltest.EmbedAnswer) {
	for _, text := range r.Texts {
		var n float32
		fmt.Sscan(text, &n)
		a.Vectors = append(a.Vectors, []float32{1, n})
	}
	return a
}

// want fails unless vectors[i] is that of the text "i".
func want(t *testing.T, vectors [][]float32, n int) {
	t.Helper()
	if len(vectors) != n {
		t.Fatalf("%d vectors, want %d", len(vectors), n)
	}
	for i, v := range vectors {
		if len(v) != 2 || math.Abs(float64(v[1]/v[0])-float64(i)) > 1e-3 {
			t.Errorf("vector %d is %v", i, v)
		}
	}
}

func numbers(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprint(i))
	}
	return texts
}

func batches(s *modeltest.Server) (sizes []int) {
	for _, r := range s.Requests() {
		if r.Path == "/api/embed" && len(r.Texts) > 0 {
			sizes = append(sizes, len(r.Texts))
		}
	}
	return sizes
}

func TestBatchesGrow(t *testing.T) {
	s, _, e, _ := embedding(t)
	s.ScriptEmbed(numbered)
	vectors, err := e.Embed(soon(t), numbers(50))
	if err != nil {
		t.Fatal(err)
	}
	want(t, vectors, 50)
	if got := fmt.Sprint(batches(s)); got != "[8 16 16 10]" {
		t.Errorf("batches of %s", got)
	}
	loads := 0
	for _, r := range s.Requests() {
		if r.Path == "/api/embed" && len(r.Texts) == 0 {
			loads++
		}
	}
	if loads != 1 {
		t.Errorf("the model was loaded %d times", loads)
	}
}

func TestEmbeddingGivesWay(t *testing.T) {
	s, o, e, clock := embedding(t)
	hold := make(chan struct{})
	defer close(hold)
	s.ScriptEmbed(func(r modeltest.Request) modeltest.EmbedAnswer {
		a := numbered(r)
		if len(r.Texts) == 8 {
			a.Hold = hold
		}
		return a
	})
	type result struct {
		vectors [][]float32
		err     error
	}
	done := make(chan result, 1)
	go func() {
		v, err := e.Embed(context.Background(), numbers(10))
		done <- result{v, err}
	}()
	isBatch := func(n int, o modeltest.Outcome) func([]modeltest.Request) bool {
		return func(list []modeltest.Request) bool {
			for _, r := range list {
				if len(r.Texts) == n && r.Outcome == o {
					return true
				}
			}
			return false
		}
	}
	if err := s.Wait(soon(t), isBatch(8, modeltest.Running)); err != nil {
		t.Fatal(err)
	}
	s.Queue(modeltest.Answer{Pieces: []string{"x"}})
	if text, _, err := collect(soon(t), o, fim("a", ""), 3); err != nil || text != "x" {
		t.Errorf("the completion: %q, %v", text, err)
	}
	if err := s.Wait(soon(t), isBatch(8, modeltest.Cancelled)); err != nil {
		t.Fatalf("the batch goes on: %v", err)
	}
	// It goes on with a smaller batch once nobody waited for two seconds.
	eventually(t, "it waits for quiet", func() bool { return clock.due(2 * time.Second) })
	if got := len(batches(s)); got != 1 {
		t.Errorf("%d batches while someone types", got)
	}
	clock.advance(1999 * time.Millisecond)
	if _, err := e.EmbedQuery(soon(t), "7"); err != nil {
		t.Errorf("a query: %v", err)
	}
	clock.advance(time.Millisecond) // the query began two new seconds
	eventually(t, "it waits for quiet again", func() bool { return clock.due(1999 * time.Millisecond) })
	if got := fmt.Sprint(batches(s)); got != "[8 1]" {
		t.Errorf("batches %s", got)
	}
	var r result
	eventually(t, "it goes on", func() bool {
		clock.advance(2 * time.Second)
		select {
		case r = <-done:
			return true
		default:
			return false
		}
	})
	if r.err != nil {
		t.Fatal(r.err)
	}
	want(t, r.vectors, 10)
	if got := fmt.Sprint(batches(s)); got != "[8 1 4 6]" {
		t.Errorf("batches %s", got)
	}
}

func TestATextTheModelRefuses(t *testing.T) {
	s, _, e, _ := embedding(t)
	s.ScriptEmbed(func(r modeltest.Request) modeltest.EmbedAnswer {
		for _, text := range r.Texts {
			if text == "5" {
				return modeltest.EmbedAnswer{Status: 400, Message: "input exceeds maximum context length and cannot be truncated further"}
			}
		}
		return numbered(r)
	})
	vectors, err := e.Embed(soon(t), numbers(20))
	if err != nil {
		t.Fatal(err)
	}
	if vectors[5] != nil {
		t.Error("the refused text has a vector")
	}
	vectors[5] = []float32{1, 5}
	want(t, vectors, 20)
}

func TestAModelThatEmbedsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		answer modeltest.EmbedAnswer
		says   string
	}{
		"crash":       {modeltest.EmbedAnswer{Status: 500, Message: "llama runner process has terminated"}, "crashed"},
		"refusal":     {modeltest.EmbedAnswer{Status: 400, Message: "this model does not support embeddings"}, "does not support embeddings"},
		"zero":        {modeltest.EmbedAnswer{Vectors: [][]float32{{0, 0}}}, "length 0"},
		"no vector":   {modeltest.EmbedAnswer{Vectors: [][]float32{}}, "0 vectors for 1 texts"},
		"two vectors": {modeltest.EmbedAnswer{Vectors: [][]float32{{1}, {1}}}, "2 vectors for 1 texts"},
		"empty":       {modeltest.EmbedAnswer{Vectors: [][]float32{{}}}, "length 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, e, _ := embedding(t)
			s.ScriptEmbed(func(modeltest.Request) modeltest.EmbedAnswer { return c.answer })
			if _, err := e.Embed(soon(t), []string{"a"}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if list := e.Check(soon(t)); list[0].OK {
				t.Errorf("check: %+v", list)
			}
		})
	}
}

func TestWhatWasEmbeddedBeforeAnErrorIsKept(t *testing.T) {
	s, _, e, _ := embedding(t)
	n := 0
	s.ScriptEmbed(func(r modeltest.Request) modeltest.EmbedAnswer {
		if n++; n > 1 {
			s.SetModels()
			return modeltest.EmbedAnswer{Status: 404, Message: "model 'bert' not found"}
		}
		return numbered(r)
	})
	vectors, err := e.Embed(soon(t), numbers(20))
	if !errors.Is(err, model.ErrModelMissing) {
		t.Errorf("got %v", err)
	}
	want(t, vectors[:8], 8)
	if vectors[8] != nil {
		t.Error("a vector nobody made")
	}
}

func TestCloseEndsEmbedding(t *testing.T) {
	s, o, e, _ := embedding(t)
	hold := make(chan struct{})
	defer close(hold)
	s.ScriptEmbed(func(modeltest.Request) modeltest.EmbedAnswer { return modeltest.EmbedAnswer{Hold: hold} })
	done := make(chan error, 1)
	go func() {
		_, err := e.Embed(context.Background(), numbers(3))
		done <- err
	}()
	if err := s.Wait(soon(t), func(list []modeltest.Request) bool { return len(list[len(list)-1].Texts) == 3 }); err != nil {
		t.Fatal(err)
	}
	o.Close()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := e.EmbedQuery(context.Background(), "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a query after Close: %v", err)
	}
}

// The longer a text takes, which cannot be cut off, the longer a pause in typing has
// to be before one is begun.
func TestSlowEmbeddingWaitsForALongPause(t *testing.T) {
	for took, rest := range map[time.Duration]time.Duration{
		8 * 10 * time.Millisecond:  2 * time.Second,
		8 * 100 * time.Millisecond: 8 * time.Second,
		8 * time.Second:            20 * time.Second,
	} {
		s, o, e, clock := embedding(t)
		s.ScriptEmbed(func(r modeltest.Request) modeltest.EmbedAnswer {
			if len(r.Texts) > 0 {
				clock.advance(took)
			}
			return numbered(r)
		})
		if _, err := e.Embed(soon(t), numbers(8)); err != nil {
			t.Fatal(err)
		}
		s.Queue(modeltest.Answer{Pieces: []string{"x"}})
		if _, _, err := collect(soon(t), o, fim("a", ""), 3); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = e.Embed(ctx, numbers(8)) // cancelled below
		}()
		eventually(t, fmt.Sprintf("texts of %v wait for %v", took/8, rest), func() bool { return clock.due(rest) })
		cancel()
		<-done
	}
}
