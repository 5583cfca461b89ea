package completion

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSyntaxSpan(t *testing.T) {
	fn := "func f() {\n\tx := 1\n}\n\n"
	long := strings.Repeat(fn, 2000)
	middle := strings.Index(long[len(long)/2:], "x :=") + len(long)/2
	from, to := syntaxSpan(long, "go", middle, middle)
	if from == 0 || to == len(long) {
		t.Fatalf("all of a long document: %d to %d of %d", from, to, len(long))
	}
	for _, at := range []int{from, to} {
		if !strings.HasPrefix(long[at:], "func") {
			t.Errorf("a cut at %q is not before a declaration", long[at:at+10])
		}
	}
	if got := to - from; got < 2*syntaxNear || got > 2*(syntaxNear+syntaxStep+len(fn)) {
		t.Errorf("window of %d bytes, want about %d", got, 2*syntaxNear+syntaxStep)
	}
	if from, to := syntaxSpan(fn, "go", 3, 4); from != 0 || to != len(fn) {
		t.Errorf("of a short document: %d to %d", from, to)
	}
}

// Inside a declaration longer than the window there is no other to cut at: a
// method or a statement serves.
func TestSyntaxSpanInLongDeclaration(t *testing.T) {
	body := "class A {\n" + strings.Repeat("  void f() {\n    g();\n    h();\n  }\n\n", 2000) + "}\n"
	middle := strings.Index(body[len(body)/2:], "h();") + len(body)/2
	from, to := syntaxSpan(body, "go", middle, middle)
	for _, at := range []int{from, to} {
		if !strings.HasPrefix(body[at:], "  void") {
			t.Errorf("a cut at %q is not before a method", body[at:at+10])
		}
	}
	if to-from > 2*(syntaxNear+syntaxStep+syntaxReach) {
		t.Errorf("%d bytes", to-from)
	}
}

// A tree that was parsed for one keystroke serves the next: the window stands
// still while the user types, and jumps once in syntaxStep bytes.
func TestSyntaxSpanStandsStill(t *testing.T) {
	fn := "func f() {\n\tx := 1\n}\n\n"
	jumps, above, below := -1, strings.Repeat(fn, 1000), strings.Repeat(fn, 1000) // the first is none
	for typed, before, after := "", 0, 0; len(typed) < 4*syntaxStep; typed += "\ty := 2\n"[len(typed)%8 : len(typed)%8+1] {
		text, at := above+typed+below, len(above)+len(typed)
		from, to := syntaxSpan(text, "go", at, at)
		if from != before || len(text)-to != after {
			jumps++
		}
		before, after = from, len(text)-to
	}
	if jumps > 4 {
		t.Errorf("the window moved %d times while %d bytes were typed", jumps, 4*syntaxStep)
	}
}

func TestSyntaxSpanHoldsTheEdit(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "\tb\n", "}\n", "\n", strings.Repeat("x", 5000) + "\n", "\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "")
		start := rapid.IntRange(0, len(text)).Draw(t, "start")
		end := rapid.IntRange(start, len(text)).Draw(t, "end")
		if from, to := syntaxSpan(text, "ruby", start, end); from < 0 || from > start || to < end || to > len(text) {
			t.Fatalf("%d to %d for an edit of %d to %d in %d bytes", from, to, start, end, len(text))
		} else if most := syntaxNear + syntaxStep + syntaxReach + utf8.UTFMax; start-from > most || to-end > most {
			t.Fatalf("%d and %d bytes around an edit", start-from, to-end)
		}
	})
}

// TestOpenedBrackets: what strings hold opens nothing, and an apostrophe that no other
// follows on its line starts no string.
func TestOpenedBrackets(t *testing.T) {
	for text, want := range map[string][]openedBracket{
		"fn f<'a>(x: &'a str) {\n    let c = 'x';": {{0, '}'}},
		"f(\"(\", [\n    1,":                       {{0, ')'}, {0, ']'}},
		"s := `{\n(`\nif ok {\n\tf()\n}":           nil,
		"// don't (\nfor {":                        {{0, ')'}, {1, '}'}},
	} {
		if got := opened("", strings.Split(text, "\n")); !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", text, got, want)
		}
	}
}

// partSyntax has 5 errors in a part of the document, and 6 with the candidate; of the whole
// it has 1, and with a candidate without "wrong" none.
type partSyntax struct {
	part  int
	texts map[string]int
}

