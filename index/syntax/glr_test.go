package syntax

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
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
		l := languageFor(Detect(path, src[:min(len(src), 8000)]))
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
