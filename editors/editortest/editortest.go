// Package editortest drives real editors in a terminal, as a person does: it
// types keys, looks at the screen, and reads the files that were saved.
//
// The editors are those of the Debian chroot that editors/chroot.sh makes; the
// terminal is tmux, which draws what the editor prints and can be asked for the
// cells with their colours. Nothing here waits a fixed time: Terminal.WaitFor
// looks until the screen is as expected or a deadline is over, and then shows
// the screen it found instead.
package editortest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Module is the folder of this module's go.mod.
func Module(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatalf("find the module's folder: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// BuildQuarry builds the server and returns the folder the binary is in, to be
// put on an editor's PATH.
func BuildQuarry(t testing.TB) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "sqlite_fts5", "-o", bin, "quarry/cmd/quarry")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build quarry: %v\n%s", err, out)
	}
	return bin
}

// WriteFile writes text to a file, its folders included.
func WriteFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
