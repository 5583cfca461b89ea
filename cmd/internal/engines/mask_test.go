package engines

import (
	"log/slog"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/modeltest"
)

// Y7: whoever says a token, the user, a compiler or a comment, a model is not told it.
func TestNoConversationHasATokenInIt(t *testing.T) {
	const body = "9fK2mQ7xZ4bR1vT8wY3nL6pD5sH0jC2gA7eX"
	fake := modeltest.NewServer(t)
	var prompt string
	fake.Script(func(r modeltest.Request) modeltest.Answer {
		prompt = r.Prompt
		return modeltest.Answer{Pieces: []string{"done"}}
	})
	s := settings.Default()
	s.Ollama.URL, s.Embedding.Model = fake.URL, ""
	c := New(lsp.Start{Settings: s, Notify: func(lsp.Severity, string, string) {}, Job: func(string, func()) lsp.Job { return saying{&[]string{}} }},
		Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	defer c.Close()
	asked := []agent.Message{{Role: "system", Text: "You help."}, {Role: "user", Text: "do not keep ghp_" + body + " here"}}
	reply, err := c.Chat(t.Context(), agent.Conversation{Messages: asked, MaxTokens: 9}, func(string) bool { return true })
	if err != nil || reply.Text != "done" {
		t.Fatal(reply, err)
	}
	if strings.Contains(prompt, body) || !strings.Contains(prompt, "do not keep ghp_xxxx") {
		t.Errorf("the prompt is %q", prompt)
	}
	if !strings.Contains(asked[1].Text, body) {
		t.Error("whoever asks has lost their words")
	}
}
