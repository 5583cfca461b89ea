// Package setup writes quarry into the configuration of editors and agents, and takes it
// out again.
//
// A target is a program, and its plan is the parts that quarry has in its files. A part
// goes into the text of a file and leaves all else byte for byte: places are those that a
// parser of the format finds, and a file that it does not understand is refused. What is
// written is recorded in quarry's folder for state, with the text from before in a file
// beside the one that was changed. Undoing puts that text back if nobody has edited the
// file since, and else takes out quarry's parts alone.
package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Setup is what setting up needs.
type Setup struct {
	Machine
	// StateDir is quarry's folder for state.
	StateDir string
}

// Edit is quarry's part of a file.
type Edit struct {
	Path string
	part part
	// private is whether the file has a secret with the part, so that nobody else may read it.
	private bool
}

// Plan is what setting up a target means.
type Plan struct {
	Edits []Edit
	// Commands are run after the files are written: what no file of configuration can.
	Commands []Command
	// Next is what remains for the user.
	Next []string

	// own are folders that are quarry's alone: what an earlier setup wrote there and this one
	// does not want goes.
	own []string
}

// Command sets up what no file of configuration can; Undo is a command too.
type Command struct {
	Do, Undo []string
}

// Changes are what the plan of a target would do to files now, without those that have
// their part already. What an earlier setup left in the same places, under another path of
// quarry for instance, and this plan does not want, is taken out.
func (s *Setup) Changes(target string, plan Plan) ([]Change, error) {
	r, err := readRecord(s.StateDir)
	if err != nil {
		return nil, err
	}
	var changes []Change
	wanted := map[string]bool{}
	for _, e := range plan.Edits {
		wanted[e.Path] = true
		c, err := read(e.Path)
		if err != nil {
			return nil, err
		}
		// A repository may be a stranger's, and its file a link to one of the user's.
		if filepath.Dir(e.Path) == s.Repository && !inside(c.real, s.Repository) {
			return nil, fmt.Errorf("%s leads out of the repository, to %s: it is left as it is", e.Path, c.real)
		}
		_, c.own = e.part.(whole)
		c.part = e.part
		text := c.Before
		if list, ok := e.part.(jsonEntries); ok && text != nil {
			if i := r.index(target, e.Path); i >= 0 {
				c.left = list.unwanted(r.Files[i].Kept)
			}
			if text, err = takeJSON(text, c.left); err != nil {
				return nil, fmt.Errorf("%s is left as it is: %w", e.Path, err)
			}
		}
		c.After, c.memory, err = e.part.put(text)
		if err != nil {
			return nil, fmt.Errorf("%s is left as it is: %w", e.Path, err)
		}
		if c.was = c.mode; e.private {
			c.mode &^= 0o077
		}
		if !c.same() {
			changes = append(changes, c)
		}
	}
	for _, f := range r.Files {
		if f.Target != target || wanted[f.Path] || !slices.ContainsFunc(plan.own, func(folder string) bool { return within(f.Path, folder) }) {
			continue
		}
		c, err := f.undone()
		if err != nil {
			return nil, err
		}
		if c.gone = true; !c.same() {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// Recorded reports whether setup has written something for a target before.
func (s *Setup) Recorded(target string) (bool, error) {
	r, err := readRecord(s.StateDir)
	if err != nil {
		return false, err
	}
	return len(r.Commands[target]) > 0 || slices.ContainsFunc(r.Files, func(f recorded) bool { return f.Target == target }), nil
}

// Do writes changes and answers where the texts from before are kept. The record comes
// before each file, so that nothing is written that could not be taken back.
func (s *Setup) Do(target string, changes []Change) (backups []string, err error) {
	var old, changed []Change
	for _, c := range changes { // all of them or none, as far as can be known before
		if err := c.stands(); err != nil {
			return nil, err
		}
		if c.gone {
			old = append(old, c)
		} else {
			changed = append(changed, c)
		}
	}
	if backups, err = s.Undo(target, old); err != nil {
		return backups, err
	}
	r, err := readRecord(s.StateDir)
	if err != nil {
		return backups, err
	}
	for _, c := range changed {
		i := r.index(target, c.Path)
		backup := ""
		if c.Before != nil {
			backup = freeBackup(c.Path)
		}
		// A second time, nothing but quarry's own text is replaced; the first backup stays the one.
		again := i >= 0 && r.Files[i].Sum == sum(c.Before)
		if again {
			backup = ""
		}
		before := slices.Clone(r.Files)
		now := recorded{Target: target, Path: c.Path, Format: c.part.format(), Folder: c.folder, Backup: backup, Sum: sum(c.After), Kept: c.memory}
		if c.mode != c.was {
			now.Mode = c.was
		}
		if i < 0 {
			r.Files = append(r.Files, now)
		} else {
			first := r.Files[i]
			now.Backup, now.Folder = first.Backup, first.Folder
			if first.Mode != 0 {
				now.Mode = first.Mode
			}
			if !again {
				now.Sum = ""
			}
			now.Kept = slices.DeleteFunc(slices.Clone(first.Kept), func(k kept) bool { return keyIndex(c.left, k.Key) >= 0 })
			for _, k := range c.memory {
				if keyIndex(first.Kept, k.Key) < 0 {
					now.Kept = append(now.Kept, k)
				}
			}
			r.Files[i] = now
		}
		if err := r.write(); err != nil {
			return backups, fmt.Errorf("%s is not written, since it could not be taken back: %w", c.Path, err)
		}
		if err := c.write(backup); err != nil {
			r.Files = before
			return backups, errors.Join(err, r.write())
		}
		if backup != "" {
			backups = append(backups, backup)
		}
	}
	return backups, nil
}

// Run runs a command of a plan, and notes before how it is taken back.
func (s *Setup) Run(target string, c Command, run func() error) error {
	if c.Undo == nil {
		return run()
	}
	r, err := readRecord(s.StateDir)
	if err != nil {
		return err
	}
	if r.Commands == nil {
		r.Commands = map[string][][]string{}
	}
	before := r.Commands[target]
	if slices.ContainsFunc(before, func(undo []string) bool { return slices.Equal(undo, c.Undo) }) {
		return run() // it is taken back once
	}
	r.Commands[target] = append(slices.Clip(before), c.Undo)
	if err := r.write(); err != nil {
		return fmt.Errorf("it is not run, since it could not be taken back: %w", err)
	}
	if err := run(); err != nil {
		if r.Commands[target] = before; len(before) == 0 {
			delete(r.Commands, target)
		}
		return errors.Join(err, r.write())
	}
	return nil
}

func keyIndex(of []kept, key []string) int {
	for i, k := range of {
		if equalKeys(k.Key, key) {
			return i
		}
	}
	return -1
}

// Undone are what taking a target back would do to files. Only what setup wrote is taken.
// The commands are to be run after.
func (s *Setup) Undone(target string) (changes []Change, commands []Command, err error) {
	r, err := readRecord(s.StateDir)
	if err != nil {
		return nil, nil, err
	}
	for _, undo := range r.Commands[target] {
		commands = append(commands, Command{Do: undo})
	}
	for _, f := range r.Files {
		if f.Target != target {
			continue
		}
		c, err := f.undone()
		if err != nil {
			return nil, nil, err
		}
		changes = append(changes, c)
	}
	return changes, commands, nil
}

// undone is what taking the part out of its file would do to it.
func (f recorded) undone() (Change, error) {
	c, err := read(f.Path)
	if err != nil {
		return c, err
	}
	c.own, c.folder = f.Format == "whole", f.Folder
	if c.was = c.mode; f.Mode != 0 && c.mode == f.Mode&^0o077 { // nobody else has changed it
		c.mode = f.Mode
	}
	untouched, restored := f.Sum == sum(c.Before), false
	if untouched && f.Backup != "" {
		c.After, err = os.ReadFile(f.Backup)
		if restored = err == nil; !restored && !errors.Is(err, os.ErrNotExist) {
			return c, fmt.Errorf("read what was there before: %w", err)
		}
	}
	switch {
	case c.Before == nil: // somebody removed it
	case restored:
	case untouched && f.Backup == "":
		c.After = nil
	default: // edited since, or the text from before was tidied away
		take, ok := takers[f.Format]
		if !ok {
			return c, fmt.Errorf("%s was written by another version of quarry (format %q); undo it with that one", f.Path, f.Format)
		}
		if c.After, err = take(c.Before, f.Kept); err != nil {
			return c, fmt.Errorf("%s is left as it is: %w", f.Path, err)
		}
		c.edited = !untouched
	}
	return c, nil
}

// Undo makes changes of Undone and answers where it kept what somebody had written into
// files of quarry's own.
func (s *Setup) Undo(target string, changes []Change) (kept []string, err error) {
	r, err := readRecord(s.StateDir)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if !c.same() {
			backup := ""
			if c.edited && c.After == nil {
				backup = freeBackup(c.Path)
				kept = append(kept, backup)
			}
			if err := c.write(backup); err != nil {
				return kept, err
			}
		}
		i := r.index(target, c.Path)
		if backup := r.Files[i].Backup; backup != "" {
			if err := os.Remove(backup); err != nil && !errors.Is(err, os.ErrNotExist) {
				return kept, err
			}
		}
		r.Files = slices.Delete(r.Files, i, i+1)
		if err := r.write(); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// Forget notes that the commands of Undone have been run.
func (s *Setup) Forget(target string) error {
	r, err := readRecord(s.StateDir)
	if err != nil || len(r.Commands[target]) == 0 {
		return err
	}
	delete(r.Commands, target)
	return r.write()
}
