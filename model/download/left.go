package download

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// A Left is what is there of a file that was fetched and not discarded.
type Left struct {
	// Path is what Discard takes.
	Path   string
	SHA256 string
	// Bytes is how many there are of it: all if it is Whole.
	Bytes int64
	Whole bool
	// Busy: somebody fetches it now.
	Busy bool
}

// FindLeft are those in the folder that Fetch was given, by their sums. A folder that is not there has none.
func FindLeft(dir string) ([]Left, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Left
	for _, e := range entries {
		name := e.Name()
		sum, part := strings.CutSuffix(name, ".part")
		if !IsSum(sum) || !e.Type().IsRegular() {
			continue // what it is beside
		}
		info, err := e.Info()
		if err != nil {
			continue // it is gone meanwhile
		}
		l := Left{Path: filepath.Join(dir, sum), SHA256: sum, Bytes: info.Size(), Whole: !part}
		if part {
			l.Bytes = min(l.Bytes, ofParts(l.Path, l.Bytes))
		}
		l.Busy = Locked(l.Path)
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return list, err
}

// ofParts is how many bytes the log of a file's parts says there are, those of the file where there is no log: parts come in
// any order, so that the file may be as long as the whole from its first byte on.
func ofParts(path string, length int64) (bytes int64) {
	f, err := os.Open(path + ".parts")
	if err != nil {
		return length
	}
	defer f.Close()
	list, _ := notes(f)
	for at, n := range list {
		bytes += max(0, min(n, length-int64(at.number)*at.size))
	}
	return bytes
}

// Locked is whether somebody has the lock beside the file of this path.
func Locked(path string) bool {
	if _, err := os.Stat(path + ".lock"); err != nil {
		return false
	}
	lock := flock.New(path + ".lock")
	ok, err := lock.TryLock()
	if err == nil && ok {
		_ = lock.Unlock()
	}
	return err != nil || !ok
}
