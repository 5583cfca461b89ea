package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aymanbagabas/go-udiff"

	"quarry/lsp/settings"
)

// Change is what would become of one file.
type Change struct {
	Path          string
	Before, After []byte // of the file; nil where there is none

	real   string      // the file that Path stands for
	mode   fs.FileMode // that it is to have
	was    fs.FileMode // that it has
	memory []kept
	part   part
	own    bool   // the file is quarry's alone
	edited bool   // by somebody after setup wrote it
	folder string // the uppermost that is to be made for it
	left   []kept // of an earlier setup, which the change takes out
	gone   bool   // an earlier setup wrote the file, and this one does not want it
}

// Diff is the change as a unified diff.
func (c Change) Diff() string {
	from, to := c.Path, c.Path
	if c.Before == nil {
		from = os.DevNull
	}
	if c.After == nil {
		to = os.DevNull
	}
	return udiff.Unified(from, to, string(c.Before), string(c.After))
}

// Own reports whether the file is quarry's alone, and not one that the user writes.
func (c Change) Own() bool { return c.own }

// Note is what the diff does not show, "" if it shows all.
func (c Change) Note() string {
	if c.Before == nil || c.After == nil || c.mode == c.was {
		return ""
	}
	return fmt.Sprintf("mode %04o, was %04o: %s", c.mode, c.was, c.Path)
}

// same reports whether nothing changes.
func (c Change) same() bool {
	return bytes.Equal(c.Before, c.After) && (c.Before == nil) == (c.After == nil)
}

// maxFile bounds what is read; some agents keep their history in their settings.
const maxFile = 64 << 20

// within reports whether path is folder or below it, as the two are written.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// inside answers whether a file, which no link leads to, is in the folder dir.
func inside(file, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir // neither is there yet
	}
	return within(file, real) || within(file, dir)
}

// read looks at the file at path.
func read(path string) (Change, error) {
	c := Change{Path: path, real: path, mode: 0o600}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		for dir := filepath.Dir(path); !isThere(dir); dir = filepath.Dir(dir) {
			c.folder = dir
		}
		if target, err := os.Readlink(path); err == nil {
			return c, fmt.Errorf("%s is a link to %s, which is not there; make that file or remove the link", path, target)
		}
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	c.real = real
	info, err := os.Stat(real)
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() {
		return c, fmt.Errorf("%s is not a file", path)
	}
	if info.Size() > maxFile {
		return c, fmt.Errorf("%s has %d MB, more than a file of settings or notes has; it is left as it is", path, info.Size()>>20)
	}
	c.mode = info.Mode().Perm()
	if c.Before, err = os.ReadFile(real); c.Before == nil {
		c.Before = []byte{}
	}
	if err == nil && nestsBeyond(c.Before, deepest) {
		return c, fmt.Errorf("%s has brackets within brackets more than %d deep; it is left as it is", path, deepest)
	}
	return c, err
}

// deepest bounds the brackets within brackets of a file. Parsers call themselves for each,
// and one that has no stack left ends the process.
const deepest = 1000

// nestsBeyond is whether brackets are open in text within more than most others. Those
// in quotes do not count; no quote goes beyond its line.
func nestsBeyond(text []byte, most int) bool {
	open, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			quoted = false
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if open++; open > most {
				return true
			}
		case c == ']' || c == '}':
			open = max(0, open-1)
		}
	}
	return false
}

// stands fails unless the file is what the change was made for, and may be written.
func (c Change) stands() error {
	now, err := read(c.Path)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(now.Before, c.Before) || (now.Before == nil) != (c.Before == nil) || now.real != c.real || c.Before != nil && now.mode != c.was:
		return fmt.Errorf("%s was changed in the meantime; run the command again to see what it would do now", c.Path)
	case c.Before != nil && c.was&0o200 == 0:
		return fmt.Errorf("%s is read-only; make it writable (chmod u+w), or add the lines above by hand where it is made from", c.Path)
	}
	return nil
}

// write makes the change, keeping what was there at backup if that is a path.
func (c Change) write(backup string) error {
	if err := c.stands(); err != nil {
		return err
	}
	if backup != "" {
		if err := settings.ReplaceFile(backup, c.Before, c.mode); err != nil {
			return fmt.Errorf("keep what was there: %w", err)
		}
	}
	if c.After == nil {
		if err := os.Remove(c.real); err != nil {
			return err
		}
		// Both paths lead there in one way; that of c.real may have another length.
		for dir := filepath.Dir(c.Path); c.folder != "" && within(dir, c.folder); dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil { // something else is in it
				break
			}
		}
		return nil
	}
	if c.Before == nil {
		if err := settings.MakeFolder(filepath.Dir(c.real), 0o755); err != nil {
			return err
		}
	}
	return settings.ReplaceFile(c.real, c.After, c.mode)
}

// freeBackup is a name beside path that no file has.
func freeBackup(path string) string {
	for n := 1; ; n++ {
		name := path + ".before-quarry"
		if n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}
