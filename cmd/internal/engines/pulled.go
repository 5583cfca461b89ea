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
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"quarry/model/download"
)

// A pulled is a note in quarry's own folder that Ollama has bytes of a model which nothing has found to work: by it what is
// left has a name when the download or the trial was ended. Whoever fetches the model holds its lock.
type pulled struct {
	Name   string `json:"name"`
	Server string `json:"server"`
	// Had: another version had the name before, and has it again.
	Had bool `json:"had,omitempty"`

	path  string
	busy  bool
	lock  *flock.Flock
	write func() error
}

// pulls is the folder of notes.
func (m *Models) pulls() string { return filepath.Join(m.files(), "pulls") }

func (m *Models) pullPath(name string) string {
	sum := sha256.Sum256([]byte(m.settings.Ollama.URL + "\n" + strings.ToLower(name)))
	return filepath.Join(m.pulls(), fmt.Sprintf("%x.json", sum[:12]))
}

// pull has Ollama fetch a model, with a note of it as long as nothing has found it to work.
func (m *Models) pull(ctx context.Context, name string, report Doing, try func(name string) error) error {
	_, had, err := m.Find(ctx, name)
	if err != nil {
		return err
	}
	note, err := m.notePull(name, had)
	if err != nil {
		return err
	}
	tried := false
	err = m.Pull(ctx, name, func(done, total int64) {
		if done > 0 {
			note.came()
		}
		report("fetching "+name, done, total)
	}, func(trial string) error {
		note.came()
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
func (m *Models) notePull(name string, had bool) (*pulled, error) {
	p := &pulled{Name: name, Server: m.settings.Ollama.URL, Had: had, path: m.pullPath(name)}
	if before, err := readPull(p.path); err == nil && !before.Had {
		p.Had = false // what has the name is of an earlier pull, and nothing has found it to work
	}
	if err := os.MkdirAll(m.pulls(), 0o700); err != nil {
		return nil, err
	}
	p.lock = flock.New(p.path + ".lock")
	if _, err := p.lock.TryLock(); err != nil { // another who holds it notes the same
		return nil, err
	}
	p.write = sync.OnceValue(func() error {
		raw, err := json.Marshal(p)
		if err != nil {
			return err
		}
		return os.WriteFile(p.path, raw, 0o600)
	})
	return p, nil
}

// came says that Ollama has some of it. A disk that takes no note keeps no model from coming.
func (p *pulled) came() { _ = p.write() }

// end gives the note up: what is still there of it says that something is left.
func (p *pulled) end(nothingLeft bool) {
	if nothingLeft {
		_ = os.Remove(p.path)
	}
	_ = p.lock.Unlock()
	if _, err := os.Stat(p.path); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(p.path + ".lock")
	}
}

// forgetPull takes the note of a model back that was found to work, or is gone.
func (m *Models) forgetPull(name string) { _ = os.Remove(m.pullPath(name)) }

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
