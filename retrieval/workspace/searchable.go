package workspace

import "quarry/retrieval"

// Searchable is a folder as searches know it at one moment.
type Searchable struct {
	Root     string
	Snapshot *retrieval.Snapshot
}

// Searchable are the folders that are open.
func (w *Workspace) Searchable() (list []*Searchable) {
	for _, f := range w.snapshot() {
		if _, err := f.ready(); err == nil {
			list = append(list, &Searchable{f.dir, f.warm.Search.Current()})
		}
	}
	return list
}
