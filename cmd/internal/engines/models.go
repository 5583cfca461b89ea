package engines

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"quarry/completion"
	"quarry/index"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
	"quarry/model/download"
)

// Models looks after the models of an Ollama, for the command line and for editors.
type Models struct {
	*model.Library
	Catalogue catalogue.List
	settings  settings.Settings
	stateDir  string
	free      func(dir string) (bytes int64, ok bool)
	wait      func(ctx context.Context, d time.Duration) error

	mu     sync.Mutex
	embeds map[string]bool // by the names of models that Ollama has said it has; guarded by mu
}

// CataloguePath is where the user's own catalogue is.
func CataloguePath() string {
	return filepath.Join(filepath.Dir(settings.UserFilePath()), "models.json")
}

// LoadCatalogue is the models that quarry knows, and the user's own.
func LoadCatalogue() (catalogue.List, error) {
	path := CataloguePath()
	users, err := settings.ReadUserFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return catalogue.List{}, fmt.Errorf("check your models.json, it cannot be read: %w", err)
	}
	c, err := catalogue.Load(users)
	if err != nil {
		return c, fmt.Errorf("change or remove your models.json: %w (%s)", err, path)
	}
	return c, nil
}

// NewModels is the models of the Ollama of the settings; stateDir is where downloads are
// kept, "" for the platform's place.
func NewModels(s settings.Settings, stateDir string) (*Models, error) {
	c, err := LoadCatalogue()
	if err != nil {
		return nil, err
	}
	if stateDir == "" {
		if stateDir, err = index.DefaultStateDir(); err != nil {
			return nil, err
		}
	}
	l, err := model.NewLibrary(ModelOptions(s))
	if err != nil {
		return nil, err
	}
	return &Models{Library: l, Catalogue: c, settings: s, stateDir: stateDir, free: catalogue.FreeSpace, wait: wait}, nil
}

// wait waits.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// UseOf is what a model is for.
func (m *Models) UseOf(name string) string {
	if e, ok := m.Catalogue.Find(name); ok {
		return e.Use
	}
	m.mu.Lock()
	embeds := m.embeds[name]
	m.mu.Unlock()
	if embeds || model.SameModel(name, m.settings.Embedding.Model) || (model.Installed{Name: name}).Embeds() {
		return catalogue.ForSearch
	}
	return catalogue.ForCompletion
}

// Find is the library's, and remembers what the model is for.
func (m *Models) Find(ctx context.Context, name string) (at model.Installed, ok bool, err error) {
	if at, ok, err = m.Library.Find(ctx, name); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.embeds == nil {
			m.embeds = map[string]bool{}
		}
		m.embeds[name] = at.Embeds()
	}
	return at, ok, err
}

// Does says what a model does once it is chosen.
func (m *Models) Does(name string) string { return does(name, m.UseOf(name)) }

func does(name, use string) string {
	if use == catalogue.ForSearch {
		return name + " embeds code for search"
	}
	return name + " completes code"
}

// AdviseTried is Advise for who means to use the advice: what Ollama has is recommended to complete code only where nothing
// says that it cannot. It loads that model.
func (m *Models) AdviseTried(ctx context.Context) (catalogue.Advice, []model.Installed, error) {
	var unsuited []string
	for {
		advice, have, err := m.Advise(ctx, unsuited...)
		if best := advice.Completion; err != nil || !best.Installed || !m.Unsuited(ctx, best.Name) {
			return advice, have, err
		}
		unsuited = append(unsuited, advice.Completion.Name)
	}
}

// asked are the settings by which the models are asked now: with another context or for another time a trial would load
// anew what running quarrys have in memory, near their budget more of it.
func (m *Models) asked() settings.Settings { return RunningNow(m.stateDir, m.settings).Settings }

