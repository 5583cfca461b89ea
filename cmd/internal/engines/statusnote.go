package engines

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"quarry/lsp"
	"quarry/model"
	"quarry/model/catalogue"
)

// StatusNote implements lsp.Core.
func (c *Core) StatusNote(ctx context.Context) lsp.StatusNote {
	note := lsp.StatusNote{Work: []lsp.Work{}, Problems: []string{}, Savings: c.savings()}
	c.noteModels(&note)
	note.Problems = append(note.Problems, c.Troubles()...)
	for _, wide := range c.Refused() {
		note.Problems = append(note.Problems, wide.Error())
		if wide.Never {
			continue
		}
		note.Remedies = append(note.Remedies, lsp.Remedy{Title: "Index " + wide.Dir, Command: lsp.CommandIndex, Arguments: []string{wide.Dir}})
	}
	note.ModelFree = note.Model.State != lsp.ModelReady
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

// noteModels notes the model as an editor shows it, what is sent to it and others, what is wrong with those, and what helps.
func (c *Core) noteModels(note *lsp.StatusNote) {
	e := c.acquire()
	defer e.calls.Done()
	asked := e.asked()
	note.Sends = asked.Sends
	note.Model, note.Remedies = c.noteOf(e, asked)
	var help []lsp.Remedy
	note.Broken, help = c.brokenNote(e, note.Model)
	note.Remedies = append(note.Remedies, help...)
}

func (c *Core) noteOf(e *generation, asked ConfiguredModel) (lsp.NoteModel, []lsp.Remedy) {
	note := lsp.NoteModel{Name: asked.Name, State: lsp.ModelNone, Host: asked.Host}
	if e.runtime == nil {
		note.Reason = e.refused.Error()
		if note.Off = errors.Is(e.refused, errModelsOff); note.Off {
			return note, []lsp.Remedy{}
		}
		return note, c.remedies(note, model.Unsuitable, e)
	}
	state := e.runtime.State()
	switch state.Phase {
	case model.Ready:
		note.State, note.Reason, note.Full, note.Why = lsp.ModelReady, state.Warning, state.Full, state.Why
	case model.Unknown, model.Loading:
		note.State = lsp.ModelLoading
	}
	if state.Err != nil {
		note.Reason = state.Err.Error()
	}
	if advice := e.advice.Load(); advice != nil && (state.Phase == model.Missing || state.Phase == model.Unsuitable) {
		note.Reason += ". " + advice.Completion.Suits("this machine")
	}
	if _, err := LoadCatalogue(); err != nil {
		note.Reason = strings.TrimPrefix(note.Reason+". "+err.Error(), ". ")
	}
	switch p := c.downloads.state(); {
	case p == nil:
	case p.paused:
		if note.State != lsp.ModelReady {
			note.Reason = fmt.Sprintf("the download of %s is paused at %d %%: resume or cancel it", p.name, p.percent())
		}
	default:
		percent := p.percent()
		note.Percent, note.Download = &percent, p.name
		if note.State != lsp.ModelReady {
			note.State, note.Reason = lsp.ModelLoading, fmt.Sprintf("%s: %s of %s", p.doing, catalogue.Gigabytes(p.done), catalogue.Gigabytes(p.total))
		}
	}
	return note, c.remedies(note, state.Phase, e)
}
