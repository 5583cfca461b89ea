package editortest

// Shelf is the beginning of a Go file, in which Take is still to be written.
const Shelf = `// Package stock keeps what lies on a shop's shelves.
package stock

import "sync"

// Shelf is a set of items that goroutines may share.
type Shelf struct {
	mu    sync.Mutex
	items map[string]int
}

// Put adds n items of a kind.
func (s *Shelf) Put(name string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[name] += n
}

// Take removes n items of a kind and reports whether there were enough.
`

// Take is what the user writes below Shelf, the model helping.
const Take = `func (s *Shelf) Take(name string, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.items[name] < n {
		return false
	}
	s.items[name] -= n
	return true
}
`
