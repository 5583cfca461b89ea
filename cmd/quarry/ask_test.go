package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/cmd/internal/cli/clitest"
	"quarry/cmd/internal/engines"
	"quarry/model/modeltest"
)

// askCore is the engines over a folder of testdata, asking the model at url; they
// are closed with the test.
func askCore(t testing.TB, url string, folder ...string) *engines.Core {
	t.Helper()
	return clitest.Core(t, url, filepath.Join(append([]string{"..", "..", "testdata"}, folder...)...))
}

// T5: every request of a question begins with the one before it and what the
// model answered to that, so that the server's cache holds.
func TestPromptsOfAQuestionOnlyGrow(t *testing.T) {
	server := modeltest.NewServer(t)
	answers := []string{
		"I look.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"inventory/stock.go\", \"start_line\": 1, \"end_line\": 62}}\n</tool_call>",
		"{\"type\":\"tool_call\",\"calls\":[{\"id\":\"7\",\"name\":\"search_symbols\",\"arguments\":\"{\\\"name\\\":\\\"Reserve\\\"}\"}]}",
		"It is somewhere.",
		"Reserve takes it out (inventory/stock.go:42-51).",
	}
	turn := 0
	server.Script(func(r modeltest.Request) modeltest.Answer {
		if r.NumPredict() == 1 || !strings.Contains(r.Prompt, "<|start_of_role|>") {
			return modeltest.Answer{Pieces: []string{" "}}
		}
		turn++
		return modeltest.Answer{Pieces: strings.SplitAfter(answers[turn-1], " ")}
	})
	c := askCore(t, server.URL, "golden", "workspace")
	r, err := c.AskWithin(t.Context(), agent.Question{Text: "Where is stock taken out when something is reserved?"}, 10*time.Minute, ask.Watch{})
	if err != nil || r.Unfounded {
		t.Fatalf("%+v, %v", r, err)
	}
	asked, before := 0, ""
	for _, q := range server.Prompts() {
		if !strings.Contains(q.Prompt, "<|start_of_role|>") {
			continue
		}
		if !strings.HasPrefix(q.Prompt, before) && !strings.HasPrefix(before, q.Prompt) {
			t.Errorf("turn %d does not go on from the one before:\n%s\n\nbefore:\n%s", asked+1, q.Prompt, before)
		}
		if q.NumPredict() != 1 {
			before = q.Prompt + answers[asked]
			asked++
		}
	}
	if asked != len(answers) {
		t.Errorf("%d turns, want %d", asked, len(answers))
	}
}

// The first question of all waits until it is known what the model is: a small one that is
// offered tools answers nothing.
func TestTheFirstQuestionKnowsTheModel(t *testing.T) {
	server := modeltest.NewServer(t)
	server.SetModels(modeltest.Model{Name: modeltest.DefaultModel, Parameters: 1.5e9})
	server.Script(func(r modeltest.Request) modeltest.Answer {
		if r.NumPredict() == 1 || !strings.Contains(r.Prompt, "<|start_of_role|>") {
			return modeltest.Answer{Pieces: []string{" "}}
		}
		if !strings.Contains(string(r.Body), `"enum":[0,1`) {
			t.Errorf("asked as a large model: %q", r.Prompt)
		}
		return modeltest.Answer{Pieces: []string{`{"answer": "Reserve takes `, "`Reserve`", ` it out of the stock.", "best": 1}`}}
	})
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, looked := httputil.NewSingleHostReverseProxy(target), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/show" {
			select {
			case <-looked:
			case <-r.Context().Done():
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	c := askCore(t, slow.URL, "golden", "workspace")
	time.AfterFunc(100*time.Millisecond, func() { close(looked) })
	r, err := c.AskWithin(t.Context(), agent.Question{Text: "Where is stock taken out when something is reserved?"}, 10*time.Minute, ask.Watch{})
	if err != nil || r.Unfounded {
		t.Errorf("%+v, %v", r, err)
	}
}

// A model with few parameters is asked once, to choose between pieces of evidence,
// and is offered no tools.
func TestASmallModelChooses(t *testing.T) {
	server := modeltest.NewServer(t)
	server.SetModels(modeltest.Model{Name: modeltest.DefaultModel, Parameters: 1.5e9})
	asked := 0
	server.Script(func(r modeltest.Request) modeltest.Answer {
		if r.NumPredict() == 1 || !strings.Contains(r.Prompt, "<|start_of_role|>") {
			return modeltest.Answer{Pieces: []string{" "}}
		}
		asked++
		if !strings.Contains(r.Prompt, "[1] ") || !strings.Contains(string(r.Body), `"enum":[0,1`) {
			t.Errorf("prompt %q", r.Prompt)
		}
		return modeltest.Answer{Pieces: []string{`{"answer": "Reserve takes `, "`Reserve`", ` it out of the stock.", "best": 1}`}}
	})
	c := askCore(t, server.URL, "golden", "workspace")
	r, err := c.AskWithin(t.Context(), agent.Question{Text: "Where is stock taken out when something is reserved?"}, 10*time.Minute, ask.Watch{})
	if err != nil || r.Unfounded || asked != 1 || len(r.Citations) != 1 || r.Citations[0] != (agent.Citation{Path: "inventory/stock.go", StartLine: 42, EndLine: 51}) {
		t.Errorf("asked %d times: %+v, %v", asked, r, err)
	}
}

// A model of few parameters copies what it is shown: it is asked for the line of the problem
// alone, in an answer that is begun as code.
func TestASmallModelWritesTheLine(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "testdata", "golden", "workspace"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "inventory", "stock.go")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(text), "it.Count -= count\n", "it.Count -= counts\n", 1)
	at := strings.Index(broken, "counts\n")
	for size, small := range map[float64]bool{1.5e9: true, 8e9: false} {
		server := modeltest.NewServer(t)
		server.SetModels(modeltest.Model{Name: modeltest.DefaultModel, Parameters: size})
		server.Script(func(r modeltest.Request) modeltest.Answer {
			if r.NumPredict() == 1 || !strings.Contains(r.Prompt, "<|start_of_role|>") {
				return modeltest.Answer{Pieces: []string{" "}}
			}
			if line := strings.HasSuffix(r.Prompt, "```go\n") && strings.Contains(r.Prompt, "What must stand in its place?"); line != small {
				t.Errorf("%g parameters: asked for the line: %t, by %q", size, line, r.Prompt)
			}
			return modeltest.Answer{Pieces: []string{"\tit.Count -= count", "\n```", "\n"}}
		})
		p, err := askCore(t, server.URL, "golden", "workspace").Fix(t.Context(), agent.Problem{
			Location: agent.Location{Document: agent.Document{Path: path, Language: "go", Text: broken}, Start: at, End: at + len("counts")},
			Severity: agent.SeverityError, Source: "compiler", Message: "undefined: counts",
		})
		if !small {
			continue
		}
		if err != nil || len(p.Files) != 1 || agent.ApplyEdits(broken, p.Files[0].Edits) != string(text) {
			t.Errorf("%+v, %v", p, err)
		}
	}
}
