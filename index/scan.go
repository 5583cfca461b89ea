package index

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"quarry/index/addresses"
	"quarry/index/listing"
	"quarry/index/near"
	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/index/walk"
)

// scan compares a folder with the index and analyses what differs. It runs in
// goroutines of its own and hands its results to the coordinator.
type scan struct {
	x       *Index
	dir     string // "" is the root
	cancel  context.CancelFunc
	started time.Time
	began   time.Time // by the system's clock, as questions are
	asked   int64     // what readers had asked before it began, as askedAt
	// results carries what is to be written; it is closed when the scan has ended,
	// after which the fields below may be read.
	results chan result

	skipped []store.Skipped
	unfit   []unfit        // of these, what is left out for what is in it
	folders []walk.Folder  // that were entered
	counts  map[string]int // of what was left out, by reason
	// same: the folder is as the listing has it, and so is what was left out. moved: names
	// came or went in some folder.
	same, moved bool
	// total is how many bytes, in files files, there are to read, of the met ones; set
	// before the first result.
	total      int64
	files, met int
	// unread is how many of these turned out to be left out. The coordinator counts them.
	unread int
	// gone are the paths that are no longer there, by what their text was, so that
	// a rename can be told from a new file. The coordinator takes from it while the
	// scan runs; it is complete before the first result.
	gone map[store.Hash][]string
	err  error

	queue queue // what is to be read
}

// result is one file to be written: doc if its text is new, touch if only its time
// is, neither if it must not be in the index.
type result struct {
	entry walk.Entry
	doc   *store.Document
	touch bool
	// secret: its text says so.
	secret bool
}

// touched notes the file's size and times.
func (r *result) touched() store.Touch {
	e := &r.entry
	return store.Touch{Path: e.Path, Size: e.Size, ModTime: e.ModTime, Changed: e.Changed}
}

// modTime is the time stored for a file. Where its times are too fresh to be believed, it is
// stored a nanosecond off, so that the next scan reads the file again.
func modTime(e walk.Entry, now time.Time) int64 {
	if now.UnixNano()-max(e.ModTime, e.Changed) < int64(walk.Racy) {
		return e.ModTime + 1
	}
	return e.ModTime
}

// isAs answers whether a record is of the file as it is.
func isAs(st *store.Stat, e walk.Entry) bool {
	return st.Size == e.Size && st.ModTime == e.ModTime && st.Changed == e.Changed
}

// mayBe answers whether a record that is to be looked at again by the next scan is of the file
// as it is: its time was too fresh (modTime), it is of what an editor has open, or a quarry made
// it that did not note when the file changed.
func mayBe(st *store.Stat, e walk.Entry) bool {
	if st.ModTime == 0 {
		return true
	}
	return st.Size == e.Size && (st.ModTime == e.ModTime || st.ModTime == e.ModTime+1) && (st.Changed == e.Changed || st.Changed == 0)
}

// startScan begins a scan. all: read every file, however unchanged it looks.
func startScan(ctx context.Context, x *Index, dir string, all bool) *scan {
	ctx, cancel := context.WithCancel(ctx)
	s := &scan{
		x: x, dir: dir, cancel: cancel, started: x.cfg.Clock.Now(), began: time.Now(), asked: x.state.askedAt(), results: make(chan result, 256),
		counts: map[string]int{}, gone: map[store.Hash][]string{},
	}
	x.stopped.Go(func() {
		defer close(s.results)
		defer cancel()
		s.err = s.compare(ctx, all)
	})
	return s
}

