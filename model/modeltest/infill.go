package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Infill is what stands between prefix and suffix in the Prompt of a request to /infill,
// which has them apart.
const Infill = "<infill>"

// infill answers as llama.cpp does, which has one model and lays the prompt out itself.
func (s *Server) infill(w http.ResponseWriter, r *http.Request) {
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
	s.mu.Lock()
	m := s.models[0]
	s.mu.Unlock()
	if !m.Infills {
		outcome = Failed
		openAIError(w, 501, "Infill is not supported by this model: prefix token is missing. suffix token is missing. middle token is missing. ")
		return
	}
	release, ok := s.acquire(r.Context())
	if !ok {
		outcome = Cancelled
		return
	}
	defer release()
	out := stream{rec: rec, s: s, to: llamaCPP{sse{w, m}}}
	outcome = out.run(r.Context(), s.answer(rec), m.tokens(rec.Prompt))
}

// splitInfill gives a request to /infill the fields of others.
func (r *record) splitInfill() error {
	var body struct {
		Prefix    string   `json:"input_prefix"`
		Suffix    string   `json:"input_suffix"`
		MaxTokens int      `json:"n_predict"`
		Stop      []string `json:"stop"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	r.Prompt = body.Prefix + Infill + body.Suffix
	r.standard(body.MaxTokens, body.Stop)
	return nil
}

// llamaCPP is the stream of its own interface: server-sent events of another form.
type llamaCPP struct{ sse }

func (f llamaCPP) piece(text string, logprobs []float64) {
	list := []map[string]any{}
	for _, lp := range logprobs {
		list = append(list, map[string]any{"token": text, "logprob": lp})
	}
	f.event(map[string]any{"content": text, "stop": false, "completion_probabilities": list})
}

func (f llamaCPP) done(reason string, promptTokens, tokens int) {
	kind := map[string]string{"length": "limit", "stop": "eos"}[reason]
	f.event(map[string]any{"content": "", "stop": true, "stop_type": kind, "tokens_evaluated": promptTokens, "tokens_predicted": tokens})
}

func (f llamaCPP) fail(message string) { fmt.Fprintf(f.w, "error: {\"message\":%q}\n\n", message) }
