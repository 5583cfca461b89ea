package index

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"

	"quarry/index/store"
)

// What searches know can be kept in a file beside the database, by whoever follows the
// index: it belongs to one database, by its identity, and to one generation of that.

// identity is where a database has what tells it from all others.
const identity = "identity"

// identify gives a database that this process writes its identity, if it has none yet.
// Without one, as on a full disk, nothing is kept beside it.
func (x *Index) identify(s *store.Store) {
	id, err := s.Meta(context.Background(), identity)
	if err == nil && id == "" {
		err = s.PutMeta(identity, rand.Text())
	}
	if err != nil {
		x.cfg.Log.Debug("identify the index", "error", err)
	}
}

// Identity tells the database that Store answers now from all others; "" if it has none.
func (x *Index) Identity(ctx context.Context) (string, *store.Store, error) {
	s := x.Store()
	id, err := s.Meta(ctx, identity)
	return id, s, err
}

// KeptPath is where what searches know is kept, "" if the index is in memory.
func (x *Index) KeptPath() string {
	if x.Store().InMemory() {
		return ""
	}
	return filepath.Join(x.state.dir, KeptName)
}

// KeptName is the name of that file.
const KeptName = "snapshot"

// IsBrief answers whether whoever opened the index asks once and ends (Config.Brief).
func (x *Index) IsBrief() bool { return x.cfg.Brief }

// Logger takes what an operator wants to know of the index.
func (x *Index) Logger() *slog.Logger { return x.cfg.Log }

// MayKeep answers whether this process may write what is kept: it writes the database.
func (x *Index) MayKeep() bool { return x.isOwner() && x.KeptPath() != "" }

// forgetKept removes what is kept: words of what the rules leave out from now on may be
// in it.
func (x *Index) forgetKept() {
	if x.state.dir != "" {
		_ = os.Remove(filepath.Join(x.state.dir, KeptName)) // mostly it is not there
		_ = os.Remove(x.state.listing())                    // which has names
	}
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
