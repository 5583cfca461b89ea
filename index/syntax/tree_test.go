package syntax

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/smacker/go-tree-sitter/golang"

	"quarry/index/syntax/treesitter"
)

// TestUpdateEqualsParse applies random edits to each fixture and takes each
// back. Wherever the text has no errors the incremental parse must equal the
// full one; with errors, recovery may go another way from the kept tree.
func TestUpdateEqualsParse(t *testing.T) {
	for _, dir := range fixtureDirs(t) {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			language, src := fixture(t, dir)
			random := rand.New(rand.NewPCG(1, 2))
			tree, err := Parse(language, src)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			check := func(tree *Tree, src []byte) {
				t.Helper()
				want, err := Analyze(language, src)
				if err != nil {
					t.Fatal(err)
				}
				got := tree.Analyze()
				checkChunks(t, got, src, languageFor(language) == nil)
				if len(want.Errors) > 0 {
					return
				}
				compared++
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("incremental parse differs:\n%s\nof\n%s", firstDifference(describe(got, src), describe(want, src)), src)
				}
			}
			for range 50 {
				next := randomEdit(random, src)
				edited, err := tree.Update(next)
				if err != nil {
					t.Fatal(err)
				}
				check(edited, next)
				tree.Close()
				if tree, err = edited.Update(src); err != nil {
					t.Fatal(err)
				}
				edited.Close()
				check(tree, src)
			}
			tree.Close()
			if compared < 50 {
				t.Errorf("only %d of 100 texts were without errors", compared)
			}
		})
	}
}

// randomEdit deletes, repeats or inserts a piece of text.
func randomEdit(random *rand.Rand, src []byte) []byte {
	start := random.IntN(len(src) + 1)
	end := min(len(src), start+random.IntN(40))
	pieces := []string{"", "x", "\n", "{", "}", "(", "\"", "é𝔸", "/*", "\r\n", string(src[start:end]) + string(src[start:end])}
	return bytes.Join([][]byte{src[:start], []byte(pieces[random.IntN(len(pieces))]), src[end:]}, nil)
}

func TestTreeIsSafeConcurrently(t *testing.T) {
	language, src := fixture(t, "go")
	tree, err := Parse(language, src)
	if err != nil {
		t.Fatal(err)
	}
	want := tree.Analyze()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			next := append(bytes.Clone(src), []byte("\nfunc added() {}\n")...)
			for range 5 {
				updated, err := tree.Update(next)
				if err != nil {
					t.Error(err)
					return
				}
				if n := len(updated.Analyze().Symbols); n != len(want.Symbols)+1 {
					t.Errorf("%d symbols after adding one to %d", n, len(want.Symbols))
				}
				updated.Close()
				if !reflect.DeepEqual(tree.Analyze(), want) {
					t.Error("the tree changed under Update")
				}
			}
			if i == 3 {
				tree.Close() // others go on, by parsing anew
			}
		})
	}
	group.Wait()
}

// TestHostileTextIsReadByLines: the parser gives up on text it would need
// minutes for, and is not spoiled by that.
func TestHostileTextIsReadByLines(t *testing.T) {
	src := []byte("x = [" + strings.Repeat("1234567, ", 20_000) + "]\n")
	f, err := Analyze("c", src)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Errors) != 1 || int(f.Errors[0].End) != len(src) {
		t.Fatalf("errors %v, want one over the whole file", f.Errors)
	}
	checkChunks(t, f, src, true)
	f, err = Analyze("c", []byte("int main() { return 0; }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Symbols) != 1 || len(f.Errors) != 0 {
		t.Errorf("after giving up, a good file gives %d symbols and errors %v", len(f.Symbols), f.Errors)
	}
}

