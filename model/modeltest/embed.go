package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// EmbedAnswer is what one /api/embed request gets. The zero EmbedAnswer is a
// vector of one dimension for each text.
type EmbedAnswer struct {
	Vectors [][]float32
	// Hold, if set, keeps the request until it is closed or the client goes away.
	Hold <-chan struct{}
	// Status, if not 0, answers this HTTP status with Message as the error.
	Status  int
	Message string
}

func (s *Server) embedTexts(w http.ResponseWriter, r *http.Request) {
	rec, err := s.begin(r)
	if err != nil {
		reply(w, 400, map[string]any{"error": err.Error()})
		return
	}
	outcome := Finished
	defer func() { s.end(rec, outcome) }()
	m, ok := s.findModel(rec.Model)
	if !ok {
		outcome = Failed
		reply(w, 404, map[string]any{"error": fmt.Sprintf("model '%s' not found", rec.Model)})
		return
	}
	s.mu.Lock()
	script := s.embed
	s.loaded[fullName(rec.Model)] = &loadedModel{expires: time.Now().Add(keepAlive)}
	s.mu.Unlock()
	var a EmbedAnswer
	switch {
	case len(rec.Texts) == 0: // this only loads the model
		a.Vectors = [][]float32{}
	case script != nil:
		a = script(rec.Request)
	default:
		for range rec.Texts {
			a.Vectors = append(a.Vectors, []float32{1})
		}
	}
	if a.Hold != nil {
		select {
		case <-a.Hold:
		case <-r.Context().Done():
			outcome = Cancelled
			return
		}
	}
	if a.Status != 0 {
		outcome = Failed
		reply(w, a.Status, map[string]any{"error": a.Message})
		return
	}
	reply(w, 200, m.origin(map[string]any{"model": rec.Model, "embeddings": a.Vectors, "prompt_eval_count": len(rec.Texts)}))
}

// texts reads the input of an embed request: a string or a list of them.
func texts(input json.RawMessage) []string {
	var many []string
	var one string
	if json.Unmarshal(input, &many) == nil {
		return many
	}
	if json.Unmarshal(input, &one) == nil && one != "" {
		return []string{one}
	}
	return nil
}
