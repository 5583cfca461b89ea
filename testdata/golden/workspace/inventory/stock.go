// Package inventory keeps what is in stock.
package inventory

import (
	"errors"
	"fmt"
	"sync"
)

// ErrOutOfStock is returned when less is left than is asked for.
var ErrOutOfStock = errors.New("out of stock")

// Item is one kind of thing in stock.
type Item struct {
	SKU   string
	Count int
	Cents int64
}

// Stock is safe for concurrent use.
type Stock struct {
	mu    sync.Mutex
	items map[string]*Item
}

// NewStock makes an empty stock.
func NewStock() *Stock { return &Stock{items: map[string]*Item{}} }

// Put adds count of an item.
func (s *Stock) Put(sku string, count int, cents int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it, ok := s.items[sku]; ok {
		it.Count += count
		it.Cents = cents
		return
	}
	s.items[sku] = &Item{SKU: sku, Count: count, Cents: cents}
}

// Reserve takes count of an item out of the stock.
func (s *Stock) Reserve(sku string, count int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[sku]
	if !ok || it.Count < count {
		return fmt.Errorf("reserve %d of %s: %w", count, sku, ErrOutOfStock)
	}
	it.Count -= count
	return nil
}

// TotalValue is what everything in stock is worth, in cents.
func (s *Stock) TotalValue() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum int64
	for _, it := range s.items {
		sum += int64(it.Count) * it.Cents
	}
	return sum
}