// Unsuited is whether an installed model is known not to complete code. It loads the model.
func (m *Models) Unsuited(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	s := m.asked() // whose template is for the model that they name
	if !model.SameModel(name, s.Model) {
		s = WithModel(s, name)
	}
	runtime, err := model.New(ModelOptions(s))
	return err == nil && runtime.Unsuitable(ctx) != nil
}

// Advise recommends models for this machine, none that is known to be unsuited, and answers what Ollama has. The advice is
// there although Ollama does not answer, which is the error.
func (m *Models) Advise(ctx context.Context, unsuited ...string) (catalogue.Advice, []model.Installed, error) {
	have, err := m.List(ctx)
	here := catalogue.ThisMachine()
	wants := catalogue.Wants{Completion: m.settings.Model, Search: m.settings.Embedding.Model, Unsuited: unsuited, Completes: m.completing(ctx, have)}
	return m.Catalogue.Advise(here, Budget(m.settings, here), have, wants), have, err
}

// mostLookedAt is how many models Ollama is asked about for an advice.
const mostLookedAt = 40

// completing are those among the models that Ollama has that are known to complete code, although neither the catalogue nor
// the settings name them. It loads none.
func (m *Models) completing(ctx context.Context, have []model.Installed) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, model.Patience)
	defer cancel()
	unfinished, asked := model.FindUnfinished(have), 0
	for _, i := range have {
		_, known := m.Catalogue.Find(i.Name)
		onTrial := slices.ContainsFunc(unfinished, func(u model.Unfinished) bool { return u.Name == i.Name })
		if known || onTrial || i.Embeds() || model.SameModel(i.Name, m.settings.Model) || asked == mostLookedAt {
			continue
		}
		asked++
		if m.Completes(ctx, i.Name, completion.Completes(i.Name)) {
			names = append(names, i.Name)
		}
	}
	return names
}

// Budget is how many bytes models, their server and quarry may take together, 0 if not known.
func Budget(s settings.Settings, here catalogue.Machine) int64 {
	if s.Memory.BudgetMB > 0 {
		return int64(s.Memory.BudgetMB) * 1e6
	}
	return here.Budget()
}

// Doing is what takes a while, and how many bytes of it are done.
type Doing func(what string, done, total int64)

// Fetch brings a model to Ollama, from its library or, where that has none or direct asks for
// it, as a file. try looks at it; a model that was there keeps its name until try answers nil.
func (m *Models) Fetch(ctx context.Context, name string, direct bool, report Doing, try func(name string) error) error {
	e, known := m.Catalogue.Find(name)
	if why := m.Catalogue.Refused(name); why != "" {
		return fmt.Errorf("change your models.json: %s (%s)", why, CataloguePath())
	}
	if known && !e.Fetched() {
		return fmt.Errorf("add \"library\": true to %s in %s, or a url and sha256: without them it is not fetched, since Ollama's library may have another model of that name", e.Name, CataloguePath())
	}
	if direct && e.URL == "" {
		return fmt.Errorf("leave --direct out, or add the url and sha256 of %s to %s: the catalogue names no file of it", name, CataloguePath())
	}
	if e.URL == "" || e.Library && !direct {
		if _, err := m.List(ctx); err != nil { // a server that is silent is so for whatever it is asked
			return err
		}
		if err := m.room(ctx, e); err != nil {
			return err
		}
		return m.pull(ctx, name, report, try)
	}
	file, dir := download.File{URL: e.URL, SHA256: e.SHA256, Size: e.Download}, m.files()
	if err := file.Check(); err != nil {
		return err // before anybody is asked anything
	}
	if _, err := m.List(ctx); err != nil { // before gigabytes are fetched that nobody takes
		return err
	}
	beside, err := m.copied(ctx, e, dir)
	if err != nil {
		return err
	}
	kept := filepath.Join(dir, e.SHA256)
	m.noteFor(kept, e)
	defer dropNoteFor(kept)
	path, err := download.Fetch(ctx, file, dir, download.Options{
		Report: func(done int64) { report("fetching "+e.Name, done, e.Download) }, Free: m.free, Beside: beside,
	})
	var room *download.RoomError
	switch {
	case errors.As(err, &room):
		return fmt.Errorf("make room: %s needs %s more, and the disk of %s has %s left", e.Name, catalogue.Gigabytes(room.Need), room.Dir, catalogue.Gigabytes(room.Left))
	case model.DiskFull(err):
		return fmt.Errorf("make room, the disk is full: then `%s` resumes. The downloaded part of %s is kept in %s (%w)", fetching(e), e.Name, dir, err)
	case err != nil:
		return err
	}
	// The file itself is not kept: Ollama has a copy.
	if _, err = m.Import(ctx, path, e.Name, func(done, total int64) { report("importing "+e.Name, done, total) }, try); err != nil {
		return err
	}
	return download.Discard(path)
}

