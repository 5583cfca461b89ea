package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestOutputIsWritten(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("old.md"), []byte("before, and longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrote := func(path, read string) {
		t.Helper()
		if err := WriteOutput(path, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(read); err != nil || string(got) != "text" {
			t.Errorf("%s has %q, %v", read, got, err)
		}
	}
	wrote(at("new.md"), at("new.md"))
	wrote(at("old.md"), at("old.md"))
	for path, want := range map[string]string{dir: "is a folder; name a file in it", at("no/such.md"): at("no/such.md") + " cannot be written: "} {
		if err := WriteOutput(path, nil, 0o644); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ".quarry") {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if runtime.GOOS == "windows" {
		return // links need a right there, and devices have no path
	}
	if err := os.Symlink(at("old.md"), at("link.md")); err != nil {
		t.Fatal(err)
	}
	wrote(at("link.md"), at("old.md"))
	if err := os.Symlink(os.DevNull, at("null")); err != nil {
		t.Fatal(err)
	}
	if err := WriteOutput(at("null"), []byte("text"), 0o644); err != nil {
		t.Error(err)
	}
	for name, to := range map[string]string{"link.md": at("old.md"), "null": os.DevNull} {
		if got, err := os.Readlink(at(name)); err != nil || got != to {
			t.Errorf("%s leads to %q, %v", name, got, err)
		}
	}
}
