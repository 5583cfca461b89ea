package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"quarry/lsp/settings"
)

// WriteOutput writes what a flag names a file for: a file as a whole, also where a link leads to
// it, and a device or a pipe as it is. Replaced as files are, /dev/null would be one from then on.
// A link of a repository or the workspace is not followed out of it: whoever wrote that has not
// chosen which files of the user's are overwritten.
func (e *Env) WriteOutput(path string, text []byte, mode fs.FileMode) error {
	if err := e.staysWithin(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		return errors.Join(err, f.Close())
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	err = settings.ReplaceFile(path, text, mode)
	var failed *fs.PathError
	var unmoved *os.LinkError
	switch {
	case errors.As(err, &failed): // of a file beside it that nobody has named
		return fmt.Errorf("%s cannot be written: %w", path, failed.Err)
	case errors.As(err, &unmoved):
		return fmt.Errorf("%s cannot be written: %w", path, unmoved.Err)
	}
	return err
}

// staysWithin fails if links take a path out of a repository that it stands in, or of the workspace.
func (e *Env) staysWithin(path string) error {
	at := path
	if !filepath.IsAbs(at) {
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(here); err == nil {
			here = real // a link that the user followed there is none of the path
		}
		at = filepath.Join(here, at)
	}
	at = filepath.Clean(at)
	folders := e.repositoriesAround(filepath.Dir(at))
	if folder, err := e.WorkspaceAround("."); err == nil && e.Allowed().Refuses(folder) == nil { // links at home are the user's own
		if real, err := filepath.EvalSymlinks(folder); err == nil && !holds(folder, at) {
			folder = real
		}
		if holds(folder, at) {
			folders = append(folders, folder)
		}
	}
	to, err := filepath.EvalSymlinks(at)
	if err != nil { // it is not there, or leads nowhere: it will be a file of its folder
		to, err = filepath.EvalSymlinks(filepath.Dir(at))
		to = filepath.Join(to, filepath.Base(at))
	}
	if err != nil {
		return nil // what cannot be looked at cannot be written either
	}
	// A link may lead to a folder that is another repository.
	for _, folder := range folders {
		if real, err := filepath.EvalSymlinks(folder); err == nil && !holds(real, to) {
			return fmt.Errorf("%s leads to %s, out of %s; name that file itself", path, to, folder)
		}
	}
	return nil
}

// holds answers whether a path is one of a folder.
func holds(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
