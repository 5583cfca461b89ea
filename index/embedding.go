package index

import (
	"context"
	"errors"
	"sync"
	"time"

	"quarry/index/store"
	"quarry/index/vectors"
)

// Embedding keeps the vectors of one index complete. One goroutine (run) embeds,
// writes and publishes; it goes by rounds, each of which looks what is missing and
// ends when nothing is, or with what hinders it.
type Embedding struct {
	x       *Index
	current vectors.Current
	wake    chan struct{} // asks for a round

	// mu guards the fields below.
	mu      sync.Mutex
	of      Embedders
	stopped bool          // by the user
	changed chan struct{} // closed when of or stopped changes
	waiting []chan error  // Settle's, to be answered by the next round
	state   EmbeddingState
	failure error
	damaged uint64 // the Epoch of the latest Set that was found damaged
	renew   bool   // the next round opens all files anew

	// What follows belongs to run alone.
	store  *store.Store
	owner  bool
	models []*embedModel // as in the database: the first one's vectors serve
	opened bool          // models are those of store
	wanted string        // the model that from and queue are about
	from   int64         // files changed after this generation are to be looked at
	queue  embedQueue
	noted  string // the failure that the database knows of
	failed int    // how often in a row it was that
	// known is what current holds.
	known struct {
		file *vectors.File
		n    int
	}
}

func newEmbedding(x *Index) *Embedding {
	return &Embedding{x: x, wake: make(chan struct{}, 1), changed: make(chan struct{}), state: EmbeddingOff}
}

// look asks for a round.
func (e *Embedding) look() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// reopen has all files opened anew, once for each that cannot be read.
func (e *Embedding) reopen(epoch uint64, cause error) {
	e.mu.Lock()
	known := e.damaged == epoch
	if !known {
		e.damaged, e.renew = epoch, true
		e.interrupt()
	}
	e.mu.Unlock()
	if !known {
		e.x.cfg.Log.Error("vectors are damaged; searches go on without them until their file is mended", "error", cause)
		e.look()
	}
}

// letGo has the next round, which is now, give up the lock of an index that is in
// memory: until then a file of vectors may be written to.
func (e *Embedding) letGo() {
	e.mu.Lock()
	e.interrupt()
	e.mu.Unlock()
	e.look()
}

// interrupt breaks the round off. mu is held.
func (e *Embedding) interrupt() {
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *Embedding) configured() Embedders {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.of
}

// Settle returns when every text that was in the index at the call has been given to the
// model, or with what hinders that. Call Index.Settle first.
func (e *Embedding) Settle(ctx context.Context) error {
	answer := make(chan error, 1)
	e.mu.Lock()
	e.waiting = append(e.waiting, answer)
	e.mu.Unlock()
	e.look()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Embedding) enter(s EmbeddingState, failure error) {
	e.mu.Lock()
	e.state, e.failure = s, failure
	e.mu.Unlock()
}

func (e *Embedding) isComplete() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state == EmbeddingComplete
}

// run goes on until ctx is done.
func (e *Embedding) run(ctx context.Context) {
	pause := retryFirst
	for ctx.Err() == nil {
		select {
		case <-e.wake:
		default:
		}
		saved := e.x.saved.next() // before looking, so that nothing is missed
		e.mu.Lock()
		of, stopped, changed := e.of, e.stopped, e.changed
		waiting := e.waiting
		e.waiting = nil
		renew := e.renew
		e.renew = false
		e.mu.Unlock()
		if renew {
			e.closeFiles()
		}
		within, cancel := closedBy(ctx, changed)
		err := e.round(within, of, stopped)
		cancel()
		select {
		case <-changed:
			e.mu.Lock()
			e.waiting = append(waiting, e.waiting...)
			e.mu.Unlock()
			continue
		default:
		}
		if ctx.Err() == nil {
			e.x.reportDamage(e.store, err)
			e.noteFailure(of, err)
		}
		var timer <-chan time.Time
		switch now := e.x.cfg.Clock.Now(); {
		case errors.Is(err, errEmbeddingStopped):
		case err != nil && ctx.Err() == nil:
			e.enter(EmbeddingFailing, err)
			e.x.cfg.Log.Info("embed the chunks", "error", err, "again in", pause)
			timer, saved = e.x.cfg.Clock.At(now.Add(pause)), nil
			pause = min(2*pause, retryLongest)
		default:
			pause = retryFirst
		}
		for _, w := range waiting {
			w <- err
		}
		select {
		case <-ctx.Done():
		case <-e.wake:
		case <-saved:
		case <-timer:
		}
	}
	e.closeFiles()
	e.publish(nil)
}

// closedBy is a context that ends when c is closed, too. cancel waits for its
// goroutine.
func closedBy(ctx context.Context, c <-chan struct{}) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-c:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(); watching.Wait() }
}

var (
	errEmbeddingStopped = errors.New("embedding was stopped")
	// errOtherModel says that the model to embed with is not the one it was.
	errOtherModel = errors.New("the embedding model changed")
)

