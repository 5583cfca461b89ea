package patch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/retrieval/workspace"
)

// TestConfinement: over a real folder with ways out of it, a diff reaches only
// files that the workspace lets be read.
func TestConfinement(t *testing.T) {
	base := t.TempDir()
	root, outside := filepath.Join(base, "work"), filepath.Join(base, "outside")
	for name, text := range map[string]string{
		"work/main.go": "package main\n", "work/.git/config": "a\n", "work/.env": "a\n", "work/key.pem": "a\n",
		"work/node_modules/x/x.js": "a\n", "work/.quarryignore": "private/\n", "work/private/p.txt": "a\n", "outside/o.txt": "a\n",
	} {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"out.txt": filepath.Join(outside, "o.txt"), "out": outside, "env.txt": filepath.Join(root, ".env"), "git": filepath.Join(root, ".git")}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("no links can be made here: " + err.Error())
			}
			t.Fatal(err)
		}
	}
	w := workspace.New(workspace.Options{StateDir: filepath.Join(base, "state")})
	defer w.Close()
	w.SetRoots([]string{root})
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := New(w)
	if _, err := p.Patch(t.Context(), "--- a/main.go\n+++ b/main.go\n@@\n-package main\n+package other\n"); err != nil {
		t.Fatalf("a file of the workspace is refused: %v", err)
	}
	if _, err := p.Patch(t.Context(), "--- /dev/null\n+++ b/new/dir/new.txt\n@@ -0,0 +1 @@\n+a\n"); err != nil {
		t.Fatalf("a new file of the workspace is refused: %v", err)
	}
	for _, name := range []string{
		".git/config", ".GIT/config", "git/config", ".git/hooks/pre-commit", ".env", ".env.local", "env.txt", "key.pem", "new.key", "node_modules/x/x.js",
		"private/p.txt", "private/new.txt", "out.txt", "out/o.txt", "out/new.txt", "../outside/o.txt", "../outside/new.txt",
		"x/../../outside/o.txt", filepath.ToSlash(filepath.Join(outside, "o.txt")), "/etc/hosts", "~/x", "main.go/x", "", ".", "..",
		".git./config", ".git../hooks/pre-commit", "GIT~1/hooks/pre-commit", ".g\u200cit/hooks/pre-commit", ".git::$INDEX_ALLOCATION/config", "sub/.Git\ufeff/config", ".env::$DATA", ".\u017fsh/config",
	} {
		for _, diff := range []string{
			"--- a/" + name + "\n+++ b/" + name + "\n@@\n-a\n+b\n",
			"--- " + name + "\n+++ " + name + "\n@@\n-a\n+b\n",
			"--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+b\n",
			"*** Begin Patch\n*** Add File: " + name + "\n+b\n*** End Patch\n",
			"--- a/main.go\n+++ b/main.go\n@@\n-package main\n+package other\n--- a/" + name + "\n+++ b/" + name + "\n@@\n-a\n+b\n",
		} {
			proposal, err := p.Patch(t.Context(), diff)
			var failure *agent.Failure
			if err == nil {
				if name == "~/x" && strings.Contains(diff, "/dev/null") || name == "~/x" && strings.Contains(diff, "Add File") {
					continue // a folder of that name within the workspace
				}
				t.Errorf("%q is changed:\n%s", name, proposal.Diff)
			} else if !errors.As(err, &failure) {
				t.Errorf("%q: %v is no failure that a tool could answer", name, err)
			}
		}
		if _, err := p.Edit(t.Context(), name, []agent.RangeEdit{{StartLine: 1, EndLine: 1, EndCol: 1, Replacement: "b"}}); err == nil {
			t.Errorf("%q is edited", name)
		}
	}
}
