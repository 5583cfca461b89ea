package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/index/embedtext"
	"quarry/index/store"
	"quarry/index/vectors"
)

const (
	// embedAtOnce is how many texts are handed to the Embedder at a time.
	embedAtOnce = 32
	// keepEvery is how often what was embedded is written; that costs the disk a
	// flush.
	keepEvery = 2 * time.Second
)

// embedWork is one run through the queue.
type embedWork struct {
	*Embedding
	of       Embedders
	embedder Embedder
	version  string // of the model, as of the last look

	todo  []embedText
	taken map[vectors.Key]bool // that are in todo or below
	// keys were embedded as made, and refused were not; neither is written yet.
	keys    []vectors.Key
	made    [][]float32
	refused []vectors.Key

	kept     time.Time // when something was last written
	began    time.Time
	shown    time.Time
	progress EmbedProgress
}

type embedText struct {
	key  vectors.Key
	text string
}

// run embeds until the queue is empty. It fails with errOtherModel when it has
// dropped a model.
func (w *embedWork) run(ctx context.Context) error {
	w.began = w.x.cfg.Clock.Now()
	w.kept, w.taken = w.began, map[vectors.Key]bool{}
	err := w.all(ctx)
	if !errors.Is(err, errOtherModel) {
		err = errors.Join(err, w.keep())
	}
	if w.progress.Done > 0 {
		w.progress.Finished = true
		w.x.cfg.Embedding(w.progress)
	}
	return err
}

func (w *embedWork) all(ctx context.Context) error {
	for {
		if err := w.check(ctx); err != nil {
			return err
		}
		if err := w.load(ctx); err != nil {
			return err
		}
		if len(w.todo) == 0 {
			return nil
		}
		w.enter(EmbeddingWaiting, nil)
		entered, err := w.x.throttle.rest(ctx)
		if err != nil {
			return err
		}
		w.enter(EmbeddingWorking, nil)
		before := len(w.keys)
		err = w.embed(ctx, entered)
		if len(w.keys) > before {
			if err := w.fit(ctx); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		if w.x.cfg.Clock.Now().Sub(w.kept) >= keepEvery {
			if err := w.keep(); err != nil {
				return err
			}
		}
		w.show()
	}
}

// check finds out whether the model is still what its vectors were made with.
func (w *embedWork) check(ctx context.Context) (err error) {
	if w.version, err = versionOf(ctx, w.embedder, w.of.Prefixes); err != nil {
		return err
	}
	m := w.target(w.of.Model)
	if m == nil || m.Version == w.version {
		return nil
	}
	w.x.cfg.Log.Info("another embedding model has the name", "model", m.Name, "was", m.Version, "is", w.version)
	return w.dropTarget()
}

func (w *embedWork) dropTarget() error {
	w.keys, w.made, w.refused = nil, nil, nil
	if err := w.drop(len(w.models) - 1); err != nil {
		return err
	}
	return errOtherModel
}

// fit sees to a file for what was just made.
func (w *embedWork) fit(ctx context.Context) error {
	dim := len(w.made[0])
	for _, v := range w.made {
		if len(v) != dim {
			w.keys, w.made = nil, nil // or keep would take them for vectors that the disk refuses
			return fmt.Errorf("embed the chunks: %s returned vectors of %d and of %d dimensions; reload it or choose another model", w.of.Model, dim, len(v))
		}
	}
	m := w.target(w.of.Model)
	switch {
	case m == nil:
		if err := w.create(w.of.Model, w.version, dim); err != nil {
			return w.cannotWrite(err)
		}
	case m.Dim != dim:
		w.x.cfg.Log.Info("the embedding model has another dimension", "model", m.Name, "was", m.Dim, "is", dim)
		return w.dropTarget()
	}
	if first := w.models[0]; first != w.target(w.of.Model) {
		// The server has just answered, so that a failure is about the old model: it
		// embeds no query any more, and half of the new vectors are better than that.
		old, err := versionOf(ctx, w.of.Of(first.Name), w.of.prefixesOf(first.Name))
		if ctx.Err() == nil && (err != nil || old != first.Version) {
			return w.drop(0)
		}
	}
	return nil
}

// embed has the next texts embedded, and breaks off when entered is closed.
func (w *embedWork) embed(ctx context.Context, entered <-chan struct{}) error {
	some := w.todo[:min(embedAtOnce, len(w.todo))]
	texts := make([]string, len(some))
	for i, t := range some {
		texts[i] = w.of.Prefixes.Begin(embedtext.Document, t.text)
	}
	within, cancel := closedBy(ctx, entered)
	defer cancel()
	list, err := w.embedder.Embed(within, texts)
	if err == nil && len(list) != len(some) {
		return fmt.Errorf("embed the chunks: %d vectors for %d texts", len(list), len(some))
	}
	var left []embedText
	for i, t := range some {
		switch {
		case i < len(list) && list[i] != nil:
			w.keys, w.made = append(w.keys, t.key), append(w.made, list[i])
		case err == nil:
			w.refused = append(w.refused, t.key)
		default:
			left = append(left, t)
		}
	}
	w.progress.Done += len(some) - len(left)
	w.todo = append(left, w.todo[len(some):]...)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		return nil // somebody needs the machine; the rest comes later
	}
	return err
}

