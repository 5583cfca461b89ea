// Package stock keeps what lies on a shop's shelves.
package stock

import (
	"sort"
	"sync"
)

// Item is one kind of goods.
type Item struct {
	Name  string
	Count int
	Price int // cents
}

// Shelf is a set of items that goroutines may share.
type Shelf struct {
	mu    sync.RWMutex
	items map[string]Item
}

// NewShelf makes an empty shelf.
func NewShelf() *Shelf {
	return &Shelf{items: make(map[string]Item)}
}

// Put adds or replaces an item and reports whether it was there before.
func (s *Shelf) Put(item Item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.items[item.Name]
	s.items[item.Name] = item
	return found
}

// Get finds an item by its name.
func (s *Shelf) Get(name string) (Item, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	item, found := s.items[name]
	return item, found
}

// Remove takes an item off the shelf and reports whether it was there.
func (s *Shelf) Remove(name string) bool {

}

// Names lists the items in alphabetical order.
func (s *Shelf) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := make([]string, 0, len(s.items))
	for name := range s.items {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
