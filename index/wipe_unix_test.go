//go:build unix

package index

import (
	"os"
	"path/filepath"
	"testing"
)

// The index is its user's alone, also one that was made readable for all.
func TestFilesOfTheIndexArePrivate(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	for range 2 {
		x := open(t, Config{Dir: dir, StateDir: state})
		settle(t, x)
		n := 0
		err := filepath.WalkDir(state, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && path != state && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", d.Name(), info.Mode())
			}
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
		if err != nil || n < 3 {
			t.Errorf("%d files, %v", n, err)
		}
		name := x.state.database()
		shut(t, x)
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
