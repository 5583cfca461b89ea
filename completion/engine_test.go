package completion

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quarry/index/glob"
)

// script is a Generator that plays pieces of text. It stands in for a model in
// tests of what text goes in and what comes out.
type script struct {
	model string
	ready error
	// reply answers a prompt with the pieces to stream; an error ends the
	// stream after them.
	reply func(prompt string, sample int) ([]string, error)
	// hold, if set, is waited for before each piece; the stream ignores its
	// context while it waits, as a stuck backend does.
	hold    chan struct{}
	logprob float64
	// asked, if set, hears of each request.
	asked chan struct{}
	// count is what promptTokens counts, rawTokens by default.
	count func(string) int

	mu sync.Mutex
	// prompts are those received, emitted the pieces taken. Guarded by mu.
	prompts []string
	emitted []string
}

func says(pieces ...string) *script {
	return &script{reply: func(string, int) ([]string, error) { return pieces, nil }}
}

func (g *script) Model() string {
	if g.model == "" {
		return "granite4.1:3b"
	}
	return g.model
}

func (g *script) Ready() error { return g.ready }

func (g *script) Generate(ctx context.Context, prompt string, maxTokens int, stop []string, sample int,
	emit func(string, float64) bool) (int, error) {
	g.mu.Lock()
	g.prompts = append(g.prompts, prompt)
	g.mu.Unlock()
	if g.asked != nil {
		g.asked <- struct{}{}
	}
	count := rawTokens(prompt)
	if g.count != nil {
		count = g.count(prompt)
	}
	pieces, err := g.reply(prompt, sample)
	for i, p := range pieces {
		if g.hold != nil {
			<-g.hold
		}
		if ctx.Err() != nil {
			return count, ctx.Err()
		}
		if i >= maxTokens {
			return count, nil
		}
		g.mu.Lock()
		g.emitted = append(g.emitted, p)
		g.mu.Unlock()
		if !emit(p, g.logprob) {
			return count, nil
		}
	}
	return count, err
}

func (g *script) sent() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.prompts...)
}

func (g *script) taken() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.emitted...)
}

// at makes a Request from text with the cursor at ‸.
func at(t *testing.T, path, language, marked string) Request {
	t.Helper()
	i := strings.Index(marked, "‸")
	if i < 0 {
		t.Fatalf("no cursor mark in %q", marked)
	}
	return Request{
		Key:      "file:///w/" + path,
		Document: Document{Path: path, Language: language, Text: marked[:i] + marked[i+len("‸"):]},
		Offset:   i,
	}
}

func newEngine(t *testing.T, g Generator, o Options) *Engine {
	t.Helper()
	e := New(g, o)
	t.Cleanup(e.Close)
	return e
}

func complete(t *testing.T, e *Engine, req Request) Result {
	t.Helper()
	res, err := e.Complete(t.Context(), req)
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	return res
}

// apply inserts an item as an editor would.
func apply(text string, it Item) string { return text[:it.Start] + it.Text + text[it.End:] }

func TestModelAnswers(t *testing.T) {
	g := says("a", " +", " b")
	e := newEngine(t, g, Options{})
	req := at(t, "add.go", "go", "package p\n\nfunc add(a, b int) int {\n\treturn ‸\n}\n")
	res := complete(t, e, req)
	if len(res.Items) != 1 || res.Items[0] != (Item{"a + b", req.Offset, req.Offset, "granite4.1:3b", res.Items[0].Confidence}) {
		t.Fatalf("items = %+v", res.Items)
	}
	if res.Note != "" || res.Engine != "granite4.1:3b" {
		t.Errorf("note %q, engine %q", res.Note, res.Engine)
	}
	want := "<|fim_prefix|>// add.go, go, indent tabs\npackage p\n\nfunc add(a, b int) int {\n" +
		"\treturn <|fim_suffix|>\n}\n<|fim_middle|>"
	if res.Prompt.Text != want || g.sent()[0] != want {
		t.Errorf("prompt = %q\nwant     %q", res.Prompt.Text, want)
	}
	if timed := res.Timings.Total > 0 && res.Timings.FirstToken > 0; res.Prompt.Tokens != rawTokens(want) || !timed && runtime.GOOS != "windows" { // whose clock moves in steps
		t.Errorf("prompt tokens %d, timings %+v", res.Prompt.Tokens, res.Timings)
	}
}

