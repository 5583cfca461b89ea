package lsp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/lsp/service/servicetest"
	"quarry/lsp/settings"
)

// addressLog tells where completions are served.
type addressLog struct {
	slog.Handler
	address chan string
}

func (l addressLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "completions are served" {
		r.Attrs(func(a slog.Attr) bool {
			l.address <- a.Value.String()
			return false
		})
	}
	return l.Handler.Handle(ctx, r)
}

const httpToken = "sixteen letters and more"

// editWithHTTP is edit with completions served over HTTP, at the address that comes.
func editWithHTTP(t *testing.T, c *core, root, token string) (*headless.Editor, <-chan string) {
	t.Helper()
	cache, err := os.MkdirTemp("", "q") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(cache) })
	servicetest.NeedSockets(t, cache)
	options := serverOptions(t, c, "")
	log := addressLog{options.Log.Handler(), make(chan string, 1)}
	options.CacheDir, options.Log = cache, slog.New(log)
	inner := options.Settings
	options.Settings = func(editor ...[]byte) (settings.Settings, []settings.Problem) {
		s, problems := inner(editor...)
		s.HTTP = settings.HTTP{Address: "127.0.0.1:0", Token: token}
		return s, problems
	}
	client, server := net.Pipe()
	exit := make(chan int, 1)
	go func() { exit <- lsp.Serve(context.Background(), server, options) }()
	p, err := headless.LoadProfile("helix")
	if err != nil {
		t.Fatal(err)
	}
	e, err := headless.Connect(soon(t), client, headless.Options{Profile: p, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Quit(context.Background()); err != nil {
			t.Errorf("quit: %v", err)
		}
		if code := <-exit; code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
	})
	return e, log.address
}

// post asks for a completion over HTTP.
func post(t *testing.T, address, prompt, suffix string) (status int, text string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": "quarry", "prompt": prompt, "suffix": suffix, "max_tokens": 64})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(soon(t), http.MethodPost, "http://"+address+"/v1/completions", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+httpToken)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Choices []struct{ Text string }
		Error   struct{ Message string }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if len(answer.Choices) == 0 {
		return resp.StatusCode, answer.Error.Message
	}
	return resp.StatusCode, answer.Choices[0].Text
}