// compare finds what differs, and has it read.
func (s *scan) compare(ctx context.Context, all bool) error {
	x := s.x
	known, err := s.records(ctx, all)
	if err != nil {
		return err
	}
	problems, err := problemsOf(ctx, x.Store())
	if err != nil {
		return err
	}
	var stale []staleFile
	differ := 0 // how many are known not to be as they are indexed
	list := known.known()
	err = x.root.Walk(ctx, s.dir, walk.Visitor{
		Dir:   x.watching.folder,
		Known: list,
		Folder: func(f walk.Folder) {
			s.folders = append(s.folders, f)
			if list != nil {
				at := list.Find(f.Path)
				s.moved = s.moved || at < 0 || *list.Met(at).Folder != f
			}
		},
		File: func(e walk.Entry) error {
			st, asIs, reason, err := known.meet(ctx, e)
			if err != nil {
				return err
			}
			if reason == "" || x.isOpen(e.Path) {
				s.met++
			}
			problem, given := problems[e.Path]
			again := given && mayParse(problem, e.Size)
			switch {
			case x.isOpen(e.Path): // the buffer is the truth
			case reason != "":
				s.leaveOut(e, reason)
			case all || !asIs || again:
				f := staleFile{Entry: e}
				if st != nil && !all && !again {
					f.known = &st.Hash
				}
				stale = append(stale, f)
				if st == nil || !mayBe(st, e) {
					if differ++; differ == 1 { // how many more follow nobody knows
						if err := x.meetsChange(ctx); err != nil {
							return err
						}
					}
				}
				s.total += e.Size
				s.files++
			}
			return nil
		},
		Skip: func(k walk.Skip) { s.skip(k.Path, k.Reason) },
	})
	if err != nil && !errors.Is(err, context.Canceled) && s.dir != "" {
		err = nil // the folder went away; all that was in it is gone
	}
	if err != nil {
		return err
	}
	gone, err := known.left(ctx)
	if err != nil {
		return err
	}
	for name, st := range gone {
		s.gone[st.Hash] = append(s.gone[st.Hash], name)
	}
	for _, names := range s.gone {
		slices.Sort(names)
	}
	if differ == 0 && len(gone) > 0 {
		if err := x.meetsChange(ctx); err != nil {
			return err
		}
	}
	if s.dir == "" {
		x.noteLookedAt()
	}
	if err := s.readAll(ctx, stale); err != nil {
		return err
	}
	slices.SortFunc(s.skipped, func(a, b store.Skipped) int {
		return cmp.Or(listing.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason))
	})
	s.same = known.same && len(stale) == 0 && known.list.Head.Skipped == sumOf(s.skipped)
	return nil
}

// problemsOf are those that a database has noted, by path.
func problemsOf(ctx context.Context, s *store.Store) (map[string]string, error) {
	list, err := s.Problems(ctx)
	by := make(map[string]string, len(list))
	for _, p := range list {
		by[p.Path] = p.Problem
	}
	return by, err
}

// leaveOut notes a file that is left out for what is in it.
func (s *scan) leaveOut(e walk.Entry, reason walk.Reason) {
	s.skip(e.Path, reason)
	s.unfit = append(s.unfit, unfit{e, reason})
}

func (s *scan) skip(name string, reason walk.Reason) {
	s.counts[string(reason)]++
	s.skipped = append(s.skipped, store.Skipped{Path: name, Reason: string(reason)})
}

// staleFile is a file that a scan reads. One whose text is still the known one
// needs no analysis.
type staleFile struct {
	walk.Entry
	known *store.Hash
}

// atOnce is how many bytes of files are analysed at once, by all scans of the process: a
// parser may take several hundred times the bytes of a hostile file, and with a worker for
// each of sixteen processors 24 files of 600 KB took 5.7 GB. Files of common sizes never wait.
const atOnce = 2 << 20

var analysing = semaphore.NewWeighted(atOnce)

