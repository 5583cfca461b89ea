package scan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFolder(t *testing.T) {
	base := t.TempDir()
	for name, text := range map[string]string{
		"src/b.go":               "package b\n\nfunc B() {}\n",
		"src/a.py":               "def a(): pass\n",
		"src/.git/config":        "x",
		"src/node_modules/m.js":  "x",
		"src/image.png":          "\x89PNG\x00\x00",
		"src/latin1.txt":         "caf\xe9",
		"src/huge.txt":           strings.Repeat("huge\n", 1<<20),
		"src/.env":               "TOKEN=1",
		"src/ignored.go":         "package b",
		"src/.gitignore":         "ignored.go\n",
		"elsewhere/not-under.go": "package x",
	} {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	docs, err := Folder(context.Background(), base, "src")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range docs {
		got = append(got, d.Path+" "+d.Language)
		if d.Syntax == nil || d.Text == "" || d.Modified.IsZero() {
			t.Errorf("document %+v is incomplete", d)
		}
	}
	if want := []string{"src/.gitignore ignore", "src/a.py python", "src/b.go go", "src/latin1.txt plaintext"}; !slices.Equal(got, want) {
		t.Errorf("Folder read %q, want %q", got, want)
	}
	if _, err := Folder(context.Background(), filepath.Join(base, "missing"), ""); err == nil {
		t.Error("a missing folder is no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Folder(ctx, base, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
