package pattern

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

// has is the least that a set of trigrams promises: yes for each text shorter than three
// bytes, and for what is there in either case of ASCII's letters.
func has(text string) func(string) bool {
	lower := ascii(text)
	return func(literal string) bool { return len(literal) < 3 || strings.Contains(lower, ascii(literal)) }
}

func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func TestMayMatch(t *testing.T) {
	for _, c := range []struct {
		expr, text string
		want       bool
	}{
		{"retry", "func Retry()", true}, {"retry", "func try()", false},
		{`func \w+Handler\(`, "func openHandler(w)", true}, {`func \w+Handler\(`, "func handle(w)", false},
		{"open|close", "we close", true}, {"open|close", "we wait", false}, {"open|.", "we wait", true}, {"open|", "we wait", true},
		{"(?i)kelvin", "\u212aelvin", true}, {"(?i)kelvin", "celsius", false}, {"(?i)stra\u00dfe", "STRA\u1e9eE", true},
		{"(abc)+x?", "xyz", false}, {"(abc)*x?", "xyz", true}, {"(abc){2}", "xyz", false}, {"(abc){0,2}", "xyz", true},
		{"a\ufffdbcd", "a\xffbcd", true}, {"[ab]cd", "zz", true}, {`\Qa.bc\E`, "a.bc", true}, {`\Qa.bc\E`, "axbc", false},
		{"^$", "", true}, {`\babc\b`, "xabcx", true},
	} {
		p, err := Compile(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MayMatch(has(c.text)); got != c.want {
			t.Errorf("%q may match %q: %t", c.expr, c.text, got)
		}
	}
	for _, expr := range []string{"", "(", "(?=x)", `(a)\1`, strings.Repeat("x", maxLength+1), strings.Repeat(`\w{0,999}`, 100), `((\w{0,30}){0,30}){0,30}`} {
		if _, err := Compile(expr); err == nil {
			t.Errorf("%.20q is taken", expr)
		}
	}
	if p, _ := Compile(`a\nb`); !p.NamesLineEnd() {
		t.Error(`a\nb does not name a line end`)
	}
}

// Nothing that matches is ruled out, whatever the expression.
func TestNoMatchIsRuledOut(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 3))
	atoms := []string{"a", "b", "K", "s", "abc", "kel", "vin", ".", `\w`, "[a-c]", "\u212a", "\ufffd", "\u017f", "ß", `\b`, "^", "$", "(?i:abk)", "(?i:s)", "", "é"}
	letters := []string{"a", "b", "c", "k", "K", "s", "S", "\u212a", "\u017f", "\xff", "ß", "é", " ", "abc", "kelvin", "ABK", "\ufffd"}
	var expr func(depth int) string
	expr = func(depth int) string {
		if depth == 0 {
			return atoms[r.IntN(len(atoms))]
		}
		a, b := expr(depth-1), expr(depth-1)
		switch r.IntN(6) {
		case 0:
			return "(" + a + "|" + b + ")"
		case 1:
			return "(?:" + a + ")" + []string{"*", "+", "?", "{2}", "{0,3}", "{1,}"}[r.IntN(6)]
		case 2:
			return "(?i:" + a + b + ")"
		}
		return a + b
	}
	matched := 0
	for range 4000 {
		e := expr(1 + r.IntN(3))
		p, err := Compile(e)
		if err != nil {
			continue // a repeat of nothing, an empty expression
		}
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		if text := b.String(); regexp.MustCompile(e).MatchString(text) {
			matched++
			if !p.MayMatch(has(text)) {
				t.Fatalf("%q matches %q and is ruled out", e, text)
			}
		}
	}
	if matched < 400 {
		t.Errorf("only %d texts matched: the test shows little", matched)
	}
}

// lookedAt is a context that ends when it is looked at for the nth time.
type lookedAt struct {
	context.Context
	n *int
}

func (c lookedAt) Err() error {
	if *c.n--; *c.n <= 0 {
		return context.Canceled
	}
	return nil
}

// A search ends with its context, within one long line, too.
func TestLinesEndWithTheirContext(t *testing.T) {
	p, err := Compile(`((\w{0,30}){0,30})[?@#]`)
	if err != nil {
		t.Fatal(err)
	}
	none := func(int, string) bool { t.Error("a line matches"); return true }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Start().Lines(ended, strings.Repeat("x\n", 9), none); !errors.Is(err, context.Canceled) {
		t.Errorf("many lines: %v", err)
	}
	looks := 5
	if matches, err := p.matches(lookedAt{context.WithoutCancel(t.Context()), &looks}, strings.Repeat("x", 1<<20)); matches || !errors.Is(err, context.Canceled) {
		t.Errorf("one line: %t, %v", matches, err)
	}
	if err := p.Within(0).Start().Lines(t.Context(), "word", none); !errors.Is(err, ErrSlow) {
		t.Errorf("a search without time: %v", err)
	}
}

// The time of a search is that of all its texts together.
func TestTimeOfAllTexts(t *testing.T) {
	p, err := Compile("x")
	if err != nil {
		t.Fatal(err)
	}
	run := p.Within(time.Hour).Start()
	for range 3 {
		before := run.left
		// Some time passes, by whatever clock: that of Windows stands still for milliseconds.
		ticks := func(int, string) bool {
			for began := time.Now(); time.Since(began) <= 0; {
			}
			return true
		}
		if err := run.Lines(t.Context(), "x\n", ticks); err != nil || run.left >= before {
			t.Errorf("%v left of %v: %v", run.left, before, err)
		}
	}
}

// Read letter by letter a line matches as it does at once.
func TestInterruptibleLinesMatchAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 4))
	pieces := []string{"a", "b", "ab", "é", "\xff", "\u212a", " ", "", "\ufffd", "x"}
	for _, expr := range []string{"ab", "(?i)k", "^a", "b$", `\bab\b`, "a.b", "[^a]x", "(a|ab)(b|x)$", `\x{fffd}`, "", "^$", "x{2,3}"} {
		re := regexp.MustCompile(expr)
		for range 200 {
			line := ""
			for range r.IntN(8) {
				line += pieces[r.IntN(len(pieces))]
			}
			in := &interruptible{ctx: t.Context(), in: strings.NewReader(line), every: 1}
			if got, want := re.MatchReader(in), re.MatchString(line); got != want || in.ended {
				t.Errorf("%q in %q: %t, want %t", expr, line, got, want)
			}
		}
	}
}

// A text that begins with the mark of its order of bytes, as those of many editors on Windows do, has a first
// line like any other.
func TestMarkOfByteOrder(t *testing.T) {
	for expr, want := range map[string]string{"^using": "1:using A;", "^$": "2:", "^.": "1:using A;", "\\x{feff}": "3:\ufeffusing"} {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := p.Start().Lines(t.Context(), "\ufeffusing A;\r\n\r\n\ufeffusing", func(n int, line string) bool {
			got = fmt.Sprintf("%d:%s", n, line)
			return false
		}); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", expr, got, err, want)
		}
	}
}