// A model that is absent, not ready, failing or slow leads to the model-free
// answer and a note, never to an error.
func TestModelFree(t *testing.T) {
	const doc = "package p\n\nfunc a() error {\n\tif err := step(1, 2); err != nil {\n\t\treturn err\n\t}\n" +
		"\tlog()\n\tif err := ste‸\n}\n"
	broken := says()
	broken.reply = func(string, int) ([]string, error) { return []string{"half "}, errors.New("connection refused") }
	slow := says("never")
	tests := map[string]struct {
		gen  Generator
		note string
	}{
		"none":      {nil, "no model is configured"},
		"not ready": {&script{ready: errors.New("run ollama serve")}, "run ollama serve"},
		"broken":    {broken, "granite4.1:3b did not answer: connection refused"},
		"slow":      {slow, "granite4.1:3b did not answer: " + errTimeout.Error()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(t, tt.gen, Options{Timeout: 20 * time.Millisecond})
				slow.hold = make(chan struct{})
				t.Cleanup(func() { close(slow.hold) }) // before the engine is closed, which waits for it
				req := at(t, "a.go", "go", doc)
				req.Manual = true // one place to copy from is not enough while typing
				res := complete(t, e, req)
				if len(res.Items) != 1 || res.Items[0].Text != "p(1, 2); err != nil {\n\t\treturn err\n\t}" || res.Items[0].Engine != "local" {
					t.Errorf("items = %+v", res.Items)
				}
				if res.Note != tt.note || res.Engine != "local" {
					t.Errorf("note %q, engine %q", res.Note, res.Engine)
				}
			})
		})
	}
}

// What was shown while the model was being loaded stays while it is typed, though the model could
// say something else by now; who types something else, or asks, gets the model's.
func TestWhatWasShownBeforeTheModelCouldBeAskedStays(t *testing.T) {
	const doc = "package p\n\nfunc a() error {\n\tif err := step(1, 2); err != nil {\n\t\treturn err\n\t}\n" +
		"\tlog()\n\tif err := ste‸\n}\n"
	for name, tt := range map[string]struct {
		typed  string
		manual bool
		asks   bool
	}{
		"typed":              {typed: "p(1"},
		"asked":              {typed: "p(1", manual: true, asks: true},
		"something else":     {typed: "al(", asks: true},
		"nothing is left":    {typed: "p(1, 2); err != nil {\n\t\treturn err\n\t}", asks: true},
		"nothing is typed":   {asks: true},
		"typed one by one":   {typed: "p"},
		"typed, and deleted": {typed: "q", asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := says("3)")
				g.ready = errors.New("wait, it is being loaded")
				e := newEngine(t, g, Options{})
				req := at(t, "a.go", "go", doc)
				req.Manual = true
				first := complete(t, e, req)
				if len(first.Items) != 1 || first.Engine != "local" {
					t.Fatalf("%+v", first)
				}
				g.ready = nil
				req.Manual = tt.manual
				req.Text, req.Offset = req.Text[:req.Offset]+tt.typed+req.Text[req.Offset:], req.Offset+len(tt.typed)
				res := complete(t, e, req)
				if asked := len(g.sent()) > 0; asked != tt.asks {
					t.Errorf("the model was asked: %v", asked)
				}
				if rest := strings.TrimPrefix(first.Items[0].Text, tt.typed); !tt.asks && (len(res.Items) != 1 || res.Items[0].Text != rest || res.Engine != "local" || res.Items[0].Start != req.Offset) {
					t.Errorf("%q was shown, then %+v", first.Items[0].Text, res)
				}
			})
		})
	}
}

