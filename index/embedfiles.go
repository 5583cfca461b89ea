package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"quarry/index/store"
	"quarry/index/vectors"
)

// embedModel is a model with its open file.
type embedModel struct {
	store.EmbeddingModel
	file    *vectors.File
	refused map[vectors.Key]bool
}

// fullName is what a file and a Set call a model.
func fullName(name, version string) string { return name + "@" + version }

func splitModel(full string) (name, version string) {
	at := strings.LastIndexByte(full, '@')
	if at < 0 {
		return full, ""
	}
	return full[:at], full[at+1:]
}

// vectorFile is the name of a file of vectors. Its number is higher than those of all
// files there are when it is made.
var vectorFile = regexp.MustCompile(`^embeddings-([0-9]+)\.dat$`)

func (e *Embedding) path(file string) string { return filepath.Join(e.x.state.dir, file) }

// files are the names of all files of vectors, and next is one that is free.
func (e *Embedding) files() (list []string, next string, err error) {
	entries, err := os.ReadDir(e.x.state.dir)
	if err != nil {
		return nil, "", fmt.Errorf("look for vectors: %w", err)
	}
	most := 0
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), damagedSuffix)
		if m := vectorFile.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1]) // as long as a folder has names at all
			most = max(most, n)
			if name == entry.Name() {
				list = append(list, name)
			}
		}
	}
	return list, fmt.Sprintf("embeddings-%d.dat", most+1), nil
}

const damagedSuffix = ".damaged"

// open opens the files of all models and makes the database say what they hold. A
// row proves itself, so the file is believed: after a crash the database may know
// less than the file, and after a rebuild it knows nothing.
func (e *Embedding) open(ctx context.Context) error {
	e.closeFiles()
	rows, err := e.store.EmbeddingModels(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := e.openOne(ctx, row); err != nil {
			return err
		}
	}
	files, _, err := e.files()
	if err != nil {
		return err
	}
	known := slices.Clone(e.models)
	for _, name := range files {
		if !slices.ContainsFunc(e.models, func(m *embedModel) bool { return m.File == name }) {
			if err := e.adopt(ctx, name, known); err != nil {
				return err
			}
		}
	}
	e.opened = true
	e.startOver()
	return nil
}

func (e *Embedding) openOne(ctx context.Context, row store.EmbeddingModel) error {
	file, err := vectors.Open(e.path(row.File))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.x.cfg.Log.Warn("a file of vectors is gone", "file", row.File)
		e.noteLost(row.Slots)
		return e.store.DropEmbeddingModel(row.ID)
	case errors.Is(err, vectors.ErrDamaged):
		e.noteLost(row.Slots)
		return errors.Join(e.setAside(row.File, err), e.store.DropEmbeddingModel(row.ID))
	case err != nil:
		return err
	case file.Model != fullName(row.Name, row.Version) || file.Dim != row.Dim:
		err := fmt.Errorf("it is of %s with %d dimensions", file.Model, file.Dim)
		return errors.Join(file.Close(), e.setAside(row.File, err), e.store.DropEmbeddingModel(row.ID))
	}
	m := &embedModel{row, file, map[vectors.Key]bool{}}
	e.models = append(e.models, m)
	return e.reconcile(ctx, m)
}

// adopt takes in a file that the database does not know of, unless that has another of the same model, in
// whichever version: then the file was to be removed, or had just been begun.
func (e *Embedding) adopt(ctx context.Context, name string, known []*embedModel) error {
	file, err := vectors.Open(e.path(name))
	if errors.Is(err, vectors.ErrDamaged) {
		return e.setAside(name, err)
	}
	if err != nil {
		return err
	}
	row := store.EmbeddingModel{Dim: file.Dim, File: name}
	row.Name, row.Version = splitModel(file.Model)
	left := func(m *embedModel) bool { return m.file.Model == file.Model && m.Dim == file.Dim } // by a compaction
	renewed := func(m *embedModel) bool { return m.Name == row.Name }
	if slices.ContainsFunc(e.models, left) || slices.ContainsFunc(known, renewed) {
		return errors.Join(file.Close(), e.discard(name))
	}
	if row.ID, err = e.store.AddEmbeddingModel(row); err != nil {
		return errors.Join(err, file.Close())
	}
	m := &embedModel{row, file, map[vectors.Key]bool{}}
	e.models = append(e.models, m)
	return e.reconcile(ctx, m)
}