// fetching is the command that fetches the file of a model.
func fetching(e catalogue.Entry) string {
	if e.Library {
		return "quarry model pull " + e.Name + " --direct"
	}
	return "quarry model pull " + e.Name
}

// Import is the library's, for what the catalogue knows of the model.
func (m *Models) Import(ctx context.Context, path, name string, report func(done, total int64), try func(name string) error) (digest string, err error) {
	unlock, err := m.claim(name)
	if err != nil {
		return "", err
	}
	defer unlock()
	e, _ := m.Catalogue.Find(name)
	if info, err := os.Stat(path); err == nil { // else the library says what is wrong
		if _, err := m.List(ctx); err != nil { // before the file is read for minutes
			return "", err
		}
		if err := m.room(ctx, catalogue.Entry{Name: path, Download: info.Size()}); err != nil {
			return "", err
		}
	}
	note, err := m.notePull(name, true, true)
	if err != nil {
		return "", err
	}
	digest, err = m.Library.Import(ctx, path, name, e.Chat, func(file string, done, total int64) {
		note.came(file)
		report(done, total)
	}, try)
	note.end(err == nil || digest == "" || m.dropFile(context.WithoutCancel(ctx), digest))
	return digest, err
}

// claim keeps others from importing a model of this name: they would try it under the same name.
func (m *Models) claim(name string) (unlock func(), err error) {
	if err := os.MkdirAll(m.files(), 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(m.files(), fmt.Sprintf("%x.import", sha256.Sum256([]byte(strings.ToLower(name))))))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("try again later: another quarry process is importing %s", name), err)
	}
	// Who takes the lock before it is removed may import beside the next one: the library refuses then what was not tried.
	return func() {
		_ = lock.Unlock()
		_ = os.Remove(lock.Path())
	}, nil
}

// dropFile deletes a file that an import gave Ollama and that no model has, and answers whether it is gone: Ollama itself does
// so at its next start.
func (m *Models) dropFile(ctx context.Context, digest string) (gone bool) {
	at, ok := m.ollamasDisk(ctx)
	if !ok {
		return false
	}
	_, orphans, err := model.FindOrphans(at.dir)
	if at := slices.IndexFunc(orphans, func(o model.Orphan) bool { return o.Digest == digest }); at >= 0 {
		err = orphans[at].Remove() // what stays `quarry model clean` finds
	}
	return err == nil && !at.guessed
}

// room fails if the disk of Ollama's models has too little of it.
func (m *Models) room(ctx context.Context, e catalogue.Entry) error {
	at, ok := m.ollamasDisk(ctx)
	if !ok || at.free >= e.Download {
		return nil
	}
	if at.guessed {
		return fmt.Errorf("make room, or set OLLAMA_MODELS here to the folder of Ollama's models: %s needs %s and %s, which quarry only guesses to be on their disk, has %s left", e.Name, catalogue.Gigabytes(e.Download), at.dir, catalogue.Gigabytes(at.free))
	}
	return fmt.Errorf("make room, or set OLLAMA_MODELS for Ollama to another disk: %s needs %s and the disk of %s has %s left", e.Name, catalogue.Gigabytes(e.Download), at.dir, catalogue.Gigabytes(at.free))
}

