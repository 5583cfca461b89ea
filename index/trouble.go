package index

import (
	"maps"
	"slices"
)

// trouble is something that keeps an index from being as it should be, and may pass.
type trouble int

const (
	inMemory trouble = iota // it cannot be kept on disk
	unserved                // the process that writes it does not answer
	delayed                 // changes made outside the editor are noticed late
)

// suffer notes what is wrong, and tells the user, once for each matter.
func (x *Index) suffer(t trouble, message string) {
	x.mu.Lock()
	x.troubles[t] = message
	x.mu.Unlock()
	x.notify(message)
}

// recover notes that something is over; it answers whether it was there.
func (x *Index) recover(t trouble) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, was := x.troubles[t]
	delete(x.troubles, t)
	return was
}

// Troubles are sentences about what is wrong now, and what to do about it.
func (x *Index) Troubles() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	list := []string{}
	for _, t := range slices.Sorted(maps.Keys(x.troubles)) {
		list = append(list, x.troubles[t])
	}
	return list
}
