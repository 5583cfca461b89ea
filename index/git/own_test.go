package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What lies in a folder chooses no repository that does not know the folder.
func TestAnothersRepositoryIsNotOpened(t *testing.T) {
	victim := repository(t, map[string]string{"secret.go": "package secret\n"})
	run(t, victim, "branch", "other")
	open := func(t *testing.T, dir string, want error) {
		t.Helper()
		r, err := Open(t.Context(), dir)
		if !errors.Is(err, want) || want == nil && r == nil {
			t.Errorf("Open: %v, want %v", err, want)
		}
	}
	data := filepath.Join(victim, ".git")
	t.Run("a .git file", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, ".git", "gitdir: "+data+"\n")
		open(t, dir, ErrNone)
		write(t, dir, "sub/a.go", "package a\n")
		open(t, filepath.Join(dir, "sub"), ErrNone)
	})
	t.Run("a link", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink(data, filepath.Join(dir, ".git")); err != nil {
			t.Skip("no links here: ", err)
		}
		open(t, dir, ErrNone)
	})
	t.Run("commondir", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, ".git/HEAD", "ref: refs/heads/other\n")
		write(t, dir, ".git/commondir", data+"\n")
		open(t, dir, ErrNone)
	})
	t.Run("forged as a linked tree", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, ".git/HEAD", "ref: refs/heads/other\n")
		write(t, dir, ".git/commondir", data+"\n")
		write(t, dir, ".git/gitdir", filepath.Join(dir, ".git")+"\n")
		open(t, dir, ErrNone)
	})
	t.Run("another's linked tree", func(t *testing.T) {
		linked := filepath.Join(t.TempDir(), "linked")
		run(t, victim, "worktree", "add", "-q", linked, "other")
		open(t, linked, nil)
		dir := t.TempDir()
		text, err := os.ReadFile(filepath.Join(linked, ".git"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, ".git", string(text))
		open(t, dir, ErrNone)
	})
	t.Run("a submodule", func(t *testing.T) {
		super := repository(t, map[string]string{"a.go": "package a\n"})
		run(t, super, "-c", "protocol.file.allow=always", "submodule", "add", "-q", victim, "sub")
		open(t, filepath.Join(super, "sub"), nil)
		dir := t.TempDir()
		write(t, dir, ".git", "gitdir: "+filepath.Join(super, ".git", "modules", "sub")+"\n")
		open(t, dir, ErrNone)
	})
	t.Run("its own", func(t *testing.T) {
		open(t, victim, nil)
		dir := repository(t, map[string]string{"a.go": "package a\n", "sub/b.go": "package b\n"})
		open(t, filepath.Join(dir, "sub"), nil)
	})
}
