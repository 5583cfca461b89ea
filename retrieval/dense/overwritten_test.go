//go:build !plainvectors

package dense

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"quarry/index/embedtext"
	"quarry/index/vectors"
	"quarry/retrieval"
)

// A vector that another program wrote over is no hit and has no cosine, and the index is
// told; the others stay.
func TestOverwrittenVector(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux surely shows at once what another program writes into a mapped file")
	}
	for name, at := range map[string]int64{"vector": 4, "key": 4*dim + 1} {
		t.Run(name, func(t *testing.T) {
			keys, list := some('a', 300)
			src := newSource(t, list[7])
			src.add(keys, list)
			ix := Follow(src)
			defer ix.Close()
			q, err := ix.Ask(t.Context(), NewMemory(time.Minute), embedtext.Query, "x")
			if err != nil {
				t.Fatal(err)
			}
			defer q.Release()
			if near := q.Nearest(1, nil); len(near) != 1 || near[0].Key != retrieval.Key(keys[7]) {
				t.Fatalf("before: %v", near)
			}
			f, err := os.OpenFile(src.path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt([]byte{1, 2, 3}, vectors.Size(dim, 7)+at); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if c, ok := q.Cosine(retrieval.Key(keys[7])); ok {
				t.Errorf("cosine %v of what was overwritten", c)
			}
			near := q.Nearest(300, nil)
			for _, n := range near {
				if n.Key == retrieval.Key(keys[7]) {
					t.Errorf("%v is near", n)
				}
			}
			if len(near) != 299 {
				t.Errorf("%d of the 299 others are near", len(near))
			}
			if c, ok := q.Cosine(retrieval.Key(keys[8])); !ok {
				t.Errorf("cosine of another: %v", c)
			}
			for range 2 {
				if err := <-src.damaged; !errors.Is(err, vectors.ErrDamaged) {
					t.Errorf("told %v", err)
				}
			}
		})
	}
}
