package index

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"quarry/index/addresses"
	"quarry/index/store"
	"quarry/index/walk"
)

// Update is one file that changed in the index.
type Update struct {
	Path string
	// File is the record now, nil if the file is gone.
	File *store.File
	// Text is what File was made from.
	Text string
}

// Feed follows the index: first everything in it, then what changes. It is not
// safe for concurrent use.
type Feed struct {
	x     *Index
	store *store.Store
	from  int64
	// notified is how far the follower has been notified.
	notified Cursor
	// paths are the files reported, by id.
	paths map[int64]string
	// stale are files reported from a database that was replaced. They stay with
	// who follows until the new one is complete or has them itself.
	stale map[string]bool
	// todo are ids still to be reported.
	todo []int64
	// differed are ids that were not reported, since the text at hand was not that of
	// the record. Where it becomes that again, no newer record comes.
	differed map[int64]bool
	// again: something may have happened since differed was looked at. saved is closed
	// when the index fired its signal since the last look.
	again bool
	saved <-chan struct{}
}

// Follow returns a feed that starts with every file of the index.
func (x *Index) Follow() *Feed {
	return &Feed{x: x, paths: map[int64]string{}, stale: map[string]bool{}, differed: map[int64]bool{}}
}

const (
	// feedBytes is how much text one answer of a feed holds, about, and shortBytes how much
	// where addresses are limited.
	feedBytes, shortBytes = 8 << 20, 1 << 20
	// readerPoll is how often a process that only reads looks again at what differed.
	readerPoll = 500 * time.Millisecond
	// readerAgain is how many files that differed it reads at each poll.
	readerAgain = 64
)

// Cursor is a place in the feed of changes: a state that an index was in.
type Cursor struct {
	store      *store.Store
	generation int64
}

// Cursor is the present state of the index.
func (x *Index) Cursor(ctx context.Context) (Cursor, error) {
	for {
		s := x.Store()
		now, err := s.Load(ctx, []int64{}, nil)
		if err == nil || s == x.Store() || ctx.Err() != nil {
			return Cursor{s, now}, err
		}
	}
}

// Cursor is the state that all that Next has reported belongs to. It is as safe as
// Next, from which alone it changes.
func (f *Feed) Cursor() Cursor { return f.notified }

// IsCurrent reports whether c is of the present database.
func (x *Index) IsCurrent(c Cursor) bool { return c.store == x.Store() }

// Includes reports whether who knows c knows all of other. No cursor of a database
// that was replaced reaches one of the new database.
func (c Cursor) Includes(other Cursor) bool {
	return c.store == other.store && c.generation >= other.generation
}

// Next waits for changes and answers them, about 32 MB of text at a time; upToDate
// is true if nothing more is known to have changed, with an empty list where that
// is all there is to say, as of an empty index. A file whose text is not that of its
// record is left out until they agree: it changed again in the meantime, or is open
// here while another process writes the index.
func (f *Feed) Next(ctx context.Context) (list []Update, upToDate bool, err error) {
	for {
		select {
		case <-f.saved:
			f.again = true
		default:
		}
		f.saved = f.x.saved.next() // before looking, so that nothing is missed
		if len(f.todo) == 0 {
			if err = f.look(ctx); err != nil {
				if f.store != f.x.Store() && ctx.Err() == nil {
					continue // the database was replaced under the query
				}
				f.x.reportDamage(f.store, err)
				return nil, false, err
			}
		}
		if len(f.todo) == 0 && f.again {
			f.todo = f.lookAgain()
		}
		list = nil
		if len(f.todo) > 0 {
			if list, err = f.load(ctx); err != nil {
				if f.store != f.x.Store() && ctx.Err() == nil {
					f.todo = nil
					continue
				}
				f.x.reportDamage(f.store, err)
				return nil, false, err
			}
			switch {
			case len(f.todo) == 0:
			case len(list) > 0:
				return list, false, nil
			default:
				continue
			}
		}
		if now := (Cursor{f.store, f.from}); len(list) > 0 || f.notified != now {
			f.notified = now
			return list, true, nil
		}
		whole, err := f.isWhole(ctx)
		if err != nil {
			return nil, false, err
		}
		if whole {
			for name := range f.stale {
				list = append(list, Update{Path: name})
			}
			clear(f.stale)
			return list, true, nil
		}
		var poll <-chan time.Time
		if !f.x.isOwner() && len(f.differed) > 0 { // no commit tells that they agree again
			poll = f.x.cfg.Clock.At(f.x.cfg.Clock.Now().Add(readerPoll))
		}
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-f.saved:
		case <-poll:
			f.again = true
		}
	}
}

