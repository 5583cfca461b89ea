package store

import (
	"context"
	"fmt"
	"testing"

	"quarry/index/pause"
)

// Batches and resolving that nobody waits for pass a flag between statements; a batch
// without one, such as an edit, does not stand still.
func TestWritesStandAside(t *testing.T) {
	s := open(t, "")
	stood := 0
	flag := pause.New(func() { stood++ })
	flag.Raise()
	var b Batch
	for i := range 20 {
		b.Put = append(b.Put, document(fmt.Sprintf("f%d.toy", i), fmt.Sprintf("def f%d\ncall f%d\n", i, (i+1)%20)))
	}
	b.Aside = flag
	if err := s.Apply(b); err != nil {
		t.Fatal(err)
	}
	if stood < 3*len(b.Put) {
		t.Errorf("%d files were written in %d pieces", len(b.Put), stood)
	}
	stood = 0
	if _, err := s.Relink(context.Background(), 100, flag, anywhere); err != nil {
		t.Fatal(err)
	}
	if stood < 2*len(b.Put) {
		t.Errorf("%d files were resolved in %d pieces", len(b.Put), stood)
	}
	stood = 0
	apply(t, s, Batch{Put: []*Document{document("edit.toy", "def edit\n")}})
	if stood > 0 {
		t.Errorf("an edit stood still %d times", stood)
	}
}
