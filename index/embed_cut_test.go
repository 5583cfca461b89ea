//go:build linux && !plainvectors

package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/index/systest"
	"quarry/index/vectors"
)

// Another program makes the file of vectors shorter while it is in use.
func TestVectorsCutShortInUse(t *testing.T) {
	systest.NeedAddress(t)
	for name, test := range map[string]struct {
		size     int64
		notified int
	}{"to nothing": {0, 1}, "to its header": {4096, 0}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, project)
			models := newFakeModels("m")
			notified := make(chan string, 10)
			x := start(t, Config{Dir: dir, Notify: func(m string) { notified <- m }})
			x.embedding.SetEmbedders(models.use("m"))
			settleVectors(t, x)
			all := models.embedded()
			if err := os.Truncate(filepath.Join(x.state.dir, "embeddings-1.dat"), test.size); err != nil {
				t.Fatal(err)
			}
			set := x.embedding.Vectors()
			var key vectors.Key
			err := vectors.Guard(func() { key = set.Key(0) })
			if !errors.Is(err, vectors.ErrDamaged) {
				t.Fatalf("read %x: %v", key, err)
			}
			x.embedding.VectorsDamaged(set, err)
			x.embedding.VectorsDamaged(set, err)
			set.Release()
			settleVectors(t, x)
			checkComplete(t, x, "m@1+1", 16)
			if n := models.embedded(); n != all {
				t.Errorf("%d texts embedded again of %d", n, all)
			}
			if len(notified) != test.notified {
				t.Errorf("told %d messages, want %d", len(notified), test.notified)
			}
		})
	}
}

// A model whose vectors differ in their dimension is not a full disk.
func TestMixedDimensions(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	notified := make(chan string, 10)
	texts := 0
	models.embed = func(context.Context, string, []string) error {
		texts++
		models.set(func() { models.dims["m"] = 8 + 8*(texts%2) })
		return nil
	}
	x := start(t, Config{Dir: dir, Notify: func(m string) { notified <- m }})
	x.embedding.SetEmbedders(models.use("m"))
	settle(t, x)
	if err := x.embedding.Settle(t.Context()); err == nil || !strings.Contains(err.Error(), " dimensions; reload it") {
		t.Errorf("settled: %v", err)
	}
	if len(notified) != 0 {
		t.Errorf("told %q", <-notified)
	}
}

// Vectors that another program writes over are made anew while the index is open, and
// the status says so.
func TestVectorsOverwritten(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	x := start(t, Config{Dir: dir, StateDir: state})
	x.embedding.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	models.embedded()
	f, err := os.OpenFile(filepath.Join(x.state.dir, "embeddings-1.dat"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("none of your vectors"), vectors.Size(16, 1)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	set := x.embedding.Vectors()
	if set.Damaged(0) || !set.Damaged(1) {
		t.Error("the wrong row is damaged")
	}
	began := time.Now().Truncate(time.Second)
	x.embedding.VectorsDamaged(set, vectors.ErrDamaged)
	set.Release()
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 16)
	if n := models.embedded(); n != 1 {
		t.Errorf("%d texts embedded anew, want 1", n)
	}
	for what, look := range map[string]func() (Status, error){
		"from outside": func() (Status, error) { return Peek(t.Context(), Config{Dir: dir, StateDir: state}, 0) },
		"from inside":  func() (Status, error) { return x.Status(t.Context()) },
	} {
		if st, err := look(); err != nil || st.Embedding.Lost != 1 || st.Embedding.LostAt.Before(began) {
			t.Errorf("%s: %+v, %v", what, st.Embedding, err)
		}
	}
}