// reconcile makes the database say what the file of m holds.
func (e *Embedding) reconcile(ctx context.Context, m *embedModel) error {
	noted, wrong := 0, 0
	err := e.store.Embeddings(ctx, m.ID, func(n store.Embedding) {
		if n.Slot == store.Refused {
			m.refused[vectors.Key(n.Hash)] = true
			return
		}
		noted++
		if slot, ok := m.file.Slot(vectors.Key(n.Hash)); !ok || slot != n.Slot {
			wrong++
		}
	})
	if err != nil {
		return err
	}
	found := e.notes(m.file)
	if m.file.Unsound > 0 || wrong > 0 {
		e.x.cfg.Log.Warn("vectors were lost", "file", m.File, "unsound rows", m.file.Unsound, "not where they were", wrong)
		e.noteLost(wrong)
	}
	if m.file.Unsound > 0 {
		return e.replaceFile(m, func(vectors.Key) bool { return true })
	}
	if wrong > 0 || noted != len(found) {
		return e.store.ReplaceEmbeddings(m.ID, m.File, m.file.Len(), found)
	}
	return nil
}

func (e *Embedding) notes(f *vectors.File) (list []store.Embedding) {
	for key, slot := range f.All {
		list = append(list, store.Embedding{Hash: store.Hash(key), Slot: slot})
	}
	return list
}

// setAside renames a damaged file, over the one set aside before.
func (e *Embedding) setAside(name string, cause error) error {
	e.x.cfg.Log.Error("damaged vectors set aside", "error", cause, "copy", name+damagedSuffix)
	e.x.troubles.tell(fmt.Sprintf("Vectors of %s were damaged and are being rebuilt. A copy is kept at %s.", e.x.root.Dir(), e.path(name)+damagedSuffix))
	if err := os.Rename(e.path(name), e.path(name)+damagedSuffix); err != nil {
		return fmt.Errorf("set the damaged vectors aside: %w", err)
	}
	return nil
}

