package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"quarry/index/listing"
	"quarry/index/store"
	"quarry/index/walk"
)

const listingName = "listing"

func (f *stateFiles) listing() string { return filepath.Join(f.dir, listingName) }

// program tells this quarry from other builds of it.
func program() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	return fmt.Sprint(name, info.Size(), info.ModTime().UnixNano())
}

// records are what a scan compares a folder with: the listing where there is one of this
// database, else all that the database has.
type records struct {
	store *store.Store
	list  *listing.List  // nil if there is none
	next  int            // what a walk in the order of the list meets next
	at    map[string]int // places in the list, once a walk was not in its order
	met   []bool         // in the list, of files
	// besides are the paths that were met of which the database has a record and the list none.
	besides []string
	// changed are the ids whose records the database changed since; rows has those that
	// there are, by path.
	changed map[int64]bool
	rows    map[string]store.Stat
	asked   int  // how often the database was asked for one file
	whole   bool // rows has all files of the database
	same    bool // all that was met is in the list as it is, and this program wrote that
}

// manyChanged is how many records may differ from the listing for asking for each to be
// quicker than reading all.
const manyChanged = 256

// openListing reads the listing if it is of this database and of this quarry's rules.
func (f *stateFiles) openListing(ctx context.Context, s *store.Store) (*records, error) {
	if s.InMemory() || f.dir == "" {
		return nil, nil
	}
	l, err := listing.Read(f.listing())
	if err != nil {
		return nil, nil // made anew by the scan
	}
	id, err := s.Meta(ctx, identity)
	if err != nil || id == "" || l.Head.Identity != id || l.Head.MadeBy != madeBy {
		return nil, err
	}
	if ended, _, err := madeWith(ctx, s); err != nil || ended != madeBy {
		return nil, err // no scan of this database has ended
	}
	ids, _, all, err := s.Since(ctx, l.Head.Generation)
	if err != nil || all || len(ids) > manyChanged {
		return nil, err
	}
	r := &records{store: s, list: l, met: make([]bool, l.Len()), changed: map[int64]bool{}, same: len(ids) == 0 && l.Head.Program == program()}
	if r.rows, err = s.StatsOf(ctx, ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		r.changed[id] = true
	}
	return r, nil
}

// records answers what the scan compares with. all: everything is read anyway.
func (s *scan) records(ctx context.Context, all bool) (*records, error) {
	db := s.x.Store()
	r := s.x.listed.Swap(nil)
	if s.dir == "" && !all {
		if r == nil || r.store != db {
			var err error
			if r, err = s.x.state.openListing(ctx, db); err != nil {
				return nil, err
			}
		}
		if r != nil {
			return r, nil
		}
	}
	rows, err := db.Stats(ctx, s.dir)
	return &records{store: db, rows: rows, whole: true}, err
}

// known is what a walk may begin with, nil if there is nothing: another build may leave
// out something else.
func (r *records) known() walk.Known {
	if by := program(); r.list == nil || by == "" || r.list.Head.Program != by {
		return nil
	}
	return r.list
}

// find is the place of a file in the list, -1 if it is not there.
func (r *records) find(path string) int {
	l := r.list
	for r.next < l.Len() && !l.IsFile(r.next) {
		r.next++
	}
	if r.next < l.Len() && l.Path(r.next) == path {
		r.next++
		return r.next - 1
	}
	if r.at == nil {
		r.at = make(map[string]int, l.Len())
		for i := range l.Len() {
			if l.IsFile(i) {
				r.at[l.Path(i)] = i
			}
		}
	}
	i, ok := r.at[path]
	if !ok {
		return -1
	}
	r.next = i + 1
	return i
}

// meet takes a file that a walk met out of the records. reason is why it is left out, if
// it was for what is in it and is as it was; known is what the database has of it, nil if
// nothing, and asIs that it is as the database has it.
func (r *records) meet(ctx context.Context, e walk.Entry) (known *store.Stat, asIs bool, reason walk.Reason, err error) {
	if st, ok := r.rows[e.Path]; ok {
		delete(r.rows, e.Path)
		if r.list != nil {
			if i := r.find(e.Path); i >= 0 {
				r.met[i] = true
			} else {
				r.besides = append(r.besides, e.Path)
			}
		}
		return &st, isAs(&st, e), "", nil
	}
	if r.whole {
		return nil, false, "", nil
	}
	i := r.find(e.Path)
	if i < 0 {
		r.same = false
		return nil, false, "", nil
	}
	r.met[i] = true
	l := r.list
	unfit := l.Kind(i) == listing.Unfit
	asIs = l.IsAs(i, e)
	switch {
	case unfit && asIs:
		return nil, false, l.Reason(i), nil
	case unfit, r.changed[l.ID(i)]: // the record has another path, or is gone
		r.same = false
		return nil, false, "", nil
	case asIs:
		return &store.Stat{Size: e.Size, ModTime: e.ModTime, Changed: e.Changed}, true, "", nil
	}
	r.same = false
	known, err = r.ask(ctx, e.Path)
	return known, known != nil && isAs(known, e), "", err
}

