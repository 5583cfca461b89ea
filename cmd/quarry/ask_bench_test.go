package main

import (
	"strings"
	"testing"
	"time"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/agent/loop"
	"quarry/model/modeltest"
)

// BenchmarkAsk is what quarry adds to a model's own time: a question over the
// golden suite's workspace to a model that answers at once, first with a call and
// then with the answer. It includes HTTP to and from the stand-in for Ollama.
func BenchmarkAsk(b *testing.B) {
	server := modeltest.NewServer(b)
	turns := []string{
		"<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"inventory/stock.go\", \"start_line\": 1, \"end_line\": 62}}</tool_call>",
		"Stock is taken out by Reserve (inventory/stock.go:42-51).\n\n- it checks how much is left, inventory/stock.go:45-48\n- then it takes the count out, inventory/stock.go:49\n",
	}
	n := 0
	server.Script(func(r modeltest.Request) modeltest.Answer {
		if r.NumPredict() == 1 || !strings.Contains(r.Prompt, "<|start_of_role|>") {
			return modeltest.Answer{Pieces: []string{" "}}
		}
		n++
		return modeltest.Answer{Pieces: strings.SplitAfter(turns[(n-1)%2], " ")}
	})
	c := askCore(b, server.URL, "golden", "workspace")
	var first, model, tools, all time.Duration
	for b.Loop() {
		begin := time.Now()
		r, err := c.AskWithin(b.Context(), agent.Question{Text: "Where is stock taken out when something is reserved?"}, time.Minute, ask.Watch{Step: func(s loop.Step) {
			if s.Tool == "" {
				model += s.Took
			} else {
				tools += s.Took
			}
		}})
		if err != nil || len(r.Citations) != 3 {
			b.Fatalf("%+v, %v", r, err)
		}
		all += time.Since(begin)
		first += r.FirstShown
	}
	per := func(d time.Duration, of int) float64 { return float64(d.Microseconds()) / float64(b.N*of) }
	b.ReportMetric(per(first, 1), "µs/first-shown")
	b.ReportMetric(per(model, 2), "µs/model-turn")
	b.ReportMetric(per(tools, 2), "µs/look-up")
	b.ReportMetric(per(all-model-tools, 2), "µs/turn-overhead")
}
