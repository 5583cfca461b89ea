package syntax

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// parsed counts the texts that went to the parser since.
func parsed() int {
	open.mu.Lock()
	defer open.mu.Unlock()
	return parses
}

func parseNow(t *testing.T, language, text string) *Tree {
	t.Helper()
	tree, err := Parse(language, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// However many read a version of a document, at once or one after the other, it is
// parsed once: sound or not, of a whole or after an edit.
func TestOneParseForAllReaders(t *testing.T) {
	for name, text := range map[string]string{
		"sound":       "package shared1\n\nfunc f() {\n" + strings.Repeat("\tcall(a, b, c)\n", 500) + "}\n",
		"with errors": "package shared2\n\nfunc f() {\n" + strings.Repeat("\tcall(a, b, c)\n", 500) + "\tx := := y(\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			before := parsed()
			index := parseNow(t, "go", text)
			defer index.Close()
			var readers sync.WaitGroup
			for range 4 {
				readers.Go(func() {
					gate, err := Parse("golang", []byte(text))
					if err != nil {
						t.Error(err)
						return
					}
					defer gate.Close()
					if _, ok := ParseErrors("go", []byte(text)); !ok {
						t.Error("no tree")
					}
				})
			}
			readers.Wait()
			if n := parsed() - before; n != 1 {
				t.Errorf("%d parses of one version", n)
			}
			edited := strings.Replace(text, "call(a", "called(a", 1)
			one, err := index.Update([]byte(edited))
			if err != nil {
				t.Fatal(err)
			}
			defer one.Close()
			two, err := index.Update([]byte(edited))
			if err != nil {
				t.Fatal(err)
			}
			defer two.Close()
			ParseErrors("go", []byte(edited))
			if n := parsed() - before; n != 2 {
				t.Errorf("%d parses of two versions", n)
			}
			// An index must not depend on the edits that led to a text.
			if sound := name == "sound"; one.Whole() != sound {
				t.Errorf("whole after an edit: %t", one.Whole())
			}
			whole := parseNow(t, "go", edited)
			defer whole.Close()
			if !whole.Whole() {
				t.Error("a parse of a whole text depends on the version before")
			}
		})
	}
	open.mu.Lock()
	defer open.mu.Unlock()
	for _, v := range open.list {
		if strings.HasPrefix(string(v.parsed), "package shared") {
			t.Error("a version outlives its trees")
		}
	}
}

// soup is a megabyte of operators in lines: what error recovery takes longest for.
func soup(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	pieces := []string{"<", ">", "(", ")", "[", "]", "{", "}", "+", "=>", "?", ":", "a", "b", " ", "\n", "`", "\"", "/", "*", ";", ","}
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// forgetFailed has a test begin without what another, or a run before, gave up on.
func forgetFailed() {
	open.mu.Lock()
	defer open.mu.Unlock()
	open.list = slices.DeleteFunc(open.list, func(v *version) bool { return v.users == 0 })
}

// A text that the parser gave up on is not tried again: not in its next versions, not
// by another reader, not after the last one closed it.
func TestFailedParsesAreRemembered(t *testing.T) {
	forgetFailed()
	text := soup(7)
	before := parsed()
	tree := parseNow(t, "typescript", text)
	if _, ok := tree.ErrorCount(); ok {
		t.Fatal("the parser did not give up")
	}
	next, err := tree.Update([]byte("x" + text))
	if err != nil {
		t.Fatal(err)
	}
	tree.Close()
	next.Close()
	for i := range 5 {
		text = text[:500_000+i] + "x" + text[500_000+i:]
		if _, ok := ParseErrors("typescript", []byte(text)); ok {
			t.Error("it was parsed in the end")
		}
	}
	// Who works at two places of it changes one of them at a time.
	for i := range 6 {
		at := i % 2 * 700_000
		text = text[:at] + "y" + text[at:]
		if _, ok := ParseErrors("typescript", []byte(text)); ok {
			t.Error("it was parsed in the end")
		}
	}
	if n := parsed() - before; n != 1 {
		t.Errorf("the parser was asked %d times", n)
	}
	// Another text is none of its versions.
	if other := parseNow(t, "typescript", strings.Repeat("let a = f(b);\n", len(text)/14)); true {
		defer other.Close()
		if n, ok := other.ErrorCount(); !ok || n > 0 {
			t.Errorf("a sound text of the same length: %d errors, %t", n, ok)
		}
	}
}

// What is mended little by little is tried again in the end.
func TestFailedParsesAreForgotten(t *testing.T) {
	forgetFailed()
	sound := "package forgotten\n\nvar (\n" + strings.Repeat("\ta = f(b)\n", 1000) + ")\n"
	before := parsed()
	v := versionOf(languageFor("go"), "go", nil, []byte("x "+sound), true)
	v.tree.Close()
	v.tree = nil // as if the parser had given up
	defer v.release()
	for i := range mostStood + 1 {
		errors, ok := ParseErrors("go", []byte(strings.Repeat("\n", i)+sound))
		if tried := i == mostStood; ok != tried || len(errors) > 0 {
			t.Fatalf("after %d edits it is parsed: %t, %v", i, ok, errors)
		}
	}
	if n := parsed() - before; n != 2 {
		t.Errorf("the parser was asked %d times", n)
	}
}

// Who types on while a text is parsed for the first time waits to hear whether the
// parser gives up on it, and begins no parse of their own.
func TestFailedParsesAreNotRepeatedWhileTyping(t *testing.T) {
	forgetFailed()
	text := soup(11)
	before := parsed()
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			tree, err := Parse("typescript", []byte(strings.Repeat("x", i)+text))
			if err != nil {
				t.Error(err)
				return
			}
			defer tree.Close()
			if _, ok := tree.ErrorCount(); ok {
				t.Error("the parser did not give up")
			}
		})
	}
	readers.Wait()
	if n := parsed() - before; n != 1 {
		t.Errorf("the parser was asked %d times", n)
	}
}

