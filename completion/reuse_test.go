package completion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// typist is a user in an editor: a document, a cursor, and an engine asked
// after each change.
type typist struct {
	t   *testing.T
	e   *Engine
	req Request
}

func newTypist(t *testing.T, e *Engine, req Request) *typist { return &typist{t, e, req} }

func (p *typist) types(text string) { p.edits(text, "") }

// edits types text and has the editor put after behind the cursor.
func (p *typist) edits(text, after string) {
	p.req.Text = p.req.Text[:p.req.Offset] + text + after + p.req.Text[p.req.Offset:]
	p.req.Offset += len(text)
	p.req.Version++
}

func (p *typist) backspaces(n int) {
	p.req.Text = p.req.Text[:p.req.Offset-n] + p.req.Text[p.req.Offset:]
	p.req.Offset -= n
	p.req.Version++
}

// sees is the document with the first item applied, "" if there is none.
func (p *typist) sees() string {
	p.t.Helper()
	res := complete(p.t, p.e, p.req)
	if len(res.Items) == 0 {
		return ""
	}
	return apply(p.req.Text, res.Items[0])
}

const loop = "package p\n\nfunc sum(values []int) int {\n\ttotal := 0\n\t‸\n\treturn total\n}\n"

// While the user types a shown answer, over several lines, takes it in parts
// and goes back in it, the model is not asked again.
func TestShownAnswerServes(t *testing.T) {
	g := says("for _, v", " := range values {\n", "\t\ttotal += v\n", "\t}")
	e := newEngine(t, g, Options{})
	p := newTypist(t, e, at(t, "sum.go", "go", loop))
	want := strings.Replace(loop, "‸", "for _, v := range values {\n\t\ttotal += v\n\t}", 1)
	check := func(what string) {
		t.Helper()
		if got := p.sees(); got != want {
			t.Errorf("%s: applied\n%s", what, got)
		}
	}
	check("first")
	for _, c := range "for _, v" {
		p.types(string(c))
		check("typing " + string(c))
	}
	p.backspaces(3)
	check("three back")
	p.types(", v := range values {")
	check("the line accepted")
	p.types("\n\t\t")
	check("the next line begun")
	p.types("total += v\n\t")
	check("its last line")
	if n := len(g.sent()); n != 1 {
		t.Errorf("%d requests to the model, want 1", n)
	}
	p.types("x")
	p.sees()
	if n := len(g.sent()); n != 2 {
		t.Errorf("after leaving the answer: %d requests, want 2", n)
	}
}

// What is left of a shown answer may be what stands behind the cursor already.
// That is no reason to ask anew before the user has typed it all, unless they
// ask for more.
func TestRestOfWhatWasShownStandsThere(t *testing.T) {
	g := says("{}", "\n", "\tuse(tree)\n")
	e := newEngine(t, g, Options{})
	p := newTypist(t, e, at(t, "tree.go", "go", "package p\n\nfunc f() {\n\ttree := &node‸}\n\nfunc g() {\n}\n"))
	if got := p.sees(); !strings.Contains(got, "&node{}") {
		t.Fatalf("shown:\n%s", got)
	}
	p.types("{")
	if got := p.sees(); got != "" {
		t.Errorf("shown of what stands there:\n%s", got)
	}
	if n := len(g.sent()); n != 1 {
		t.Errorf("%d requests to the model", n)
	}
	p.req.Manual = true
	p.sees()
	if n := len(g.sent()); n == 1 {
		t.Error("who asks for more is not heard")
	}
}

// Several statements shown on an empty line do not shrink to the first while the user types it.
func TestShownBlockStaysWhileTyped(t *testing.T) {
	e := newEngine(t, says("total = 1\n", "\ttotal *= 2"), Options{})
	p := newTypist(t, e, at(t, "sum.go", "go", loop))
	want := strings.Replace(loop, "‸", "total = 1\n\ttotal *= 2", 1)
	for _, c := range "total = 1" {
		if got := p.sees(); got != want {
			t.Fatalf("before %q: applied\n%s", c, got)
		}
		p.types(string(c))
	}
}

