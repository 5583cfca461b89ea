package budget

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// A Note is what one who keeps a budget tells the others of this user.
type Note struct {
	// Process is whose memory Own is: that of one process counts once, however many notes it has.
	Process string `json:"process"`
	Own     int64  `json:"own_bytes"`
	// Server is what answers for the models, "" if none is asked. Completion and Embedding are their names, and Models is
	// what they had when it was looked at last.
	Server     string   `json:"server,omitempty"`
	Completion []string `json:"completion,omitempty"`
	Embedding  string   `json:"embedding,omitempty"`
	Models     int64    `json:"model_bytes,omitempty"`
	// Untold: the server does not tell what its models have, and Models lacks that.
	Untold bool `json:"untold,omitempty"`
	// Step, Small and Battery are what this one does without for its own reasons, not what it does for the others. Budget is
	// in bytes.
	Step    Step  `json:"step,omitempty"`
	Small   bool  `json:"small,omitempty"`
	Battery bool  `json:"battery,omitempty"`
	Budget  int64 `json:"budget_bytes,omitempty"`
}

// thisProcess is the Process of its notes.
var thisProcess = rand.Text()

// A Ledger is a place in a folder where the quarrys of a user leave notes for each other. A note counts as long as the lock
// beside it is held, which the system lets go of when its process ends. It is safe for concurrent use.
type Ledger struct {
	dir, path string
	lock      *flock.Flock

	mu      sync.Mutex
	written Note      // guarded by mu
	seen    time.Time // when the folder had changed last before it was read; guarded by mu
}

const (
	noteSuffix, lockSuffix, newSuffix = ".json", ".lock", ".new"
	// worthWriting is by how many bytes of memory a note may be wrong, so that what goes up and down wakes no disk.
	worthWriting = 16 << 20
)

// Join takes a place in a folder, which is made if it is not there.
func Join(dir string) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := &Ledger{dir: dir, path: filepath.Join(dir, rand.Text()+noteSuffix)}
	l.lock = flock.New(l.path + lockSuffix)
	return l, l.lock.Lock()
}

// Leave gives the place up. It may be called of nil.
func (l *Ledger) Leave() {
	if l == nil {
		return
	}
	_ = os.Remove(l.path) // else the next one who reads does
	_ = l.lock.Unlock()
	_ = os.Remove(l.lock.Path())
}

// Write tells the others; of nil it does nothing. What they could do nothing about is not written.
func (l *Ledger) Write(n Note) error {
	if l == nil {
		return nil
	}
	n.Process = thisProcess
	l.mu.Lock()
	defer l.mu.Unlock()
	near := func(a, b int64) bool { return a > 0 == (b > 0) && max(a, b)-min(a, b) < worthWriting }
	if same := n; near(n.Own, l.written.Own) && near(n.Models, l.written.Models) {
		same.Own, same.Models = l.written.Own, l.written.Models
		if reflect.DeepEqual(same, l.written) {
			return nil
		}
	}
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.path+newSuffix, raw, 0o600); err != nil {
		return err
	}
	if err := os.Rename(l.path+newSuffix, l.path); err != nil { // nobody reads half of it
		return err
	}
	l.written = n
	return nil
}

// Others are the notes of the others; nil has none.
func (l *Ledger) Others() []Note {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.seen = changed(l.dir)
	l.mu.Unlock()
	return read(l.dir, l.path)
}

// Changed is whether somebody wrote, joined or left since Others was called last.
func (l *Ledger) Changed() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !changed(l.dir).Equal(l.seen)
}

func changed(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Read is all notes in a folder, for who leaves none.
func Read(dir string) []Note { return read(dir, "") }

// read is all notes but that of one path. Those of processes that have ended it removes.
func read(dir, but string) (list []Note) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there are none, or they cannot be read: each is alone then
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(e.Name(), noteSuffix) || path == but {
			continue
		}
		lock := flock.New(path + lockSuffix)
		if free, err := lock.TryLock(); err == nil && free {
			_ = os.Remove(path)
			_ = lock.Unlock()
			_ = os.Remove(lock.Path())
			continue
		}
		raw, err := os.ReadFile(path)
		var n Note
		if err == nil && json.Unmarshal(raw, &n) == nil {
			list = append(list, n)
		}
	}
	return list
}

// Shared is what notes of others say to one who asks a server, "" for none.
type Shared struct {
	// Processes is how many others there are, and Own what they have together.
	Processes int
	Own       int64
	// Completion and Embedding are the models that they ask of the same server, Elsewhere what models of other servers have.
	Completion, Embedding []string
	Elsewhere             int64
	// Models is what models of the same server had.
	Models int64
	// Step and Small are what any of them with the same server does without: one model cannot be loaded in two ways. Budget
	// is that of the one with this step.
	Step   Step
	Small  bool
	Budget int64
}

// Share adds notes up for one who asks server. Memory of one process counts once, and so do the models of one server.
func Share(notes []Note, server string) (s Shared) {
	own, models := map[string]int64{}, map[string]int64{}
	for _, n := range notes {
		if n.Process != thisProcess {
			own[n.Process] = max(own[n.Process], n.Own)
		}
		models[n.Server] = max(models[n.Server], n.Models)
		if server == "" || n.Server != server {
			continue
		}
		s.Completion = append(s.Completion, n.Completion...)
		if n.Embedding != "" {
			s.Embedding = append(s.Embedding, n.Embedding)
		}
		s.Small = s.Small || n.Small
		if n.Step > s.Step {
			s.Step, s.Budget = n.Step, n.Budget
		}
	}
	s.Processes = len(own)
	for _, n := range own {
		s.Own += n
	}
	for of, n := range models {
		if of == server {
			s.Models = n
		} else {
			s.Elsewhere += n
		}
	}
	return s
}
