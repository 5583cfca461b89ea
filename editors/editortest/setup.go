package editortest

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// SetUp runs `quarry setup` for an editor of the chroot, with a home folder.
func SetUp(t testing.TB, home, editor string) {
	t.Helper()
	if out, err := Batch(t, home, "quarry", "setup", editor, "--yes"); err != nil {
		t.Fatalf("quarry setup %s: %v\n%s", editor, err, out)
	}
}

// Batch runs a command in the chroot without a terminal, with a home folder and the quarry
// under test on the PATH, and answers what it printed.
func Batch(t testing.TB, home string, command ...string) (string, error) {
	t.Helper()
	args := []string{
		"run", "--bind", home, "--bind", QuarryFolder, "--", "env", "-i", "LANG=C.UTF-8",
		"HOME=" + home, "PATH=" + QuarryFolder + ":/usr/bin:/bin",
		"OLLAMA_HOST=127.0.0.1:1", // nobody listens there
	}
	out, err := exec.Command(filepath.Join(Module(t), "editors", "chroot.sh"), append(args, command...)...).CombinedOutput()
	return string(out), err
}