// Who undoes, and redoes, what came after an answer sees it again: as many answers are
// kept of a document as the engine says, and the oldest goes first.
func TestEarlierAnswersServe(t *testing.T) {
	g := &script{reply: func(prompt string, _ int) ([]string, error) { return []string{"step(a, b)"}, nil }}
	e := newEngine(t, g, Options{})
	p := newTypist(t, e, at(t, "sum.go", "go", loop))
	var before []Request
	edit := func(n int) { // a line of the user's own, which leaves the answer
		p.types(fmt.Sprintf("x%d := %d\n\t", n, n))
		before = append(before, p.req)
		if p.sees() == "" {
			t.Fatalf("nothing is shown after edit %d", n)
		}
	}
	for n := range 16 {
		edit(n)
	}
	asked := len(g.sent())
	if asked != 16 {
		t.Fatalf("%d requests to the model for 16 places", asked)
	}
	for n, req := range slices.Backward(before) { // undo
		if res := complete(t, e, req); !res.Reused || len(res.Items) != 1 {
			t.Errorf("back at edit %d: reused %v, %d items", n, res.Reused, len(res.Items))
		}
	}
	if n := len(g.sent()); n != asked {
		t.Errorf("undoing asks the model %d times", n-asked)
	}
	edit(16)
	asked = len(g.sent())
	if res := complete(t, e, before[1]); !res.Reused {
		t.Error("the second of 17 answers is gone")
	}
	if res := complete(t, e, before[0]); res.Reused || len(g.sent()) != asked+1 {
		t.Error("more than 16 answers are kept")
	}
}

// The prompt's window jumps on when it has grown too long, and that may be in the
// middle of an answer.
func TestShownAnswerServesWhileTheWindowJumps(t *testing.T) {
	const answer = "total := first(values) + second(values) + third(values) + fourth(values)"
	g := says(answer)
	e := newEngine(t, g, Options{PrefixTokens: 64})
	p := newTypist(t, e, at(t, "f.go", "go", "package p\n\nfunc f() {\n"+strings.Repeat("\tstep()\n", 40)+"\t‸\n}\n"))
	want := p.sees()
	first := e.docs[p.req.Key].window.start
	for _, c := range strings.TrimSuffix(answer, ")") {
		p.types(string(c))
		if got := p.sees(); got != want {
			t.Fatalf("typed up to %q: something else is seen", c)
		}
	}
	if n := len(g.sent()); n != 1 {
		t.Errorf("%d requests to the model", n)
	}
	if f := e.docs[p.req.Key].window.advance(p.req.Text, p.req.Offset); f.start == first {
		t.Error("the window stood still, so nothing was tested")
	}
}

// boundary answers whether a cursor can stand at offset at of text.
func boundary(text string, at int) bool {
	return at == len(text) || utf8.RuneStart(text[at]) && !(at > 0 && text[at-1] == '\r' && text[at] == '\n')
}

// Whatever a document, its window and an answer look like: who types what they
// see, goes back in it and types on, sees it stand still, and nobody is asked.
func TestTypingWhatIsShownAsksNobody(t *testing.T) {
	line := rapid.SampledFrom([]string{"\tstep(alpha)", "\tif ok {", "\t}", "\t// größer 😀", "", "\tx := []int{1, 2}"})
	rapid.Check(t, func(rt *rapid.T) {
		above := strings.Join(rapid.SliceOfN(line, 0, 60).Draw(rt, "above"), "\n")
		below := strings.Join(rapid.SliceOfN(line, 0, 10).Draw(rt, "below"), "\n")
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "newline")
		head := rapid.SampledFrom([]string{"", "\t", "\ttotal :="}).Draw(rt, "head")
		answer := rapid.SliceOfN(rapid.SampledFrom([]string{" a", "(b)", " + c", ".d", "[e]", "\n\tf", " {\n\t\tg", "\n\t}"}), 1, 20).Draw(rt, "answer")
		g := says(answer...)
		e := New(g, Options{Debounce: -1, PrefixTokens: rapid.IntRange(40, 400).Draw(rt, "prefix")})
		defer e.Close()
		doc := strings.ReplaceAll("func f() {\n"+above+"\n"+head+"‸\n"+below+"\n}\n", "\n", newline)
		p := newTypist(t, e, at(t, "f.go", "go", doc))
		want, from := p.sees(), p.req.Offset
		if want == "" {
			return // nothing is shown
		}
		shown := want[from : len(want)-len(p.req.Text[from:])]
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			typed := p.req.Offset - from
			if rapid.IntRange(0, 3).Draw(rt, "back") == 0 {
				n := 0
				for n < typed && (n == 0 || !boundary(shown, typed-n)) {
					n++
				}
				p.backspaces(n)
			} else if typed < len(shown) {
				n := 1
				for !boundary(shown, typed+n) {
					n++
				}
				p.types(shown[typed : typed+n])
			}
			if blank(shown[p.req.Offset-from:]) {
				break
			}
			if got := p.sees(); !strings.HasPrefix(got, want[:from+len(shown)]) { // it may grow
				rt.Fatalf("after %q of %q:\n%q, want\n%q", shown[:p.req.Offset-from], shown, got, want)
			}
		}
		if n := len(g.sent()); n != 1 {
			rt.Fatalf("%d requests to the model for %q", n, shown)
		}
	})
}

