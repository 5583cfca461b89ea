package engines

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
	"quarry/model/modeltest"
)

// leftModels are those of an Ollama that has none, in whose folder write puts files.
func leftModels(t *testing.T) (m *Models, write func(path, text string) string) {
	t.Helper()
	fake := modeltest.NewServer(t)
	fake.SetModels()
	s := settings.Default()
	s.Ollama.URL = fake.URL
	dir := t.TempDir()
	t.Setenv("OLLAMA_MODELS", dir)
	m, err := NewModels(s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m.wait = func(context.Context, time.Duration) error { return nil }
	return m, func(path, text string) string {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// digestOf is one of 64 times the same digit.
func digestOf(digit string) string { return strings.Repeat(digit, 64) }

// What somebody fetches now, and what belongs to a model by now, is not deleted, although quarry has fetched some of it.
func TestLeftoversThatAreInUse(t *testing.T) {
	m, write := leftModels(t)
	note, err := m.notePull("some:1b", false, false)
	if err != nil {
		t.Fatal(err)
	}
	note.came("sha256:" + digestOf("a"))
	note.end(false)
	whole, part := "blobs/sha256-"+digestOf("a"), "blobs/sha256-"+digestOf("a")+"-partial"
	write("blobs/sha256-"+digestOf("b")+"-partial", "of somebody else")
	remove := func() error {
		t.Helper()
		left, err := m.Leftovers(t.Context(), nil)
		if err != nil || len(left) != 1 || left[0].Of != "some:1b" || len(left[0].Files) != 1 || left[0].Bytes == 0 {
			t.Fatalf("%+v, %v", left, err)
		}
		_, _, err = m.RemoveLeftover(t.Context(), left[0])
		return err
	}
	meanwhile := func(do func()) { m.wait = func(context.Context, time.Duration) error { do(); return nil } }
	there := func(path string, want bool) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(os.Getenv("OLLAMA_MODELS"), path)); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}

	write(part, "wei")
	meanwhile(func() { write(part, "weigh") })
	if err := remove(); err == nil || !strings.Contains(err.Error(), "try again later: another program is downloading into ") {
		t.Errorf("while it is fetched: %v", err)
	}
	there(part, true)
	meanwhile(func() {})
	if err := remove(); err != nil {
		t.Error(err)
	}
	there(part, false)

	write(whole, "weights")
	note.write()
	meanwhile(func() {
		write("manifests/registry.ollama.ai/library/some/1b", `{"layers": [{"digest": "sha256:`+digestOf("a")+`"}]}`)
	})
	if err := remove(); err == nil || !strings.Contains(err.Error(), "now belongs to a model") {
		t.Errorf("when it came to its end: %v", err)
	}
	there(whole, true)

	if l, ok := m.Strangers(t.Context()); ok {
		t.Errorf("%+v, in a folder that may be another Ollama's", l)
	}
}

// Of a name that is fetched anew in another version the files of the one before stay known as quarry's, and an import's are
// while it is at work.
func TestFilesOfNotes(t *testing.T) {
	m, write := leftModels(t)
	for _, version := range []string{"a", "b"} {
		note, err := m.notePull("some:1b", false, false)
		if err != nil {
			t.Fatal(err)
		}
		note.came("sha256:" + digestOf(version))
		write("blobs/sha256-"+digestOf(version)+"-partial", "weights")
		note.end(version == "b")
	}
	left, err := m.Leftovers(t.Context(), nil)
	if err != nil || len(left) != 1 || len(left[0].Files) != 1 || !strings.Contains(left[0].Files[0], digestOf("a")) {
		t.Errorf("%+v, %v", left, err)
	}

	note, err := m.notePull("mine:1b", true, true)
	if err != nil {
		t.Fatal(err)
	}
	note.came("") // while its sum is not known
	if _, err := os.Stat(note.path); err == nil {
		t.Error("a note of nothing")
	}
	note.came("sha256:" + digestOf("c"))
	write("blobs/sha256-"+digestOf("c"), "weights")
	if left, err := m.Leftovers(t.Context(), nil); err != nil || len(left) != 1 {
		t.Errorf("while it is imported: %+v, %v", left, err)
	}
	note.end(false)
	if left, err = m.Leftovers(t.Context(), nil); err != nil || len(left) != 2 {
		t.Fatalf("%+v, %v", left, err)
	}
	for _, l := range left {
		if l.Of == "mine:1b" && (l.Resume != "" || l.Next() != "`quarry model clean` removes it") {
			t.Errorf("%+v", l)
		}
	}
}

// Of a file that two entries of the catalogue name a leftover is the model's for which it was fetched, and both are named where
// nothing says which that was.
func TestLeftoversOfAFileWithTwoNames(t *testing.T) {
	m, _ := leftModels(t)
	sum := digestOf("a")
	for _, name := range []string{"first:1b", "second:1b"} {
		m.Catalogue.Models = append(m.Catalogue.Models, catalogue.Entry{Name: name, Use: catalogue.ForCompletion, URL: "https://models.example/a.gguf", SHA256: sum, Download: 600_000})
	}
	path := filepath.Join(m.files(), sum)
	if err := errors.Join(os.MkdirAll(m.files(), 0o700), os.WriteFile(path+".part", make([]byte, 1500), 0o600)); err != nil {
		t.Fatal(err)
	}
	is := func(of, what, resume string) Leftover {
		t.Helper()
		left, err := m.Leftovers(t.Context(), nil)
		if err != nil || len(left) != 1 || left[0].Of != of || left[0].What != what || left[0].Resume != resume {
			t.Fatalf("%+v, %v", left, err)
		}
		return left[0]
	}
	is("first:1b", "2 kB of 600 kB of first:1b or second:1b", "quarry model pull first:1b")
	second, _ := m.Catalogue.Find("second:1b")
	m.noteFor(path, second)
	l := is("second:1b", "2 kB of 600 kB of second:1b", "quarry model pull second:1b")
	if m.leftOf(t.Context(), "second:1b") == nil || m.leftOf(t.Context(), "first:1b") != nil {
		t.Error("what a cancelled download has left is another's")
	}
	if _, _, err := m.RemoveLeftover(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 0 {
		t.Errorf("%q, %v", left, err)
	}
}

// Who is told to go on with what was ended is told the command that brought it: a file of the user's can only be imported again,
// one that a catalogue names is fetched as it was.
func TestWhatGoesOnWithATrial(t *testing.T) {
	m, _ := leftModels(t)
	m.Catalogue.Models = append(m.Catalogue.Models, catalogue.Entry{Name: "ours:7b", Use: catalogue.ForCompletion, URL: "https://models.example/a.gguf", SHA256: digestOf("a"), Download: 1})
	for name, want := range map[string]Leftover{
		"mine:1b-quarry-trial":       {What: "the trial of mine:1b, of an import that was ended"},
		"ours:7b-quarry-trial":       {What: "the trial of ours:7b, of a download that was ended", Resume: "quarry model pull ours:7b"},
		"granite4.1:3b-quarry-trial": {What: "the trial of granite4.1:3b, of a download that was ended", Resume: "quarry model pull granite4.1:3b --direct"},
	} {
		list, err := m.Leftovers(t.Context(), []model.Installed{{Name: name, Bytes: 1}})
		if err != nil || len(list) != 1 || list[0].What != want.What || list[0].Resume != want.Resume || !list[0].Removable {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}
