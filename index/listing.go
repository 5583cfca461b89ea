package index

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"quarry/index/fault"
	"quarry/index/snapshot"
	"quarry/index/store"
	"quarry/index/walk"
)

// A listing is what the last whole scan met, in a file beside the database: each path
// with its size and time, as git's own index has them. A start compares the folder with
// it and asks the database only about what differs, and files that are left out for what
// is in them are not read again to find that out.
//
// It only ever says that a file is as it was. It belongs to one state of one database;
// what that has changed since is read from there.
type listing struct {
	head listingHead
	// In the order of a walk. An id of 0 is a file that is left out for what is in it.
	ids, sizes, times []int64
	reasons           []byte // in head.Reasons, of those
	starts            []uint32
	text              string // the paths; path i ends where starts[i+1] says
}

type listingHead struct {
	Identity   string        `json:"identity"`
	Generation int64         `json:"generation"`
	MadeBy     string        `json:"made_by"`
	Program    string        `json:"program"` // the quarry that wrote it
	Skipped    string        `json:"skipped"` // a hash of all that was left out
	Reasons    []walk.Reason `json:"reasons"`
}

const (
	listingName    = "listing"
	listingVersion = 1
)

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

func (l *listing) path(i int) string { return l.text[l.starts[i]:l.starts[i+1]] }

func (l *listing) add(id, size, time int64, reason walk.Reason, length int) {
	at := 0
	if reason != "" {
		if at = slices.Index(l.head.Reasons, reason); at < 0 {
			at = len(l.head.Reasons)
			l.head.Reasons = append(l.head.Reasons, reason)
		}
	}
	l.ids, l.sizes, l.times, l.reasons = append(l.ids, id), append(l.sizes, size), append(l.times, time), append(l.reasons, byte(at))
	l.starts = append(l.starts, l.starts[len(l.starts)-1]+uint32(length))
}

func (l *listing) sections() ([][]byte, error) {
	head, err := json.Marshal(l.head)
	if err != nil {
		return nil, err
	}
	var numbers, starts []byte
	for _, list := range [][]int64{l.ids, l.sizes, l.times} {
		for _, n := range list {
			numbers = binary.LittleEndian.AppendUint64(numbers, uint64(n))
		}
	}
	for _, n := range l.starts {
		starts = binary.LittleEndian.AppendUint32(starts, n)
	}
	return [][]byte{head, numbers, l.reasons, starts, []byte(l.text)}, nil
}

var errListing = errors.New("this is no listing")

func readListing(name string) (*listing, error) {
	f, err := snapshot.Open(name, listingVersion)
	if err != nil {
		return nil, err
	}
	if len(f.Sections) != 5 {
		return nil, errListing
	}
	var l *listing
	failed := fault.Guard(func() { l, err = listingOf(f.Sections) })
	runtime.KeepAlive(f) // they lie in it
	if failed != nil {
		return nil, failed
	}
	return l, err
}

func listingOf(sections [][]byte) (*listing, error) {
	l := &listing{reasons: slices.Clone(sections[2]), text: string(sections[4])}
	if err := json.Unmarshal(sections[0], &l.head); err != nil {
		return nil, err
	}
	n := len(l.reasons)
	numbers, starts := sections[1], sections[3]
	if len(numbers) != 24*n || len(starts) != 4*(n+1) {
		return nil, errListing
	}
	for _, list := range []*[]int64{&l.ids, &l.sizes, &l.times} {
		*list = make([]int64, n)
		for i := range *list {
			(*list)[i] = int64(binary.LittleEndian.Uint64(numbers[8*i:]))
		}
		numbers = numbers[8*n:]
	}
	l.starts = make([]uint32, n+1)
	for i := range l.starts {
		l.starts[i] = binary.LittleEndian.Uint32(starts[4*i:])
	}
	return l, nil
}

