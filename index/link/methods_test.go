package link_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"quarry/index/link"
	"quarry/index/store"
)

// Types of Go are compared with an interface by the methods that they declare: by name, and by
// what these take and answer.
func TestImplementing(t *testing.T) {
	s := index(t, map[string]string{
		"go.mod": "module example.com/m\n",
		"web/web.go": `package web

type Handler interface {
	Serve(w Writer, r *Request)
}

type Writer interface {
	Write(p []byte) (n int, err error)
}

type Closer interface {
	Writer
	Close() error
	flush()
}

type Failure interface {
	error
	fmt.Stringer
	Code() int
}

type Any interface{}

type Request struct{}

type HandlerFunc func(Writer, *Request)

func (f HandlerFunc) Serve(w Writer, r *Request) { f(w, r) }
`,
		"web/file.go": `package web

type File struct{}

func (f *File) Write(data []uint8) (int, error) { return 0, nil }
func (f *File) Close() error                    { return nil }
`,
		"web/flush.go": "package web\n\nfunc (f *File) flush() {}\n",
		"mux/mux.go": `package mux

type Mux[T any] struct{}

func (m *Mux[T]) Serve(rw web.Writer, req *web.Request) {}

type Other struct{}

func (o Other) Serve(w web.Writer, r *Query) {}

type Waiter struct{}

func (w Waiter) Serve(dish string) {}

type Drain struct{}

func (d Drain) Write(p []byte) (n int, err error) { return len(p), nil }
func (d Drain) Close() error                      { return nil }
func (d Drain) flush()                            {}

type problem int

func (p problem) Error() string { return "" }
func (p problem) Code() int     { return 0 }
`,
		"mux/again.py": "class Plate:\n    def Serve(self, w, r):\n        pass\n",
	})
	for name, want := range map[string]string{
		"Handler": "Serve: Mux 0.9, HandlerFunc 0.9, Other 0.4",
		"Writer":  "Write: Drain 0.9, File 0.9",
		"Closer":  "Close Write flush: File 0.9",
		"Failure": "Code Error: problem 0.9; unknown fmt.Stringer",
		"Any":     ":",
		"Request": ":",
	} {
		names := map[int64]string{}
		var symbol int64
		if _, err := s.Load(t.Context(), nil, func(f *store.File) error {
			for i, d := range f.Syntax.Symbols {
				names[f.SymbolIDs[i]] = d.Name
				if d.Name == name && f.Path == "web/web.go" {
					symbol = f.SymbolIDs[i]
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		m, err := link.Implementing(context.Background(), s, symbol)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, e := range m.List {
			if e.ToSymbol != symbol || e.Kind != store.EdgeInherit {
				t.Errorf("%s: %+v", name, e)
			}
			list = append(list, fmt.Sprintf("%s %.1f", names[e.FromSymbol], e.Weight))
		}
		got := strings.TrimSpace(strings.Join(m.Names, " ") + ": " + strings.Join(list, ", "))
		if len(m.Unknown) > 0 {
			got += "; unknown " + strings.Join(m.Unknown, ", ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// What methods take and answer is compared as it is written, whatever the parameters and
// packages are called.
func TestSimilarity(t *testing.T) {
	const same, like, none = 0.9, 0.4, 0
	for _, c := range []struct {
		wanted, have string
		want         float32
	}{
		{"Read(p []byte) (n int, err error)", "func (r *R) Read(b []byte) (int, error)", same},
		{"Read(p []byte) (n int, err error)", "func (r *R) Read(b []uint8) (int, error)", same},
		{"Get(ctx context.Context, keys ...string) map[string]http.Header", "func (c) Get(ctx Context, keys ...string) map[string]Header", same},
		{"Do(f func(a, b int) error, c chan<- rune, any interface{})", "func (c C) Do(func(int, int) error, chan<- int32, any)", same},
		{"Do(f func(a, b int) error, c chan<- rune)", "func (c C) Do(func(int, int) error, chan<- int32)", same},
		{"Do(c chan<- int)", "func (c C) Do(c <-chan int)", like},
		{"Do(p *T)", "func (c C) Do(p T)", like},
		{"Do(p T)", "func (c C) Do(p T) error", none},
		{"Do(p, q T) error", "func (c C) Do(p T) error", none},
		{"Do(p T) error", "func (c C) Do() (T, error)", none},
		{"Do(p ...T)", "func (c C) Do(p T)", none},
		{"Do(a struct{ x int })", "func (c C) Do(a struct{ x int })", like},
		{"Do(a [4]pair.Of[int, V])", "func (c C) Do(a [4]Of[int, V])", same},
		{"Do(a very", "func (c C) Do()", like}, // cut
	} {
		if got := link.Similarity(c.wanted, c.have); got != c.want {
			t.Errorf("%s, %s: %g, want %g", c.wanted, c.have, got, c.want)
		}
	}
}
