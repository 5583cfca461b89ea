package walk

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/index/glob"
	"quarry/index/systest"
)

func TestExcluded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".quarryignore":     "private/\n*.draft\n!kept.draft\n",
		".gitignore":        "build/\n",
		"sub/.quarryignore": "!one.draft\nhere.txt\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for rel, want := range map[string]bool{
		"main.go":           false,
		"build/made.go":     false, // ignored by git, but no secret
		".env":              true,
		"deploy/id_rsa":     true,
		"private/a.go":      true,
		"private/deep/b.go": true,
		"a.draft":           true,
		"kept.draft":        false,
		"sub/one.draft":     false,
		"sub/two.draft":     true,
		"sub/here.txt":      true,
		"here.txt":          false,
		"../outside.go":     true,
	} {
		if got := r.Excluded(rel); got != want {
			t.Errorf("Excluded(%q) = %t, want %t", rel, got, want)
		}
	}
}

// A link is what it leads to: the editor opens it by its own name.
func TestExcludedLinks(t *testing.T) {
	systest.NeedLinks(t)
	top := t.TempDir()
	dir := filepath.Join(top, "root")
	for name, text := range map[string]string{
		"root/.quarryignore": "private/\n", "root/main.go": "package a\n", "root/.env": "K=1\n", "root/private/a.go": "package a\n",
		"elsewhere/out.go": "package a\n",
	} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"root/notes.md": ".env", "root/public": "private", "root/out.go": "../elsewhere/out.go", "root/outside": "../elsewhere",
		"root/nowhere.go": "gone.go", "root/loop.go": "loop.go", "root/alias.go": "main.go", "root/again": ".", "here": "root",
	} {
		if err := os.Symlink(to, filepath.Join(top, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{dir, filepath.Join(top, "here")} {
		r, err := Open(at, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for rel, want := range map[string]bool{
			"main.go": false, "alias.go": false, "again/main.go": false, "new.go": false, "new/deep/er.go": false, "again/new.go": false,
			"notes.md": true, "public/a.go": true, "public/new.go": true, "again/.env": true, "again/notes.md": true,
			"out.go": true, "outside/out.go": true, "outside/new.go": true, "nowhere.go": true, "loop.go": true, "loop.go/x": true,
		} {
			if got := r.Excluded(rel); got != want {
				t.Errorf("%s: Excluded(%q) = %t, want %t", at, rel, got, want)
			}
		}
	}
}

// What the user's settings leave out is left out of the index and of what models see, and no
// file of the repository takes it in again.
func TestExcludedBySettings(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".quarryignore": "!private/\n!private/**\n!*.sql\n", "private/a.go": "package a\n", "b.go": "package b\n", "db/dump.sql": "select 1;\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir, Limits{Exclude: glob.CompileAll([]string{"private", "*.{sql,csv}"}), MaxSize: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	files, _ := walked(t, r)
	equal(t, "files", files, ".quarryignore", "b.go")
	for name, out := range map[string]bool{"private/a.go": true, "private": true, "db/dump.sql": true, "b.go": false, "not/there.csv": true} {
		if r.Excluded(name) != out || (r.Check(name) == BySettings) != out {
			t.Errorf("%s: excluded %t, %q", name, r.Excluded(name), r.Check(name))
		}
	}
	if _, err := r.Resolve("private/a.go"); !isExcluded(err, BySettings) {
		t.Errorf("%v", err)
	}
}
