package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Whatever of it opening happens to read, a database that lost its end is damaged.
func TestADatabaseThatIsCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	reopen := func() error {
		s, err := Open(path, nil)
		if err != nil {
			return err
		}
		return s.Close()
	}
	for range 2 {
		if err := reopen(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-1); err != nil {
		t.Fatal(err)
	}
	if err := reopen(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("opened %v, want ErrCorrupt", err)
	}
}