// round brings the vectors up to date as far as it can.
func (e *Embedding) round(ctx context.Context, of Embedders, stopped bool) error {
	owner := e.x.isOwner()
	s := e.x.Store() // the owner's own, if it is one
	if s != e.store || owner != e.owner || of.Model == "" {
		e.closeFiles()
		e.store, e.owner = s, owner
		if owner && s.InMemory() {
			if err := e.x.state.unlockInMemory(); err != nil {
				e.x.cfg.Log.Error("leave the index on disk to others", "error", err)
			}
		}
		noted, err := s.Meta(ctx, metaFailure)
		if err != nil {
			return err
		}
		e.noted, e.failed = noted, 0
	}
	switch {
	case of.Model == "":
		e.enter(EmbeddingOff, nil)
		e.publish(nil)
		return nil
	case s.InMemory():
		e.enter(EmbeddingUnstored, nil)
		return nil // what is published serves on
	case !owner:
		e.enter(EmbeddingElsewhere, nil)
		err := e.follow(ctx)
		if errors.Is(err, vectors.ErrDamaged) {
			e.closeFiles()
		}
		return err
	}
	if !e.isComplete() { // and stays so if nothing is found
		e.enter(EmbeddingWaiting, nil)
	}
	err := e.own(ctx, of, stopped)
	if err != nil {
		e.startOver()
		if errors.Is(err, vectors.ErrDamaged) {
			e.closeFiles() // opened again, it is mended or set aside
		}
		if s != e.x.Store() { // the database was replaced meanwhile
			e.look()
			return nil
		}
	}
	return err
}

// own is a round of the process that writes.
func (e *Embedding) own(ctx context.Context, of Embedders, stopped bool) error {
	if !e.opened {
		if err := e.open(ctx); err != nil {
			return err
		}
	}
	if of.QueriesOnly {
		e.publishFirst()
		e.enter(EmbeddingWaiting, nil)
		return nil
	}
	if err := e.choose(of.Model); err != nil {
		return err
	}
	if e.wanted != of.Model {
		e.wanted = of.Model
		e.startOver()
	}
	e.publishFirst()
	if stopped {
		e.enter(EmbeddingStopped, nil)
		return errEmbeddingStopped
	}
	e.queue.again()
	for {
		// A text that is about to change is not worth a vector. What went wrong with
		// the index is not for here.
		if e.x.Settle(ctx); ctx.Err() != nil {
			return ctx.Err()
		}
		if err := e.find(ctx, of.Model); err != nil {
			return err
		}
		if len(e.queue.files) == 0 {
			switch stale, err := e.dropStale(ctx, of); {
			case err != nil:
				return err
			case stale:
				continue
			}
			return e.complete(ctx, of.Model)
		}
		w := embedWork{Embedding: e, of: of, embedder: of.Of(of.Model)}
		switch err := w.run(ctx); {
		case errors.Is(err, errOtherModel):
			e.startOver()
		case err != nil:
			return err
		}
	}
}

// dropStale drops the model to embed with if its vectors cannot be compared with those
// it makes now: its weights or the prefix of its texts changed. While it cannot be asked,
// they are kept.
func (e *Embedding) dropStale(ctx context.Context, of Embedders) (dropped bool, err error) {
	m := e.target(of.Model)
	if m == nil {
		return false, nil
	}
	now, err := versionOf(ctx, of.Of(of.Model), of.Prefixes)
	if err != nil || now == m.Version {
		return false, ctx.Err()
	}
	e.x.cfg.Log.Info("the texts are embedded anew", "model", m.Name, "was", m.Version, "is", now)
	e.startOver()
	return true, e.drop(len(e.models) - 1)
}

// startOver has all files looked at again.
func (e *Embedding) startOver() { e.from, e.queue = 0, embedQueue{} }

// target is the model to embed with, nil if there is no vector of it yet.
func (e *Embedding) target(name string) *embedModel {
	if n := len(e.models); n > 0 && e.models[n-1].Name == name {
		return e.models[n-1]
	}
	return nil
}

// find queues the files that have texts without a vector.
func (e *Embedding) find(ctx context.Context, name string) error {
	id := int64(0)
	if m := e.target(name); m != nil {
		id = m.ID
	}
	ids, now, all, err := e.store.Since(ctx, e.from)
	if err != nil {
		return err
	}
	switch {
	case all || e.from == 0:
		ids = nil
	case len(ids) == 0:
		return nil
	}
	list, err := e.store.Unembedded(ctx, id, ids)
	if err != nil {
		return err
	}
	e.from = now
	e.queue.add(list)
	return nil
}

// complete ends a change of the model and tidies up.
func (e *Embedding) complete(ctx context.Context, name string) error {
	if e.target(name) != nil {
		for len(e.models) > 1 {
			if err := e.drop(0); err != nil {
				return err
			}
		}
		if err := e.compact(ctx); err != nil {
			return err
		}
		e.publishFirst()
	}
	e.enter(EmbeddingComplete, nil)
	return nil
}
