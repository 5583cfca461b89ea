package overview

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/retrieval/workspace"
)

// What there is no time to read is left out of an overview, which says so; the rest is in it.
func TestOverviewEndsInTime(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"README.md": "# Barn\n\nKeeps apples.\n", "shed/doc.go": "// Package shed keeps tools.\npackage shed\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := workspace.New(workspace.Options{StateDir: t.TempDir()})
	w.SetRoots([]string{dir})
	defer w.Close()
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for read := range 3 {
		left := read
		o, err := describe(t.Context(), w, "", func() bool { left--; return left < 0 })
		if err != nil || o.Files != 2 || len(o.Folders) != 1 {
			t.Fatalf("%d texts read: %+v, %v", read, o, err)
		}
		if told := o.Folders[0].Purpose.Text != ""; told != (read > 0) || o.Cut != (read < 2) || (len(o.Purpose) > 0) != (read > 1) {
			t.Errorf("%d texts read: cut %t, %+v", read, o.Cut, o)
		}
	}
}
