package engines

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"quarry/index"
	"quarry/lsp"
	"quarry/model"
)

// saying is a lsp.Job that notes what it shows.
type saying struct{ said *[]string }

func (s saying) Report(_ float64, message string) { *s.said = append(*s.said, "report "+message) }
func (s saying) End(message string)               { *s.said = append(*s.said, "end "+message) }

// A load of more than a moment is shown until it is over, a short one is not.
func TestALongLoadIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		j := &loadingJob{model: "granite4.1:3b", start: func(title string, _ func()) lsp.Job {
			said = append(said, title)
			return saying{&said}
		}}
		loading := model.State{Phase: model.Loading, Err: errors.New("Ollama is loading granite4.1:3b")}
		j.changed(loading)
		<-time.After(loadingMoment / 2)
		j.changed(model.State{Phase: model.Ready})
		<-time.After(time.Minute)
		if len(said) > 0 {
			t.Errorf("of a short load: %q", said)
		}
		j.changed(loading)
		j.changed(loading)
		<-time.After(time.Minute)
		j.changed(model.State{Phase: model.Ready})
		j.end("")
		want := []string{"Loading granite4.1:3b", "report Ollama is loading granite4.1:3b", "end ready"}
		if !slices.Equal(said, want) {
			t.Errorf("of a long load: %q, want %q", said, want)
		}
	})
}

// Each scan that came to its end is noted, though most are over before they would be shown, and nothing of one that was cut short.
func TestEachScanIsNoted(t *testing.T) {
	var took []time.Duration
	j := &folderJobs{
		running: map[folderWork]*folderJob{}, changed: func() {}, took: func(d time.Duration) { took = append(took, d) },
		start: func(string, func()) lsp.Job { return saying{&[]string{}} },
	}
	j.scanned("/w/api", index.Progress{Files: 9, OfFiles: 9, Finished: true, Took: 20 * time.Millisecond}, nil)
	j.scanned("/w/api", index.Progress{Files: 3, OfFiles: 9}, nil)
	j.scanned("/w/api", index.Progress{Files: 9, OfFiles: 9, Finished: true, Took: 3 * time.Second}, nil)
	j.scanned("/w/api", index.Progress{Files: 3, OfFiles: 9}, nil)
	j.scanned("/w/api", index.Progress{Files: 3, OfFiles: 9, Finished: true}, nil)
	if want := []time.Duration{20 * time.Millisecond, 3 * time.Second}; !slices.Equal(took, want) {
		t.Errorf("noted %v, want %v", took, want)
	}
}

// What goes on in the folders is told in files and chunks.
func TestWorkOfFolders(t *testing.T) {
	changes := 0
	var said []string
	j := &folderJobs{
		running: map[folderWork]*folderJob{}, changed: func() { changes++ },
		start: func(title string, _ func()) lsp.Job { said = append(said, title); return saying{&said} },
	}
	j.scanned("/w/api", index.Progress{Done: 10, Total: 40, Files: 3, OfFiles: 9}, nil)
	j.embedded("/w/web", index.EmbedProgress{Done: 2, Total: 8}, nil)
	if w, ok := j.under(lsp.Indexing, "/w/api"); !ok || w != (lsp.Work{Kind: "indexing", Folder: "api", Done: 3, Total: 9}) {
		t.Errorf("indexing: %+v", w)
	}
	if all := j.all(lsp.Embedding); len(all) != 1 || all[0] != (lsp.Work{Kind: "embedding", Folder: "web", Done: 2, Total: 8}) {
		t.Errorf("embedding: %+v", all)
	}
	j.scanned("/w/api", index.Progress{Files: 9, OfFiles: 9, Finished: true}, nil)
	if _, ok := j.under(lsp.Indexing, "/w/api"); ok || changes != 3 {
		t.Errorf("indexing goes on; %d changes", changes)
	}
	want := []string{"Indexing api", "report 3 of 9 files", "Embedding web", "report 2 of 8 chunks", "end 9 files"}
	if !slices.Equal(said, want) {
		t.Errorf("shown: %q", said)
	}
}
