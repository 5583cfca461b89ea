package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// renderChat is /api/chat as far as it fills the model's template without asking
// the model; the Server answers no conversations.
func (s *Server) renderChat(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model    string
		Messages []struct{ Role, Content string }
		Tools    []json.RawMessage
		Render   bool `json:"_debug_render_only"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		reply(w, 400, map[string]any{"error": err.Error()})
		return
	}
	m, ok := s.findModel(req.Model)
	switch {
	case !ok:
		reply(w, 404, map[string]any{"error": fmt.Sprintf("model '%s' not found", req.Model)})
		return
	case !req.Render:
		reply(w, 501, map[string]any{"error": "the fake Ollama only renders conversations"})
		return
	case m.NoTools && len(req.Tools) > 0:
		reply(w, 400, map[string]any{"error": fmt.Sprintf("registry.ollama.ai/library/%s does not support tools", req.Model)})
		return
	}
	var b strings.Builder
	if m.NoChat {
		for _, m := range req.Messages {
			if m.Role == "user" {
				b.WriteString(m.Content)
			}
		}
		reply(w, 200, m.origin(map[string]any{"model": req.Model, "_debug_info": map[string]any{"rendered_template": b.String()}}))
		return
	}
	for _, tool := range req.Tools {
		fmt.Fprintf(&b, "<|tool|>%s\n", tool)
	}
	for _, m := range req.Messages {
		fmt.Fprintf(&b, "<|start_of_role|>%s<|end_of_role|>%s<|end_of_text|>\n", m.Role, m.Content)
	}
	b.WriteString("<|start_of_role|>assistant<|end_of_role|>")
	reply(w, 200, m.origin(map[string]any{"model": req.Model, "_debug_info": map[string]any{"rendered_template": b.String()}}))
}
