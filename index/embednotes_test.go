package index

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// If embedding cannot work at all, quarry says so once, and it is known to whoever looks at the index
// without embedding; what passes by itself is only known.
func TestFailureIsToldAndKept(t *testing.T) {
	for name, test := range map[string]struct {
		passes   bool
		notified int
	}{"for good": {false, 1}, "for a while": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			write(t, dir, project)
			models := newFakeModels("m")
			broken := errors.New("the model embeds nothing")
			models.embed = func(context.Context, string, []string) error { return broken }
			notified := make(chan string, 10)
			x := start(t, Config{Dir: dir, StateDir: state, Notify: func(m string) { notified <- m }})
			use := models.use("m")
			use.Asked = "m of a server"
			use.Passing = func(err error) bool { return test.passes && errors.Is(err, broken) }
			x.embedding.SetEmbedders(use)
			for range notifyAfter + 2 { // each begins a round at once
				if err := x.embedding.Settle(t.Context()); !errors.Is(err, broken) {
					t.Fatalf("the error is %v", err)
				}
			}
			if len(notified) != test.notified {
				t.Fatalf("told %d messages, want %d", len(notified), test.notified)
			}
			if test.notified > 0 {
				if m := <-notified; !strings.Contains(m, broken.Error()) || !strings.Contains(m, dir) {
					t.Errorf("told %q", m)
				}
			}
			if st, err := Peek(t.Context(), Config{Dir: dir, StateDir: state}, 0); err != nil || st.Embedding.State != EmbeddingFailing || st.Embedding.Error != broken.Error() || st.Embedding.Asked != use.Asked {
				t.Errorf("from outside: %+v, %v", st.Embedding, err)
			}
			models.set(func() { models.embed = nil })
			settleVectors(t, x)
			for what, look := range map[string]func() (Status, error){
				"from outside": func() (Status, error) { return Peek(t.Context(), Config{Dir: dir, StateDir: state}, 0) },
				"from inside":  func() (Status, error) { return x.Status(t.Context()) },
			} {
				if st, err := look(); err != nil || st.Embedding.State != EmbeddingComplete || st.Embedding.Error != "" || st.Embedding.Lost != 0 {
					t.Errorf("afterwards, %s: %+v, %v", what, st.Embedding, err)
				}
			}
		})
	}
}
