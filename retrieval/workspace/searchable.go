package workspace

import "quarry/retrieval"

// Searchable is a folder as searches know it at one moment.
type Searchable struct {
	Root     string
	Snapshot *retrieval.Snapshot
	// Ready: it has all that the index held at the start.
	Ready bool
}

// Searchable are the folders that are open.
func (w *Workspace) Searchable() (list []*Searchable) {
	for _, f := range w.snapshot() {
		if _, err := f.ready(); err == nil {
			ready := f.warm.IsReady() // asked first: what is known by then is there
			list = append(list, &Searchable{f.dir, f.warm.Search.Current(), ready})
		}
	}
	return list
}
