package index

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"quarry/index/snapshot"
	"quarry/index/store"
)

// Kept is what searches know, in a file beside the database, where whoever follows the index
// keeps it. It belongs to one database, by its identity, and to one generation of that.
type Kept struct{ x *Index }

// Kept is what is kept beside the database.
func (x *Index) Kept() Kept { return Kept{x} }

// identity is where a database has what tells it from all others.
const identity = "identity"

// identify gives a database that this process writes its identity, if it has none yet.
// Without one, as on a full disk, nothing is kept beside it. What is kept already is another
// database's, or of a quarry that did not note what is forgotten and may have kept it.
func (k Kept) identify(s *store.Store) {
	id, err := s.Meta(context.Background(), identity)
	if err == nil && id == "" {
		err = s.PutMeta(identity, rand.Text())
	}
	if _, noted, e := s.Forgotten(context.Background()); e == nil && !noted {
		err = errors.Join(err, s.ForgetBefore())
		k.forget()
	}
	if err != nil {
		k.x.cfg.Log.Debug("identify the index", "error", err)
	}
}

// Identity tells the database that Index.Store answers now from all others; "" if it has none.
func (k Kept) Identity(ctx context.Context) (string, *store.Store, error) {
	s := k.x.Store()
	id, err := s.Meta(ctx, identity)
	return id, s, err
}

// Path is where it is, "" if the index is in memory.
func (k Kept) Path() string {
	if k.x.Store().InMemory() {
		return ""
	}
	return filepath.Join(k.x.state.dir, KeptName)
}

// KeptName is the name of the file.
const KeptName = "snapshot"

// MayWrite answers whether this process may write what is kept: it writes the database.
func (k Kept) MayWrite() bool { return k.x.isOwner() && k.Path() != "" }

// ErrOvertaken says that what was to be kept is of a state of the index that may not be kept any
// more: the index moved on to another database, or something in that state may not be read now.
var ErrOvertaken = errors.New("what was to be kept has been overtaken")

// Put calls put, which puts what was known at a state of the index where it is kept, unless
// that state was overtaken. Until put has returned nobody else forgets what is kept, in no
// process: who forgets has committed why before, so that either this sees it, or the other
// removes what put made.
func (k Kept) Put(ctx context.Context, at Cursor, put func() error) error {
	k.x.state.keeping.Lock()
	defer k.x.state.keeping.Unlock()
	if !k.MayWrite() || !k.x.IsCurrent(at) || k.x.state.isRemoved() {
		return ErrOvertaken
	}
	if ok, err := MayBegin(ctx, at.store, at.generation); err != nil || !ok {
		return cmp.Or(err, ErrOvertaken)
	}
	return put()
}

// MayBegin answers whether what is kept of a state of a database may still be read.
func MayBegin(ctx context.Context, s *store.Store, generation int64) (bool, error) {
	from, _, err := s.Forgotten(ctx)
	return generation >= from, err
}

// forget removes what is kept: words of what the rules leave out from now on may be
// in it. The database says so already (store.Batch.Private), else another could be put
// there that is of the state before.
func (k Kept) forget(others ...string) {
	if k.x.state.dir == "" {
		return
	}
	k.x.state.keeping.Lock()
	defer k.x.state.keeping.Unlock()
	for _, path := range append(others, filepath.Join(k.x.state.dir, KeptName), k.x.state.listing()) { // the latter has names
		if err := remove(path); err != nil {
			k.x.cfg.Log.Warn("remove what is kept of the index; delete it by hand, since it may have words of what is excluded now", "file", path, "error", err)
		}
	}
}

// forgetExcluded is forget for when the rules leave out something: a damaged database that was set
// aside has words of it for ever.
func (k Kept) forgetExcluded() {
	var aside []string
	for _, suffix := range databaseSuffixes {
		aside = append(aside, k.x.state.database()+damagedSuffix+suffix)
	}
	k.forget(aside...)
}

// remove removes a file, which mostly is not there. Windows refuses that while somebody reads the
// file, which takes a moment.
func remove(path string) (err error) {
	for wait := time.Millisecond; ; wait *= 2 {
		if err = os.Remove(path); err == nil {
			return nil
		}
		// Where there is no such folder, or nobody may write to the disk, the reason is another one.
		if _, gone := os.Lstat(path); errors.Is(gone, fs.ErrNotExist) || errors.Is(gone, syscall.ENOTDIR) {
			return nil
		}
		if runtime.GOOS != "windows" || wait > time.Second/2 {
			return err
		}
		time.Sleep(wait)
	}
}

// doubt is for who begins to write a database. A process before may have been killed
// when something had left the index and not yet what was kept of it, or while it wrote that.
func (k Kept) doubt(s *store.Store) error {
	snapshot.RemoveUnfinished(filepath.Join(k.x.state.dir, KeptName))
	due, _, err := s.NeedsWipe(context.Background())
	if due {
		k.forgetExcluded()
	}
	return err
}

// Known is what a follower of the index knows from before.
type Known struct {
	// Store and Generation are the database and the state of it that is known.
	Store      *store.Store
	Generation int64
	// Files are those that are known, by id.
	Files map[int64]string
}

// FollowFrom is Follow for who knows a state of the index already.
func (x *Index) FollowFrom(k Known) *Feed {
	f := x.Follow()
	f.store, f.from, f.paths = k.Store, k.Generation, k.Files
	f.notified = Cursor{f.store, f.from}
	return f
}

// SameDatabase answers whether two cursors are of one database.
func (c Cursor) SameDatabase(other Cursor) bool { return c.store == other.store }

// Generation is the state of the database that all that Next has reported belongs to.
func (c Cursor) Generation() int64 { return c.generation }
