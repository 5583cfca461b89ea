package completion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// finder is a ContextSource that finds what is set, and remembers its queries.
type finder struct {
	found   []Snippet
	queries []ContextQuery
	// forDraft is found besides when the draft names it.
	forDraft map[string]Snippet
}

func (f *finder) Context(_ context.Context, q ContextQuery) []Snippet {
	f.queries = append(f.queries, q)
	found := slices.Clone(f.found)
	for name, s := range f.forDraft {
		if strings.Contains(q.Draft, name) {
			found = append(found, s)
		}
	}
	return found
}

// listing is a finder that knows which files there are, and their versions.
type listing struct {
	finder
	gone     map[string]bool
	versions map[string]int64
}

func (l *listing) Version(_, path string) (int64, bool) { return l.versions[path], !l.gone[path] }

// A head is frozen, but not with code of a document that was changed or closed since, or of
// a file that is no longer one of the workspace: it may be known for a secret by now.
func TestHeadForgetsWhatMayNotBeSeen(t *testing.T) {
	store := Document{Path: "store/open.go", Text: "func Open(path string) (*Store, error) {}\n"}
	for name, change := range map[string]func(l *listing, req *Request){
		"changed": func(_ *listing, req *Request) {
			req.Open = []Document{{Path: store.Path, Text: "func Open(xxxx string)\n"}}
		},
		"withheld":        func(_ *listing, req *Request) { req.Open = nil },
		"excluded":        func(l *listing, _ *Request) { l.gone[closeSnippet.Path] = true },
		"changed on disk": func(l *listing, _ *Request) { l.versions[closeSnippet.Path]++ },
	} {
		l := &listing{finder{found: []Snippet{openSnippet, closeSnippet}}, map[string]bool{}, map[string]int64{}}
		e := newEngine(t, says("1"), Options{Context: l})
		typed := func(version int32, text string) string {
			req := at0(t, "a", "a.go", text)
			req.Version, req.Open = version, []Document{store}
			if version == 3 {
				change(l, &req)
				l.found = nil
			}
			return complete(t, e, req).Prompt.Text
		}
		if first := typed(1, "x := ‸\n"); !strings.Contains(first, openSnippet.Text) || !strings.Contains(first, closeSnippet.Text) {
			t.Fatalf("the prompt begins %q", first)
		}
		if same := typed(2, "y(‸\n"); !strings.Contains(same, openSnippet.Text) || len(l.queries) != 1 {
			t.Errorf("%s: looked up %d times while typing", name, len(l.queries))
		}
		if last := typed(3, "z[‸\n"); strings.Contains(last, openSnippet.Text) || len(l.queries) != 2 {
			t.Errorf("%s: looked up %d times, and the prompt is %q", name, len(l.queries), last)
		}
	}
}

// What a prompt shows of its own document's other places is frozen, too, but not with what
// is masked by now: imports above the window, and the lines behind the suffix.
func TestFrozenPartsForgetWhatIsMasked(t *testing.T) {
	const half, whole = "import \"ghp_q7Zp2LxV9sKd\"\n", "import \"ghp_xxxxxxxxxxxxx\"\n"
	filler := strings.Repeat("\nfunc filler() { call(one, two, three) }\n", 400)
	for name, at := range map[string]func(secret, typed string) string{
		"above the window": func(secret, typed string) string { return "package a\n\n" + secret + filler + typed + "‸\n" },
		"behind the suffix": func(secret, typed string) string {
			return typed + "‸\n" + strings.Repeat("\tfill(one, two)\n", 24) + secret + "\n"
		},
	} {
		e := newEngine(t, says("1"), Options{Context: &finder{found: []Snippet{openSnippet}}})
		ask := func(version int32, secret, typed string) string {
			req := at0(t, "a", "a.go", at(secret, typed))
			req.Version = version
			return complete(t, e, req).Prompt.Text
		}
		if first := ask(1, half, "x := "); !strings.Contains(first, "q7Zp2LxV9sKd") {
			t.Fatalf("%s: the prompt is %q", name, first)
		}
		if next := ask(2, whole, "y("); strings.Contains(next, "q7Zp2LxV9sKd") || !strings.Contains(next, "ghp_xxx") {
			t.Errorf("%s: the prompt is %q", name, next)
		}
	}
}

