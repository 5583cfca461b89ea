package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/index"
	"quarry/index/walk/walktest"
	"quarry/lsp/headless"
)

// Y1: no file of rules ends the server, hangs it, or makes it large. Each attack is
// run against a process of its own, since one that succeeds takes all of it.
func TestHostileRuleFiles(t *testing.T) {
	large := func(t *testing.T, name string) {
		if err := os.WriteFile(name, []byte(strings.Repeat("a*b*c*d*e?\n", 6<<20)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const excludes = "[core]\n\texcludesFile = "
	for _, attack := range []struct {
		name, file, config string
		make               func(*testing.T, string)
	}{
		{"sparse .gitignore", ".gitignore", "", walktest.Sparse},
		{"sparse .git", "sub/.git", "", walktest.Sparse},
		{"sparse .quarryignore", "sub/.quarryignore", "", walktest.Sparse},
		{"66 MB of patterns", ".gitignore", "", large},
		{"excludesFile without an end", "", excludes + "/dev/zero\n", nil},
		{"info/exclude without an end", ".git/info/exclude", "", walktest.Endless},
		{"excludesFile is a pipe", "pipe", excludes + "pipe\n", walktest.Pipe},
		{"info/exclude is a pipe", ".git/info/exclude", "", walktest.Pipe},
		{"commondir is a pipe", ".git/commondir", "", walktest.Pipe},
	} {
		t.Run(attack.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range map[string]string{
				".git/HEAD": "ref: refs/heads/main\n", ".git/info/x": "", ".git/config": attack.config,
				"a.go": "package a\n\nfunc Held() {}\n", "sub/b.go": "package b\n",
			} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if attack.make != nil {
				attack.make(t, filepath.Join(root, attack.file))
			}
			profile, err := headless.LoadProfile("neovim")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("quarry", "lsp", "--log-level=error", "--ollama="+noOllama)
			cmd.Env = append(os.Environ(), "QUARRY_STATE_DIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
			e, err := headless.StartProcess(t.Context(), cmd, headless.Options{Profile: profile, Root: root})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Kill() // after Quit it has ended
			var found json.RawMessage
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for ready := false; !ready; {
				var status []index.Status
				if err := e.Call(t.Context(), "quarry/index.status", nil, &status); err != nil {
					t.Fatal(err)
				}
				ready = len(status) > 0 && !status[0].Working && !status[0].Scanned.IsZero()
				if !ready {
					<-tick.C
				}
			}
			if err := e.Call(t.Context(), "quarry/search.lexical", map[string]any{"query": "Held"}, &found); err != nil || !strings.Contains(string(found), "a.go") {
				t.Errorf("the search for what is in a.go answers %s, %v", found, err)
			}
			// A server of two small files takes 60 MB, and ten times that under the race
			// detector; the attacks took 3 GB and more.
			if most := mostResident(t, cmd.Process.Pid); most > 1200<<20 {
				t.Errorf("the server took %d MB", most>>20)
			}
			if code, err := e.Quit(t.Context()); code != 0 || err != nil {
				t.Errorf("the server ends with %d, %v", code, err)
			}
		})
	}
}

// mostResident is how many bytes of memory a process has held at once. What the system
// tells of one that has ended counts the process that it was begun by, too.
func mostResident(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var kilobytes int
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%d kB", &kilobytes); err != nil {
		t.Fatalf("proc(5) has no VmHWM: %v", err)
	}
	return kilobytes << 10
}
