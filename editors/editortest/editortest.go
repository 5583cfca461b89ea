// Package editortest drives real editors in a terminal, as a user does: it
// types keys, looks at the screen, and reads the files that were saved.
//
// The editors are those of the Debian chroot that editors/chroot.sh makes; the
// terminal is tmux, which draws what the editor prints and can be asked for the
// cells with their colours. Nothing here waits a fixed time: Terminal.WaitFor
// looks until the screen is as expected or a deadline is over, and then shows
// the screen it found instead.
package editortest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// QuarryFolder is where Run put the binary under test, for an editor's PATH, and
// that of another language server, compiler.
var QuarryFolder string

// Run is a package's TestMain: it builds the servers, runs the tests, and
// returns the exit code.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "quarry")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "sqlite_fts5", "-o", dir, "quarry/cmd/quarry", "quarry/lsp/lsptest/compiler")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build quarry: %v\n%s", err, out)
		return 1
	}
	QuarryFolder = dir
	// No test depends on what memory and current the machine has.
	os.Setenv("QUARRY_MEMORY_BUDGET_MB", "1000000")
	os.Setenv("QUARRY_BATTERY_SAVE", "false")
	return m.Run()
}

// Recite is what a model that has learned text by heart answers to a prompt in
// Granite's fill-in-the-middle format, token by token: what follows in text
// after the last characters before the cursor. It is nil where text has none.
func Recite(text, prompt string) []string {
	before, _, _ := strings.Cut(prompt, "<|fim_suffix|>")
	_, rest, _ := strings.Cut(text, before[max(0, len(before)-40):])
	return tokens.FindAllString(rest, -1)
}

// ReciteLine is Recite to the end of the line.
func ReciteLine(text, prompt string) []string {
	line, _, _ := strings.Cut(strings.Join(Recite(text, prompt), ""), "\n")
	return tokens.FindAllString(line, -1)
}

var tokens = regexp.MustCompile(`\s*\w+|\s*\W`)

// FencedBlock is the first block of a language in a Markdown file, so that the
// tests run what a README tells a user to write.
func FencedBlock(t testing.TB, file, language string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, block, opened := strings.Cut(string(text), "```"+language+"\n")
	block, _, closed := strings.Cut(block, "```")
	if !opened || !closed {
		t.Fatalf("%s has no block of %s", file, language)
	}
	return block
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