// An answer that serves what the user types on is dropped, too, when something that went
// into it may not be seen any more: the model may have copied it.
func TestAnswersForgetWhatMayNotBeSeen(t *testing.T) {
	l := &listing{finder{found: []Snippet{closeSnippet}}, map[string]bool{}, map[string]int64{}}
	gen := says("1 + rest")
	e := newEngine(t, gen, Options{Context: l})
	typed := func(version int32, text string) Result {
		req := at0(t, "a", "a.go", text)
		req.Version = version
		return complete(t, e, req)
	}
	typed(1, "x := ‸\n")
	if again := typed(2, "x := 1‸\n"); !again.Reused {
		t.Fatal("what was typed on is asked for anew")
	}
	l.gone[closeSnippet.Path] = true
	l.found = nil
	if last := typed(3, "x := 1 ‸\n"); last.Reused || strings.Contains(last.Prompt.Text, closeSnippet.Text) {
		t.Errorf("reused: %t, prompt: %q", last.Reused, last.Prompt.Text)
	}
}

var (
	openSnippet  = Snippet{Root: "", Path: "store/open.go", StartLine: 3, EndLine: 4, Text: "func Open(path string) (*Store, error)", Why: "called here"}
	closeSnippet = Snippet{Root: "", Path: "store/close.go", StartLine: 9, EndLine: 9, Text: "func (s *Store) Close() error", Why: "method of Store"}
)

// Code of other places stands at the head, as comments, and stays as it is
// while the user types; a jump, another document and a pause renew it.
func TestContextIsFrozen(t *testing.T) {
	source := &finder{found: []Snippet{openSnippet, closeSnippet}}
	g := says("x()", "\n")
	e := newEngine(t, g, Options{Context: source, ContextTokens: 8192, PrefixTokens: 3000})
	now := time.Unix(1000, 0)
	e.now = func() time.Time { now = now.Add(50 * time.Millisecond); return now }
	e.after = func(time.Duration) <-chan time.Time { c := make(chan time.Time, 1); c <- now; return c }
	text := goSource(400)
	at := strings.Index(text, "func step10")
	p := newTypist(t, e, Request{Key: "a", Document: Document{Path: "a.go", Language: "go", Text: text}, Offset: at, Open: []Document{{Path: "o.go"}}})
	const head = "<|fim_prefix|>// store/open.go\n// func Open(path string) (*Store, error)\n" +
		"// store/close.go\n// func (s *Store) Close() error\n// a.go\n// "
	looked := 0
	var below Snippet // what follows in the document where the head was written last
	check := func(what string, lookups int) {
		t.Helper()
		res := complete(t, e, p.req)
		if !strings.HasPrefix(res.Prompt.Text, head) {
			t.Errorf("%s: the prompt begins %q", what, res.Prompt.Text[:min(len(res.Prompt.Text), 200)])
		}
		before := below
		below = res.Prompt.Snippets[len(res.Prompt.Snippets)-1]
		if len(source.queries) != lookups {
			t.Errorf("%s: %d look-ups, want %d", what, len(source.queries), lookups)
		}
		if lookups == looked && below != before {
			t.Errorf("%s: the head's end changed", what)
		}
		_, suffix, _ := strings.Cut(res.Prompt.Text, "<|fim_suffix|>")
		suffix = strings.TrimSuffix(suffix, "<|fim_middle|>")
		if rest := p.req.Text[p.req.Offset+len(suffix):]; lookups > looked && (!strings.HasPrefix(rest, below.Text) || below.Why != following) {
			t.Errorf("%s: %+v stands in the head, what follows the suffix is %q", what, below, rest[:80])
		}
		looked = lookups
		shown := slices.DeleteFunc(slices.Clone(res.Prompt.Snippets), func(s Snippet) bool { return s.Why == lastEdit })
		if !slices.Equal(shown, []Snippet{openSnippet, closeSnippet, below}) {
			t.Errorf("%s: record %+v", what, res.Prompt.Snippets)
		}
	}
	check("first", 1)
	if q := source.queries[0]; q.Offset != at || q.Path != "a.go" || len(q.Open) != 1 || q.Tokens != 768-rawTokens(below.Text+"\n") || q.Draft != "" {
		t.Errorf("query %+v", q)
	}
	p.types("y")
	check("typing", 1)
	slices.Reverse(source.found) // the same, ranked otherwise: the order stays
	p.req.Offset = strings.Index(p.req.Text, "func step40")
	check("a jump", 2)
	p.types("y")
	check("typing there", 2)
	now = now.Add(time.Minute)
	p.types("z")
	check("after a pause", 3)
	other := at0(t, "b", "b.go", "package b\n\n‸")
	complete(t, e, other)
	p.types("z")
	check("back from another document", 5)
}

