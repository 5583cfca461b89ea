package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

type generateBody struct {
	Model     string          `json:"model"`
	Prompt    string          `json:"prompt"`
	Suffix    string          `json:"suffix"`
	System    string          `json:"system"`
	Template  string          `json:"template"`
	Raw       bool            `json:"raw"`
	Stream    *bool           `json:"stream"`
	Truncate  *bool           `json:"truncate"`
	Shift     *bool           `json:"shift"`
	Logprobs  bool            `json:"logprobs"`
	Input     json.RawMessage `json:"input"`
	KeepAlive json.RawMessage `json:"keep_alive"`
	Options   map[string]any  `json:"options"`
}

func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	rec, err := s.begin(r)
	if err != nil {
		reply(w, 400, map[string]any{"error": err.Error()})
		return
	}
	outcome := Finished
	defer func() { s.end(rec, outcome) }()
	fail := func(status int, message string) {
		outcome = Failed
		reply(w, status, map[string]any{"error": message})
	}

	m, ok := s.findModel(rec.Model)
	switch {
	case !ok:
		fail(404, fmt.Sprintf("model '%s' not found", rec.Model))
		return
	case rec.Raw && (rec.body.Template != "" || rec.body.System != ""):
		fail(400, "raw mode does not support template, system, or context")
		return
	}
	release, ok := s.acquire(r.Context())
	if !ok {
		outcome = Cancelled
		return
	}
	defer release()
	s.load(m, rec)
	if rec.Prompt == "" {
		reply(w, 200, map[string]any{"model": rec.Model, "created_at": time.Now(), "response": "", "done": true, "done_reason": "load"})
		return
	}
	promptTokens := CountTokens(rec.Prompt, m.NoFIM)
	if t := rec.body.Truncate; t != nil && !*t && promptTokens > rec.NumCtx() {
		fail(400, "the input length exceeds the context length")
		return
	}

	a := s.answer(rec)
	if a.Hold != nil {
		s.mu.Lock()
		stopping := s.stopping
		s.mu.Unlock()
		select {
		case <-a.Hold:
		case <-stopping:
		}
	}
	if a.Status != 0 {
		fail(a.Status, a.Message)
		return
	}
	stream := &stream{w: w, rec: rec, s: s}
	outcome = stream.run(r.Context(), a, promptTokens)
	if a.Disconnect {
		panic(http.ErrAbortHandler)
	}
}

// acquire waits for the one slot of the model, as requests to a real server do.
func (s *Server) acquire(ctx context.Context) (release func(), ok bool) {
	release = func() { <-s.slot }
	select {
	case s.slot <- struct{}{}:
		return release, true
	default:
	}
	s.mu.Lock()
	s.waiting++
	s.maxQueue = max(s.maxQueue, s.waiting)
	s.notify()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
	}()
	select {
	case s.slot <- struct{}{}:
		return release, true
	case <-ctx.Done():
		return nil, false
	}
}

func (s *Server) load(m Model, rec *record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fullName(m.Name)
	if l, ok := s.loaded[name]; !ok || l.numCtx != rec.NumCtx() {
		s.loads++
	}
	s.loaded[name] = loadedModel{numCtx: rec.NumCtx(), expires: time.Now().Add(time.Hour)}
}

func (s *Server) answer(rec *record) Answer {
	s.mu.Lock()
	if len(s.queue) > 0 {
		a := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		return a
	}
	script := s.script
	s.mu.Unlock()
	if script == nil {
		return Answer{}
	}
	return script(rec.Request)
}

// stream writes one answer as newline-delimited JSON.
type stream struct {
	w    http.ResponseWriter
	rec  *record
	s    *Server
	held string // text not sent because it may begin a stop string
	lps  []float64
}

func (st *stream) run(ctx context.Context, a Answer, promptTokens int) Outcome {
	st.w.Header().Set("Content-Type", "application/x-ndjson")
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
		st.line(map[string]any{"error": a.ErrorLine})
	case a.Disconnect, a.NoDone:
	default:
		st.line(map[string]any{
			"model": st.rec.Model, "created_at": time.Now(), "response": "", "done": true, "done_reason": reason,
			"total_duration": 1, "load_duration": 1, "prompt_eval_count": promptTokens, "prompt_eval_duration": 1, "eval_count": n, "eval_duration": 1,
		})
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
	chunk := map[string]any{"model": st.rec.Model, "created_at": time.Now(), "response": text, "done": false}
	if st.rec.body.Logprobs {
		lps := []map[string]any{}
		for _, lp := range st.lps {
			lps = append(lps, map[string]any{"token": text, "logprob": lp})
		}
		chunk["logprobs"] = lps
	}
	st.lps = nil
	st.line(chunk)
	st.s.sent(st.rec, text)
}

func (st *stream) line(v any) {
	_ = json.NewEncoder(st.w).Encode(v) // a client gone away shows as a done context
	_ = http.NewResponseController(st.w).Flush()
}
