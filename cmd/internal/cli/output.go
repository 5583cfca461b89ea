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
func WriteOutput(path string, text []byte, mode fs.FileMode) error {
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