func at0(t *testing.T, key, path, marked string) Request {
	req := at(t, path, "go", marked)
	req.Key = key
	return req
}

// What does not fit is left out, and later, smaller pieces still come.
func TestContextFitsItsBudget(t *testing.T) {
	long := Snippet{Path: "long.go", StartLine: 1, EndLine: 400, Text: goSource(400), Why: "too long"}
	g := says("x()", "\n")
	e := newEngine(t, g, Options{Context: &finder{found: []Snippet{long, openSnippet}}, SnippetTokens: 300})
	res := complete(t, e, at(t, "a.go", "go", "package a\n\n‸"))
	if !slices.Equal(res.Prompt.Snippets, []Snippet{openSnippet}) {
		t.Errorf("record %+v", res.Prompt.Snippets)
	}
}

// A search that takes too long costs its time limit and no more.
func TestSlowContextIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, says("x()", "\n"), Options{Context: stuck{}})
		res := complete(t, e, at(t, "a.go", "go", "package a\n\n‸"))
		if len(res.Items) != 1 || res.Timings.Context != contextWait {
			t.Errorf("items %+v, context took %v", res.Items, res.Timings.Context)
		}
	})
}

type stuck struct{}

func (stuck) Context(ctx context.Context, _ ContextQuery) []Snippet {
	<-ctx.Done()
	return nil
}

func TestCommentSyntax(t *testing.T) {
	for language, want := range map[string]string{
		"go": "// a\n//\n// --> */\n", "python": "# a\n#\n# --> */\n", "lua": "-- a\n--\n-- --> */\n",
		"html": "<!-- a -->\n<!-- -->\n<!-- - -> */ -->\n", "css": "/* a */\n/* */\n/* --> * / */\n", "never heard of": "# a\n#\n# --> */\n",
	} {
		if got := languageFor(language).comment("a\n\n--> */\n"); got != want {
			t.Errorf("%s: %q, want %q", language, got, want)
		}
	}
}

// For a body on request, the first answer says what to look up for the second.
func TestTwoRounds(t *testing.T) {
	source := &finder{found: []Snippet{openSnippet}, forDraft: map[string]Snippet{"Close": closeSnippet}}
	g := says()
	g.reply = func(prompt string, sample int) ([]string, error) {
		if strings.Contains(prompt, "close.go") {
			return []string{"return s.Close()"}, nil
		}
		return []string{"s.Close(1)"}, nil
	}
	e := newEngine(t, g, Options{Context: source, TwoRounds: true})
	req := at(t, "a.go", "go", "package a\n\nfunc f(s *Store) error {\n\t‸\n}\n")
	req.Manual = true
	res := complete(t, e, req)
	if len(res.Items) != 1 || res.Items[0].Text != "return s.Close()" {
		t.Errorf("items %+v", res.Items)
	}
	if n := len(g.sent()); n != 4 { // one draft, three candidates
		t.Errorf("%d requests to the model, want 4", n)
	}
	if !slices.Equal(res.Prompt.Snippets, []Snippet{openSnippet, closeSnippet}) {
		t.Errorf("record %+v", res.Prompt.Snippets)
	}

	// While typing there is one round, and one when nothing new is found.
	for name, change := range map[string]func(){
		"typing":      func() { req.Manual = false },
		"nothing new": func() { req.Manual = true; source.forDraft = nil },
	} {
		g.prompts = nil
		req.Text += "\n"
		change()
		complete(t, e, req)
		if n := len(g.sent()); n != 1 {
			t.Errorf("%s: %d requests to the model, want 1", name, n)
		}
	}
}

// A second round that fails leaves the first one's answer.
func TestSecondRoundFails(t *testing.T) {
	source := &finder{forDraft: map[string]Snippet{"Close": closeSnippet}}
	g := says()
	g.reply = func(prompt string, _ int) ([]string, error) {
		if strings.Contains(prompt, "close.go") {
			return nil, errors.New("the server fell over")
		}
		return []string{"s.Close()"}, nil
	}
	e := newEngine(t, g, Options{Context: source, TwoRounds: true})
	req := at(t, "a.go", "go", "package a\n\nfunc f(s *Store) {\n\t‸\n}\n")
	req.Manual = true
	if res := complete(t, e, req); len(res.Items) != 1 || res.Items[0].Text != "s.Close()" || res.Note != "" {
		t.Errorf("%+v", res)
	}
}