// TestParseIsBounded: a parse ends where it has taken the processor for as long as it
// may, and what it leaves behind serves the next one.
func TestParseIsBounded(t *testing.T) {
	l, src := languageFor("go"), []byte("package p\n"+strings.Repeat("func f() { g(1, \"a\") }\n", 20_000))
	nodes, release := l.grammar.Nodes(src, 1)
	if nodes != nil {
		t.Errorf("a parse without time made %d nodes", len(nodes))
	}
	release()
	nodes, release = l.grammar.Nodes(src[:3000], parseLimit(3000))
	defer release()
	if len(nodes) < 1000 {
		t.Errorf("the parse after it made %d nodes", len(nodes))
	}
}

// A parse takes no more memory than it may have, with its stack: a text that needs more is
// given up, and a smaller one is read.
func TestParseWithinItsRoom(t *testing.T) {
	g := treesitter.New(golang.GetLanguage, treesitter.Scanner{})
	g.Within(func() int64 { return 4 << 20 })
	if err := g.Load(); err != nil {
		t.Fatal(err)
	}
	for bytes, want := range map[int]bool{500: true, 5000: true, 50_000: false} {
		src := []byte("package p\n")
		for len(src) < bytes {
			src = append(src, "func f() { g(1, 2) }\n"...)
		}
		nodes, release := g.Nodes(src, parseLimit(len(src)))
		if got := nodes != nil; got != want {
			t.Errorf("%d bytes: read %t", len(src), got)
		}
		release()
		if tree, _ := g.Parse(nil, src, parseLimit(len(src))); (tree != nil) != want {
			t.Errorf("%d bytes, kept: read %t", len(src), tree != nil)
		}
	}
}

// What was given up for want of room says how much there was, and is read by whoever has more;
// what would be given up anyway says nothing of it.
func TestShortOfRoom(t *testing.T) {
	g := languageFor("go").grammar
	src := []byte("package p\n" + strings.Repeat("func f() { g(1, 2) }\n", 2500))
	defer g.Within(parseRoom)
	for _, c := range []struct {
		room, short int64
	}{{4 << 20, 4 << 20}, {0, 1}, {treesitter.Needs(int64(len(src))), 0}, {math.MaxInt64, 0}} {
		g.Within(func() int64 { return c.room })
		f, err := Analyze("go", src)
		if err != nil {
			t.Fatal(err)
		}
		if f.Short != c.short || (len(f.Symbols) == 0) != (c.short > 0) {
			t.Errorf("in %d bytes: short %d, %d symbols", c.room, f.Short, len(f.Symbols))
		}
		tree, err := Parse("go", append(src, byte('\n'))) // not the text of another document
		if err != nil {
			t.Fatal(err)
		}
		if got := tree.Analyze(); got.Short != c.short {
			t.Errorf("open, in %d bytes: short %d", c.room, got.Short)
		}
		tree.Close()
		open.mu.Lock()
		open.list = nil // which remembers what was given up
		open.mu.Unlock()
	}
	g.Within(parseRoom)
	hostile, err := Analyze("c", []byte("x = ["+strings.Repeat("1234567, ", 20_000)+"]\n"))
	if err != nil || len(hostile.Errors) != 1 || hostile.Short != 0 {
		t.Errorf("a text that takes too long: short %d, %v", hostile.Short, err)
	}
	needs := treesitter.Needs(1 << 20)
	for _, c := range []struct {
		room, short int64
		want        bool
	}{
		{math.MaxInt64, 1, true}, {math.MaxInt64, math.MaxInt64 / 4, true}, {100, 100, false}, {124, 100, false}, {125, 100, true},
		{needs, needs - 1, true}, {needs - 1, needs - 1, false},
	} {
		if got := hasRoom(c.room, 1<<20, c.short); got != c.want {
			t.Errorf("%d bytes of room after %d: %t", c.room, c.short, got)
		}
	}
}

// Y9: elements within elements take HTML's scanner the square of their depth, so that a file of them
// is given up on as soon as an open document; source of all others may take longer.
func TestDeepMarkupIsGivenUpSoon(t *testing.T) {
	for name, l := range languages {
		if got, size := l.limit(1_000_000), 1_000_000; (got <= 2_000_000) != (name == "html") || name != "html" && got != parseLimit(size) {
			t.Errorf("a megabyte of %s may take %d µs", name, got)
		}
	}
}