func (p *partSyntax) errors(text string) int {
	switch whole := strings.HasPrefix(text, "// whole\n"); {
	case !whole && strings.Contains(text, "candidate"):
		return p.part + 1
	case !whole:
		return p.part
	case strings.Contains(text, "wrong"):
		return 2
	case strings.Contains(text, "candidate"):
		return 0
	}
	return 1
}

func (p *partSyntax) Document(key, _, text string) (int, bool) {
	p.texts[key] = len(text)
	return p.errors(text), true
}

func (p *partSyntax) Candidate(_, text string) (int, bool) { return p.errors(text), true }
func (p *partSyntax) Forget(key string)                    { delete(p.texts, key) }

// What a part of the document that is all errors makes wrong, the whole may have right,
// unless it is long; where the part has no errors, it is believed.
func TestTheWholeIsAskedWhereItsPartIsUnclear(t *testing.T) {
	line := "\tg(a, b, c, d)\n"
	for _, tt := range []struct {
		name, text string
		errors     int
		lines      int
		want       string
	}{
		{"part of errors", "candidate()", 5, 1000, "candidate()"},
		{"wrong in the whole too", "wrong candidate()", 5, 1000, ""},
		{"sound part", "candidate()", 0, 1000, ""},
		{"too long", "candidate()", 5, syntaxWhole/len(line) + 1, ""},
	} {
		half := strings.Repeat(line, tt.lines/2)
		doc := "// whole\nclass A {\n" + half + "\t\n" + half + "}\n"
		at := strings.Index(doc, "\t\n") + 1
		p := &partSyntax{part: tt.errors, texts: map[string]int{}}
		req := Request{Key: "k", Document: Document{Language: "javascript", Text: doc}, Offset: at}
		if got := checkSyntax(p, req, at, at, tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if len(p.texts) != 1 || p.texts["k"] == 0 || p.texts["k"] >= len(doc) {
			t.Errorf("%s: kept %v", tt.name, p.texts)
		}
	}
}

// bracketCounter counts unbalanced braces, a grammar small enough for a test.
type bracketCounter struct {
	mu   sync.Mutex
	kept map[string]bool // the documents that it was given and not told to forget
}

func (b *bracketCounter) Document(key, language, text string) (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil {
		b.kept = map[string]bool{}
	}
	b.kept[key] = true
	return b.count(text), language != "plaintext"
}

func (b *bracketCounter) Candidate(_, text string) (int, bool) { return b.count(text), true }

func (b *bracketCounter) count(text string) int {
	return max(openBrackets(text), -openBrackets(text))
}

func (b *bracketCounter) Forget(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.kept, key)
}

func TestSyntaxCheck(t *testing.T) {
	for _, tt := range []struct {
		name, language, doc, model string
		manual                     bool
		want                       string
	}{
		{"sound", "go", "func f() {\n\t‸\n}\n", "if a {\n\t\tb()\n\t}", false, "if a {\n\t\tb()\n\t}"},
		{"cut at a line", "go", "func f() {\n\t‸\n}\n", "a()\n\tb((\n\tc()", false, "a()"},
		{"dropped", "go", "func f() {\n\t‸\n}\n", "b((", false, ""},
		{"asked for", "go", "func f() {\n\t‸\n}\n", "b((", true, "b(("},
		{"many lines, the first sound", "go", "func f() {\n\t‸\n}\n", "a()\n\tb((\n\tload(x)\n\tstore(y)\n\tcount++\n\tif z {\n\t\twait(w)\n\t}\n\tleave()", false, "a()"},
		{"past the closed bracket", "javascript", "Object.keys(o‸)\n  .filter(known);\n", "ption.implied).forEach((key) => {", false, "ption.implied"},
		{"mends", "go", "func f(‸\n", "a int) {", false, "a int) {"},
		{"no grammar", "plaintext", "a ‸\n", "b((", false, "b(("},
	} {
		t.Run(tt.name, func(t *testing.T) {
			syntax := &bracketCounter{}
			e := newEngine(t, says(tt.model), Options{Syntax: syntax, Candidates: 1})
			req := at(t, "a", tt.language, tt.doc)
			req.Manual = tt.manual
			got := ""
			if res := complete(t, e, req); len(res.Items) > 0 {
				got = res.Items[0].Text
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			e.Forget(req.Key)
			// The parse that begins beside the request may still run, and drops its own tree.
			if e.Close(); len(syntax.kept) > 0 {
				t.Errorf("the trees of %v are kept, though closed", syntax.kept)
			}
		})
	}
}