// What is on the screen has passed the syntax check and stays while it is typed, whatever
// the parser makes of its beginnings.
func TestShownAnswerIsCheckedOnce(t *testing.T) {
	g := says("a) + (b")
	e := newEngine(t, g, Options{Syntax: &bracketCounter{}})
	p := newTypist(t, e, at(t, "f.go", "go", "func f() {\n\tx := (‸\n}\n"))
	want := p.sees()
	if want == "" {
		t.Fatal("nothing is shown")
	}
	for _, c := range "a) + (" {
		p.types(string(c))
		if got := p.sees(); got != want {
			t.Errorf("after %q:\n%s", p.req.Text[:p.req.Offset], got)
		}
	}
	if n := len(g.sent()); n != 1 {
		t.Errorf("%d requests to the model", n)
	}
}

func TestReuseDependsOnThePrompt(t *testing.T) {
	answer := says("total(a, b)")
	tests := map[string]struct {
		do    func(p *typist)
		calls int
		want  string // what is inserted then
	}{
		"an import added above": {func(p *typist) {
			p.req.Text, p.req.Offset = "import x\n"+p.req.Text, p.req.Offset+len("import x\n")
		}, 2, "total(a, b)"}, // the window begins at the file's start and holds it
		"a change below":                 {func(p *typist) { p.req.Text += "// more\n" }, 2, "total(a, b)"},
		"the same place":                 {func(p *typist) {}, 1, "total(a, b)"},
		"a bracket closed by the editor": {func(p *typist) { p.edits("total(", ")") }, 1, "a, b"},
		"another word":                   {func(p *typist) { p.types("mean") }, 2, "total(a, b)"},
		"asked for by hand":              {func(p *typist) { p.req.Manual = true }, 4, "total(a, b)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			answer.prompts = nil
			e := newEngine(t, answer, Options{})
			p := newTypist(t, e, at(t, "a.go", "go", "func f() {\n\tx := ‸\n}\n"))
			p.sees()
			tt.do(p)
			res := complete(t, e, p.req)
			if n := len(answer.sent()); n != tt.calls {
				t.Errorf("%d requests to the model, want %d", n, tt.calls)
			}
			if len(res.Items) != 1 || res.Items[0].Text != tt.want || res.Reused != (tt.calls == 1) {
				t.Errorf("items %+v, reused %v", res.Items, res.Reused)
			}
		})
	}
}

// A change above the window leaves the prompt, and so the answer, as it was.
func TestEditAboveTheWindow(t *testing.T) {
	g := says("added()")
	e := newEngine(t, g, Options{PrefixTokens: 300})
	text := goSource(400)
	cursor := strings.Index(text, "\treturn total + 40")
	req := Request{Key: "k", Document: Document{Path: "a.go", Language: "go", Text: text}, Offset: cursor}
	complete(t, e, req)
	req.Text, req.Offset = "// a licence\n"+text, cursor+len("// a licence\n")
	if res := complete(t, e, req); !res.Reused || len(g.sent()) != 1 {
		t.Errorf("reused %v after %d requests", res.Reused, len(g.sent()))
	}
}

// answerTo is one Complete on its own goroutine.
type answerTo struct {
	res Result
	err error
}

func start(ctx context.Context, e *Engine, req Request) <-chan answerTo {
	c := make(chan answerTo, 1)
	go func() {
		res, err := e.Complete(ctx, req)
		c <- answerTo{res, err}
	}()
	return c
}

