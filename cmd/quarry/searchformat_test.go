package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
)

// A line's end in the name of a file or a folder begins no place of its own.
func TestSearchNamesOfSeveralLines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no name on Windows has a line's end")
	}
	ws := searchFolder(t)
	folder := filepath.Join(ws, "sub\nforged.go:1:1:x")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(folder, "odd\nforged.go:9: y.go"), "package tiny\n\n// Odd matches a radix tree.\nfunc Odd() {}\n")
	t.Chdir(ws)
	for _, args := range [][]string{{"radix tree"}, {"--format", "vimgrep", "radix tree"}, {"--format", "quickfix", "radix tree"}, {"lines:all radix"}} {
		code, out, errs := quarry(t, append([]string{"search", "--workspace", ws}, args...)...)
		if code != cli.ExitOK || !strings.Contains(out, `sub\nforged.go:1:1:x`) || !strings.Contains(out, `odd\nforged.go:9: y.go:`) || strings.Contains(out, "\nforged") {
			t.Errorf("%q: exit %d, printed:\n%s%s", args, code, out, errs)
		}
	}
}

// Other programs read what --format writes: every line is a place that exists, named from the
// current folder, and nothing else is on standard output.
func TestSearchFormats(t *testing.T) {
	ws := searchFolder(t)
	below := filepath.Join(ws, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	// A text of a repository cannot make a place of its own, or steer a terminal.
	writeText(t, filepath.Join(ws, "odd name.go"), "package tiny\n\n// Odd matches a radix \x1b]0;x\x07 tree.\nfunc Odd() {}\n")
	t.Chdir(below)

	code, out, errs := quarry(t, "search", "--workspace", ws, "--format", "vimgrep", "radix tree")
	if code != cli.ExitOK || !strings.Contains(filepath.ToSlash(out), "../router.go:3:1:// Router matches paths in a radix tree.\n") {
		t.Errorf("exit %d, printed:\n%s%s", code, out, errs)
	}
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		m := regexp.MustCompile(`^([^:]+):(\d+):(\d+):`).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no place: %q", line)
		}
		if _, err := os.Stat(m[1]); err != nil {
			t.Error(err)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("raw control bytes: %q", out)
	}

	code, out, errs = quarry(t, "search", "--workspace", ws, "--format", "quickfix", "Retry")
	if code != cli.ExitOK || !regexp.MustCompile(`(?m)^\.\.[/\\]retry\.go:\d+: function Retry: declares function Retry`).MatchString(out) {
		t.Errorf("exit %d, printed:\n%s%s", code, out, errs)
	}
	if vim, err := exec.LookPath("nvim"); err == nil {
		errorfile := filepath.Join(t.TempDir(), "errors")
		writeText(t, errorfile, out)
		cmd := exec.Command(vim, "--clean", "--headless", "-q", errorfile, "+lua io.stdout:write(vim.fn.expand('%'), ':', vim.fn.line('.'), '\\n')", "+qa")
		if got, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(got), "retry.go:") {
			t.Errorf("nvim -q opens %q, %v", got, err)
		}
	} else {
		t.Log("not read by a real editor: ", err)
	}

	code, out, errs = quarry(t, "search", "--workspace", ws, "--format", "sarif", "lines:all", `"radix"`)
	var log sarifLog
	if err := json.Unmarshal([]byte(out), &log); code != cli.ExitOK || err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("exit %d, %v, printed:\n%s%s", code, err, out, errs)
	}
	found := map[string]int{}
	for _, r := range log.Runs[0].Results {
		at := r.Locations[0].Physical
		found[at.File.URI] = at.Region.Start
		if r.Message.Text == "" || r.Rule == "" || at.File.Base != sarifRoot || at.Region.End < at.Region.Start || r.Rank < 0 || r.Rank > 100 {
			t.Errorf("%+v", r)
		}
	}
	if len(found) != 2 || found["router.go"] != 3 || found["odd%20name.go"] != 3 || !strings.HasPrefix(log.Runs[0].Bases[sarifRoot].URI, "file:///") {
		t.Errorf("%v, %+v", found, log.Runs[0].Bases)
	}

	// Nothing found is an empty answer, not a sentence among the places.
	if code, out, _ := quarry(t, "search", "--workspace", ws, "--format", "vimgrep", "lang:rust x"); code != cli.ExitOK || out != "" {
		t.Errorf("exit %d, printed %q", code, out)
	}
	for _, args := range [][]string{{"--format", "emacs"}, {"--format", "sarif", "--json"}} {
		if code, _, errs := quarry(t, append([]string{"search", "--workspace", ws, "x"}, args...)...); code != cli.ExitUsage || errs == "" {
			t.Errorf("%q: exit %d, %q", args, code, errs)
		}
	}
}
