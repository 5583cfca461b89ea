package index

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyHistoryEqualsFresh brings an index about by random events, in editors, on
// disk and by scans, and holds it against one made at once.
func TestAnyHistoryEqualsFresh(t *testing.T) {
	const files = 12
	rapid.Check(t, func(rt *rapid.T) {
		dir, state := t.TempDir(), t.TempDir()
		write(t, dir, map[string]string{"go.mod": "module m\n"})
		clock := newManual()
		open := func() *Index {
			x, err := Open(Config{Dir: dir, StateDir: state, Clock: clock})
			if err != nil {
				rt.Fatal(err)
			}
			return x
		}
		x := open()
		defer func() {
			if err := x.Close(); err != nil {
				rt.Error(err)
			}
		}()
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		shown := map[string]bool{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			i := r.IntN(files)
			name := filepath.Join(x.Root().Dir(), fmt.Sprintf("pkg%d", i%7), fmt.Sprintf("f%d.go", i))
			text := fmt.Sprintf("package p\n\nfunc F%d() { F%d(); G%d( }\n", r.IntN(files), r.IntN(files), r.IntN(files))
			switch rapid.SampledFrom([]string{"disk", "disk", "open", "edit", "close", "settle", "restart", "scan"}).Draw(rt, "step") {
			case "disk":
				mutate(t, r, dir, files)
				x.FilesChanged([]string{name, filepath.Dir(name)})
			case "open", "edit":
				shown[name] = true
				x.DidChange(name, text)
			case "close":
				delete(shown, name)
				x.DidClose(name)
			case "settle":
				clock.move(bufferDelayMost)
				settle(t, x)
			case "scan":
				x.Rescan()
			case "restart":
				if err := x.Close(); err != nil {
					rt.Fatal(err)
				}
				clear(shown)
				x = open()
			}
		}
		for name := range shown {
			x.DidClose(name)
		}
		x.Rescan()
		clock.move(bufferDelayMost)
		settle(t, x)
		if got, want := dump(t, x), fresh(t, dir); got != want {
			rt.Fatalf("differs from a fresh index: %s", firstDifference(got, want))
		}
	})
}
