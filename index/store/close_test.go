package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A closed index is closed, whatever was read of it when its reader was told to stop: a
// connection that lives on would write its log into what has the file's name by then.
func TestCloseAfterReadsThatWereEnded(t *testing.T) {
	for i := range 40 {
		path := filepath.Join(t.TempDir(), "index.db")
		s, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		for n := range 20 {
			b.Put = append(b.Put, document(fmt.Sprintf("%d.toy", n), "def a\ndef b\ncall a\n"))
		}
		if err := s.Apply(b); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err = s.Load(ctx, nil, func(*File) error {
			if n++; n == 1+i%19 {
				cancel()
			}
			return nil
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if open := s.reads.Stats().OpenConnections; open > 0 {
			t.Errorf("%d connections are open", open)
		}
		if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the log is still there (%v)", err)
		}
	}
}
