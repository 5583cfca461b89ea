package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// ReplaceFile replaces the file at path as a whole: whoever reads it sees what was there or
// text, and a crash leaves one of the two. Its owner stays, and a new file that root writes
// is of the user whose folder it is in: of quarry by sudo, too, the user must read it.
func ReplaceFile(path string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".quarry*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error says more than this one would
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if uid, gid, ok := ownerFor(path); err == nil && ok {
		err = f.Chown(uid, gid)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return rename(f.Name(), path)
}

// rename is os.Rename. Windows refuses it while somebody reads what is at path, as a server does for a moment after each
// change of its settings, so there it is tried for half a second.
func rename(from, to string) error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := os.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || !errors.Is(err, fs.ErrPermission) || pause > time.Second/2 {
			return err
		}
		time.Sleep(pause)
	}
}

// MakeFolder makes a folder and those above it that are not there, each of the user whose
// folder it is in.
func MakeFolder(path string, mode fs.FileMode) error {
	var made []string
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		made = append(made, dir)
	}
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	for _, dir := range slices.Backward(made) {
		if uid, gid, ok := ownerFor(filepath.Dir(dir)); ok {
			if err := os.Lchown(dir, uid, gid); err != nil {
				return err
			}
		}
	}
	return nil
}