func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// A stream whose text agrees with what is typed goes on and serves the newer
// request; the older one is answered at once.
func TestRunningStreamIsJoined(t *testing.T) {
	g := says("ab", "cd", "ef")
	g.hold, g.asked = make(chan struct{}), make(chan struct{}, 2)
	e := newEngine(t, g, Options{})
	p := newTypist(t, e, at(t, "a.go", "go", "x := ‸\n"))
	first := start(t.Context(), e, p.req)
	receive(t, g.asked, "the request")
	g.hold <- struct{}{}
	p.types("abc") // more than has come, and right
	second := start(t.Context(), e, p.req)
	if a := receive(t, first, "the older answer"); a.err != nil || len(a.res.Items) != 0 || a.res.Note == "" {
		t.Errorf("the older request: %+v, %v", a.res, a.err)
	}
	g.hold <- struct{}{}
	g.hold <- struct{}{}
	a := receive(t, second, "the newer answer")
	if a.err != nil || len(a.res.Items) != 1 || a.res.Items[0].Text != "def" || !a.res.Reused {
		t.Errorf("the newer request: %+v, %v", a.res, a.err)
	}
	if len(g.sent()) != 1 {
		t.Errorf("%d requests to the model", len(g.sent()))
	}
}

func TestLeftStreamIsCancelled(t *testing.T) {
	g := says("ab", "cd")
	g.hold, g.asked = make(chan struct{}), make(chan struct{}, 2)
	e := newEngine(t, g, Options{})
	p := newTypist(t, e, at(t, "a.go", "go", "x := ‸\n"))
	start(t.Context(), e, p.req)
	receive(t, g.asked, "the request")
	p.types("z")
	second := start(t.Context(), e, p.req)
	g.hold <- struct{}{} // "ab" disagrees with z
	receive(t, g.asked, "the second request")
	close(g.hold)
	if a := receive(t, second, "the answer"); len(a.res.Items) != 1 || a.res.Items[0].Text != "abcd" {
		t.Errorf("%+v, %v", a.res, a.err)
	}
	if got := strings.Join(g.taken(), " "); got != "ab ab cd" {
		t.Errorf("the model produced %q: the first stream ran on %q", got, g.sent())
	}
}

// stopsWith tells when its context ends.
type stopsWith struct {
	*script
	ended chan error
}

func (g stopsWith) Generate(ctx context.Context, prompt string, n int, stop []string, sample int, emit func(string, float64) bool) (int, error) {
	g.asked <- struct{}{}
	<-ctx.Done()
	g.ended <- context.Cause(ctx)
	return 0, ctx.Err()
}

// A cancelled request stops the backend soon, unless another takes its place.
func TestCancelStopsTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := stopsWith{says(), make(chan error, 1)}
		g.asked = make(chan struct{}, 1)
		e := newEngine(t, g, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		got := start(ctx, e, at(t, "a.go", "go", "x := ‸\n"))
		receive(t, g.asked, "the request")
		begin := time.Now()
		cancel()
		if a := receive(t, got, "the answer"); a.err != context.Canceled {
			t.Errorf("err = %v", a.err)
		}
		if err := receive(t, g.ended, "the backend's cancel"); err != errAbandoned {
			t.Errorf("cause %v", err)
		}
		if took := time.Since(begin); took != leaveAfter {
			t.Errorf("the backend ran on for %v", took)
		}
	})
}

func TestForgetCancels(t *testing.T) {
	g := stopsWith{says(), make(chan error, 1)}
	g.asked = make(chan struct{}, 1)
	e := newEngine(t, g, Options{})
	req := at(t, "a.go", "go", "x := ‸\n")
	got := start(t.Context(), e, req)
	receive(t, g.asked, "the request")
	e.Forget(req.Key)
	receive(t, g.ended, "the backend's cancel")
	if a := receive(t, got, "the answer"); a.err != nil || len(a.res.Items) != 0 {
		t.Errorf("%+v, %v", a.res, a.err)
	}
}

func TestCandidates(t *testing.T) {
	g := says()
	g.reply = func(_ string, sample int) ([]string, error) {
		return []string{[]string{"one", "two", "one", "three"}[sample]}, nil
	}
	e := newEngine(t, g, Options{Candidates: 4})
	req := at(t, "a.go", "go", "x := ‸\n")
	req.Manual = true
	var got []string
	for _, it := range complete(t, e, req).Items {
		got = append(got, it.Text)
	}
	if fmt.Sprint(got) != "[one two three]" {
		t.Errorf("candidates %v", got)
	}
	req.Manual = false
	if res := complete(t, e, req); !res.Reused || len(res.Items) != 3 {
		t.Errorf("typing does not reuse what was asked for: %+v", res)
	}
}

