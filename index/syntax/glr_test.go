package syntax

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/index/lang"
)

// checkGLR parses a text by glr.c and by tree-sitter and compares the trees. It
// answers whether glr.c took the text, and whether it has syntax errors.
func checkGLR(t *testing.T, l *language, src []byte) (taken, broken bool) {
	t.Helper()
	if l.mask != nil {
		src = l.mask(src)
	}
	a, b := arenas.Get().(*arena), arenas.Get().(*arena)
	defer func() {
		for _, used := range []*arena{a, b} {
			used.reset()
			arenas.Put(used)
		}
	}()
	got, want := a.parseClean(l, src), b.parse(l, src)
	broken = slices.ContainsFunc(want, func(n node) bool { return n.symbol == symbolError || n.missing })
	if got == nil {
		return false, broken
	}
	if !slices.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want))-1 && got[at] == want[at] {
			at++
		}
		t.Errorf("%d nodes, want %d; the first to differ is %d: %+v, want %+v", len(got), len(want), at, got[at], want[at])
	}
	return true, broken
}

// TestGLREqualsTreeSitter holds glr.c against tree-sitter on every fixture, as it
// is and with lines taken out, doubled and swapped.
func TestGLREqualsTreeSitter(t *testing.T) {
	for _, dir := range fixtureDirs(t) {
		t.Run(dir, func(t *testing.T) {
			name, src := fixture(t, dir)
			l := languageFor(name)
			if l == nil {
				return // read by lines
			}
			if taken, broken := checkGLR(t, l, src); taken == broken {
				t.Errorf("taken: %v, with syntax errors: %v", taken, broken)
			}
			checkGLR(t, l, bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")))
			checkGLR(t, l, append([]byte("\xef\xbb\xbf"), src...))
			lines := bytes.SplitAfter(src, []byte("\n"))
			random := rand.New(rand.NewPCG(1, 2))
			for range 100 {
				changed := slices.Clone(lines)
				i, j := random.IntN(len(lines)), random.IntN(len(lines))
				switch random.IntN(3) {
				case 0:
					changed[i] = nil
				case 1:
					changed[i] = append(slices.Clip(changed[i]), changed[i]...)
				default:
					changed[i], changed[j] = changed[j], changed[i]
				}
				if checkGLR(t, l, bytes.Join(changed, nil)); t.Failed() {
					t.Fatalf("lines %d and %d of the fixture changed", i+1, j+1)
				}
			}
		})
	}
}

// TestGLREqualsTreeSitterOnTree does the same with all files of a source tree: the
// folder named by QUARRY_BENCH_TREE, else a part of the Go distribution.
func TestGLREqualsTreeSitterOnTree(t *testing.T) {
	dir := os.Getenv("QUARRY_BENCH_TREE")
	if dir == "" {
		dir = filepath.Join(runtime.GOROOT(), "src", "go")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no source tree to read: ", err)
	}
	var taken, all int
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		src, err := os.ReadFile(path)
		l := languageFor(lang.Detect(path, src[:min(len(src), 8000)]))
		if err != nil || l == nil || len(src) > 1<<20 {
			return err
		}
		all += len(src)
		if ok, _ := checkGLR(t, l, src); ok {
			taken += len(src)
		}
		if t.Failed() {
			t.Log(path)
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d of %d bytes taken", taken, all); taken == 0 {
		t.Error("no file was taken")
	}
}

// TestGLRLeavesWhatTakesTooMuch holds glr.c to its bounds. Without them each of these
// would take the memory of the machine, or hours; half a megabyte is what an index
// reads without a second thought.
func TestGLRLeavesWhatTakesTooMuch(t *testing.T) {
	const n = 1 << 17
	for name, f := range map[string]struct{ language, src string }{
		// Each operator's reduction moves all comments.
		"comments behind operators": {"c", "int x = " + strings.Repeat("-~", n) + "b " + strings.Repeat("/**/", n/2) + ";\n"},
		// Each token makes the scanner set up all elements around it.
		"elements": {"html", strings.Repeat("<a>", n) + strings.Repeat("</a>", n)},
	} {
		t.Run(name, func(t *testing.T) {
			a := arenas.Get().(*arena)
			nodes := a.parseClean(languageFor(f.language), []byte(f.src))
			a.reset()
			if arenas.Put(a); nodes != nil {
				t.Errorf("taken, with %d nodes", len(nodes))
			}
		})
	}
}

// TestGLRDeep has stacks as high as a text can nest.
func TestGLRDeep(t *testing.T) {
	const n = 100_000
	for language, src := range map[string]string{
		"go":         "package p\n\nvar x = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + "\n",
		"javascript": "x = " + strings.Repeat("[", n) + strings.Repeat("]", n) + ";\n",
		"java":       "class A { int x = " + strings.Repeat("a ? b : ", n) + "c; }\n",
		"python":     "x = " + strings.Repeat("(", n) + "\n",
	} {
		t.Run(language, func(t *testing.T) {
			if taken, broken := checkGLR(t, languageFor(language), []byte(src)); taken == broken {
				t.Errorf("taken: %v, with syntax errors: %v", taken, broken)
			}
		})
	}
}

// TestDeepErrors has two readings of a text, each as deep as it is long, become one.
// tree-sitter recurses for that; it overflowed the stack of a thread, in the index and
// in an open document.
func TestDeepErrors(t *testing.T) {
	src := []byte("package p\nvar x = " + strings.Repeat("&", 1<<19) + "b " + strings.Repeat("/**/", 1<<17) + "\n")
	nodes, release := parseFlat(languageFor("c"), src, nil)
	defer release()
	if !slices.ContainsFunc(nodes, func(n node) bool { return n.symbol == symbolError || n.missing }) {
		t.Errorf("%d nodes, none of them an error", len(nodes))
	}
	tree, err := Parse("c", src)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if n, ok := tree.ErrorCount(); !ok || n == 0 {
		t.Errorf("an open document of it has %d errors (%v)", n, ok)
	}
	next, err := tree.Update(append(src[:len(src):len(src)], "int y;\n"...))
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if n, ok := next.ErrorCount(); ok && n == 0 { // or the parser gives up
		t.Error("its next version has no errors")
	}
}

func FuzzGLR(f *testing.F) {
	var names []string
	for _, dir := range fixtureDirs(f) {
		if name, src := fixture(f, dir); languageFor(name) != nil {
			f.Add(uint8(len(names)), src)
			names = append(names, name)
		}
	}
	f.Fuzz(func(t *testing.T, language uint8, src []byte) {
		checkGLR(t, languageFor(names[int(language)%len(names)]), src)
	})
}
