package completion_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/completion"
	"quarry/model"
	"quarry/model/ollamatest"
)

// source is n lines of Go that differ from each other.
func source(n int) string {
	var b strings.Builder
	b.WriteString("package sample\n\n")
	for i := range n / 8 {
		fmt.Fprintf(&b, "// step%d adds %d to the running total.\nfunc step%d(total int, names []string) (int, error) {\n"+
			"\tif len(names) < %d {\n\t\treturn 0, fmt.Errorf(\"step %d: too few names\")\n\t}\n\treturn total + %d, nil\n}\n", i, i, i, i, i, i)
	}
	return b.String()
}

// typing calls keystroke for every key of a function typed into the middle of
// a document, round and round.
func typing(b *testing.B, lines int, keystroke func(completion.Request)) {
	const added = "func added(values []int) (sum int) {\n\tfor _, v := range values {\n\t\tif v > limit {\n\t\t\tcontinue\n\t\t}\n\t\tsum += v\n\t}\n\treturn sum\n}\n\n"
	text := source(lines)
	at := strings.Index(text, fmt.Sprintf("// step%d ", lines/16))
	for i := 0; b.Loop(); i++ {
		n := i%len(added) + 1
		keystroke(completion.Request{
			Key:      "k",
			Document: completion.Document{Path: "a.go", Language: "go", Text: text[:at] + added[:n] + text[at:]},
			Offset:   at + n, Version: int32(i),
		})
	}
}

// instant is a model that costs nothing: what is left is the engine.
type instant struct{}

func (instant) Model() string { return "granite4.1:3b" }
func (instant) Ready() error  { return nil }
func (instant) Generate(_ context.Context, _ string, _ int, _ []string, _ int, emit func(string, float64) bool) (int, error) {
	for _, piece := range []string{"??", " if", " x", " {", "\n\t", "foo", "(a, b)", "\n", "}", "\n"} {
		if !emit(piece, 0) {
			break
		}
	}
	return 0, nil
}

func percentiles(b *testing.B, took []time.Duration, unit string) {
	slices.Sort(took)
	for _, p := range []int{50, 95, 99} {
		b.ReportMetric(took[(len(took)-1)*p/100].Seconds()*1000, fmt.Sprintf("p%d-%s", p, unit))
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOverhead is what an answer costs besides the model: one keystroke,
// from Complete to its return.
func BenchmarkOverhead(b *testing.B) {
	for _, lines := range []int{100, 1000, 20000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			e := completion.New(instant{}, completion.Options{Debounce: -1})
			defer e.Close()
			var took []time.Duration
			typing(b, lines, func(req completion.Request) {
				begin := time.Now()
				if _, err := e.Complete(b.Context(), req); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			})
			percentiles(b, took, "ms")
		})
	}
}

// BenchmarkLocal is an answer of the model-free engine while typing, with four
// other documents of 2,000 lines open and a repository of 100,000 lines learned.
func BenchmarkLocal(b *testing.B) {
	for _, lines := range []int{100, 1000, 20000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			e := completion.New(nil, completion.Options{})
			defer e.Close()
			for i := range 100 {
				e.Add("", fmt.Sprintf("repo/%d.go", i), strings.ReplaceAll(source(1000), "step", fmt.Sprintf("step%d", i)))
			}
			var open []completion.Document
			for i := range 4 {
				open = append(open, completion.Document{Path: fmt.Sprintf("open%d.go", i), Language: "go", Text: source(2000)})
			}
			var took []time.Duration
			typing(b, lines, func(req completion.Request) {
				req.Open, req.Manual = open, true
				begin := time.Now()
				if _, err := e.Complete(b.Context(), req); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			})
			percentiles(b, took, "ms")
		})
	}
}

// BenchmarkRealKeystroke is the time to the first token of one keystroke with
// the real Ollama, for quarry's prompt and for the layout that most clients
// send, the cursor between 1,500 tokens before and 500 after it: with a window
// that stays where it was, and with one that slides along.
func BenchmarkRealKeystroke(b *testing.B) {
	server := ollamatest.StartEmpty(b)
	server.Create(ollamatest.DefaultModel, ollamatest.Slow)
	start := func(b *testing.B) *model.Runtime {
		rt, err := model.New(model.Options{URL: server.URL, Model: ollamatest.DefaultModel, NumCtx: 4096, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(rt.Close)
		rt.Start()
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		if err := rt.WaitReady(ctx); err != nil {
			b.Fatal(err)
		}
		return rt
	}
	b.Run("quarry", func(b *testing.B) {
		e := completion.New(start(b), completion.Options{ContextTokens: 4096, PrefixTokens: 1900, Debounce: -1, MaxTokens: 2})
		defer e.Close()
		var took []time.Duration
		tokens := 0
		typing(b, 1000, func(req completion.Request) {
			res, err := e.Complete(b.Context(), req)
			if err != nil || res.Note != "" {
				b.Fatal(err, res.Note)
			}
			if first := res.Timings.FirstToken; first > 0 {
				took = append(took, first)
				tokens = max(tokens, len(res.Prompt.Text))
			}
		})
		percentiles(b, took[1:], "ms") // the first prompt is cold in both
		b.ReportMetric(float64(tokens), "prompt-tokens")
	})
	naive := func(name string, from func(at int) int) {
		b.Run(name, func(b *testing.B) {
			rt := start(b)
			var took []time.Duration
			tokens := 0
			typing(b, 1000, func(req completion.Request) {
				at := req.Offset
				prompt := "<|fim_prefix|>" + req.Text[from(at):at] + "<|fim_suffix|>" + req.Text[at:at+500] + "<|fim_middle|>"
				tokens = max(tokens, len(prompt))
				begin, first := time.Now(), time.Duration(0)
				_, err := rt.Generate(b.Context(), prompt, 1, nil, 0, func(string, float64) bool {
					first = time.Since(begin)
					return true
				})
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, first)
			})
			percentiles(b, took[1:], "ms")
			b.ReportMetric(float64(tokens), "prompt-tokens")
		})
	}
	begin := -1
	naive("cursor-between", func(at int) int {
		if begin < 0 {
			begin = at - 1500
		}
		return begin
	})
	naive("cursor-between-sliding", func(at int) int { return at - 1500 })
}

// BenchmarkLearn is what a token of the repository costs the model-free engine.
func BenchmarkLearn(b *testing.B) {
	texts := make([]string, 50)
	size := 0
	for i := range texts {
		texts[i] = strings.ReplaceAll(source(1000), "step", fmt.Sprintf("step%d", i))
		size += len(texts[i])
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		before := heap()
		e := completion.New(nil, completion.Options{})
		for i, text := range texts {
			e.Add("", fmt.Sprint(i), text)
		}
		b.ReportMetric(float64(heap()-before)/float64(size), "heap-B/B")
		e.Close()
	}
}
