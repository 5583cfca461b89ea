package git

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/index/systest"
)

// repository is a new one with files committed.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	systest.NeedProgram(t, "git")
	dir := t.TempDir()
	run(t, dir, "init", "-q")
	for name, text := range files {
		write(t, dir, name, text)
	}
	run(t, dir, "add", "-A")
	run(t, dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first")
	return dir
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestChanged(t *testing.T) {
	dir := repository(t, map[string]string{"a.go": "a\n", "b c.go": "b\n", "sub/d.go": "d\n", "sub/gone.go": "g\n", "same.go": "s\n"})
	write(t, dir, "a.go", "a2\n")
	write(t, dir, "b c.go", "b2\n")
	run(t, dir, "add", "b c.go")
	write(t, dir, "sub/d.go", "d2\n")
	write(t, dir, "new.go", "n\n")
	if err := os.Remove(filepath.Join(dir, "sub", "gone.go")); err != nil {
		t.Fatal(err)
	}
	ask := func(dir string) (changed []string, known map[string]bool, committed map[string]string) {
		r, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if changed, err = r.Changed(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(changed)
		if known, err = r.Known(t.Context()); err != nil {
			t.Fatal(err)
		}
		committed = map[string]string{}
		err = r.Committed(t.Context(), append(slices.Clone(changed), "new.go", "no\nname"), 1<<20, func(name, text string, larger bool) error {
			if committed[name] = text; larger {
				t.Errorf("%s is said to be larger", name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return changed, known, committed
	}
	changed, known, committed := ask(dir)
	if want := []string{"a.go", "b c.go", "sub/d.go", "sub/gone.go"}; !slices.Equal(changed, want) {
		t.Errorf("changed %q, want %q", changed, want)
	}
	if known["new.go"] || !known["same.go"] || !known["b c.go"] {
		t.Errorf("known %v", known)
	}
	if len(committed) != 6 || committed["new.go"] != "" || committed["no\nname"] != "" || committed["a.go"] != "a\n" || committed["b c.go"] != "b\n" || committed["sub/gone.go"] != "g\n" {
		t.Errorf("committed %q", committed)
	}
	// Below a folder, names are relative to that.
	changed, known, committed = ask(filepath.Join(dir, "sub"))
	if want := []string{"d.go", "gone.go"}; !slices.Equal(changed, want) || !known["d.go"] || committed["d.go"] != "d\n" {
		t.Errorf("below a folder: %q %v %q", changed, known, committed)
	}
	if _, err := Open(t.Context(), t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("a folder that is no repository: %v", err)
	}
}

// What a repository's own configuration names is not run.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	dir := repository(t, map[string]string{"a.go": "a\n", "b.txt": "b\n"})
	trap := filepath.Join(dir, "trap")
	canary := filepath.Join(dir, "canary")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+canary+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".gitattributes", "*.go diff=evil filter=evil\n*.txt diff=evil filter=evil\n")
	for key, value := range map[string]string{
		"core.fsmonitor": trap, "diff.external": trap, "diff.evil.textconv": trap, "diff.evil.command": trap, "filter.evil.clean": trap, "filter.evil.smudge": trap,
		"filter.evil.process": trap, "core.pager": trap, "core.sshCommand": trap, "remote.origin.url": "ext::" + trap, "remote.origin.promisor": "true", "core.editor": trap,
		"pager.diff-index": trap, "alias.diff-index": "!" + trap, "alias.ls-files": "!" + trap, "credential.helper": trap, "core.alternateRefsCommand": trap,
	} {
		run(t, dir, "config", key, value)
	}
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman"} {
		if err := os.WriteFile(filepath.Join(dir, ".git", "hooks", hook), []byte("#!/bin/sh\necho \"$0\" >>'"+canary+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "a.go", "changed\n")
	write(t, dir, "b.txt", "c\n") // as long as it was
	// Of a list that is older than the files git would compare contents, and run filters for that.
	old := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(filepath.Join(dir, ".git", "index"), old, old); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_EXTERNAL_DIFF", trap)
	t.Setenv("GIT_DIR", t.TempDir())
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := r.Changed(t.Context())
	if err != nil || !slices.Contains(changed, "a.go") {
		t.Errorf("changed %q, %v", changed, err)
	}
	if _, err := r.Known(t.Context()); err != nil {
		t.Error(err)
	}
	if err := r.Committed(t.Context(), []string{"a.go", "b.txt", "none"}, 1<<20, func(string, string, bool) error { return nil }); err != nil {
		t.Error(err)
	}
	if said, err := os.ReadFile(canary); err == nil {
		t.Errorf("a program that the repository names was run: %s", said)
	}
}

// A buffer that is embedded has io.Copy, and so os/exec, go around the limit.
func TestLimitedKeepsItsLimit(t *testing.T) {
	for _, size := range []int{0, 99, 100, 101, 1 << 20} {
		called := false
		l := limited{most: 100, over: func() { called = true }}
		n, err := io.Copy(&l, struct{ io.Reader }{strings.NewReader(strings.Repeat("x", size))})
		if err != nil || n != int64(size) || l.kept.Len() != min(size, 100) || l.full != (size > 100) || called != l.full {
			t.Errorf("of %d bytes: %d written, %d kept, full %v, over called %v, %v", size, n, l.kept.Len(), l.full, called, err)
		}
		if l.kept.Cap() > 1000 {
			t.Errorf("of %d bytes: it has room for %d", size, l.kept.Cap())
		}
	}
}

// What git says is read as far as the bound on its output, and no further.
func TestOutputIsBounded(t *testing.T) {
	const bound, size = 1 << 20, 32 << 20
	dir := repository(t, map[string]string{"a.go": "a\n", "large.txt": strings.Repeat("x", size), "z.go": "z\n"})
	r, err := open(t.Context(), dir, bounds{output: bound, patience: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a.go", "large.txt", "z.go"}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = r.Committed(t.Context(), names, size, func(string, string, bool) error { return nil })
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "git cat-file says more than 1 MB") {
		t.Errorf("a file beyond the bound: %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 8*bound {
		t.Errorf("%d bytes were allocated for an output of at most %d", took, bound)
	}
	// A file that is larger than wanted is not read, those around it are.
	var got []string
	err = r.Committed(t.Context(), names, size-1, func(name, text string, larger bool) error {
		got = append(got, fmt.Sprint(name, " ", strings.TrimSpace(text), " ", larger))
		return nil
	})
	if want := []string{"a.go a false", "large.txt  true", "z.go z false"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// More than is read at once comes whole, each file with its own text.
func TestCommittedInGroups(t *testing.T) {
	files := map[string]string{"empty.txt": ""}
	for i := range 5 {
		files[fmt.Sprintf("f%d.txt", i)] = strings.Repeat(string(rune('a'+i)), together/3)
	}
	r, err := Open(t.Context(), repository(t, files))
	if err != nil {
		t.Fatal(err)
	}
	names := append(slices.Sorted(maps.Keys(files)), "none.txt")
	var got []string
	err = r.Committed(t.Context(), names, together, func(name, text string, larger bool) error {
		if got = append(got, name); text != files[name] || larger {
			t.Errorf("%s: %d bytes, larger %v", name, len(text), larger)
		}
		return nil
	})
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("%q, %v", got, err)
	}
}

// What comes of an address is bounded: ten folders that each hold the next ten times are ten
// billion files, and come in a few hundred bytes.
// A failure is told as git tells it, not by the last line of its advice.
func TestWhyACloneFailed(t *testing.T) {
	systest.NeedProgram(t, "git")
	gone := filepath.Join(t.TempDir(), "gone")
	err := Clone(t.Context(), "file://"+filepath.ToSlash(gone), filepath.Join(t.TempDir(), "copy"))
	if err == nil || !strings.Contains(err.Error(), "does not appear to be a git repository") && !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v", err)
	}
}

func TestCloneIsBounded(t *testing.T) {
	dir := repository(t, map[string]string{"a.go": "package a\n", "sub/large.txt": strings.Repeat("x", 1<<20)})
	from := "file://" + filepath.ToSlash(dir)
	to := filepath.Join(t.TempDir(), "whole")
	if err := Clone(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "a.go")); err != nil || string(text) != "package a\n" {
		t.Errorf("%q, %v", text, err)
	}
	for name, most := range map[string]limits{"files": {files: 1, bytes: 1 << 30}, "bytes": {files: 10, bytes: 1 << 20}, "pack": {files: 10, bytes: 100}} {
		most.still, most.whole = usual.still, usual.whole
		to := filepath.Join(t.TempDir(), name)
		if err := clone(t.Context(), from, to, most); err == nil || !strings.Contains(err.Error(), "too large to fetch") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(to, "a.go")); err == nil {
			t.Errorf("%s: the files are there", name)
		}
	}

	ask := func(in string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	id, kind := ask("x\n", "hash-object", "-w", "--stdin"), "100644 blob"
	for range 10 {
		var tree strings.Builder
		for i := range 10 {
			fmt.Fprintf(&tree, "%s %s\td%d\n", kind, id, i)
		}
		id, kind = ask(tree.String(), "mktree"), "040000 tree"
	}
	run(t, dir, "update-ref", "HEAD", ask("", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit-tree", "-m", "bomb", id))
	if err := clone(t.Context(), from, filepath.Join(t.TempDir(), "bomb"), limits{files: 50_000, bytes: 1 << 40, still: usual.still, whole: usual.whole}); err == nil || !strings.Contains(err.Error(), "too large to fetch") {
		t.Errorf("ten billion files: %v", err)
	}

	// One without a commit is there, and has nothing.
	empty := t.TempDir()
	run(t, empty, "init", "-q")
	if err := Clone(t.Context(), "file://"+filepath.ToSlash(empty), filepath.Join(t.TempDir(), "empty")); err != nil {
		t.Errorf("an empty repository: %v", err)
	}
}

// Who is asked for a repository and sends nothing is not waited for without end.
func TestCloneFromASilentServer(t *testing.T) {
	systest.NeedProgram(t, "git")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var serving sync.WaitGroup
	defer serving.Wait()
	ended := make(chan struct{})
	defer close(ended)
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { <-ended; c.Close() })
		}
	})
	defer l.Close()
	for name, most := range map[string]limits{
		"sends nothing": {files: 10, bytes: 1 << 20, still: 200 * time.Millisecond, whole: time.Hour},
		"takes more":    {files: 10, bytes: 1 << 20, still: time.Hour, whole: 200 * time.Millisecond},
	} {
		err := clone(t.Context(), "git://"+l.Addr().String()+"/a.git", filepath.Join(t.TempDir(), "a"), most)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
