package lsp

import "testing"

// Work that only one look finds is no news; what else changed at that look is.
func TestShortWorkIsNoNews(t *testing.T) {
	idle := StatusNote{Model: NoteModel{Name: "m", State: ModelReady}, Work: []Work{}}
	busy := idle
	busy.Work = []Work{{Kind: Learning, Folder: "f"}}
	gone := busy
	gone.Model.State = ModelNone
	var sent sentNotes
	for i, step := range []struct {
		note StatusNote
		news bool
	}{
		{idle, true}, {idle, false}, {busy, false}, {idle, false}, {busy, false}, {busy, true}, {busy, false}, {idle, true}, {gone, true},
	} {
		raw, err := sent.of(step.note)
		if err != nil || (raw != nil) != step.news {
			t.Errorf("look %d: told %s, %v", i, raw, err)
		}
	}
}