// slowOnce is a ContextSource whose first search takes until release.
type slowOnce struct {
	asked, release chan struct{}
	calls          atomic.Int32
}

func (s *slowOnce) Context(context.Context, ContextQuery) []Snippet {
	if s.calls.Add(1) == 1 {
		s.asked <- struct{}{}
		<-s.release
	}
	return nil
}

// A request whose search takes long must not end the one that overtook it.
func TestOvertakenRequestDoesNotCancel(t *testing.T) {
	source := &slowOnce{asked: make(chan struct{}), release: make(chan struct{})}
	g := says("done", "\n")
	g.hold, g.asked = make(chan struct{}), make(chan struct{}, 2)
	e := newEngine(t, g, Options{Context: source})
	p := newTypist(t, e, at(t, "a.go", "go", "x := ‸\n"))
	older := start(t.Context(), e, p.req)
	receive(t, source.asked, "the search")
	p.types("y")
	newer := start(t.Context(), e, p.req)
	receive(t, g.asked, "the request")
	close(source.release)
	if a := receive(t, older, "the older answer"); len(a.res.Items) != 0 || a.err != nil {
		t.Errorf("the older request: %+v, %v", a.res, a.err)
	}
	close(g.hold)
	if a := receive(t, newer, "the newer answer"); a.err != nil || len(a.res.Items) != 1 {
		t.Errorf("the newer request: %+v, %v", a.res, a.err)
	}
	if n := len(g.sent()); n != 1 {
		t.Errorf("%d requests to the model, want 1", n)
	}
}

// Where nothing is found, because the index is not there yet, it is looked for
// again, though not at each keystroke; the prompt stays the same as long as nothing is.
func TestContextIsLookedForUntilFound(t *testing.T) {
	source := &finder{}
	e := newEngine(t, says("x()", "\n"), Options{Context: source, Debounce: -1})
	clock := time.Now()
	e.now = func() time.Time { return clock }
	p := newTypist(t, e, at(t, "a.go", "go", "package a\n\n‸"))
	before, after, _ := strings.Cut(complete(t, e, p.req).Prompt.Text, "<|fim_suffix|>")
	for _, looked := range []int{1, 1, 2, 2} {
		p.types("y")
		before += "y"
		if got, want := complete(t, e, p.req).Prompt.Text, before+"<|fim_suffix|>"+after; got != want {
			t.Errorf("the prompt changed:\n%q\n%q", want, got)
		}
		if n := len(source.queries); n != looked {
			t.Errorf("%d look-ups, want %d", n, looked)
		}
		clock = clock.Add(lookAgain / 2)
	}
	source.found = []Snippet{openSnippet}
	p.types("z")
	if res := complete(t, e, p.req); len(res.Prompt.Snippets) != 1 {
		t.Error("what the index found by then is missing")
	}
	p.types("z")
	complete(t, e, p.req)
	if n := len(source.queries); n != 3 {
		t.Errorf("%d look-ups, want 3", n)
	}
}

// A backend that reads slowly is given less code of other places.
func TestSlowBackendGetsLessContext(t *testing.T) {
	var many []Snippet
	for i := range 100 {
		many = append(many, Snippet{Path: "a.go", StartLine: i + 1, EndLine: i + 1, Text: strings.Repeat("func word(argument int) error ", 2), Why: "x"})
	}
	e := newEngine(t, says("x()", "\n"), Options{Context: &finder{found: many}, ContextTokens: 8192})
	size := func(key string) int {
		req := at(t, "b.go", "go", "package b\n\n‸")
		req.Key = key
		return len(complete(t, e, req).Prompt.Snippets)
	}
	all := size("1")
	e.mu.Lock()
	e.readRate = 0 // the stand-in reads at once
	e.mu.Unlock()
	e.tookToRead(512, 10*time.Second)
	slow := size("2")
	e.tookToRead(512, 100*time.Millisecond)
	if again := size("3"); slow == 0 || slow > all/2 || again < all {
		t.Errorf("%d snippets at first, %d when slow, %d when quick again", all, slow, again)
	}
}