func TestCancelReturnsAtOnce(t *testing.T) {
	g := says("x")
	g.hold, g.asked = make(chan struct{}), make(chan struct{}, 1)
	e := New(g, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() {
		_, err := e.Complete(ctx, at(t, "a.go", "go", "package ‸"))
		got <- err
	}()
	receive(t, g.asked, "the request")
	cancel()
	if err := receive(t, got, "the answer, whatever the model does"); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	close(g.hold)
	e.Close()
}

func TestSelectedEntryIsExtended(t *testing.T) {
	g := says("(w, r)")
	e := newEngine(t, g, Options{})
	req := at(t, "a.go", "go", "package p\n\nfunc f() {\n\thttp.Ser‸\n}\n")
	start := req.Offset - len("Ser")
	req.Selected = &Selected{Start: start, End: req.Offset, Text: "ServeHTTP"}
	res := complete(t, e, req)
	if len(res.Items) != 1 || res.Items[0] != (Item{"ServeHTTP(w, r)", start, req.Offset, "granite4.1:3b", res.Items[0].Confidence}) {
		t.Fatalf("items = %+v", res.Items)
	}
	if !strings.Contains(res.Prompt.Text, "\thttp.ServeHTTP<|fim_suffix|>") {
		t.Errorf("the model did not see the entry: %q", res.Prompt.Text)
	}
	req.Selected.End, req.Selected.Start = start, start
	if res := complete(t, e, req); len(res.Items) != 0 || res.Note == "" {
		t.Errorf("an entry away from the cursor: %+v", res)
	}
}

func TestAutoClosedPairIsReplaced(t *testing.T) {
	e := newEngine(t, says(`hi", name)`, "\n"), Options{})
	req := at(t, "a.go", "go", "package p\n\nfunc f() {\n\tfmt.Println(\"‸\")\n}\n")
	res := complete(t, e, req)
	if len(res.Items) != 1 {
		t.Fatalf("items = %+v, note %q", res.Items, res.Note)
	}
	if got := apply(req.Text, res.Items[0]); !strings.Contains(got, "\tfmt.Println(\"hi\", name)\n}") {
		t.Errorf("applied:\n%s", got)
	}
}

func TestOff(t *testing.T) {
	e := newEngine(t, says("x"), Options{Off: Off{Languages: []string{"markdown", "sh"}, Globs: glob.CompileAll([]string{"vendor/", "*.min.js", "secrets", "*.{pem,py}"}), Bytes: 50}})
	for path, off := range map[string]bool{
		"a.go": false, "vendor/x/a.go": true, "js/lib.min.js": true, "min.js": false, "myvendor/a.go": false,
		"a/secrets/b/c.go": true, "b/c.py": true,
	} {
		res := complete(t, e, at(t, path, "go", "package p ‸"))
		if (res.Note != "") != off {
			t.Errorf("%s: note %q, want off %v", path, res.Note, off)
		}
	}
	for path, language := range map[string]string{"a.md": "markdown", "a.sh": "shellscript", "b.sh": "sh"} {
		if res := complete(t, e, at(t, path, language, "x ‸")); res.Note == "" {
			t.Errorf("%s is served, which is disabled", language)
		}
	}
	if res := complete(t, e, at(t, "a.go", "go", strings.Repeat("x", 60)+"‸")); res.Note == "" {
		t.Error("a document over the limit is served")
	}
}

// Where a body stands below its head, or a block ends, what comes next is not guessed while
// the user types. Who asks is shown it.
func TestAskedShowsTheNextLine(t *testing.T) {
	for _, test := range []struct{ name, language, marked, model, want string }{
		{"the first line of a body", "go", "func f() {‸\n\tb()\n\tc()\n}\n", "\n\ta()", "func f() {\n\ta()\n\tb()\n\tc()\n}\n"},
		{"the first line of a body, said with the body", "go", "func f() {‸\n\tb()\n\tc()\n}\n", "\n\ta()\n\tb()\n\tc()\n}\n", "func f() {\n\ta()\n\tb()\n\tc()\n}\n"},
		{"the first line of a body without braces", "python", "def f(a):\n    if a:‸\n        c()\n", "\n        b()", "def f(a):\n    if a:\n        b()\n        c()\n"},
		{"the line behind a block", "python", "def f(a):\n    if a:\n        b()‸\n", "\n    return a", "def f(a):\n    if a:\n        b()\n    return a\n"},
		{"the next case", "c", "    switch (a) {\n    case 1:\n        break;‸\n    }\n", "\n    case 2:", "    switch (a) {\n    case 1:\n        break;\n    case 2:\n    }\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := at(t, "a", test.language, test.marked)
			if res := complete(t, newEngine(t, says(test.model), Options{}), req); len(res.Items) > 0 {
				t.Errorf("while typing %q is shown, want nothing", res.Items[0].Text)
			}
			req.Manual = true
			res := complete(t, newEngine(t, says(test.model), Options{}), req)
			if len(res.Items) != 1 {
				t.Fatalf("asked: %d items, note %q", len(res.Items), res.Note)
			}
			if got := apply(req.Text, res.Items[0]); got != test.want {
				t.Errorf("asked:\n got %q\nwant %q", got, test.want)
			}
		})
	}
}