// ask asks the database for one file.
func (r *records) ask(ctx context.Context, path string) (*store.Stat, error) {
	if r.asked++; r.asked > manyChanged {
		return r.readAll(ctx, path)
	}
	st, ok, err := r.store.Stat(ctx, path)
	if err != nil || !ok {
		return nil, err
	}
	return &st, nil
}

// readAll goes on without the list. It takes one file out of the records, met or not.
func (r *records) readAll(ctx context.Context, path string) (known *store.Stat, err error) {
	rows, err := r.store.Stats(ctx, "")
	if err != nil {
		return nil, err
	}
	if st, ok := rows[path]; ok {
		known = &st
		delete(rows, path)
	}
	for i, met := range r.met {
		if met {
			delete(rows, r.list.Path(i))
		}
	}
	for _, path := range r.besides {
		delete(rows, path)
	}
	r.rows, r.whole = rows, true
	return known, nil
}

// left answers the records of files that no walk met.
func (r *records) left(ctx context.Context) (map[string]store.Stat, error) {
	for i := 0; !r.whole && i < len(r.met); i++ {
		l := r.list
		switch {
		case !l.IsFile(i), r.met[i]:
			continue
		case l.Kind(i) == listing.Unfit, r.changed[l.ID(i)]:
			r.same = false
			continue
		}
		r.same = false
		path := l.Path(i)
		st, err := r.ask(ctx, path)
		if err != nil {
			return nil, err
		}
		if st != nil {
			r.rows[path] = *st
		}
	}
	return r.rows, nil
}

// unfit is a file that a scan left out for what is in it.
type unfit struct {
	walk.Entry
	reason walk.Reason
}

// sumOf is a hash of what a scan left out.
func sumOf(skipped []store.Skipped) string {
	h := sha256.New()
	for _, k := range skipped {
		fmt.Fprintf(h, "%s\x00%s\x00", k.Path, k.Reason)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// keepListing writes the listing of a whole scan, if anything differs from it. What
// keeps it from being written costs the next start a moment and nothing else.
func (s *scan) keepListing(ctx context.Context) {
	st := s.x.Store()
	if s.same && !s.moved || st.InMemory() || s.x.state.dir == "" {
		return
	}
	if err := s.writeListing(ctx, st); err != nil {
		s.x.cfg.Log.Debug("write the listing", "error", err)
	}
}

func (s *scan) writeListing(ctx context.Context, st *store.Store) error {
	id, err := st.Meta(ctx, identity)
	if err != nil || id == "" {
		return err
	}
	rows, generation, err := st.Listed(ctx)
	if err != nil {
		return err
	}
	entries := make([]listing.Entry, 0, len(rows)+len(s.skipped)+len(s.folders))
	for i := range rows {
		r := &rows[i]
		entries = append(entries, listing.Entry{Path: r.Path, Kind: listing.Indexed, ID: r.ID, Size: r.Size, ModTime: r.ModTime, Changed: r.Changed})
	}
	unfit := make(map[string]bool, len(s.unfit))
	for _, u := range s.unfit {
		unfit[u.Path] = true
		entries = append(entries, listing.Entry{Path: u.Path, Kind: listing.Unfit, Size: u.Size, ModTime: u.ModTime, Changed: u.Changed, Reason: u.reason})
	}
	again := map[string]bool{} // folders with something that the next walk is to look at
	for _, k := range s.skipped {
		switch reason := walk.Reason(k.Reason); {
		case unfit[k.Path]:
		case reason == walk.Unreadable, reason == walk.TooLarge:
			again[parentOf(k.Path)] = true
		default:
			entries = append(entries, listing.Entry{Path: k.Path, Kind: listing.Left, Reason: reason})
		}
	}
	for _, f := range s.folders {
		e := listing.Entry{Path: f.Path, Kind: listing.Folder, Changed: f.Changed, Rules: f.Rules}
		if again[f.Path] {
			e.Changed = 0
		}
		entries = append(entries, e)
	}
	return listing.New(listing.Head{Identity: id, Generation: generation, MadeBy: madeBy, Program: program(), Skipped: sumOf(s.skipped)}, entries).
		Write(s.x.state.listing())
}