// choose drops the models that are of no use to embed with name: all but that one
// and the one whose vectors serve until its own are complete.
func (e *Embedding) choose(name string) error {
	target := -1
	for i, m := range e.models {
		if m.Name == name {
			target = i
		}
	}
	for i := len(e.models) - 1; i > 0; i-- {
		if i != target {
			if err := e.drop(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// create begins a model.
func (e *Embedding) create(name, version string, dim int) error {
	_, free, err := e.files()
	if err != nil {
		return err
	}
	file, err := vectors.Create(e.path(free), fullName(name, version), dim)
	if err != nil {
		return err
	}
	m := &embedModel{store.EmbeddingModel{Name: name, Version: version, Dim: dim, File: free}, file, map[vectors.Key]bool{}}
	if m.ID, err = e.store.AddEmbeddingModel(m.EmbeddingModel); err != nil {
		return errors.Join(err, file.Close(), e.discard(free))
	}
	e.models = append(e.models, m)
	return nil
}

// drop forgets models[i] and removes its file.
func (e *Embedding) drop(i int) error {
	m := e.models[i]
	if err := e.store.DropEmbeddingModel(m.ID); err != nil {
		return err
	}
	e.models = append(e.models[:i:i], e.models[i+1:]...)
	e.publishFirst()
	return errors.Join(m.file.Close(), e.discard(m.File))
}

// discard removes a file that the database does not name any more. Windows removes none that
// another process has open, which lets it go at its next look; if that takes long, the next
// start removes the file, as any stray one.
func (e *Embedding) discard(name string) error {
	err := remove(e.path(name))
	if err != nil && runtime.GOOS == "windows" {
		e.x.cfg.Log.Info("another quarry has a file of old vectors open: it stays until a later start", "file", name, "because", err)
		return nil
	}
	return err
}

// compactAbove is how many vectors of texts that are gone a file may hold, at
// least; and there may be as many as of texts that are not. So a branch that is
// switched to and fro finds its vectors, and the file is at most twice as large.
// Tests compact sooner.
var compactAbove = 1024

// compact makes the file of the only model small again, if it is worth it.
func (e *Embedding) compact(ctx context.Context) error {
	m := e.models[0]
	if m.file.Len() < compactAbove {
		return nil
	}
	texts, err := e.store.Texts(ctx)
	if err != nil {
		return err
	}
	live := 0
	for key := range m.file.All {
		if texts[store.Hash(key)] {
			live++
		}
	}
	if gone := m.file.Len() - live; gone < compactAbove || gone < live {
		return nil
	}
	return e.replaceFile(m, func(k vectors.Key) bool { return texts[store.Hash(k)] })
}

// replaceFile moves the vectors that keep names into a new file. The database
// changes over to it in one commit; before, the new file is a stray that the next
// start removes, and after it the old one is.
func (e *Embedding) replaceFile(m *embedModel, keep func(vectors.Key) bool) error {
	_, free, err := e.files()
	if err != nil {
		return err
	}
	file, err := m.file.Compact(e.path(free), keep)
	if err != nil {
		return err
	}
	if err := e.store.ReplaceEmbeddings(m.ID, free, file.Len(), e.notes(file)); err != nil {
		return errors.Join(err, file.Close(), e.discard(free))
	}
	old, name := m.file, m.File
	m.file, m.File, m.Slots = file, free, file.Len()
	e.publishFirst()
	e.x.cfg.Log.Info("vectors compacted", "rows before", old.Len(), "after", file.Len())
	return errors.Join(old.Close(), e.discard(name))
}

// publishFirst has searches use the first model's vectors, if it has any.
func (e *Embedding) publishFirst() {
	if len(e.models) > 0 && e.models[0].file.Len() > 0 {
		e.publish(e.models[0].file)
	} else {
		e.publish(nil)
	}
}

func (e *Embedding) publish(f *vectors.File) {
	n := 0
	if f != nil {
		n = f.Len()
	}
	if e.known.file == f && e.known.n == n {
		return
	}
	e.known.file, e.known.n = f, n
	if f == nil {
		e.current.Publish(nil)
	} else {
		e.current.Publish(f.Set())
	}
}

// closeFiles closes all files; what is published serves on.
func (e *Embedding) closeFiles() {
	for _, m := range e.models {
		if err := m.file.Close(); err != nil {
			e.x.cfg.Log.Error("close the vectors", "error", err)
		}
	}
	e.models, e.opened = nil, false
	e.startOver()
}

// follow reads what another process embeds.
func (e *Embedding) follow(ctx context.Context) error {
	rows, err := e.store.EmbeddingModels(ctx)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		e.closeFiles()
		e.publish(nil)
		return nil
	}
	row := rows[0]
	if len(e.models) == 0 || e.models[0].ID != row.ID || e.models[0].File != row.File {
		file, err := vectors.OpenToRead(e.path(row.File))
		if errors.Is(err, fs.ErrNotExist) {
			return nil // just replaced; the next look finds the new name
		}
		if err != nil {
			return err
		}
		e.closeFiles()
		e.models = []*embedModel{{EmbeddingModel: row, file: file}}
	}
	if err := e.models[0].file.Extend(row.Slots); err != nil {
		return err
	}
	e.publishFirst()
	return nil
}
