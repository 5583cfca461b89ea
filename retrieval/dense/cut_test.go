//go:build !plainvectors

package dense

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"quarry/index/embedtext"
	"quarry/index/systest"
	"quarry/index/vectors"
	"quarry/retrieval"
)

// A file that another program makes shorter has no hits and ends nothing, in whichever
// goroutine it is read.
func TestFileCutShort(t *testing.T) {
	systest.NeedAddress(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux surely maps the file and lets another program shorten it then")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 9000 // enough for two goroutines
	keys, list := some('a', n)
	src := newSource(t, list[7])
	src.add(keys, list)
	ix := Follow(src)
	defer ix.Close()
	coded(t, ix, n)
	var questions []*Question
	for range 3 {
		q, err := ix.Ask(t.Context(), NewMemory(time.Minute), embedtext.Query, "x")
		if err != nil {
			t.Fatal(err)
		}
		defer q.Release()
		if near := q.Nearest(1, nil); len(near) != 1 || near[0].Key != retrieval.Key(keys[7]) {
			t.Fatalf("before: %v", near)
		}
		questions = append(questions, q)
	}
	if err := os.Truncate(src.path, 4096); err != nil {
		t.Fatal(err)
	}
	if near := questions[0].Nearest(3, nil); len(near) != 0 {
		t.Errorf("nearest: %v", near)
	}
	if near := questions[1].Nearest(3, []retrieval.Key{retrieval.Key(keys[5])}); len(near) != 0 {
		t.Errorf("nearest of some: %v", near)
	}
	for range 2 { // the second time it is not tried
		if c, ok := questions[2].Cosine(retrieval.Key(keys[5])); ok {
			t.Errorf("cosine: %v", c)
		}
	}
	other := Follow(src) // codes all
	want := func(what string) {
		select {
		case err := <-src.damaged:
			if !errors.Is(err, vectors.ErrDamaged) {
				t.Errorf("%s: told %v", what, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: not told", what)
		}
	}
	for _, what := range []string{"nearest", "nearest of some", "cosine", "codes"} {
		want(what)
	}
	other.Close()
	if len(src.damaged) != 0 || other.codes.Load().Codes != nil {
		t.Errorf("told %d times more, %d codes", len(src.damaged), other.codes.Load().Len())
	}
}