// lookAgain answers the files that differed and may agree now. While the index has
// work to do they may change yet; a process that only reads cannot know, and reads
// a few at a time.
func (f *Feed) lookAgain() []int64 {
	most := len(f.differed)
	switch {
	case !f.x.isOwner():
		most = min(most, readerAgain)
	case !f.x.isSettled():
		return nil
	}
	f.again = false
	ids := slices.Collect(maps.Keys(f.differed))[:most] // in no order, so that each has its turn
	slices.Sort(ids)
	return ids
}

// isWhole answers whether there are stale files and the database that replaced
// theirs holds all there is.
func (f *Feed) isWhole(ctx context.Context) (bool, error) {
	if len(f.stale) == 0 || f.x.isOwner() && !f.x.isSettled() {
		return false, nil
	}
	scanned, err := wasScanned(ctx, f.store)
	if err != nil && f.store != f.x.Store() && ctx.Err() == nil {
		return false, nil // the next look sees the new one
	}
	return scanned, err
}

// look finds out which files changed.
func (f *Feed) look(ctx context.Context) error {
	s := f.x.Store()
	if s != f.store {
		f.startOver(s) // ids mean something else now
	}
	ids, now, all, err := s.Since(ctx, f.from)
	if all && err == nil {
		f.startOver(s)
		ids, now, _, err = s.Since(ctx, 0)
	}
	if err != nil {
		return err
	}
	f.todo, f.from = ids, now
	return nil
}

func (f *Feed) startOver(s *store.Store) {
	for _, name := range f.paths {
		f.stale[name] = true
	}
	f.store, f.from, f.paths = s, 0, map[int64]string{}
	clear(f.differed)
}

var errEnough = errors.New("enough for one answer")

// load reads the records of the next files.
func (f *Feed) load(ctx context.Context) (list []Update, err error) {
	f.x.root.Refresh()
	bytes, at, most := 0, 0, feedBytes
	if addresses.Limited() {
		most = shortBytes
	}
	// Ids without a record are files that are gone.
	gone := func(until int64) {
		for ; at < len(f.todo) && f.todo[at] < until; at++ {
			if name, ok := f.paths[f.todo[at]]; ok {
				list = append(list, Update{Path: name})
				delete(f.paths, f.todo[at])
			}
			delete(f.differed, f.todo[at])
		}
	}
	_, err = f.store.Load(ctx, f.todo, func(file *store.File) error {
		gone(file.ID)
		if bytes > most {
			return errEnough
		}
		if err := f.x.Yield(ctx); err != nil {
			return err
		}
		at++
		if name, ok := f.paths[file.ID]; ok && name != file.Path {
			list = append(list, Update{Path: name})
		}
		f.paths[file.ID] = file.Path
		delete(f.stale, file.Path)
		text, err := f.x.Text(file.Path)
		if err != nil || hashOf([]byte(text)) != file.Hash {
			f.differed[file.ID] = true
			return nil
		}
		if f.differed[file.ID] {
			delete(f.differed, file.ID)
			f.again = true // others may agree, too
		}
		bytes += len(text)
		list = append(list, Update{file.Path, file, text})
		return nil
	})
	if errors.Is(err, errEnough) || err != nil && len(list) > 0 { // what fails now fails again
		f.todo = slices.Clone(f.todo[at:])
		return list, nil
	}
	if err == nil {
		gone(1 << 62)
		f.todo = nil
	}
	return list, err
}

// Text is the present text of a file: of its buffer if it is open in an editor,
// else from the disk, its tokens masked. A file that may not be read is an error.
func (x *Index) Text(rel string) (string, error) {
	// An open document is as secret as it is on disk.
	if reason := x.root.Check(rel); reason != "" {
		if reason.IsPrivate() { // perhaps since a moment ago, and the index has it still
			x.request(func() { x.due[rel] = x.cfg.Clock.Now() })
		}
		return "", excluded(rel, reason)
	}
	x.mu.Lock()
	b, buffered := x.buffers[rel], ""
	if b != nil {
		buffered = b.text
	}
	x.mu.Unlock()
	if b != nil {
		if walk.IsSecretText(buffered) {
			return "", excluded(rel, walk.Secret)
		}
		return buffered, nil
	}
	return textOf(rel, x.root.Read)
}

// OnDisk is the text of a file as it is on disk, with nothing masked: what an
// edit that the editor makes there must fit. No model may see it.
func (x *Index) OnDisk(rel string) (string, error) {
	if reason := x.root.Check(rel); reason != "" {
		return "", excluded(rel, reason)
	}
	return textOf(rel, x.root.ReadWhole)
}

func textOf(rel string, read func(string) ([]byte, walk.Entry, walk.Reason, error)) (string, error) {
	text, _, reason, err := read(rel)
	if err != nil {
		return "", err
	}
	if reason != "" {
		return "", excluded(rel, reason)
	}
	return string(text), nil
}
