package engines

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/model/catalogue"
)

// A disk that is full before a file comes, or while it does, is said with what helps and in one unit; what came is kept.
func TestFetchOntoAFullDisk(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("weights")) }))
	defer server.Close()
	m, _ := leftModels(t)
	e := catalogue.Entry{Name: "ours:7b", Use: catalogue.ForCompletion, URL: server.URL, SHA256: digestOf("a"), Download: 7}
	fetch := func() string {
		t.Helper()
		m.Catalogue.Models = []catalogue.Entry{e}
		err := m.Fetch(t.Context(), e.Name, true, unseen, func(string) error { return nil })
		if err == nil {
			t.Fatal("it was fetched")
		}
		return err.Error()
	}
	e.Download = 42_000_000
	m.free = func(string) (int64, bool) { return 1_000_000, true }
	if said := fetch(); said != "make room: ours:7b needs 84 MB more, and the disk of "+m.files()+" has 1 MB left" { // Ollama has a copy
		t.Error(said)
	}
	m.free = func(string) (int64, bool) { return 0, false }
	e.Download = 7
	for _, library := range []bool{false, true} {
		e.Library = library
		at := filepath.Join(m.files(), e.SHA256+".part")
		if err := os.Remove(at); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/full", at); err != nil {
			t.Fatal(err)
		}
		want := "make room, the disk is full: then `quarry model pull ours:7b"
		if library {
			want += " --direct"
		}
		if said := fetch(); !strings.HasPrefix(said, want+"` resumes. The downloaded part of ours:7b is kept in "+m.files()+" (") || !strings.Contains(said, "no space left") {
			t.Error(said)
		}
	}
}
