package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// stream sends one answer piece by piece.
type stream struct {
	rec  *record
	s    *Server
	to   format
	held string // text not sent because it may begin a stop string
	lps  []float64
}

// format is how an answer goes over the wire.
type format interface {
	piece(text string, logprobs []float64)
	done(reason string, promptTokens, tokens int)
	fail(message string)
}

func (st *stream) run(ctx context.Context, a Answer, promptTokens int) Outcome {
	reason, n := "stop", 0
	for i, piece := range a.Pieces {
		if limit := st.rec.NumPredict(); limit > 0 && n == limit {
			reason = "length"
			break
		}
		if a.Gate != nil {
			select {
			case <-a.Gate:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return Cancelled
		}
		n++
		lp := -1.0
		if i < len(a.Logprobs) {
			lp = a.Logprobs[i]
		}
		st.lps = append(st.lps, lp)
		if stopped := st.piece(piece); stopped {
			break
		}
	}
	if ctx.Err() != nil {
		return Cancelled
	}
	if st.held != "" {
		st.send(st.held)
	}
	switch {
	case a.ErrorLine != "":
		st.to.fail(a.ErrorLine)
	case a.Disconnect, a.NoDone:
	default:
		st.to.done(reason, promptTokens, n)
	}
	return Finished
}

// piece sends what of held+text cannot be part of a stop string, and answers
// true when a stop string is complete.
func (st *stream) piece(text string) (stopped bool) {
	pending := st.held + text
	st.held = ""
	cut := -1
	for _, stop := range st.rec.Stop() {
		if i := strings.Index(pending, stop); i >= 0 && (cut < 0 || i < cut) {
			cut = i
		}
	}
	if cut >= 0 {
		st.send(pending[:cut])
		return true
	}
	for _, stop := range st.rec.Stop() {
		for k := min(len(stop)-1, len(pending)); k > len(st.held); k-- {
			if strings.HasSuffix(pending, stop[:k]) {
				st.held = pending[len(pending)-k:]
				break
			}
		}
	}
	st.send(strings.TrimSuffix(pending, st.held))
	return false
}

func (st *stream) send(text string) {
	if text == "" {
		return
	}
	st.to.piece(text, st.lps)
	st.lps = nil
	st.s.sent(st.rec, text)
}

// ndjson is Ollama's stream: one JSON object a line.
type ndjson struct {
	w        http.ResponseWriter
	model    Model
	name     string // as it was asked for
	logprobs bool   // asked for
	took     time.Duration
}

func (f *ndjson) piece(text string, logprobs []float64) {
	chunk := map[string]any{"model": f.name, "created_at": time.Now(), "response": text, "done": false}
	if f.logprobs {
		list := []map[string]any{}
		for _, lp := range logprobs {
			list = append(list, map[string]any{"token": text, "logprob": lp})
		}
		chunk["logprobs"] = list
	}
	f.line(chunk)
}

func (f *ndjson) done(reason string, promptTokens, tokens int) {
	f.line(map[string]any{
		"model": f.name, "created_at": time.Now(), "response": "", "done": true, "done_reason": reason,
		"total_duration": 1, "load_duration": 1, "prompt_eval_count": promptTokens, "prompt_eval_duration": 1, "eval_count": tokens, "eval_duration": max(f.took, 1),
	})
}

func (f *ndjson) fail(message string) { f.line(map[string]any{"error": message}) }

func (f *ndjson) line(v map[string]any) {
	f.model.origin(v)
	f.w.Header().Set("Content-Type", "application/x-ndjson")
	_ = json.NewEncoder(f.w).Encode(v) // a client gone away shows as a done context
	_ = http.NewResponseController(f.w).Flush()
}

// sse is the stream of OpenAI's completions interface: server-sent events.
type sse struct {
	w     http.ResponseWriter
	model Model
}

func (f sse) piece(text string, logprobs []float64) {
	f.event(map[string]any{"choices": []any{map[string]any{"text": text, "logprobs": map[string]any{"token_logprobs": logprobs}}}})
}

func (f sse) done(reason string, promptTokens, tokens int) {
	f.event(map[string]any{"choices": []any{map[string]any{"text": "", "finish_reason": reason}}})
	if !f.model.NoCounts {
		f.event(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": promptTokens, "completion_tokens": tokens}})
	}
	f.send("[DONE]")
}

func (f sse) fail(message string) {
	f.event(map[string]any{"error": map[string]any{"message": message}})
}

func (f sse) event(v map[string]any) {
	data, err := json.Marshal(f.model.compatible(v))
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	f.send(string(data))
}

func (f sse) send(data string) {
	f.w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(f.w, "data: %s\n\n", data)
	_ = http.NewResponseController(f.w).Flush() // a client gone away shows as a done context
}
