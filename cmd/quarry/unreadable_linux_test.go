package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A search that finds nothing says what it could not read: what is looked for may be there. What
// could not be read does not count as read.
func TestSearchSaysWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	root, state, binary := filepath.Join(dir, "code"), filepath.Join(dir, "state"), filepath.Join(dir, "quarry")
	writeAll(t, root, map[string]string{"open.go": "package open\n\nfunc Open() {}\n", "shut.go": "package open\n", "locked/deep.go": "package locked\n\nfunc Deepest() {}\n"})
	copyFile(t, os.Args[0], binary)
	if err := os.Mkdir(state, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o755, state: 0o777, filepath.Join(root, "shut.go"): 0, filepath.Join(root, "locked"): 0} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "locked"), 0o755) })
	if os.Geteuid() == 0 { // who may read everything
		beSomebodyElse(t, "searches where it may not read everything")
	}
	for i, test := range []struct{ word, want string }{{"Deepest", "(folders count once): cannot read 2"}, {"Open", "function Open"}} {
		cmd := exec.CommandContext(t.Context(), binary, "search", "--workspace", root, "--state-dir", state, "--ollama", noOllama, test.word)
		cmd.Env = []string{"HOME=" + state, "PATH=" + os.Getenv("PATH")}
		cmd.Dir = dir
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), test.want) || i == 0 && !strings.Contains(errs.String(), "files read: 1\n") {
			t.Errorf("search %s: %v, printed\n%s%s", test.word, err, &out, &errs)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}
