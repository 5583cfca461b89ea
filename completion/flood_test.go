package completion

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whatever is asked, cancelled and closed at once, every request is answered,
// with an error only if it was cancelled, and nothing runs on.
func TestFlood(t *testing.T) {
	g := says("for", " x", " := range", " y {\n", "\t\tcall(x)\n", "\t}\n")
	g.reply = func(prompt string, sample int) ([]string, error) {
		if len(prompt)%7 == 0 {
			return nil, errors.New("the server fell over")
		}
		return []string{"for", " x", " := range", " y {\n", "\t\tcall(x)\n", "\t}\n"}, nil
	}
	e := New(g, Options{Debounce: time.Millisecond, Context: &lockedFinder{}})
	var wg sync.WaitGroup
	for doc := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(doc)))
			text, key := goSource(80), fmt.Sprint(doc)
			var asked sync.WaitGroup
			for n := range 250 {
				at := rng.IntN(len(text))
				text = text[:at] + "a" + text[at:]
				req := Request{Key: key, Document: Document{Path: "a.go", Language: "go", Text: text}, Offset: at + 1, Version: int32(n), Manual: rng.IntN(9) == 0}
				ctx, cancel := context.WithCancel(t.Context())
				asked.Go(func() {
					defer cancel()
					if _, err := e.Complete(ctx, req); err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("%v", err)
					}
				})
				switch rng.IntN(6) {
				case 0:
					cancel()
				case 1:
					e.Forget(key)
				case 2:
					e.Prefetch(req)
				case 3:
					e.Add("", key, text)
				}
			}
			asked.Wait()
		})
	}
	wg.Wait()
	e.Close()
	if res, err := e.Complete(t.Context(), at(t, "a.go", "go", "x ‸")); err != nil || res.Note == "" {
		t.Errorf("after Close: %+v, %v", res, err)
	}
}

type lockedFinder struct {
	mu sync.Mutex
	finder
}

func (f *lockedFinder) Context(ctx context.Context, q ContextQuery) []Snippet {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finder.queries = nil
	return f.finder.Context(ctx, q)
}