func TestConfidence(t *testing.T) {
	for _, tt := range []struct {
		logprob float64
		manual  bool
		shown   bool
	}{{-0.1, false, true}, {-3, false, false}, {-3, true, true}, {math.NaN(), false, true}} {
		g := says("maybe", "\n")
		g.logprob = tt.logprob
		e := newEngine(t, g, Options{MinConfidence: 0.3})
		req := at(t, "a.go", "go", "x := ‸\n")
		req.Manual = tt.manual
		res := complete(t, e, req)
		if shown := len(res.Items) > 0; shown != tt.shown || shown != (res.Note == "") {
			t.Errorf("logprob %v, manual %v: items %+v, note %q", tt.logprob, tt.manual, res.Items, res.Note)
		}
	}
}

// A part of an answer is as sure as the tokens that it has a letter of, and no other.
func TestConfidenceOfAPart(t *testing.T) {
	a := answer{text: "abcde", pieces: []scoredPiece{{3, math.Log(.5)}, {5, math.Log(.1)}}}
	for _, c := range []struct {
		from, to int
		want     float64
	}{{0, 3, .5}, {3, 5, .1}, {0, 5, math.Sqrt(.05)}, {2, 4, math.Sqrt(.05)}, {0, 2, .5}} {
		if got := a.confidence(c.from, c.to); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("of %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestDebounce(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct{ gap, latency, want time.Duration }{
		{0, time.Second, 0},    // nothing known of the typing
		{100 * ms, 10 * ms, 0}, // a quick model
		{100 * ms, time.Second, 125 * ms},
		{100 * ms, 60 * ms, 60 * ms},
		{900 * ms, time.Second, 250 * ms},
	} {
		if got := debounce(tt.gap, tt.latency, 250*ms); got != tt.want {
			t.Errorf("debounce(%v, %v) = %v, want %v", tt.gap, tt.latency, got, tt.want)
		}
	}
	var r rhythm
	now := time.Unix(1000, 0)
	for range 20 {
		now = now.Add(80 * ms)
		r.note(now)
	}
	r.note(now.Add(time.Minute)) // a pause says nothing of the rhythm
	if r.gap != 80*ms {
		t.Errorf("gap %v, want 80ms", r.gap)
	}
}

// A burst of keystrokes costs one request; a hit and a manual request never
// wait.
func TestBurstAsksOnce(t *testing.T) {
	g := says("done", "\n")
	e := New(g, Options{})
	defer e.Close()
	now, waits := time.Unix(1000, 0), make(chan time.Duration, 10)
	fire := make(chan time.Time)
	e.now = func() time.Time { now = now.Add(100 * time.Millisecond); return now }
	e.after = func(d time.Duration) <-chan time.Time { waits <- d; return fire }
	e.tookLatency(time.Second)
	p := newTypist(t, e, at(t, "a.go", "go", "x := ‸\n"))
	p.sees() // the first request knows no rhythm
	p.types("y")
	var older <-chan answerTo
	for i := range 5 {
		p.types("y")
		next := start(t.Context(), e, p.req)
		if d := receive(t, waits, "the debounce"); d < 100*time.Millisecond || d > 250*time.Millisecond {
			t.Errorf("keystroke %d waits %v", i, d)
		}
		if older != nil {
			if a := receive(t, older, "the superseded answer"); len(a.res.Items) != 0 {
				t.Errorf("a superseded request got %+v", a.res)
			}
		}
		older = next
	}
	fire <- now
	if a := receive(t, older, "the answer"); len(a.res.Items) != 1 {
		t.Errorf("%+v, %v", a.res, a.err)
	}
	if n := len(g.sent()); n != 2 {
		t.Errorf("%d requests to the model, want 2", n)
	}
	p.types("d") // typing the shown answer
	p.sees()
	p.req.Manual = true
	p.sees()
	select {
	case d := <-waits:
		t.Errorf("a hit or a manual request waited %v", d)
	default:
	}
}

// A long prompt that the backend has not read goes there in steps.
func TestColdPromptIsWarmedInSteps(t *testing.T) {
	g := says("x", "\n")
	e := newEngine(t, g, Options{ContextTokens: 8192, PrefixTokens: 4000})
	text := goSource(1200)
	req := Request{Key: "k", Document: Document{Path: "a.go", Language: "go", Text: text}, Offset: len(text) / 2}
	complete(t, e, req)
	sent := g.sent()
	if len(sent) < 4 {
		t.Fatalf("%d requests for a cold prompt of %d tokens", len(sent), rawTokens(sent[len(sent)-1]))
	}
	for i := 1; i < len(sent); i++ {
		if !strings.HasPrefix(sent[i], sent[i-1]) {
			t.Fatalf("step %d is no beginning of the next", i-1)
		}
		if step := rawTokens(sent[i][len(sent[i-1]):]); step > 2*warmStep {
			t.Errorf("step %d reads %d tokens", i, step)
		}
		if i < len(sent)-1 && !strings.HasSuffix(sent[i], "\n") {
			t.Errorf("step %d ends inside a line", i)
		}
	}
	req.Text = text[:req.Offset] + "y" + text[req.Offset:]
	req.Offset++
	complete(t, e, req)
	if n := len(g.sent()) - len(sent); n != 1 {
		t.Errorf("%d requests for a warm prompt", n)
	}
}

// After a suggestion was accepted the next one is there before it is asked for.
func TestPrefetch(t *testing.T) {
	g := says("first(a)", "\n")
	g.asked = make(chan struct{}, 4)
	e := newEngine(t, g, Options{})
	p := newTypist(t, e, at(t, "a.go", "go", "x := ‸\n"))
	res := complete(t, e, p.req)
	receive(t, g.asked, "the request")
	p.types(res.Items[0].Text + "\n")
	e.Prefetch(p.req)
	e.Prefetch(p.req) // once is enough
	receive(t, g.asked, "the request ahead")
	if res := complete(t, e, p.req); !res.Reused || len(res.Items) != 1 {
		t.Errorf("after accepting: %+v", res)
	}
	if n := len(g.sent()); n != 2 {
		t.Errorf("%d requests to the model, want 2", n)
	}
}

// What runs ahead ends like any other once somebody came and went.
func TestPrefetchEndsWithItsWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := stopsWith{says(), make(chan error, 1)}
		g.asked = make(chan struct{}, 2)
		e := newEngine(t, g, Options{})
		req := at(t, "a.go", "go", "x := ‸\n")
		e.Prefetch(req)
		receive(t, g.asked, "the request ahead")
		ctx, cancel := context.WithCancel(t.Context())
		got := start(ctx, e, req)
		select {
		case <-g.ended:
			t.Error("ended before anybody came")
		case <-time.After(2 * leaveAfter):
		}
		cancel()
		receive(t, got, "the answer")
		if err := receive(t, g.ended, "the backend's cancel"); err != errAbandoned {
			t.Errorf("cause %v", err)
		}
	})
}

