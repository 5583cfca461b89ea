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
		if err := new(Env).WriteOutput(path, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(read); err != nil || string(got) != "text" {
			t.Errorf("%s has %q, %v", read, got, err)
		}
	}
	wrote(at("new.md"), at("new.md"))
	wrote(at("old.md"), at("old.md"))
	for path, want := range map[string]string{dir: "is a folder; name a file in it", at("no/such.md"): at("no/such.md") + " cannot be written: "} {
		if err := new(Env).WriteOutput(path, nil, 0o644); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ".quarry") {
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
	if err := new(Env).WriteOutput(at("null"), []byte("text"), 0o644); err != nil {
		t.Error(err)
	}
	for name, to := range map[string]string{"link.md": at("old.md"), "null": os.DevNull} {
		if got, err := os.Readlink(at(name)); err != nil || got != to {
			t.Errorf("%s leads to %q, %v", name, got, err)
		}
	}
}

// Who clones a repository has not chosen where its links lead: a file of the user's that one names is
// not overwritten, not by a folder on the way either.
func TestOutputStaysInTheRepository(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets a user make links only with a right that tests do not have")
	}
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for _, dir := range []string{"own", "clone/.git", "clone/docs", "unpacked", "other/.git"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"own/rc", "clone/docs/old.md", "other/rc"} {
		if err := os.WriteFile(at(file), []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"clone/report.md": at("own/rc"), "clone/away": "../own", "clone/link.md": "docs/old.md", "clone/new.md": at("own/new"), "unpacked/report.md": "../own/rc", "clone/other": "../other", "unpacked/other": "../other"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ workspace, path, wrote string }{ // wrote is "" if it is refused
		{"clone", "clone/report.md", ""}, {"own", "clone/report.md", ""}, {"clone", "clone/away/rc", ""}, {"clone", "clone/away/new", ""}, {"unpacked", "unpacked/report.md", ""},
		{"clone", "clone/other/rc", ""}, {"clone", "clone/other/new", ""}, {"unpacked", "unpacked/other/rc", ""}, // which is a repository, too
		{"clone", "clone/link.md", "clone/docs/old.md"}, {"clone", "clone/new.md", "clone/new.md"}, {"clone", "clone/docs/other.md", "clone/docs/other.md"},
		{"clone", "own/rc", "own/rc"}, {"clone", "unpacked/report.md", "own/rc"},
	} {
		e := &Env{Workspace: at(c.workspace)}
		err := e.WriteOutput(at(c.path), []byte(c.path), 0o600)
		if c.wrote == "" {
			for _, name := range []string{"own/rc", "other/rc"} {
				if rc, failed := os.ReadFile(at(name)); err == nil || !strings.Contains(err.Error(), "; name that file itself") || failed != nil || string(rc) != "before" {
					t.Errorf("%s: %v; the user's file is %q, %v", c.path, err, rc, failed)
				}
			}
			continue
		}
		if got, failed := os.ReadFile(at(c.wrote)); err != nil || failed != nil || string(got) != c.path {
			t.Errorf("%s: %v; %s is %q, %v", c.path, err, c.wrote, got, failed)
		}
	}
	for _, name := range []string{"own/new", "other/new"} {
		if _, err := os.Lstat(at(name)); err == nil {
			t.Error("a file is made out of the repository")
		}
	}
	// Through a link of a repository the user may go themselves.
	t.Chdir(at("clone/other"))
	t.Setenv("PWD", at("clone/other"))
	if err := new(Env).WriteOutput("rc", []byte("mine"), 0o600); err != nil {
		t.Error(err)
	}
	if err := new(Env).WriteOutput(at("clone/other/rc"), []byte("mine"), 0o600); err == nil {
		t.Error("a path through the link is written")
	}
}