// before is the order of a walk: that of the paths' components.
func before(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// records are what a scan compares a folder with: the listing where there is one of this
// database, else all that the database has.
type records struct {
	store *store.Store
	list  *listing       // nil if there is none
	next  int            // what a walk in the order of the list meets next
	at    map[string]int // places in the list, once a walk was not in its order
	met   []bool         // in the list
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
	l, err := readListing(f.listing())
	if err != nil {
		return nil, nil // made anew by the scan
	}
	id, err := s.Meta(ctx, identity)
	if err != nil || id == "" || l.head.Identity != id || l.head.MadeBy != madeBy {
		return nil, err
	}
	if ended, _, err := madeWith(ctx, s); err != nil || ended != madeBy {
		return nil, err // no scan of this database has ended
	}
	ids, _, all, err := s.Since(ctx, l.head.Generation)
	if err != nil || all || len(ids) > manyChanged {
		return nil, err
	}
	r := &records{store: s, list: l, met: make([]bool, len(l.ids)), changed: map[int64]bool{}, same: len(ids) == 0 && l.head.Program == program()}
	if r.rows, err = s.StatsOf(ctx, ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		r.changed[id] = true
	}
	return r, nil
}

// recordsOf answers what a scan of a folder compares with. all: everything is read anyway.
func (x *Index) recordsOf(ctx context.Context, dir string, all bool) (*records, error) {
	s := x.Store()
	r := x.listed.Swap(nil)
	if dir == "" && !all {
		if r == nil || r.store != s {
			var err error
			if r, err = x.state.openListing(ctx, s); err != nil {
				return nil, err
			}
		}
		if r != nil {
			return r, nil
		}
	}
	rows, err := s.Stats(ctx, dir)
	return &records{store: s, rows: rows, whole: true}, err
}

// find is the place of a path in the list, -1 if it is not there.
func (r *records) find(path string) int {
	l := r.list
	if r.next < len(l.ids) && l.path(r.next) == path {
		r.next++
		return r.next - 1
	}
	if r.at == nil {
		r.at = make(map[string]int, len(l.ids))
		for i := range l.ids {
			r.at[l.path(i)] = i
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
			}
		}
		return &st, st.Size == e.Size && st.ModTime == e.ModTime, "", nil
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
	asIs = l.sizes[i] == e.Size && l.times[i] == e.ModTime
	switch {
	case l.ids[i] == 0 && asIs:
		return nil, false, l.head.Reasons[l.reasons[i]], nil
	case l.ids[i] == 0, r.changed[l.ids[i]]: // the record has another path, or is gone
		r.same = false
		return nil, false, "", nil
	case asIs:
		return &store.Stat{Size: e.Size, ModTime: e.ModTime}, true, "", nil
	}
	r.same = false
	known, err = r.ask(ctx, e.Path)
	return known, known != nil && known.Size == e.Size && known.ModTime == e.ModTime, "", err
}

// ask asks the database for one file.
func (r *records) ask(ctx context.Context, path string) (*store.Stat, error) {
	if r.asked++; r.asked > manyChanged {
		if err := r.readAll(ctx); err != nil {
			return nil, err
		}
		st, ok := r.rows[path]
		delete(r.rows, path)
		if !ok {
			return nil, nil
		}
		return &st, nil
	}
	st, ok, err := r.store.Stat(ctx, path)
	if err != nil || !ok {
		return nil, err
	}
	return &st, nil
}

// readAll goes on without the list.
func (r *records) readAll(ctx context.Context) error {
	rows, err := r.store.Stats(ctx, "")
	if err != nil {
		return err
	}
	for i, met := range r.met {
		if met {
			delete(rows, r.list.path(i))
		}
	}
	r.rows, r.whole = rows, true
	return nil
}

// left answers the records of files that no walk met.
func (r *records) left(ctx context.Context) (map[string]store.Stat, error) {
	for i := 0; !r.whole && i < len(r.met); i++ {
		if r.met[i] || r.list.ids[i] == 0 || r.changed[r.list.ids[i]] {
			r.same = r.same && r.met[i]
			continue
		}
		r.same = false
		path := r.list.path(i)
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
func (x *Index) keepListing(ctx context.Context, s *scan) {
	st := x.Store()
	if s.same || st.InMemory() || x.state.dir == "" {
		return
	}
	if err := x.writeListing(ctx, st, s); err != nil {
		x.cfg.Log.Debug("write the listing", "error", err)
	}
}

func (x *Index) writeListing(ctx context.Context, st *store.Store, s *scan) error {
	id, err := st.Meta(ctx, identity)
	if err != nil || id == "" {
		return err
	}
	rows, generation, err := st.Listed(ctx)
	if err != nil {
		return err
	}
	l := &listing{starts: []uint32{0}, head: listingHead{Identity: id, Generation: generation, MadeBy: madeBy, Program: program(), Skipped: sumOf(s.skipped)}}
	for _, u := range s.unfit {
		rows = append(rows, store.Listed{Path: u.Path, Size: u.Size, ModTime: u.ModTime, Reason: string(u.reason)})
	}
	slices.SortFunc(rows, func(a, b store.Listed) int { return before(a.Path, b.Path) })
	var text strings.Builder
	for i := range rows {
		text.WriteString(rows[i].Path)
	}
	l.text = text.String()
	for i := range rows {
		r := &rows[i]
		l.add(r.ID, r.Size, r.ModTime, walk.Reason(r.Reason), len(r.Path))
	}
	sections, err := l.sections()
	if err != nil {
		return err
	}
	return snapshot.Write(x.state.listing(), listingVersion, len(sections), slices.Values(sections))
}
