package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

// BenchmarkOneToken is what the runtime adds to a bare HTTP request, and what
// Ollama's own client adds: all ask the same fake for one token.
func BenchmarkOneToken(b *testing.B) {
	s := modeltest.NewServer(b)
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"x"}} })
	prompt := fim(strings.Repeat("func f(x int) { g(x) }\n", 200), "}\n")
	b.Run("http", func(b *testing.B) {
		body, _ := json.Marshal(map[string]any{"model": "granite4.1:3b", "prompt": prompt, "raw": true})
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		for b.Loop() {
			resp, err := client.Post(s.URL+"/api/generate", "application/json", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				b.Fatal(err)
			}
			resp.Body.Close()
		}
	})
	b.Run("api.Client", func(b *testing.B) {
		u, err := url.Parse(s.URL)
		if err != nil {
			b.Fatal(err)
		}
		hc := &http.Client{Transport: &http.Transport{}}
		defer hc.CloseIdleConnections()
		client := api.NewClient(u, hc)
		for b.Loop() {
			req := &api.GenerateRequest{Model: "granite4.1:3b", Prompt: prompt, Raw: true}
			if err := client.Generate(b.Context(), req, func(api.GenerateResponse) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("quarry", func(b *testing.B) {
		o := ready(b, options(s.URL))
		for b.Loop() {
			if _, _, err := collect(b.Context(), o, prompt, 5); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRealCancelToIdle cancels an answer after its first token and asks
// for one more token: the time between is how long the model stayed busy, and a
// token's own time, which is reported beside it.
func BenchmarkRealCancelToIdle(b *testing.B) {
	s := ollamatest.StartEmpty(b)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	o := ready(b, options(s.URL))
	var idle, token []time.Duration
	one := func() time.Duration {
		begin := time.Now()
		if _, _, err := collect(b.Context(), o, fim("a", "b"), 1); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		_, _ = o.Generate(ctx, fim("a", "b"), 1000, nil, 0, func(string, float64) bool { cancel(); return true })
		idle, token = append(idle, one()), append(token, one())
	}
	report(b, idle, "idle")
	report(b, token, "token")
}

// BenchmarkRealStuck cancels one answer after the other and reports how often in
// a thousand that got Ollama stuck (stuck.go). It depends on what else the machine
// does.
func BenchmarkRealStuck(b *testing.B) {
	s := ollamatest.StartEmpty(b)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	o := ready(b, options(s.URL))
	n := 0
	for ; b.Loop(); n++ {
		ctx, cancel := context.WithCancel(b.Context())
		_, _ = o.Generate(ctx, fim("a", "b"), 128, nil, 0, func(string, float64) bool { cancel(); return true })
	}
	if _, _, err := collect(b.Context(), o, fim("a", "b"), 1); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(1000*float64(o.Metrics().Unstuck)/float64(n), "stuck/1000")
}

// BenchmarkRealPromptCache evaluates a prompt of about 1,300 tokens that is new,
// that grew at its end, that grew in the middle before a suffix of 100 tokens,
// and whose start moved.
func BenchmarkRealPromptCache(b *testing.B) {
	s := ollamatest.StartEmpty(b)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	o := ready(b, options(s.URL))
	evaluate := func(prompt string) time.Duration {
		if _, _, err := collect(b.Context(), o, prompt, 1); err != nil {
			b.Fatal(err)
		}
		return o.Metrics().Last.PromptEval
	}
	text, suffix := strings.Repeat("func f(x int) { g(x) }\n", 53), strings.Repeat("return ok\n", 10)
	var cold, end, middle, start []time.Duration
	for b.Loop() {
		evaluate("unrelated")
		cold = append(cold, evaluate(fim(text, suffix)))
		end = append(end, evaluate(fim(text, suffix)+"x :="))
		middle = append(middle, evaluate(fim(text+"y", suffix)+"x :="))
		start = append(start, evaluate(fim(text[1:], suffix)))
	}
	report(b, cold, "cold")
	report(b, end, "end-grown")
	report(b, middle, "middle-grown")
	report(b, start, "start-moved")
}

func report(b *testing.B, d []time.Duration, name string) {
	slices.Sort(d)
	b.ReportMetric(float64(d[len(d)/2].Microseconds())/1000, name+"-p50-ms")
	b.ReportMetric(float64(d[min(len(d)-1, len(d)*95/100)].Microseconds())/1000, name+"-p95-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRealCompletionWhileEmbedding asks for completions with the machine
// idle and while a model of MiniLM's size has chunk after chunk to embed: at a
// typing rhythm, and after pauses in which embedding goes on, so that each has
// to stop a batch. In an editor the keystroke before the completion has stopped it
// already (index.Busy): one measurement has it come 50 ms before, which is less than
// what completion waits for the next keystroke with a model that is slow enough to
// notice.
func BenchmarkRealCompletionWhileEmbedding(b *testing.B) {
	s := ollamatest.StartEmpty(b)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	s.CreateBert("mini-bert", ollamatest.MiniBert)
	o := ready(b, options(s.URL))
	e := o.NewEmbedder("mini-bert")
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("func f%d(x int) int { return g(x) }\n", i), 10)
	}
	if _, err := e.Embed(b.Context(), texts[:1]); err != nil {
		b.Fatal(err)
	}
	for _, run := range []struct {
		name     string
		gap, key time.Duration
	}{
		{"typing", 400 * time.Millisecond, 0},
		{"pausing", 2500 * time.Millisecond, 0},
		{"keystroke", 2500 * time.Millisecond, 50 * time.Millisecond},
	} {
		b.Run(run.name, func(b *testing.B) {
			tick := time.NewTicker(run.gap)
			defer tick.Stop()
			stop := func() {}
			complete := func() time.Duration {
				<-tick.C
				if run.key > 0 {
					stop()
					<-time.After(run.key)
				}
				begin := time.Now()
				if _, _, err := collect(b.Context(), o, fim("func main() {\n\t", "}\n"), 32); err != nil {
					b.Fatal(err)
				}
				return time.Since(begin)
			}
			var idle, busy []time.Duration
			for b.Loop() {
				for range 5 {
					idle = append(idle, complete())
				}
				ctx, cancel := context.WithCancel(b.Context())
				done, stopped := make(chan struct{}), make(chan struct{})
				stop = func() { stopped <- struct{}{} }
				go func() {
					defer close(done)
					for ctx.Err() == nil {
						within, end := context.WithCancel(ctx)
						embedded := make(chan struct{})
						go func() { defer close(embedded); _, _ = e.Embed(within, texts) }()
						rest := time.Duration(0)
						select {
						case <-stopped:
							rest = 400 * time.Millisecond // as package index does
						case <-embedded:
						}
						end()
						<-embedded
						<-time.After(rest)
					}
				}()
				for range 5 {
					busy = append(busy, complete())
				}
				stop = func() {}
				cancel()
				<-done
			}
			report(b, idle, "idle")
			report(b, busy, "embedding")
		})
	}
}

// BenchmarkRealEmbed is the throughput of a model of MiniLM's size on chunks of
// about 370 characters, which this model takes as about as many tokens.
func BenchmarkRealEmbed(b *testing.B) {
	s := ollamatest.StartEmpty(b)
	s.CreateBert("mini-bert", ollamatest.MiniBert)
	o := start(b, options(s.URL))
	e := o.NewEmbedder("mini-bert")
	texts := make([]string, 32)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("func f%d(x int) int { return g(x) }\n", i), 10)
	}
	n := 0
	for b.Loop() {
		if _, err := e.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
		n += len(texts)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "texts/s")
}