// load takes texts from the queue.
func (w *embedWork) load(ctx context.Context) error {
	w.x.root.Refresh()
	for len(w.todo) < embedAtOnce {
		u, ok := w.queue.next(w.x.openPaths())
		if !ok {
			return nil
		}
		_, err := w.store.Load(ctx, []int64{u.ID}, func(f *store.File) error {
			text, err := w.x.Text(f.Path)
			if err != nil || hashOf([]byte(text)) != f.Hash {
				w.queue.later = append(w.queue.later, u)
				return nil
			}
			for i, c := range f.Syntax.Chunks {
				w.take(c.Hash, embedtext.Text(f.Path, f.Syntax, i, text))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *embedWork) take(key vectors.Key, text string) {
	if w.taken[key] {
		return
	}
	w.taken[key] = true
	if m := w.target(w.of.Model); m != nil {
		if m.refused[key] {
			return
		}
		if _, ok := m.file.Slot(key); ok {
			return
		}
	}
	w.todo = append(w.todo, embedText{key, text})
}

// keep writes what was made: first the vectors, durably, then where they are.
func (w *embedWork) keep() error {
	w.kept = w.x.cfg.Clock.Now()
	m := w.target(w.of.Model)
	if m == nil || len(w.keys)+len(w.refused) == 0 {
		return nil
	}
	notes := make([]store.Embedding, 0, len(w.keys)+len(w.refused))
	if len(w.keys) > 0 {
		first, err := m.file.Append(w.keys, w.made)
		if errors.Is(err, vectors.ErrDamaged) {
			return err
		}
		if err != nil {
			return w.cannotWrite(err)
		}
		for i, key := range w.keys {
			notes = append(notes, store.Embedding{Hash: store.Hash(key), Slot: first + i})
		}
	}
	for _, key := range w.refused {
		notes = append(notes, store.Embedding{Hash: store.Hash(key), Slot: store.Refused})
		m.refused[key] = true
	}
	w.keys, w.made, w.refused = nil, nil, nil
	if err := w.store.PutEmbeddings(m.ID, m.file.Len(), notes); err != nil {
		w.closeFiles() // opened again, the file tells the database what it has
		return err
	}
	w.publishFirst()
	return nil
}

// cannotWrite tells the user, once, why there will be no further vectors.
func (w *embedWork) cannotWrite(err error) error {
	w.x.troubles.tell(fmt.Sprintf("The vectors of %s cannot be written. Searches go on without the new ones; free some disk space or make %s writable, and they follow by themselves.", w.x.root.Dir(), w.x.state.dir))
	return notified{err}
}

// notified is an error that the user knows of.
type notified struct{ error }

func (e notified) Unwrap() error { return e.error }

// show reports progress.
func (w *embedWork) show() {
	now := w.x.cfg.Clock.Now()
	if now.Sub(w.shown) < progressEvery || now.Sub(w.began) < progressAfter {
		return
	}
	w.shown = now
	w.progress.Total = w.progress.Done + len(w.todo) + w.queue.chunks
	w.x.cfg.Embedding(w.progress)
}

// embedQueue holds the files that have texts to embed: those open in an editor
// first, then the newest.
type embedQueue struct {
	files  map[string]store.Unembedded
	order  []store.Unembedded // of files, the next last; some are not in files any more
	chunks int                // of files
	// later are files whose text was not that of their record. Either a newer record
	// is on its way, or the text becomes that again.
	later []store.Unembedded
}

func (q *embedQueue) add(list []store.Unembedded) {
	if q.files == nil {
		q.files = map[string]store.Unembedded{}
	}
	for _, u := range list {
		q.chunks += u.Chunks - q.files[u.Path].Chunks
		q.files[u.Path] = u
	}
	q.order = append(slices.DeleteFunc(q.order, func(u store.Unembedded) bool { return q.files[u.Path] != u }), list...)
	slices.SortFunc(q.order, func(a, b store.Unembedded) int {
		return cmp.Or(cmp.Compare(age(a), age(b)), cmp.Compare(b.Path, a.Path))
	})
}

// again queues what was put off.
func (q *embedQueue) again() {
	later := q.later
	q.later = nil
	q.add(later)
}

// age orders times so that an editor's buffer, whose time is 0, is the newest.
func age(u store.Unembedded) int64 {
	if u.ModTime == 0 {
		return 1<<63 - 1
	}
	return u.ModTime
}

// next takes the file to go on with; ok is false if there is none.
func (q *embedQueue) next(open []string) (u store.Unembedded, ok bool) {
	for _, path := range open {
		if u, ok = q.files[path]; ok {
			q.remove(u)
			return u, true
		}
	}
	for len(q.order) > 0 {
		last := len(q.order) - 1
		u, q.order = q.order[last], q.order[:last]
		if q.files[u.Path] == u {
			q.remove(u)
			return u, true
		}
	}
	return u, false
}

func (q *embedQueue) remove(u store.Unembedded) {
	delete(q.files, u.Path)
	q.chunks -= u.Chunks
}
