package completion

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quarry/completion/syntaxcheck"
)

// Incremental lexing gives what lexing the whole text would.
func TestTokenTextUpdate(t *testing.T) {
	text := rapid.Custom(func(rt *rapid.T) string {
		pieces := []string{"\n", "\n\n", "  ", "foo", "(", ")", "é", "\r\n", "x1 ", "\t", "\xff"}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(rt, "pieces"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		got := newTokenText(text.Draw(rt, "first"))
		for range 3 {
			next := text.Draw(rt, "next")
			if i := rapid.IntRange(0, len(got.text)).Draw(rt, "at"); rapid.Bool().Draw(rt, "small") {
				next = got.text[:i] + "ab" + got.text[min(len(got.text), i+3):]
			}
			got.update(next)
			want := newTokenText(next)
			if fmt.Sprint(got.ids, got.start, got.end) != fmt.Sprint(want.ids, want.start, want.end) {
				rt.Fatalf("after update to %q:\n%v %v\n%v %v", next, got.ids, got.start, want.ids, want.start)
			}
		}
	})
}

// In the first small file, where there is one place to copy from, what it says is offered while it is typed, from the first letter of a line on.
func TestTheFirstSmallFileIsCopiedFrom(t *testing.T) {
	shelf := "package stock\n\nimport \"sync\"\n\ntype Shelf struct {\n\tmu    sync.Mutex\n\titems map[string]int\n}\n\n" +
		"func (s *Shelf) Put(name string, n int) {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\ts.items[name] += n\n}\n\n" +
		"func (s *Shelf) Take(name string, n int) {\n"
	area := "export function area(w: number, h: number): number {\n  return w * h;\n}\n\nexport function half(w: number, h: number): number {\n"
	for _, tt := range []struct{ language, before, line string }{
		{"go", shelf + "\t", "s.mu.Lock()"},
		{"go", shelf + "\ts.mu.Lock()\n\t", "defer s.mu.Unlock()"},
		{"typescript", area + "  ", "return w * h;"},
	} {
		for typed := 1; typed < len(tt.line)-2; typed++ {
			e := newEngine(t, nil, Options{})
			res := complete(t, e, at(t, "a", tt.language, tt.before+tt.line[:typed]+"‸\n}\n"))
			if len(res.Items) == 0 || strings.TrimSpace(res.Items[0].Text) != strings.TrimSpace(tt.line[typed:]) {
				t.Errorf("behind %q: %+v", tt.line[:typed], res.Items)
			}
		}
	}
}

// The first letters of what begins a program in each language are enough.
func TestFirstSignOfLife(t *testing.T) {
	for _, tt := range []struct{ language, doc, want string }{
		{"c", "#include <st‸\n", "dio.h>"},
		{"c", "#include <stdio.h>\n#include <std‸\n", "lib.h>"},
		{"c", "#include <stdio.h>\n\nint main(void) {\n\tprintf(\"hello\\n\");\n\tret‸\n}\n", "urn"},
		{"typescript", "export class Shelf {\n  private names: string[] = [];\n  private rows: num‸\n}\n", "ber"},
		{"typescript", "const inventory = load();\nconsole.log(inven‸\n", "tory"},
		{"java", "class A {\n  A(int width, int depth, int height) {\n    this.width = width;\n    this.depth = depth;\n    this.height = ‸\n  }\n}\n", "height;"},
		{"python", "def load(path):\n    ret‸\n", "urn"},
		{"rust", "use std::collections::H‸\n", "ashMap;"},
		{"shellscript", "#!/b‸\n", "in/bash"},
		{"python", "# we ret‸\n", ""},
		{"python", "print(\"we ret‸\")\n", ""},
		{"python", "ret‸ x\n", ""},
	} {
		got := ""
		if res := complete(t, newEngine(t, nil, Options{}), at(t, "a", tt.language, tt.doc)); len(res.Items) > 0 {
			got = res.Items[0].Text
		}
		if got != tt.want {
			t.Errorf("%s: %q: %q, want %q", tt.language, tt.doc, got, tt.want)
		}
	}
}

// The cursor's own line is not finished: nothing is copied from it, nor beyond where it begins.
func TestTheLineBeingTypedIsNotCopied(t *testing.T) {
	for _, tt := range []struct{ name, language, doc, want string }{
		{"from itself", "python", "class A:\n    def f(self):\n        self.total = self.‸\n", ""},
		{"from itself, twice", "go", "package p\n\nvar x = one(a.b, two(a.‸\n", ""},
		{"by a copy from above", "go", "package p\n\nfunc f() {\n\trun(one)\n\tfor {\n\t\trun(‸\n", "one)"},
	} {
		req := at(t, "a", tt.language, tt.doc)
		req.Manual = true
		got := ""
		if res := complete(t, newEngine(t, nil, Options{}), req); len(res.Items) > 0 {
			got = res.Items[0].Text
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	// What the votes say ends where the cursor's line begins.
	const doc = "x\nif a:\n    run(1)\nx\nif "
	q := newQuery(doc, len(doc))
	l := &local{repo: &Repository{}}
	found := l.candidates(Request{Document: Document{Path: "a", Language: "python", Text: doc}, Offset: len(doc)}, q)
	if p, ok := predict(found, q); !ok || p.text != " a:\n    run(1)\nx" {
		t.Errorf("predicted %q", p.text)
	}
}

// One place alone is copied while the user types if much stands before the two lines; and an
// import is not copied at all.
func TestWhatOnePlaceSays(t *testing.T) {
	p := prediction{supporters: 1, length: 12, words: 4, tokens: 4, share: 1}
	if c := p.confidence(); c < sureEnough || c >= sureAlone {
		t.Fatalf("the confidence is %f", c)
	}
	if p.sure() {
		t.Error("it is sure of one place")
	}
	for _, more := range []func(*prediction){
		func(p *prediction) { p.supporters = 2 },
		func(p *prediction) { p.below = 1 },
		func(p *prediction) { p.before = longBefore },
	} {
		q := p
		if more(&q); !q.sure() {
			t.Errorf("not sure of %+v", q)
		}
	}
	const imports = "import org.one.Shelf;\nimport org.one.Shelf.Row;\nimport org.one.Shelf;\nimport org.one.‸\n"
	if res := complete(t, newEngine(t, nil, Options{}), at(t, "a", "java", imports)); len(res.Items) > 0 && res.Items[0].Text == "Shelf;" {
		t.Error("an import that stands above is offered again")
	}
}

func TestLocalCopies(t *testing.T) {
	const checks = "package p\n\nfunc a() error {\n\tif err := one(ctx); err != nil {\n\t\treturn fmt.Errorf(\"one: %w\", err)\n\t}\n" +
		"\tif err := two(ctx); err != nil {\n\t\treturn fmt.Errorf(\"two: %w\", err)\n\t}\n"
	tests := []struct{ name, language, doc, want string }{
		{"repeated line", "go", checks + "\tif err := three(ctx); err ‸\n}\n", "!= nil {"},
		{"word completed", "go", checks + "\tif err := two(ctx); err != nil {\n\t\treturn fmt.Err‸\n", "orf(\"two: %w\", err)"},
		{"spacing differs", "python", "x = f( a,b )\ny = f( a,b )\nz = f(a, ‸\n", "b )"},
		{"further lines", "go", "package p\n\nfunc a() {\n\tmu.Lock()\n\tdefer mu.Unlock()\n\tcount++\n}\n\nfunc b() {\n\tmu.Lock()\n\tdefer mu.Unlock()\n" +
			"\tcount++\n}\n\nfunc c() {\n\t‸\n}\n", "mu.Lock()\n\tdefer mu.Unlock()\n\tcount++"},
		{"further lines, other indentation", "python", "def a(x):\n    if x is None:\n        log(x)\n        return 0\n    return x\n\n" +
			"class B:\n    def b(self, x):\n        if x is ‸\n", "None:\n            log(x)\n            return 0"},
		{"nothing like it", "go", "package p\n\nvar zebra = ‸\n", ""},
		{"only itself", "go", "package p\n\nvar a = one(two, ‸three)\n", ""},
		{"empty", "go", "‸", ""},
		{"CRLF", "c", "foo(a, b, c);\r\nbar();\r\nfoo(a, ‸\r\n", "b, c);"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(t, nil, Options{})
			req := at(t, "a", tt.language, tt.doc)
			req.Manual = true
			got := ""
			if res := complete(t, e, req); len(res.Items) > 0 {
				got = res.Items[0].Text
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What is open counts more than the rest of the repository, what is below the
// cursor decides between equals, and a forgotten file counts no more.
func TestLocalLevels(t *testing.T) {
	e := newEngine(t, nil, Options{})
	ask := func(doc string, open ...Document) string {
		t.Helper()
		req := at(t, "here.go", "go", doc)
		req.Manual, req.Open = true, open
		res := complete(t, e, req)
		if len(res.Items) == 0 {
			return ""
		}
		return res.Items[0].Text
	}
	const doc = "\tserver.Handle(mux, ‸\n"
	e.Add("", "repo.go", "\tserver.Handle(mux, fromRepo)\n")
	if got := ask(doc); got != "fromRepo)" {
		t.Errorf("repository: %q", got)
	}
	open := Document{Path: "open.go", Language: "go", Text: "\tserver.Handle(mux, fromOpen)\n"}
	if got := ask(doc, open); got != "fromOpen)" {
		t.Errorf("open file: %q", got)
	}
	if got := ask("\tserver.Handle(mux, fromHere)\n\tx()\n"+doc, open); got != "fromHere)" {
		t.Errorf("this file: %q", got)
	}
	two := "\tserver.Handle(mux, first)\n\tgo run(1)\n\tserver.Handle(mux, second)\n\tgo stop(2)\n"
	if got := ask(two + doc + "\tgo run(1)\n"); got != "first)" {
		t.Errorf("what follows below: %q", got)
	}
	e.Add("", "repo.go", "\tserver.Handle(mux, changed)\n")
	if got := ask(doc); got != "changed)" {
		t.Errorf("after a change: %q", got)
	}
	e.Remove("", "repo.go")
	if got := ask(doc); got != "" {
		t.Errorf("after forgetting: %q", got)
	}
}

// Two workspace folders may hold files of the same path.
func TestLocalTellsFoldersApart(t *testing.T) {
	e := newEngine(t, nil, Options{})
	ask := func(call string, open ...Document) string {
		t.Helper()
		req := at(t, "main.go", "go", "\t"+call+"‸\n")
		req.Root, req.Manual, req.Open = "/a", true, open
		res := complete(t, e, req)
		if len(res.Items) == 0 {
			return ""
		}
		return res.Items[0].Text
	}
	e.Add("/a", "lib.go", "\tserver.Handle(mux, inA)\n")
	e.Add("/b", "lib.go", "\tserver.Close(ctx, inB)\n")
	e.Add("/b", "main.go", "\tserver.Start(now, besideIt)\n")
	if got := ask("server.Handle(mux, "); got != "inA)" {
		t.Errorf("a file of the same path in another folder was learned over it: %q", got)
	}
	if got := ask("server.Start(now, "); got != "besideIt)" {
		t.Errorf("a file with the path of the document, in another folder: %q", got)
	}
	open := []Document{
		{Root: "/a", Path: "lib.go", Language: "go", Text: "\tserver.Wait(all, openA)\n"},
		{Root: "/b", Path: "lib.go", Language: "go", Text: "\tserver.Drop(all, openB)\n"},
	}
	if a, b := ask("server.Wait(all, ", open...), ask("server.Drop(all, ", open...); a != "openA)" || b != "openB)" {
		t.Errorf("two open documents of the same path: %q and %q", a, b)
	}
	e.Remove("/b", "lib.go")
	if got := ask("server.Handle(mux, "); got != "inA)" {
		t.Errorf("a file of the same path in another folder went with it: %q", got)
	}
}

// While the user types, one place to copy from is not enough.
func TestLocalIsGated(t *testing.T) {
	e := newEngine(t, nil, Options{})
	once := "\tlog.Printf(\"%d rows in %s\", n, took)\n"
	req := at(t, "a.go", "go", once+"\tx()\n\tlog.Printf(‸\n")
	if res := complete(t, e, req); len(res.Items) != 0 {
		t.Errorf("shown while typing: %+v", res.Items)
	}
	req = at(t, "a.go", "go", strings.Repeat(once+"\tx()\n", 8)+"\tlog.Printf(‸\n")
	if res := complete(t, e, req); len(res.Items) != 1 {
		t.Error("not shown although eight places agree")
	}
}

// The corpus stays within its limit and forgets the oldest first.
func TestCorpusLimit(t *testing.T) {
	c := newCorpus(4000)
	text := func(i int) string { return strings.Repeat(fmt.Sprintf("alpha beta%d gamma%d delta\n", i, i), 20) }
	for i := range 500 {
		c.add(fileKey{path: fmt.Sprint(i)}, newTokenText(text(i)))
		if c.used > c.limit {
			t.Fatalf("%d tokens, limit %d", c.used, c.limit)
		}
	}
	if len(c.files) > 200 {
		t.Errorf("%d files are kept in the chains", len(c.files))
	}
	count := func(i int) (n int) {
		q := newTokenText(text(i)).ids[:3]
		c.occurrences(q, func(fileKey) bool { return false }, func(tt *corpusFile, at int) {
			if agreement(tt.ids, at, q) == 3 {
				n++
			}
		})
		return n
	}
	if count(0) != 0 || count(499) != 20 {
		t.Errorf("the oldest file has %d places, the newest %d", count(0), count(499))
	}
}

// A line ends as it usually does in its language, where the user's own code says nothing of it.
func TestUsualLines(t *testing.T) {
	const small = "package stock\n\nimport \"os\"\n\nfunc read(name string) error {\n\tf, err := os.Open(name)\n"
	for _, tt := range []struct{ name, language, doc, want string }{
		{"a check", "go", small + "\tif err !‸\n}\n", "= nil {"},
		{"closers behind", "python", "if isinstance(x, l‸)\n", "ist):"},
		{"a comment", "go", small + "\t// if err !‸\n}\n", ""},
		{"code behind the cursor", "go", small + "\tif err !‸ x()\n}\n", ""},
		{"another language", "python", "def __len__(self) ‸\n", "-> int:"},
		{"a language without idioms", "plaintext", "if err !‸\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if res := complete(t, newEngine(t, nil, Options{}), at(t, "a", tt.language, tt.doc)); len(res.Items) > 0 {
				got = res.Items[0].Text
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	own := small
	for i := range 8 {
		own += fmt.Sprintf("\tif err != other {\n\t\tuse%d()\n\t}\n", i)
	}
	own += "\tif err !‸\n}\n"
	if res := complete(t, newEngine(t, nil, Options{}), at(t, "a", "go", own)); len(res.Items) == 0 || !strings.HasPrefix(res.Items[0].Text, "= other {") {
		t.Errorf("the user's own habit is not preferred: %+v", res.Items)
	}
}

// What is usual may be the beginning of a statement, which some grammars take for an error: it is shown all the same, and what no
// end makes sound is not.
func TestUsualBeginnings(t *testing.T) {
	for _, tt := range []struct{ name, language, doc, want string }{
		{"a call", "javascript", "const express = re‸\n", "quire('express');"},
		{"a call without its end", "javascript", "document.getE‸\n", "lementById("},
		{"a function", "javascript", "function later() {\n  return new Prom‸\n}\n", "ise("},
		{"a keyword", "typescript", "func‸\n", "tion"},
		{"a keyword behind another", "javascript", "async func‸\n", "tion"},
		{"what lacks a value", "javascript", "module.exp‸\n", "orts ="},
		{"within a call", "javascript", "console.log(JSON.str‸)\n", "ingify"},
		{"a whole word", "rust", "for‸\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if res := complete(t, newEngine(t, nil, Options{Syntax: syntaxcheck.New()}), at(t, "a", tt.language, tt.doc)); len(res.Items) > 0 {
				got = res.Items[0].Text
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What no end makes sound is no beginning, and neither is what code stands behind.
func TestIsBegun(t *testing.T) {
	for _, tt := range []struct {
		doc, text   string
		sound, want bool
	}{
		{"const a = req‸\n", "uire(", true, true},
		{"const a = req‸\n", "uire(", false, false},
		{"const a = req‸ + 1\n", "uire(", true, false},
		{"const a = req‸\n", "uire(\n  x", true, false},
		{"a.b‸\n", "ar", true, false}, // nothing is open
	} {
		s := newEngine(t, nil, Options{}).cursorContext(at(t, "a", "javascript", tt.doc))
		if got := s.isBegun(tt.text, func(string) bool { return tt.sound }); got != tt.want {
			t.Errorf("%q in %q: %v", tt.text, tt.doc, got)
		}
	}
}

// locked has methods that begin alike, and the cursor in another one that does, which are
// enough for the model-free engine to be sure.
func locked(t *testing.T, typed string) Request {
	var b strings.Builder
	b.WriteString("package stock\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "func (s *Shelf) Put%d(name string) {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\ts.put%d(name)\n}\n\n", i, i)
	}
	return at(t, "stock.go", "go", b.String()+"func (s *Shelf) Swap(name string) {\n\ts.mu.Lock()\n\tdefer "+typed+"‸\n}\n")
}

// The model's line and the model-free engine's compete by how sure each is, whatever way the
// backend tells that.
func TestTheSurerEngineIsShown(t *testing.T) {
	for name, tt := range map[string]struct {
		logprob     float64
		alone       bool
		want        string
		engine      string
		mustHaveWhy bool
	}{
		"a sure model":           {logprob: -0.01, want: "s.wg.Done()", engine: "granite4.1:3b"},
		"a model that guesses":   {logprob: -3, want: "s.mu.Unlock()", engine: localEngine, mustHaveWhy: true},
		"a model that says none": {logprob: math.NaN(), want: "s.mu.Unlock()", engine: localEngine, mustHaveWhy: true},
		"no competition":         {logprob: -3, alone: true, want: "s.wg.Done()", engine: "granite4.1:3b"},
	} {
		g := says("s.wg", ".Done()")
		g.logprob = tt.logprob
		res := complete(t, newEngine(t, g, Options{Alone: tt.alone}), locked(t, ""))
		if len(res.Items) != 1 || res.Items[0].Text != tt.want || res.Engine != tt.engine || res.Items[0].Engine != tt.engine || res.Note != "" != tt.mustHaveWhy {
			t.Errorf("%s: %+v by %q, %q", name, res.Items, res.Engine, res.Note)
		}
	}
}

// Where the model shows nothing, the model-free engine does if it is sure, and only then.
func TestSilenceOfAModelIsFilled(t *testing.T) {
	sure := complete(t, newEngine(t, says(""), Options{}), locked(t, ""))
	if len(sure.Items) != 1 || sure.Engine != localEngine {
		t.Errorf("sure: %+v by %q", sure.Items, sure.Engine)
	}
	unsure := complete(t, newEngine(t, says(""), Options{}), at(t, "a.go", "go", "package p\n\nfunc f() {\n\ta.b(c)\n\td.b(‸\n}\n"))
	if len(unsure.Items) != 0 {
		t.Errorf("unsure: %+v by %q", unsure.Items, unsure.Engine)
	}
}

// What is shown in place of the model's answer stays while the user types it, and costs no
// request; where they type what the model said, that is shown.
func TestTheSurerEngineStays(t *testing.T) {
	g := says("s.wg", ".Done()")
	g.logprob = -3
	e := newEngine(t, g, Options{})
	if res := complete(t, e, locked(t, "")); res.Engine != localEngine {
		t.Fatalf("%+v by %q", res.Items, res.Engine)
	}
	for _, typed := range []string{"s", "s.m", "s.mu.Un", "s.mu.Unlock("} {
		res := complete(t, e, locked(t, typed))
		if len(res.Items) != 1 || typed+res.Items[0].Text != "s.mu.Unlock()" || res.Engine != localEngine || !res.Reused {
			t.Errorf("behind %q: %+v by %q", typed, res.Items, res.Engine)
		}
	}
	if res := complete(t, e, locked(t, "s.w")); len(res.Items) != 1 || res.Items[0].Text != "g.Done()" || res.Engine != "granite4.1:3b" {
		t.Errorf("where the model's is typed: %+v by %q", res.Items, res.Engine)
	}
	if n := len(g.sent()); n != 1 {
		t.Errorf("%d requests to the model", n)
	}
}

// Who asks is offered both.
func TestBothEnginesAreOffered(t *testing.T) {
	for _, logprob := range []float64{-0.01, -3} {
		g := says("s.wg", ".Done()")
		g.logprob = logprob
		req := locked(t, "")
		req.Manual = true
		res := complete(t, newEngine(t, g, Options{}), req)
		var texts []string
		for _, it := range res.Items {
			texts = append(texts, it.Text+" by "+it.Engine)
		}
		want := []string{"s.wg.Done() by granite4.1:3b", "s.mu.Unlock() by local"}
		if logprob == -3 {
			slices.Reverse(want)
		}
		if !slices.Equal(texts, want) {
			t.Errorf("%v: %q", logprob, texts)
		}
	}
}

// Whichever candidate of those that were asked for is typed, it stays, and nobody is asked.
func TestEachOfferStaysWhileTyped(t *testing.T) {
	offered := func(res Result) (texts []string) {
		for _, it := range res.Items {
			texts = append(texts, it.Text+" by "+it.Engine)
		}
		return texts
	}
	const model, other = "granite4.1:3b", "s.mu.TryLock()"
	for name, tt := range map[string]struct {
		logprob float64
		samples int
		first   []string
		typed   string            // a candidate, of which each beginning is typed
		then    map[string]string // the items behind some of them
		engine  string
	}{
		"the copied one, second": {
			-0.01, 1, []string{"s.wg.Done() by granite4.1:3b", "s.mu.Unlock() by local"}, "s.mu.Unlock()",
			map[string]string{"s": ".wg.Done() by granite4.1:3b|.mu.Unlock() by local", "s.m": "u.Unlock() by local", "s.mu.Un": "lock() by local"}, localEngine,
		},
		"the model's, second": {
			-3, 1, []string{"s.mu.Unlock() by local", "s.wg.Done() by granite4.1:3b"}, "s.wg.Done()",
			map[string]string{"s": ".mu.Unlock() by local|.wg.Done() by granite4.1:3b", "s.w": "g.Done() by granite4.1:3b"}, model,
		},
		"the model's second": {
			-0.01, 2, []string{"s.wg.Done() by granite4.1:3b", other + " by granite4.1:3b", "s.mu.Unlock() by local"}, other,
			map[string]string{
				"s":   ".wg.Done() by granite4.1:3b|.mu.TryLock() by granite4.1:3b|.mu.Unlock() by local",
				"s.m": "u.TryLock() by granite4.1:3b|u.Unlock() by local", "s.mu.T": "ryLock() by granite4.1:3b",
			}, model,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := &script{logprob: tt.logprob, reply: func(_ string, sample int) ([]string, error) {
				return []string{[]string{"s.wg.Done()", other}[sample]}, nil
			}}
			e := newEngine(t, g, Options{Candidates: tt.samples})
			req := locked(t, "")
			req.Manual = true
			if got := offered(complete(t, e, req)); !slices.Equal(got, tt.first) {
				t.Fatalf("offered %q", got)
			}
			check := func(n int) {
				typed := tt.typed[:n]
				res := complete(t, e, locked(t, typed))
				got := offered(res)
				if want, ok := tt.then[typed]; ok && strings.Join(got, "|") != want {
					t.Errorf("behind %q: %q, want %q", typed, got, want)
				}
				if !slices.Contains(got, tt.typed[n:]+" by "+tt.engine) || !res.Reused || res.Engine != res.Items[0].Engine {
					t.Errorf("behind %q: %q by %q, reused %v", typed, got, res.Engine, res.Reused)
				}
				if (res.Engine == localEngine) != (res.Note != "") {
					t.Errorf("behind %q: the note is %q", typed, res.Note)
				}
			}
			for n := range len(tt.typed) {
				check(n)
			}
			check(len("s.m")) // and back in it
			if again := offered(complete(t, e, req)); !slices.Equal(slices.Sorted(slices.Values(again)), slices.Sorted(slices.Values(tt.first))) {
				t.Errorf("asked for again: %q", again)
			}
			if n := len(g.sent()); n != tt.samples {
				t.Errorf("%d requests to the model", n)
			}
			// Who asks where one that was offered beside the first is all that is left wants more.
			req = locked(t, "s.m")
			req.Manual = true
			if complete(t, e, req); len(g.sent()) != 2*tt.samples {
				t.Error("who asks for more is not heard")
			}
		})
	}
}
