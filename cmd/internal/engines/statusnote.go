package engines

import (
	"context"
	"net/url"
	"path/filepath"

	"quarry/lsp"
	"quarry/model"
)

// StatusNote implements lsp.Core.
func (c *Core) StatusNote(ctx context.Context) lsp.StatusNote {
	note := lsp.StatusNote{Model: c.modelNote(), Work: []lsp.Work{}, Remedies: []lsp.Remedy{}}
	note.ModelFree = note.Model.State != lsp.ModelReady
	if note.Model.State == lsp.ModelNone {
		note.Remedies = append(note.Remedies, lsp.Remedy{Title: "What still works", Command: lsp.CommandWithout, Arguments: []string{}})
	}
	for _, a := range c.Activities(ctx) {
		kind := lsp.Learning
		if a.Indexing {
			kind = lsp.Indexing
		}
		w, shown := c.jobs.under(kind, a.Dir)
		if !shown {
			w = lsp.Work{Kind: kind, Folder: filepath.Base(a.Dir)}
		}
		note.Work = append(note.Work, w)
	}
	note.Work = append(note.Work, c.jobs.all(lsp.Embedding)...)
	return note
}

// modelNote is the model as an editor shows it.
func (c *Core) modelNote() lsp.NoteModel {
	c.mu.Lock()
	asked := ModelOf(c.settings)
	c.mu.Unlock()
	e := c.acquire()
	defer e.calls.Done()
	note := lsp.NoteModel{Name: asked.Name, State: lsp.ModelNone}
	if u, err := url.Parse(asked.URL); asked.Remote && err == nil {
		note.Host = u.Host
	}
	if e.runtime == nil {
		note.Reason = e.refused.Error()
		return note
	}
	state := e.runtime.State()
	switch state.Phase {
	case model.Ready:
		note.State, note.Reason = lsp.ModelReady, state.Warning
	case model.Unknown, model.Loading:
		note.State = lsp.ModelLoading
	}
	if state.Err != nil {
		note.Reason = state.Err.Error()
	}
	return note
}
