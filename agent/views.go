package agent

import (
	"slices"
	"sync"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// Views are told what an agent is shown, and what it reads.
type Views interface {
	// Answered is told of the results that answer a query, the first of which has rank first,
	// from 1; q is nil for code like a piece of code.
	Answered(q *retrieval.Query, first int, results []workspace.Result)
	// Viewed is told of a file at an absolute path.
	Viewed(path string)
}

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
	if b.parts.Views != nil {
		b.parts.Views.Viewed(path)
	}
	b.views.mu.Lock()
	defer b.views.mu.Unlock()
	list := slices.DeleteFunc(b.views.paths, func(p string) bool { return p == path })
	list = slices.Insert(list, 0, path)
	b.views.paths = list[:min(len(list), maxViews)]
}

// showed notes that an agent is shown a part of an answer.
func (b *Toolbox) showed(q *retrieval.Query, within window, answer *workspace.Answer) {
	if b.views != nil && b.parts.Views != nil && within.offset <= len(answer.Results) {
		b.parts.Views.Answered(q, within.offset+1, answer.Results[within.offset:])
	}
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