// Whoever has the token is told the server's numbers, in the form that collectors read.
func TestMetricsOverHTTP(t *testing.T) {
	_, address := editWithHTTP(t, &core{}, t.TempDir(), httpToken)
	at := <-address
	get := func(token string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(soon(t), http.MethodGet, "http://"+at+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(raw)
	}
	status, text := get(httpToken)
	for _, line := range []string{"quarry_completion_shown 2\n", `quarry_completion_by_accepted{language="go",engine="test"} 1` + "\n", "quarry_model_sent 3\n"} {
		if status != http.StatusOK || !strings.Contains(text, line) {
			t.Errorf("%d, without %q:\n%s", status, line, text)
		}
	}
	if status, text := get("another"); status != http.StatusUnauthorized || strings.Contains(text, "quarry_model") {
		t.Errorf("%d: %s", status, text)
	}
}

// TestCompletionsOverHTTP: a client that sends the text around the cursor gets what an editor would get there, for
// open documents, for those that are a keystroke behind, for files of the workspace, and for no secret.
func TestCompletionsOverHTTP(t *testing.T) {
	root := t.TempDir()
	const indexed = "package cart\n\nfunc onlyInTheIndex() string {\n\treturn \"\"\n}\n"
	for name, text := range map[string]string{"cart.go": indexed, ".env": "A_SECRET_THAT_NOBODY_ASKS=for it\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var item func(completion.Request) completion.Item
	var asked completion.Request
	c := &core{indexed: true, complete: func(_ context.Context, r completion.Request) (completion.Result, error) {
		asked = r
		return completion.Result{Items: []completion.Item{item(r)}, Engine: "test"}, nil
	}}
	e, address := editWithHTTP(t, c, root, httpToken)
	at := <-address
	const text = "package shop\r\n\r\nfunc area(w, h int) int {\r\n\tprintln()\r\n}\r\n"
	open(t, e, "shop.go", "go", text)
	for ctx := soon(t); len(search(t, ctx, e, map[string]any{"query": "onlyInTheIndex"}).Results) == 0; {
		if ctx.Err() != nil {
			t.Fatal("the workspace was not indexed in time")
		}
	}
	lf := strings.ReplaceAll(text, "\r\n", "\n")
	before, after, _ := strings.Cut(lf, ")\n}")
	after = ")\n}" + after

	for name, tt := range map[string]struct {
		prefix, suffix string
		item           completion.Item // Start and End are relative to the cursor
		want           string
		path           string // of the document that was completed
	}{
		"inserts":                {before, after, completion.Item{Text: "w, h"}, "w, h", "shop.go"},
		"covers the rest":        {before, after, completion.Item{Text: "w, h)", End: 1}, "w, h", "shop.go"},
		"covers, and more lines": {before, after, completion.Item{Text: "w)\n\tprintln(h)", End: 1}, "w)\n\tprintln(h", "shop.go"},
		"closes on its first":    {before, after, completion.Item{Text: "w)\n\treturn w * h", End: 1}, "w", "shop.go"},
		"cannot be inserted":     {before, after, completion.Item{Text: "w]", End: 1}, "", "shop.go"},
		"begins before":          {before, after, completion.Item{Text: "(w", Start: -1}, "w", "shop.go"},
		"a key ahead":            {before + "w, ", after, completion.Item{Text: "h"}, "h", "shop.go"},
		"in the index":           {indexed[:50], indexed[50:], completion.Item{Text: "x"}, "x", "cart.go"},
	} {
		t.Run(name, func(t *testing.T) {
			item = func(r completion.Request) completion.Item {
				it := tt.item
				it.Start, it.End = it.Start+r.Offset, it.End+r.Offset
				return it
			}
			status, got := post(t, at, "<|fim_prefix|>"+tt.prefix+"<|fim_suffix|>"+tt.suffix+"<|fim_middle|>", "")
			if status != http.StatusOK || got != tt.want {
				t.Errorf("%d %q, want %q", status, got, tt.want)
			}
			if asked.Path != tt.path || asked.Language != "go" || !strings.HasSuffix(asked.Text[:asked.Offset], tt.prefix) {
				t.Errorf("asked for %s (%s) at %q", asked.Path, asked.Language, asked.Text[:asked.Offset])
			}
		})
	}
	for name, prefix := range map[string]string{"a text of nowhere": "package elsewhere\n\nfunc f(", "a secret": "A_SECRET_THAT_NOBODY_ASKS=", "nothing": ""} {
		if status, got := post(t, at, prefix, ""); status != http.StatusNotFound || !strings.Contains(got, "no document that quarry knows") {
			t.Errorf("%s: %d %q", name, status, got)
		}
	}
	open(t, e, ".env", "dotenv", "A_SECRET_THAT_NOBODY_ASKS=for it\n")
	search(t, soon(t), e, map[string]any{"query": "area"}) // messages are taken in order: once this is answered, the document is known
	if status, got := post(t, at, "A_SECRET_THAT_NOBODY_ASKS=", "for it\n"); status != http.StatusOK || got != "" {
		t.Errorf("in an open secret: %d %q", status, got)
	}
	// Nobody knows whether a text may be shown to a model before its document is found.
	c.mu.Lock()
	defer c.mu.Unlock()
	quoted := 0
	for _, req := range c.searched {
		if len(req.Query.Phrases) == 0 {
			continue
		}
		quoted++
		if req.WantsSemantic() {
			t.Errorf("%q goes to the embedding model", req.Query.Phrases)
		}
	}
	if quoted < 2 {
		t.Errorf("%d texts were looked for", quoted)
	}
}

// TestHTTPNeedsAToken: nothing is served, and the user is told why.
func TestHTTPNeedsAToken(t *testing.T) {
	e, address := editWithHTTP(t, &core{}, t.TempDir(), "short")
	if err := e.Await(soon(t), func() bool {
		return strings.Contains(strings.Join(e.Shown(), "\n"), "set http.token to 16 or more random characters: ")
	}); err != nil {
		t.Fatalf("%v; told %q", err, e.Shown())
	}
	select {
	case at := <-address:
		t.Errorf("served at %s", at)
	default:
	}
}
