package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
)

// The Server answers OpenAI's interface at /v1 too, from the same script, as
// vLLM does: a cancelled request stops wherever it stands.

type openAIBody struct {
	Model     string   `json:"model"`
	Prompt    string   `json:"prompt"`
	MaxTokens int      `json:"max_tokens"`
	Stop      []string `json:"stop"`
}

// SetAPIKey makes the routes under /v1 refuse requests without this key.
func (s *Server) SetAPIKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apiKey = key
}

// LikeVLLM makes /v1 as strict as vLLM is: a request with more than four stop
// strings, or for more tokens than the context holds, is refused.
func (s *Server) LikeVLLM() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strict = true
}

// refuses says why a strict server refuses the request, "" if it does not.
func (s *Server) refuses(rec *record, m Model) string {
	s.mu.Lock()
	strict := s.strict
	s.mu.Unlock()
	context := cmp.Or(m.ContextLength, 131072)
	switch tokens := m.tokens(rec.Prompt) + rec.NumPredict(); {
	case !strict:
	case len(rec.Stop()) > 4:
		return fmt.Sprintf("stop must have at most 4 strings, got %d", len(rec.Stop()))
	case tokens > context:
		return fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens.", context, tokens)
	}
	return ""
}

// authorized answers the request if it lacks the key.
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	key := s.apiKey
	s.mu.Unlock()
	if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
		openAIError(w, 401, "invalid API key")
		return false
	}
	return true
}

func openAIError(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"error": map[string]any{"message": message, "code": status}})
}

func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) || s.refusesLists(w) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.probes++
	s.notify()
	list := []map[string]any{}
	for _, m := range s.models {
		list = append(list, map[string]any{"id": m.Name, "object": "model", "root": cmp.Or(m.MadeFrom, m.Name), "max_model_len": cmp.Or(m.ContextLength, 131072), "meta": map[string]any{"n_params": m.Parameters, "size": m.Bytes}})
	}
	reply(w, 200, map[string]any{"object": "list", "data": list})
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	rec, err := s.begin(r)
	if err != nil {
		openAIError(w, 400, err.Error())
		return
	}
	outcome := Finished
	defer func() { s.end(rec, outcome) }()
	m, ok := s.findModel(rec.Model)
	if !ok {
		outcome = Failed
		openAIError(w, 404, fmt.Sprintf("The model `%s` does not exist.", rec.Model))
		return
	}
	if why := s.refuses(rec, m); why != "" {
		outcome = Failed
		openAIError(w, 400, why)
		return
	}
	release, ok := s.acquire(r.Context())
	if !ok {
		outcome = Cancelled
		return
	}
	defer release()
	a := s.answer(rec)
	if s.hold(a.Hold, r.Context().Done()); r.Context().Err() != nil {
		outcome = Cancelled
		return
	}
	if a.Status != 0 {
		outcome = Failed
		a.later(w)
		openAIError(w, a.Status, a.Message)
		return
	}
	out := stream{rec: rec, s: s, to: sse{w, m}}
	outcome = out.run(r.Context(), a, m.tokens(rec.Prompt))
	if a.Disconnect {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	rec, err := s.begin(r)
	if err != nil {
		openAIError(w, 400, err.Error())
		return
	}
	defer s.end(rec, Finished)
	s.mu.Lock()
	script := s.embed
	s.mu.Unlock()
	var a EmbedAnswer
	if script != nil {
		a = script(rec.Request)
	}
	list := []map[string]any{}
	for i, v := range a.Vectors {
		// Out of order, which the interface allows.
		list = append([]map[string]any{{"index": i, "embedding": v}}, list...)
	}
	m, _ := s.findModel(rec.Model) // a name that is not listed is taken, too
	reply(w, 200, m.compatible(map[string]any{"data": list}))
}

// neutral gives a request to /v1 the options that one to /api would have.
func (r *record) neutral() error {
	var body openAIBody
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	r.standard(body.MaxTokens, body.Stop)
	return nil
}

// standard sets the options that every interface has.
func (r *record) standard(maxTokens int, stops []string) {
	list := make([]any, len(stops))
	for i, text := range stops {
		list[i] = text
	}
	r.Raw, r.Options = true, map[string]any{"num_predict": float64(maxTokens), "stop": list}
}