// copied is how many bytes the disk of a folder must have for Ollama's copy of a file that is
// fetched there; it fails if Ollama's own disk has too few. Two disks that have as much left to the
// byte are one.
func (m *Models) copied(ctx context.Context, e catalogue.Entry, dir string) (bytes int64, err error) {
	at, ok := m.ollamasDisk(ctx)
	if here, known := m.free(dir); ok && known && here == at.free {
		return e.Download, nil
	}
	return 0, m.room(ctx, e)
}

// disk is the folder of Ollama's models and what its disk has left.
type disk struct {
	dir  string
	free int64
	// guessed: Ollama has not said that they are there.
	guessed bool
}

// ollamasDisk is known only of an Ollama on this machine: where a model that it has lies, else where OLLAMA_MODELS says, or
// where Ollama has its models usually.
func (m *Models) ollamasDisk(ctx context.Context) (at disk, ok bool) {
	if u, err := model.ParseEndpoint(m.settings.Ollama.URL, true); err != nil || !model.IsLoopback(u) {
		return at, false
	}
	if at.dir = m.Folder(ctx); at.dir == "" {
		at.guessed = true
		at.dir = os.Getenv("OLLAMA_MODELS")
	}
	if at.dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return at, false
		}
		at.dir = filepath.Join(home, ".ollama", "models")
		if _, err := os.Stat(asService); err == nil {
			at.dir = asService
		}
	}
	at.free, ok = m.free(at.dir)
	return at, ok
}

// asService is where Ollama has its models on Linux when its installer has made it a service.
const asService = "/usr/share/ollama/.ollama/models"

// trialTimeout bounds a trial; loading a model from a slow disk takes most of a minute.
const trialTimeout = 2 * time.Minute

// errTrial: a finding says what is wrong.
var errTrial = errors.New("the model failed its trial")

// Try looks at an installed model in every way that its use needs; as is the name that it is to
// have, another than its own while it is on trial. report is told how far its file is read, which takes seconds for some GB.
// The error, which is not one of the findings, says that it could not be looked at.
func (m *Models) Try(ctx context.Context, name, as string, report Doing) ([]model.Finding, error) {
	at, ok, err := m.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("Ollama has no model %s: `quarry model pull %s` fetches it", name, name)
	}
	digest, err := m.digest(ctx, at, as, report)
	if err != nil {
		return nil, err
	}
	findings := []model.Finding{digest}
	if at.Embeds() {
		m.mu.Lock()
		m.embeds[as] = true
		m.mu.Unlock()
	}
	found, err := tried(ctx, m.asked(), name, m.UseOf(as))
	if err != nil {
		return nil, err
	}
	findings = append(findings, found...)
	if Failed(findings) == nil {
		m.forgetPull(name)
	}
	return findings, nil
}

// Failed is the error of findings of which one is not as it should be, nil if all are.
func Failed(findings []model.Finding) error {
	for _, f := range findings {
		if !f.OK {
			if f.Fix != "" {
				f.Detail += " → " + f.Fix
			}
			return fmt.Errorf("%w: %s, %s", errTrial, f.Name, f.Detail)
		}
	}
	return nil
}

// Choose writes a model's name into the user's settings and answers the key and the file.
func (m *Models) Choose(name string) (key, path string, err error) {
	return choose(name, m.UseOf(name))
}

func choose(name, use string) (key, path string, err error) {
	key = "model"
	if use == catalogue.ForSearch {
		key = "embedding.model"
	}
	path = settings.UserFilePath()
	if path == "" {
		return key, path, errors.New("the folder for settings is not known: set XDG_CONFIG_HOME")
	}
	return key, path, settings.SetInFile(path, key, name)
}
