package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
	Logprobs  any             `json:"logprobs"` // a number under /v1
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
	if rec.Prompt == "" {
		if keep := string(rec.body.KeepAlive); keep == `0` || keep == `"0s"` {
			s.unload(m)
			reply(w, 200, map[string]any{"model": rec.Model, "created_at": time.Now(), "response": "", "done": true, "done_reason": "unload"})
			return
		}
		defer s.load(r.Context(), m, rec)()
		sayLoaded(w, m, rec)
		return
	}
	defer s.use(m, rec)()
	release, ok := s.acquire(r.Context())
	if !ok {
		outcome = Cancelled
		return
	}
	stuck := false
	defer func() {
		if !stuck {
			release()
		}
	}()
	defer s.load(r.Context(), m, rec)()
	promptTokens := m.tokens(rec.Prompt)
	if t := rec.body.Truncate; t != nil && !*t && promptTokens > rec.NumCtx() {
		fail(400, "the input length exceeds the context length")
		return
	}

	a := s.answer(rec)
	s.hold(a.Hold, nil)
	if a.Status != 0 {
		a.later(w)
		fail(a.Status, a.Message)
		return
	}
	if a.OnlyLoads {
		sayLoaded(w, m, rec)
		return
	}
	out := stream{rec: rec, s: s, to: &ndjson{w: w, model: m, name: rec.Model, logprobs: rec.body.Logprobs == true, took: a.Took}}
	outcome = out.run(r.Context(), a, promptTokens)
	if a.GetStuck && outcome == Cancelled {
		stuck = true
		s.mu.Lock()
		s.stuck = true
		s.mu.Unlock()
		if a.Late {
			s.untilAnotherWaits()
		}
	}
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
		s.notify()
		s.mu.Unlock()
	}()
	select {
	case s.slot <- struct{}{}:
		if ctx.Err() == nil {
			return release, true
		}
		release()
	case <-ctx.Done():
	}
	return nil, false
}

// hold waits until hold is closed, if there is one, the client went away (gone),
// or the Server stops.
func (s *Server) hold(hold, gone <-chan struct{}) {
	if hold == nil {
		return
	}
	s.mu.Lock()
	stopping := s.stopping
	s.mu.Unlock()
	select {
	case <-hold:
	case <-gone:
	case <-stopping:
	}
}

// untilAnotherWaits waits for a request that waits for the model, or until the Server stops.
func (s *Server) untilAnotherWaits() {
	s.mu.Lock()
	stopping := s.stopping
	for s.waiting == 0 {
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-stopping:
			return
		}
		s.mu.Lock()
	}
	s.mu.Unlock()
}

// unload drops a model once no request has it, and answers at once, as Ollama does. A
// request that got stuck counts for none, and goes with the model.
func (s *Server) unload(m Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unloads++
	if l := s.loaded[fullName(m.Name)]; l != nil {
		l.expires, l.dropped = time.Now(), true
		s.drop(l)
	}
}

// drop is called when a model is to be dropped and when a request needs it no more. mu is held.
func (s *Server) drop(l *loadedModel) {
	if !l.dropped || l.users > 0 {
		return
	}
	for name, have := range s.loaded {
		if have == l {
			delete(s.loaded, name)
		}
	}
	if s.stuck {
		s.stuck = false
		<-s.slot
	}
	s.notify()
}

// load brings a model into memory for a request, which calls done when it ends.
func (s *Server) load(ctx context.Context, m Model, rec *record) (done func()) {
	s.mu.Lock()
	name := fullName(m.Name)
	l := s.loaded[name]
	if l == nil || l.numCtx != rec.NumCtx() {
		s.loads++
		l = &loadedModel{numCtx: rec.NumCtx(), loading: s.loading}
		s.loaded[name] = l
	}
	l.users++
	s.notify()
	s.mu.Unlock()
	s.hold(l.loading, ctx.Done())
	return func() { s.done(l) }
}

// use has a request that waits for a model in memory keep it there, until it calls done.
func (s *Server) use(m Model, rec *record) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.loaded[fullName(m.Name)]
	if l == nil || l.numCtx != rec.NumCtx() {
		return func() {}
	}
	l.users++
	return func() { s.done(l) }
}

// done says that a request needs a model no more.
func (s *Server) done(l *loadedModel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.users--; l.users == 0 {
		l.expires = time.Now().Add(keepAlive)
		s.drop(l)
		s.notify()
	}
}

func sayLoaded(w http.ResponseWriter, m Model, rec *record) {
	reply(w, 200, m.origin(map[string]any{"model": rec.Model, "created_at": time.Now(), "response": "", "done": true, "done_reason": "load"}))
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
	switch {
	case script != nil:
		return script(rec.Request)
	case Model{}.tokens(rec.Prompt) == Model{NoFIM: true}.tokens(rec.Prompt): // text alone, to which every model adds some
		return Answer{Pieces: []string{"1"}}
	}
	return Answer{}
}
