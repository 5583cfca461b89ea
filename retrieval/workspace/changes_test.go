package workspace_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"quarry/index/systest"
	"quarry/index/walk"
)

// Files that are larger than the index takes, now or in the last commit, are not compared, and
// said; nor does anything go on for who no longer asks.
func TestChangesPassOverLargeFiles(t *testing.T) {
	systest.NeedProgram(t, "git")
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	code := "package a\n\nfunc Kept() {}\n"
	large := code + "// " + strings.Repeat("x", walk.DefaultMaxSize) + "\n"
	git("init", "-q")
	write(t, dir, map[string]string{"a.go": code, "grown.go": code, "shrunk.go": large, "gone.go": large})
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	write(t, dir, map[string]string{"a.go": code + "\nfunc Added() {}\n", "grown.go": large + "\nfunc Grown() {}\n", "shrunk.go": code})
	if err := os.Remove(dir + "/gone.go"); err != nil {
		t.Fatal(err)
	}
	w := open(t, false, dir)
	if _, err := w.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := w.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found.TooLarge)
	if want := []string{"gone.go", "grown.go", "shrunk.go"}; !slices.Equal(found.TooLarge, want) {
		t.Errorf("too large are %q, want %q", found.TooLarge, want)
	}
	if !slices.Equal(found.Files, []string{"a.go"}) || len(found.List) != 1 || found.List[0].Name != "Added" {
		t.Errorf("files %q, changes %v", found.Files, found.List)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Changes(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller's end: %v", err)
	}
}
