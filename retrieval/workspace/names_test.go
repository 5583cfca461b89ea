package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/systest"
	"quarry/index/walk"
	"quarry/retrieval/workspace"
)

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestNamesOfOneFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "app")
	write(t, root, map[string]string{"main.go": "package main\n", "lib/a.go": "package lib\n"})
	w := open(t, false, root)
	for name, want := range map[string]string{
		"main.go": "main.go", "./main.go": "main.go", "lib/../main.go": "main.go", "lib/a.go": "lib/a.go",
		"app/main.go":                      "main.go", // the folder's name though there is only one
		filepath.Join(root, "main.go"):     "main.go",
		filepath.Join(root, "lib", "a.go"): "lib/a.go",
	} {
		path, err := w.Locate(t.Context(), name)
		if err != nil || path != filepath.Join(root, filepath.FromSlash(want)) || w.Name(path) != want {
			t.Errorf("%s: %q, named %q, %v", name, path, w.Name(path), err)
		}
	}
	for name, want := range map[string]error{
		"gone.go": fs.ErrNotExist, "app/gone.go": fs.ErrNotExist, "../app/gone.go": fs.ErrNotExist,
	} {
		if path, err := w.Locate(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("%s: %q, %v", name, path, err)
		}
	}
	for _, name := range []string{"", ".", "lib", "lib/"} {
		var excluded *walk.Excluded
		if path, err := w.Locate(t.Context(), name); !errors.As(err, &excluded) || excluded.Reason != walk.Special {
			t.Errorf("%q: %q, %v", name, path, err)
		}
	}
}

func TestNamesOfSeveralFolders(t *testing.T) {
	top := t.TempDir()
	one, two, other := filepath.Join(top, "x", "api"), filepath.Join(top, "y", "api"), filepath.Join(top, "web")
	write(t, one, map[string]string{"main.go": "package a\n", "only.go": "package a\n"})
	write(t, two, map[string]string{"main.go": "package b\n"})
	write(t, other, map[string]string{"index.ts": "export {}\n"})
	w := open(t, false, one, two, other)
	for name, want := range map[string]string{
		"api/main.go": filepath.Join(one, "main.go"), "api-2/main.go": filepath.Join(two, "main.go"),
		"web/index.ts": filepath.Join(other, "index.ts"), "index.ts": filepath.Join(other, "index.ts"), "only.go": filepath.Join(one, "only.go"),
		filepath.Join(two, "main.go"): filepath.Join(two, "main.go"),
	} {
		path, err := w.Locate(t.Context(), name)
		if err != nil || path != want {
			t.Errorf("%s: %q, %v", name, path, err)
		}
		if back, err := w.Locate(t.Context(), w.Name(path)); err != nil || back != path {
			t.Errorf("%s is named %s, which means %q, %v", path, w.Name(path), back, err)
		}
	}
	var ambiguous *workspace.Ambiguous
	if path, err := w.Locate(t.Context(), "main.go"); !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.Choices, []string{"api/main.go", "api-2/main.go"}) {
		t.Errorf("main.go: %q, %v", path, err)
	}
	if path, err := w.LocateNew(t.Context(), "api-2/new/file.go"); err != nil || path != filepath.Join(two, "new", "file.go") {
		t.Errorf("a new file: %q, %v", path, err)
	}
	if path, err := w.LocateNew(t.Context(), "new.go"); !errors.As(err, &ambiguous) {
		t.Errorf("a new file of no folder: %q, %v", path, err)
	}
	if outside := filepath.Join(top, "z.go"); w.Name(outside) != filepath.ToSlash(outside) {
		t.Errorf("outside: %q", w.Name(outside))
	}
}

// What is open in the editor need not be on disk yet.
func TestNameOfAnUnsavedDocument(t *testing.T) {
	root := t.TempDir()
	w := open(t, false, root)
	path := filepath.Join(root, "new.go")
	w.DidOpen(path, "package n\n")
	if got, err := w.Locate(t.Context(), "new.go"); err != nil || got != path {
		t.Errorf("new.go: %q, %v", got, err)
	}
	w.DidOpen(filepath.Join(root, ".env"), "KEY=1")
	if got, err := w.Locate(t.Context(), ".env"); err == nil {
		t.Errorf("a secret: %q", got)
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	systest.NeedLinks(t)
	top := t.TempDir()
	root := filepath.Join(top, "root")
	write(t, top, map[string]string{
		"outside.go": "package o\n", "elsewhere/b.go": "package e\n", "root-2/c.go": "package c\n",
		"root/in.go": "package i\n", "root/.env": "KEY=1", "root/left/x.go": "package x\n", "root/.quarryignore": "left/\n",
		"root/.git/config": "[core]\n", "root/logo.png": "\x89PNG", "root/id_rsa": "-----BEGIN", "root/sub/d.go": "package s\n",
	})
	link(t, filepath.Join(top, "outside.go"), filepath.Join(root, "link.go"))
	link(t, filepath.Join(top, "elsewhere"), filepath.Join(root, "linked"))
	link(t, filepath.Join(root, ".env"), filepath.Join(root, "innocent.go"))
	link(t, filepath.Join(root, "nowhere"), filepath.Join(root, "dangling.go"))
	link(t, filepath.Join(root, "sub"), filepath.Join(root, "alias"))
	w := open(t, false, root)
	if path, err := w.Locate(t.Context(), "alias/d.go"); err != nil || w.Name(path) != "sub/d.go" {
		t.Errorf("a link that stays: %q, %v", path, err)
	}
	for name, want := range map[string]walk.Reason{
		"../outside.go": walk.Outside, "sub/../../outside.go": walk.Outside, "link.go": walk.Outside, "linked/b.go": walk.Outside,
		"../root-2/c.go": walk.Outside, filepath.Join(top, "outside.go"): walk.Outside, "../../../../../../etc/passwd": walk.Outside,
		".env": walk.Secret, "innocent.go": walk.Secret, "sub/../.env": walk.Secret, "id_rsa": walk.Secret, ".quarryignore/../.env": walk.Secret,
		"left/x.go": walk.Ignored, "logo.png": walk.Media, ".git/config": walk.VersionControl,
	} {
		var excluded *walk.Excluded
		if path, err := w.Locate(t.Context(), name); !errors.As(err, &excluded) || excluded.Reason != want {
			t.Errorf("%s: %q, %v, want %s", name, path, err, want)
		} else if excluded.Path != name {
			t.Errorf("%s is refused as %s", name, excluded.Path)
		}
	}
	for _, name := range []string{"a\x00b", strings.Repeat("x/", 5000), "dangling.go", "in.go/x"} {
		if path, err := w.Locate(t.Context(), name); err == nil {
			t.Errorf("%.20q: %q", name, path)
		}
	}
	for _, name := range []string{
		"", ".", "..", "../new.go", "in.go", "linked/new.go", "left/new.go", ".env.local", ".git/hooks/pre-commit", "sub/.ssh/config", "new.key",
		"dangling.go", "dangling.go/x", "in.go/x", "node_modules/new.js", filepath.Join(top, "new.go"), "link.go",
	} {
		if path, err := w.LocateNew(t.Context(), name); err == nil {
			t.Errorf("may be created: %s as %q", name, path)
		}
	}
	for name, want := range map[string]string{"new.go": "new.go", "deep/er/new.go": "deep/er/new.go", "alias/new.go": "sub/new.go", "alias/deep/new.go": "sub/deep/new.go"} {
		if path, err := w.LocateNew(t.Context(), name); err != nil || w.Name(path) != want {
			t.Errorf("new file %s: %q, %v", name, path, err)
		}
	}
}