// What was asked ahead and failed serves nobody.
func TestFailedPrefetchIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &script{}
		g.reply = func(string, int) ([]string, error) {
			if len(g.sent()) == 1 {
				return []string{"first("}, errors.New("broke off")
			}
			return []string{"first(a)", "\n"}, nil
		}
		e := newEngine(t, g, Options{})
		req := at(t, "a.go", "go", "x := ‸\n")
		e.Prefetch(req)
		synctest.Wait()
		if res := complete(t, e, req); res.Reused || len(res.Items) != 1 || res.Items[0].Text != "first(a)" {
			t.Errorf("after a failure: %+v", res)
		}
	})
}

// Requests run beside each other: one that a newer one ended before it got this far
// must not end that one, or the last key typed shows nothing.
func TestEndedRequestTakesNoPlace(t *testing.T) {
	d := &docState{}
	_, newer, err := d.arrive(t.Context(), "abc", 3, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.arrive(ended, "ab", 2, false, time.Now()); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if isClosed(newer) {
		t.Error("the newer request was ended by the older")
	}
	if _, _, err := d.arrive(t.Context(), "abcd", 4, false, time.Now()); err != nil || !isClosed(newer) {
		t.Errorf("error %v, and what was the newest is over: %v", err, isClosed(newer))
	}
}
