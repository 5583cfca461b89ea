package git

import (
	"bufio"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/index/systest"
)

// bombMemory is less than any of the bombs takes, and more than git does otherwise.
const bombMemory = 64 << 20

// loose writes an object of a repository without holding it: head, and then size letters.
func loose(t *testing.T, dir, kind, head string, size int) string {
	t.Helper()
	path := filepath.Join(dir, ".git", "objects", "object")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewWriterLevel(f, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha1.New()
	w := io.MultiWriter(z, sum)
	fmt.Fprintf(w, "%s %d\x00%s", kind, size+len(head), head)
	letters := []byte(strings.Repeat("a", 1<<20))
	for left := size; left > 0; left -= len(letters) {
		if _, err := w.Write(letters[:min(left, len(letters))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	id := hex.EncodeToString(sum.Sum(nil))
	if err := os.MkdirAll(filepath.Join(dir, ".git", "objects", id[:2]), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, filepath.Join(dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	return id
}

// said is what git answers, without its line break.
func said(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// unfolding makes the last commit one of trees, each width times the next, levels deep.
func unfolding(t *testing.T, dir string, levels, width int) {
	blob := said(t, dir, "package b\n", "hash-object", "-w", "--stdin")
	entry := "100644 blob " + blob + "\tf%d.go\n"
	var tree string
	for range levels + 1 {
		var list strings.Builder
		for i := range width {
			fmt.Fprintf(&list, entry, i)
		}
		tree = said(t, dir, list.String(), "mktree")
		entry = "040000 tree " + tree + "\td%d\n"
	}
	run(t, dir, "update-ref", "HEAD", said(t, dir, "", "commit-tree", tree, "-m", "bomb"))
}

// bombs are repositories of kilobytes of which git makes far more.
var bombs = map[string]func(t *testing.T, dir string){
	"trees, wide": func(t *testing.T, dir string) { unfolding(t, dir, 5, 20) },
	"trees, deep": func(t *testing.T, dir string) { unfolding(t, dir, 9, 10) },
	"a commit": func(t *testing.T, dir string) {
		head := "tree " + said(t, dir, "", "rev-parse", "HEAD^{tree}") + "\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\n"
		id := loose(t, dir, "commit", head, 96<<20)
		write(t, dir, ".git/HEAD", id+"\n")
	},
}

// largestGit is the most memory that a git of this process has until stop is closed, in KB. What the
// system says of a child that ended counts this process's own, too.
func largestGit(stop chan struct{}) (most int) {
	for {
		select {
		case <-stop:
			return most
		default:
		}
		tasks, _ := filepath.Glob("/proc/self/task/*/children")
		for _, task := range tasks {
			children, _ := os.ReadFile(task)
			for _, pid := range strings.Fields(string(children)) {
				status, _ := os.ReadFile("/proc/" + pid + "/status")
				_, peak, _ := strings.Cut(string(status), "VmHWM:")
				var kb int
				if _, err := fmt.Sscan(peak, &kb); err == nil && strings.HasPrefix(string(status), "Name:\tgit\n") {
					most = max(most, kb)
				}
			}
		}
	}
}

// Git takes no more memory than it may, and is not asked again at once about the same commit.
func TestMemoryIsBounded(t *testing.T) {
	systest.NotEmulated(t, "qemu bounds no memory of what a program starts")
	for name, build := range bombs {
		t.Run(name, func(t *testing.T) {
			real, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}
			// A git that notes how often it is begun.
			fake, runs := t.TempDir(), filepath.Join(t.TempDir(), "runs")
			write(t, fake, "git", "#!/bin/sh\necho begun >>'"+runs+"'\nexec '"+real+"' \"$@\"\n")
			if err := os.Chmod(filepath.Join(fake, "git"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", fake+string(os.PathListSeparator)+os.Getenv("PATH"))
			limit := bounds{output: 1 << 20, memory: bombMemory, patience: time.Hour, rest: time.Hour}
			var dir string
			ask := func() error {
				r, err := open(t.Context(), dir, limit)
				if err == nil {
					_, err = r.Changed(t.Context())
				}
				return err
			}
			begun := func() int {
				b, _ := os.ReadFile(runs)
				return strings.Count(string(b), "begun")
			}
			largest := 0
			for range 20 { // on a busy machine git may have ended before it was looked at
				dir = repository(t, map[string]string{"a.go": "a\n"})
				build(t, dir)
				stop, most := make(chan struct{}), make(chan int)
				go func() { most <- largestGit(stop) }()
				err = ask()
				close(stop)
				if largest = <-most; largest > 0 {
					break
				}
			}
			var exceeded *Exceeded
			if !errors.As(err, &exceeded) || !errors.Is(err, errMemory) || !strings.HasPrefix(err.Error(), "git needs more than 64 MB for the last commit") {
				t.Errorf("%v", err)
			}
			t.Logf("git took at most %d KB", largest)
			if largest == 0 || largest > 2*bombMemory>>10 {
				t.Errorf("git took %d KB, of %d at most", largest, bombMemory>>10)
			}
			first := begun()
			if err := ask(); !errors.As(err, &exceeded) || !errors.Is(err, errMemory) || !strings.Contains(err.Error(), "quarry asks git again after the next commit") {
				t.Errorf("asked again: %v", err)
			}
			if again := begun() - first; again != 1 {
				t.Errorf("git was begun %d times when asked again, not only for the commit's name", again)
			}
			run(t, dir, "reset", "-q", said(t, dir, "", "commit-tree", said(t, dir, "", "write-tree"), "-m", "next"))
			if err := ask(); err != nil {
				t.Errorf("after the next commit: %v", err)
			}
		})
	}
}

// What is fetched takes no more memory either, be it the server's part on this machine.
func TestCloneMemoryIsBounded(t *testing.T) {
	dir := repository(t, map[string]string{"a.go": "a\n"})
	bombs["a commit"](t, dir)
	most := usual
	most.memory = bombMemory
	stop, largest := make(chan struct{}), make(chan int)
	go func() { largest <- largestGit(stop) }()
	err := clone(t.Context(), "file://"+dir, filepath.Join(t.TempDir(), "copy"), most)
	close(stop)
	if kb := <-largest; kb > 2*bombMemory>>10 {
		t.Errorf("git took %d KB, of %d at most", kb, bombMemory>>10)
	}
	if err == nil || !strings.HasPrefix(err.Error(), "git needs more than 64 MB of memory for file://") {
		t.Errorf("%v", err)
	}
}

// All that git does for one request has one time, not each run of it.
func TestOneTimeForARequest(t *testing.T) {
	dir := repository(t, map[string]string{"a.go": "a\n"})
	r, err := open(t.Context(), dir, bounds{output: 1 << 20, patience: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if r.spent == 0 {
		t.Error("git took no time")
	}
	r.spent = r.bound.patience
	if _, err := r.Known(t.Context()); !errors.Is(err, errSilent) {
		t.Errorf("asked when the time is over: %v", err)
	}
}

// Git ends where quarry is killed, too.
func TestGitEndsWithQuarry(t *testing.T) {
	const child = "QUARRY_TEST_GIT_CHILD"
	if dir := os.Getenv(child); dir != "" {
		r := &Repository{dir: dir, git: filepath.Join(dir, "git"), bound: bounds{output: 1 << 20, patience: time.Hour}}
		_, err := r.ask(t.Context(), nil, "status")
		t.Fatal(err)
	}
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	write(t, dir, "git", "#!/bin/sh\nexec 3>'"+pipe+"'\necho ready >&3\nexec sleep 1000\n")
	if err := errors.Join(os.Chmod(filepath.Join(dir, "git"), 0o755), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestGitEndsWithQuarry$")
	cmd.Env = append(os.Environ(), child+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	line := bufio.NewReader(held)
	if _, err := line.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, err := io.ReadAll(line); err != nil { // it ends once nobody can write to it
		t.Error(err)
	}
}
