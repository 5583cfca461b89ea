package engines

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"quarry/model/download"
)

// A pulled is a note in quarry's own folder that Ollama has bytes of a model which nothing has found to work: by it what is
// left has a name when the download or the trial was ended, and quarry knows its own files from those of an `ollama pull`.
// Whoever brings the model holds its lock.
type pulled struct {
	Name   string `json:"name"`
	Server string `json:"server"`
	// Had: another version had the name before, and has it again.
	Had bool `json:"had,omitempty"`
	// Imported: it came from a file, which has another name until it was found to work.
	Imported bool `json:"imported,omitempty"`
	// Files are the digests of those that Ollama has or is about to have.
	Files []string `json:"files,omitempty"`

	path string
	busy bool
	lock *flock.Flock
	now  []string // of Files, those of this time
}

// pulls is the folder of notes.
func (m *Models) pulls() string { return filepath.Join(m.files(), "pulls") }

func (m *Models) pullPath(name string, imported bool) string {
	if imported {
		name += "\nfrom a file"
	}
	sum := sha256.Sum256([]byte(m.settings.Ollama.URL + "\n" + strings.ToLower(name)))
	return filepath.Join(m.pulls(), fmt.Sprintf("%x.json", sum[:12]))
}

// pull has Ollama fetch a model, with a note of it as long as nothing has found it to work.
func (m *Models) pull(ctx context.Context, name string, report Doing, try func(name string) error) error {
	_, had, err := m.Find(ctx, name)
	if err != nil {
		return err
	}
	note, err := m.notePull(name, had, false)
	if err != nil {
		return err
	}
	tried := false
	err = m.Pull(ctx, name, func(file string, done, total int64) {
		note.came(file)
		report("fetching "+name, done, total)
	}, func(trial string) error {
		tried = true
		return try(trial)
	})
	// Where another version was there before it has its name again, and what came is gone.
	note.end(err == nil || tried && note.Had)
	return err
}

// Remove deletes an installed model.
func (m *Models) Remove(ctx context.Context, name string) error {
	err := m.Library.Remove(ctx, name)
	if err == nil {
		m.forgetPull(name)
	}
	return err
}

// notePull begins a note, which is written when came is called first.
func (m *Models) notePull(name string, had, imported bool) (*pulled, error) {
	p := &pulled{Name: name, Server: m.settings.Ollama.URL, Had: had, Imported: imported, path: m.pullPath(name, imported)}
	if before, err := readPull(p.path); err == nil {
		p.Had = p.Had && before.Had // else what has the name is of an earlier pull, and nothing has found it to work
		p.Files = before.Files      // an older version's may be there still
	}
	if err := os.MkdirAll(m.pulls(), 0o700); err != nil {
		return nil, err
	}
	p.lock = flock.New(p.path + ".lock")
	if _, err := p.lock.TryLock(); err != nil { // another who holds it notes the same
		return nil, err
	}
	return p, nil
}

// came says that Ollama has some of a file, or is about to. A disk that takes no note keeps no model from coming.
func (p *pulled) came(file string) {
	if file == "" || slices.Contains(p.now, file) {
		return
	}
	p.now = append(p.now, file)
	if !slices.Contains(p.Files, file) {
		p.Files = append(p.Files, file)
	}
	p.write()
}

func (p *pulled) write() {
	if raw, err := json.Marshal(p); err == nil {
		_ = replaceFile(p.path, raw)
	}
}

// replaceFile writes a file of which nobody ever reads a part.
func replaceFile(path string, content []byte) error {
	err := os.WriteFile(path+".new", content, 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

// end gives the note up: what is still there of it says that something is left, if only of an older version.
func (p *pulled) end(nothingLeft bool) {
	if nothingLeft {
		p.Files = slices.DeleteFunc(p.Files, func(f string) bool { return slices.Contains(p.now, f) })
		if p.Had = true; len(p.Files) > 0 {
			p.write()
		} else {
			_ = os.Remove(p.path)
		}
	}
	_ = p.lock.Unlock()
	if _, err := os.Stat(p.path); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(p.path + ".lock")
	}
}

// forget takes a note back of which nothing is left.
func (p *pulled) forget() { _ = os.Remove(p.path) }

// forgetPull takes the note of a model back that was found to work, or is gone.
func (m *Models) forgetPull(name string) { _ = os.Remove(m.pullPath(name, false)) }

func readPull(path string) (*pulled, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := pulled{path: path}
	return &p, json.Unmarshal(raw, &p)
}

// notedPulls are the notes on models of this Ollama.
func (m *Models) notedPulls() (list []*pulled) {
	paths, err := filepath.Glob(filepath.Join(m.pulls(), "*.json"))
	if err != nil {
		return nil // the folder's name is no pattern
	}
	for _, path := range paths {
		p, err := readPull(path)
		if err != nil || p.Server != m.settings.Ollama.URL {
			continue
		}
		p.busy = download.Locked(path)
		list = append(list, p)
	}
	return list
}