// readAll analyses the stale files in parallel.
func (s *scan) readAll(ctx context.Context, stale []staleFile) error {
	x := s.x
	var (
		group   sync.WaitGroup
		mu      sync.Mutex // guards failure and s.skip
		failure error
	)
	s.queue.fill(stale)
	workers, rest := portion(cores, x.cfg.Share)
	if addresses.Limited() {
		workers = 1 // of which each needs memory of its own
	}
	x.cfg.Log.Debug("read files", "files", len(stale), "workers", workers, "share", x.cfg.Share)
	for range min(workers, len(stale)) {
		group.Go(func() {
			Background()
			pace := pace{rest: rest, clock: x.cfg.Clock}
			for {
				e, ok := s.queue.take()
				if !ok {
					return
				}
				err := x.throttle.wait(ctx)
				if err == nil {
					err = pace.next(ctx)
				}
				var r result
				var reason walk.Reason
				weight := min(max(e.Size, 0), atOnce)
				if err == nil {
					err = analysing.Acquire(ctx, weight)
				}
				if err == nil {
					r, reason, err = readFile(x, e.Path, e.known)
					analysing.Release(weight)
				}
				if err == nil {
					r.entry.Path = e.Path
					select {
					case s.results <- r:
					case <-ctx.Done():
						err = ctx.Err()
					}
				}
				mu.Lock()
				switch reason {
				case "":
				case walk.Binary, walk.Secret, walk.Minified:
					s.leaveOut(r.entry, reason)
				default:
					s.skip(e.Path, reason)
				}
				if err != nil && failure == nil {
					failure = err
					s.queue.fail()
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return failure
}

// queue is the files that a scan reads, in the order in which it hands them out: that of
// the walk, but what stands beside an open document goes first, and what the document
// imports next, since that is what is asked for in the first second. A document may be
// opened while the scan is at work. It is safe for concurrent use.
type queue struct {
	mu     sync.Mutex // guards the fields below
	files  []staleFile
	taken  []bool
	next   int         // all before it are taken
	first  []int       // what goes before the rest, some of it perhaps taken
	open   []document  // in the order in which they were opened
	by     *near.Names // of files, nil until a document is open
	filled bool
	failed bool
}

// document is an open one with what it imports.
type document struct {
	rel     string
	imports []syntax.Import
}

// fill gives the queue its files.
func (q *queue) fill(files []staleFile) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.files, q.taken, q.filled = files, make([]bool, len(files)), true
	for i := range q.open {
		q.put(&q.open[i])
	}
}

// prefer has what is near an open document go first.
func (q *queue) prefer(rel string, imports []syntax.Import) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = append(q.open, document{rel, imports})
	if q.filled {
		q.put(&q.open[len(q.open)-1])
	}
}

// put puts what is near a document before all else, that of the document opened last
// first. mu is held.
func (q *queue) put(d *document) {
	if len(q.files) == 0 {
		return
	}
	if q.by == nil {
		paths := make([]string, len(q.files))
		for i := range q.files {
			paths[i] = q.files[i].Path
		}
		q.by = near.New(paths)
	}
	list := slices.Clone(q.by.Beside(d.rel))
	for i := range d.imports {
		list = append(list, q.by.Imported(&d.imports[i])...)
	}
	q.first = append(list, q.first...)
}

// take answers a file that nobody has taken; ok is false if none is left, or reading one
// failed.
func (q *queue) take() (f staleFile, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.failed && (len(q.first) > 0 || q.next < len(q.files)) {
		i := q.next
		if len(q.first) > 0 {
			i, q.first = q.first[0], q.first[1:]
		} else {
			q.next++
		}
		if !q.taken[i] {
			q.taken[i] = true
			return q.files[i], true
		}
	}
	return f, false
}

// fail ends the queue.
func (q *queue) fail() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failed = true
}

// readFile looks at one file on disk that no rule leaves out. The answer is a reason
// to leave it out after all, or what to write. known is what the index has of it,
// nil if nothing that counts.
func readFile(x *Index, rel string, known *store.Hash) (r result, reason walk.Reason, err error) {
	text, entry, reason, err := x.root.Read(rel)
	r.entry = walk.Entry{Path: rel, Size: entry.Size, ModTime: modTime(entry, time.Now()), Changed: entry.Changed}
	if reason != "" {
		if reason == walk.Unreadable {
			x.cfg.Log.Debug("read", "path", rel, "error", err)
		}
		r.secret = reason == walk.Secret
		return r, reason, nil
	}
	hash := hashOf(text)
	if r.touch = known != nil && *known == hash; r.touch {
		return r, "", nil
	}
	if r.doc, err = newDocument(rel, text, hash); err != nil {
		return r, "", err
	}
	r.doc.ModTime, r.doc.Changed = r.entry.ModTime, r.entry.Changed
	return r, "", nil
}

// left answers the paths that are gone and that no rename has taken.
func (s *scan) left() []string {
	var list []string
	for names := range maps.Values(s.gone) {
		list = append(list, names...)
	}
	slices.Sort(list)
	return list
}

// takeGone answers a path that is gone and had the same text: what doc was called
// before.
func (s *scan) takeGone(doc *store.Document) (string, bool) {
	names := s.gone[doc.Hash]
	if len(names) == 0 {
		return "", false
	}
	s.gone[doc.Hash] = names[1:]
	return names[0], true
}