// What an open document may take of the processor: four times what source does, and
// for a megabyte under two seconds, in one try.
func TestOpenLimit(t *testing.T) {
	for _, size := range []int{1 << 10, 100 << 10, 1 << 20, 3 << 20} {
		if limit := openLimit(size, true); limit < size*12/10 || limit < 400_000 {
			t.Errorf("%d bytes have %d us, too few for source on a slow machine", size, limit)
		}
	}
	if most := openLimit(1<<20, true); most > 1_800_000 {
		t.Errorf("a megabyte has %d us", most)
	}
	if most := openLimit(1<<30, true); most > 4_000_000 {
		t.Errorf("a gigabyte has %d us", most)
	}
	for _, tt := range []struct {
		errors, took int
		want         bool
	}{{0, 1_600_000, false}, {1, 900_000, true}, {1, 700_000, false}} {
		if got := tooDear(tt.errors, tt.took, openLimit(1<<20, true)); got != tt.want {
			t.Errorf("a megabyte with %d errors that took %d us is given up on: %t", tt.errors, tt.took, got)
		}
	}
}

// The checker has no tree of its own, and parsed the whole of a text after each edit of it.
func TestCheckStartsFromTheVersionBefore(t *testing.T) {
	text := "package edited\n\nfunc f() {\n" + strings.Repeat("\tcall(a, b, c)\n", 500) + "}\n"
	index := parseNow(t, "go", text)
	defer index.Close()
	read := func(language, text string, whole bool) *Tree {
		tree := newTree(language, []byte(text), false)
		tree.parse(nil, whole)
		t.Cleanup(tree.Close)
		return tree
	}
	edited := strings.Replace(text, "call(a", "call(:=", 1)
	check := read("go", edited, false)
	if check.version.whole || check.Whole() || check.unparsable {
		t.Error("parsed as a whole after an edit")
	}
	if list, ok := ParseErrors("go", []byte(edited)); !ok || len(list) == 0 {
		t.Errorf("errors are %v, %t", list, ok)
	}
	if again := read("go", edited, true); again.version == check.version || !again.Whole() {
		t.Error("an index depends on the edits that led to a text")
	}
	if other := read("go", strings.Replace(text, "call(a, b, c)\n", "another(a, b, c, d, e)\n", 300), false); !other.version.whole {
		t.Error("another text begins with the tree of this one")
	}
	if other := read("rust", edited, false); !other.version.whole {
		t.Error("another language begins with the tree of this one")
	}
}

// A parse looks at its time every few steps, and here a step takes as long as the text:
// Lua's scanner looks for the end of a string from each place where one might go on, so
// that 40 KB took 38 times the limit.
func TestLimitHoldsWhereAStepIsLong(t *testing.T) {
	for _, tt := range []struct {
		language, piece string
		size            int
	}{
		{"lua", "$ $ $\n", 40_000},
		{"lua", "$ $ $\n", 400_000},
		{"lua", strings.Repeat("= ", 40) + "\n", 400_000},
	} {
		text := []byte(strings.Repeat(tt.piece, tt.size/len(tt.piece)))
		limit := openLimit(len(text), true)
		tree, took := languageFor(tt.language).grammar.Parse(nil, text, limit)
		if tree != nil {
			tree.Close()
			t.Errorf("%s: %d bytes of %.6q were parsed in %d us, which shows nothing", tt.language, len(text), tt.piece, took)
		}
		if took > 3*limit {
			t.Errorf("%s: %d bytes of %.6q took %d us of the processor, the limit is %d", tt.language, len(text), tt.piece, took, limit)
		}
	}
}

