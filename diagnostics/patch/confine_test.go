package patch

import (
	"context"
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
		if got, err := os.Readlink(filepath.Join(root, name)); err != nil && runtime.GOOS == "windows" {
			t.Skipf("links are said to be made here, and are none, as under Wine: %q, %v", got, err)
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

// ends is a context that ends at the look after so many.
type ends struct {
	context.Context
	left int
}

func (e *ends) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestChecksEndWithTheirAsker: to hold a change against the masks of its file is long work where the
// file has been made for it, and ends with whoever asked, which is no fault of the change.
func TestChecksEndWithTheirAsker(t *testing.T) {
	one, two := "ghp_"+strings.Repeat("a1B2", 9), "ghp_"+strings.Repeat("C3d4", 9)
	text := "one = [\n\"" + one + "\",\n\"" + two + "\"\n]\n" + strings.Repeat("first() # of many\n", 20_000)
	m := memory{"a.py": text, "b.py": text}
	edits := []agent.TextEdit{{Start: len(text) - 18, End: len(text) - 13, New: "last"}}
	about := New(m).For(agent.Document{Path: memoryRoot + "/a.py", Text: text}, nil)
	for name, change := range map[string]func(ctx context.Context) error{
		"places in files": func(ctx context.Context) error {
			_, err := New(m).Changes(ctx, []agent.FileEdits{{Path: memoryRoot + "/a.py", Edits: edits}, {Path: memoryRoot + "/b.py", Edits: edits}})
			return err
		},
		"places in the document": func(ctx context.Context) error {
			_, err := about.Change(ctx, memoryRoot+"/a.py", edits)
			return err
		},
		"ranges": func(ctx context.Context) error {
			_, err := New(m).Edit(ctx, "a.py", []agent.RangeEdit{{StartLine: 20_004, EndLine: 20_004, EndCol: 5, Replacement: "last"}})
			return err
		},
		"a diff": func(ctx context.Context) error {
			_, err := New(m).Patch(ctx, "--- a/a.py\n+++ b/a.py\n@@ -20003,2 +20003,2 @@\n first() # of many\n-first() # of many\n+last() # of many\n")
			return err
		},
		"a line in place": func(ctx context.Context) error {
			_, err := about.InPlace(ctx, 20_004, 20_000, 20_004, []string{"last() # of many"})
			return err
		},
	} {
		looks := &ends{t.Context(), 1 << 30}
		if err := change(looks); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all := 1<<30 - looks.left
		if all < 20 {
			t.Errorf("%s: %d looks at a text of %d letters", name, all, len(text))
		}
		for _, at := range []int{0, 1, all / 2, all - 1} {
			ctx := &ends{t.Context(), at}
			if err := change(ctx); !errors.Is(err, context.Canceled) || ctx.left < -8 {
				t.Errorf("%s, ended at look %d of %d: %v, and %d looks more", name, at, all, err, -ctx.left)
			}
		}
	}
}
