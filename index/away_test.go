package index

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A clone that is thrown away and made again is indexed and watched on, though no
// watch is left that could tell.
func TestRootMadeAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder that is open cannot be deleted on Windows")
	}
	dir := filepath.Join(t.TempDir(), "clone")
	clone := func(files map[string]string) {
		t.Helper()
		write(t, dir, files)
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Fatalf("git init: %v\n%s", err, out)
		}
	}
	clone(project)
	x := start(t, Config{Dir: dir, Watch: true})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	until(t, "the loss shows", func() bool {
		st, err := x.Status(t.Context())
		return err == nil && strings.Contains(st.LastError, "no such file")
	})
	clone(map[string]string{"main.go": "package main\n\nfunc again() {}\n", "new.go": "package main\n\nfunc other() {}\n"})
	until(t, "the new clone", func() bool { return slices.Equal(paths(t, x), []string{"main.go", "new.go"}) })
	settle(t, x)
	if st, err := x.Status(t.Context()); err != nil || st.LastError != "" {
		t.Errorf("after it came back: %q, %v", st.LastError, err)
	}
	if got, want := dump(t, x), fresh(t, dir); got != want {
		t.Errorf("the new clone: %s", firstDifference(got, want))
	}
	write(t, dir, map[string]string{"new.go": "package main\n\nfunc changed() {}\n"})
	until(t, "a change in the new clone", func() bool { return slices.Contains(symbols(t, x, "new.go"), "changed") })

	// Within a moment, so that it is never seen to be away.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	clone(map[string]string{"new.go": "package main\n\nfunc third() {}\n"})
	until(t, "the third clone", func() bool {
		return slices.Equal(paths(t, x), []string{"new.go"}) && slices.Contains(symbols(t, x, "new.go"), "third")
	})
	write(t, dir, map[string]string{"last.go": "package main\n\nfunc last() {}\n"})
	until(t, "a new file in the third clone", func() bool { return slices.Contains(symbols(t, x, "last.go"), "last") })
}