// joined are texts that end in errors with many ways to read them, which tree-sitter puts
// together in one step: without a way out of it 12 KB held a processor for 1.4 to 28 s and
// 48 KB for a minute.
func joined() map[string][]string {
	texts := make(map[string][]string)
	for _, language := range []string{"c", "cpp", "csharp", "go", "java"} {
		for _, piece := range []string{"%w[", "%q(", "a<", "(a)-", "$(", "{[<", "a?b:"} {
			texts[language] = append(texts[language], strings.Repeat(piece, 24_000/len(piece)))
		}
	}
	return texts
}

func TestLimitHoldsWithinTheLastStep(t *testing.T) {
	const limit = 100_000 // microseconds; what is left to do when it is over took 10 to 500 times as long
	given := 0
	for language, texts := range joined() {
		for _, text := range texts {
			g := languageFor(language).grammar
			tree, took := g.Parse(nil, []byte(text), limit)
			if tree != nil {
				tree.Close()
			} else {
				given++
			}
			if took > 3*limit {
				t.Errorf("%s: %d bytes of %.4q took %d us of the processor, the limit is %d", language, len(text), text, took, limit)
			}
		}
	}
	if given == 0 {
		t.Error("the parser gave up on none, which shows nothing")
	}
}

// A text that ends where the time does may do so within a character, or in bytes that are
// none, of which tree-sitter reads without asking whether there are any: that ended the process.
func TestLimitHoldsWithinACharacter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a thread's clock goes on by 10 ms and more at once, in which such a text is parsed")
	}
	for _, character := range []string{"\xff", "\xf0\x9f\x98", "é", "€", "😀"} {
		for before := range 64 { // as many places where the pieces of a text may end
			for language, open := range map[string]string{"lua": "x = [[", "ruby": "x = <<A\n", "go": "/*"} {
				text := open + strings.Repeat("x", before) + strings.Repeat(character, 40_000/len(character))
				tree, _ := languageFor(language).grammar.Parse(nil, []byte(text), 1)
				if tree != nil {
					tree.Close()
					t.Fatalf("%s: %q was parsed, which shows nothing", language, character)
				}
			}
		}
	}
}

// A text may end with its time where a scanner asks for the column of a token whose line
// begins in an earlier piece: Scala's then counted one quote without end.
func TestLimitHoldsWithinALine(t *testing.T) {
	for _, language := range []string{"scala", "python", "yaml", "kotlin", "ruby", "markdown"} {
		for before := range 64 {
			line := strings.Repeat("x", before) + " = " + strings.Repeat(`"""a "b" ""c""" + `, 200)
			for _, text := range []string{line, "object A:\n  def b =\n    " + line + "\n", strings.Repeat(`"`, 1000+before) + line} {
				if tree, _ := languageFor(language).grammar.Parse(nil, []byte(text), 1); tree != nil {
					tree.Close()
				}
			}
		}
	}
}

// Large documents with errors leave little once they are closed.
func TestClosedDocumentsGiveMemoryBack(t *testing.T) {
	resident := func() int {
		t.Helper()
		data, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Skipf("nothing tells what the process holds: %v", err)
		}
		var size, pages int
		if _, err := fmt.Fscan(bytes.NewReader(data), &size, &pages); err != nil {
			t.Fatal(err)
		}
		return pages * os.Getpagesize()
	}
	giveBack()
	before := resident()
	most := 0
	var trees []*Tree
	for i, language := range []string{"javascript", "python", "typescript"} {
		trees = append(trees, parseNow(t, language, strings.Repeat("x = (a + b) * [c, d];\n", 30_000)+soup(uint64(i))[:2_000]))
		most = max(most, resident()-before)
	}
	for _, tree := range trees {
		tree.Close()
	}
	runtime.GC()
	giveBack()
	kept := resident() - before
	t.Logf("%d MB at most, %d MB kept", most>>20, kept>>20)
	if kept > 60<<20 {
		t.Errorf("%d MB of %d are kept of documents that are closed", kept>>20, most>>20)
	}
}
