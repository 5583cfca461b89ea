package agent

import (
	"slices"
	"sync"

	"quarry/retrieval"
)

// views are the files that an agent has read, for searches to rank what it works on. They
// are safe for concurrent use.
type views struct {
	mu    sync.Mutex
	paths []string // absolute, the newest first; guarded by mu
}

// maxViews is how many files count as read lately.
const maxViews = 12

// saw notes that an agent has read a file.
func (b *Toolbox) saw(path string) {
	if b.views == nil {
		return
	}
	b.views.mu.Lock()
	defer b.views.mu.Unlock()
	list := slices.DeleteFunc(b.views.paths, func(p string) bool { return p == path })
	list = slices.Insert(list, 0, path)
	b.views.paths = list[:min(len(list), maxViews)]
}

// position is at with what the agent has read, nil if neither says anything.
func (b *Toolbox) position(at *retrieval.Position) *retrieval.Position {
	if b.views == nil {
		return at
	}
	b.views.mu.Lock()
	recent := slices.Clone(b.views.paths)
	b.views.mu.Unlock()
	if len(recent) == 0 {
		return at
	}
	if at == nil {
		at = &retrieval.Position{}
	}
	at.Recent = recent
	return at
}
