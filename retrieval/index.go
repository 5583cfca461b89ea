package retrieval

import (
	"slices"
	"sync"
	"sync/atomic"

	"quarry/index/fault"
)

// Options configure an Index.
type Options struct {
	// Project is the workspace's name. A question names its project without
	// meaning the files that do.
	Project string
	// Text reads the present text of a file for the literal signal; nil keeps
	// the texts of the Documents in memory instead.
	Text func(path string) (string, error)
	// Linked says that SetLinks will tell which files use which: until then only what they
	// import links them.
	Linked bool
	// Yield, if not nil, is called for each file that Apply reads; it may wait while
	// somebody needs the machine.
	Yield func()
	// Lost, if not nil, is called when what was restored cannot be read any more, perhaps
	// more than once. current is false where only a search was reading it, which began
	// before the index got along without it: that search's answer is none. It must return
	// soon, and not call the Index.
	Lost func(cause error, current bool)
}

// Index holds the searchable form of a workspace in memory. Search and the
// methods of Snapshot may run at any time; Apply and SetLinks are serialised.
//
// The data is a sequence of immutable segments, as in a log-structured merge
// tree: a change builds a segment of its files, marks the files it replaces as
// dead, and publishes a new snapshot. While the last segment is more than half
// as large as the one before, the two are merged, without the texts, unless that would
// make a very large one; so there are about as many segments as the number of chunks has
// binary digits, and one more for each 32,000 chunks. Dead files
// count for nothing, and equal scores are told apart by path, so that an index
// answers the same however it came to be.
type Index struct {
	options Options
	current atomic.Pointer[Snapshot]
	scratch sync.Pool // *scratch

	applying sync.Mutex // orders Apply and SetLinks, and guards the fields below
	links    []Link     // of SetLinks; nil until then
	linked   bool       // SetLinks was called
	fixed    bool       // the graph was restored, and stays until SetLinks is called
	unlinked int        // files changed since the graph was built
}

// New returns an empty index.
func New(options Options) *Index {
	ix := &Index{options: options}
	ix.scratch.New = func() any { return new(scratch) }
	ix.publish(newSnapshot(nil, nil, &graph{}, 0))
	return ix
}

// Snapshot is one state of an Index; immutable, safe for concurrent use.
type Snapshot struct {
	segments []*segment
	// dead has, for each segment, a bit for each replaced or removed file.
	dead []bitset
	// fileBase and chunkBase are the numbers of each segment's first file and
	// chunk in the snapshot.
	fileBase, chunkBase []uint32
	files, chunks       int // dead ones among them
	gone                []gone
	liveFiles           int
	liveChunks          int
	graph               *graph
	lost                func(cause error) // Options.Lost
	// Generation counts the snapshots of an Index.
	Generation uint64
}

func newSnapshot(segments []*segment, dead []bitset, g *graph, generation uint64) *Snapshot {
	s := &Snapshot{segments: segments, dead: dead, graph: g, Generation: generation}
	for _, seg := range segments {
		s.fileBase = append(s.fileBase, uint32(s.files))
		s.chunkBase = append(s.chunkBase, uint32(s.chunks))
		s.files += len(seg.files)
		s.chunks += len(seg.chunks)
	}
	s.countLive()
	return s
}

// Change replaces the document of a path, or removes it when Document is nil.
type Change struct {
	Path     string
	Document *Document
}

// graphShare is how large a part of all files, as a divisor, may change before
// the graph is built anew, and graphFiles how many at least.
const (
	graphShare = 16
	graphFiles = 16
)

// Apply makes the changes visible to searches that start after it returns, all
// at once. Later changes of a path win over earlier ones.
func (ix *Index) Apply(changes []Change) {
	ix.applying.Lock()
	defer ix.applying.Unlock()
	defer ix.release(fault.Expect())
	if len(changes) == 0 {
		return
	}
	latest := map[string]*Document{}
	for _, c := range changes {
		latest[c.Path] = c.Document
	}
	paths := make([]string, 0, len(latest))
	for p := range latest {
		paths = append(paths, p)
	}
	slices.Sort(paths)

	old := ix.current.Load()
	segments, dead := slices.Clone(old.segments), make([]bitset, len(old.dead))
	for k := range dead {
		dead[k] = slices.Clone(old.dead[k])
	}
	var docs []Document
	for _, p := range paths {
		for k, seg := range segments {
			if id, ok := seg.fileAt(p); ok {
				dead[k] = dead[k].with(id)
			}
		}
		if d := latest[p]; d != nil {
			docs = append(docs, *d)
		}
	}
	if len(docs) > 0 {
		segments, dead = append(segments, buildSegment(docs, ix.options.Text == nil, ix.options.Yield)), append(dead, nil)
	}
	segments, dead = compact(segments, dead)
	old.look() // what was merged may lie in no file any more
	next := newSnapshot(segments, dead, old.graph, old.Generation+1)
	ix.unlinked += len(latest)
	if !ix.fixed && (ix.unlinked >= max(graphFiles, next.files/graphShare) || old.files == 0) {
		ix.relink(next)
	}
	ix.publish(next)
}

// relink builds the graph of a snapshot that is not published yet.
func (ix *Index) relink(s *Snapshot) {
	if ix.linked {
		s.graph = linkedGraph(s, ix.links)
	} else {
		s.graph = namedGraph(s, !ix.options.Linked)
	}
	ix.unlinked = 0
}

// Link says that the file From uses what the file To declares.
type Link struct {
	From, To string
	Weight   float32
}

// SetLinks gives the index a graph of files that was resolved elsewhere. Without
// one, the index resolves the names in each Document by itself.
func (ix *Index) SetLinks(links []Link) {
	ix.applying.Lock()
	defer ix.applying.Unlock()
	defer ix.release(fault.Expect())
	ix.links, ix.linked, ix.fixed = links, true, false
	old := ix.current.Load()
	next := newSnapshot(old.segments, old.dead, nil, old.Generation+1)
	ix.relink(next)
	ix.publish(next)
}

// maxMerged is how many chunks a merged segment has at most. A merge has its parts and what
// it makes in memory, so that merging all of a large index would double it; where it is
// kept in a file, writing that merges.
const maxMerged = 1 << 15

// compact merges segments until each is more than twice as large as the next, or too large
// for that, and drops those of which nothing is left.
func compact(segments []*segment, dead []bitset) ([]*segment, []bitset) {
	live := make([]int, 0, len(segments)) // chunks
	for k, seg := range segments {
		if dead[k].count() == len(seg.files) {
			continue
		}
		n := len(live)
		segments[n], dead[n] = seg, dead[k]
		live = append(live, len(seg.chunks))
		for i := range dead[n].all() {
			live[n] -= int(seg.files[i].endChunk - seg.files[i].firstChunk)
		}
	}
	n := len(live)
	segments, dead = segments[:n], dead[:n]
	for ; n > 1 && 2*live[n-1] > live[n-2] && live[n-1]+live[n-2] <= maxMerged; n-- {
		merged := mergeSegments(segments[n-2:n], dead[n-2:n])
		segments, dead = append(segments[:n-2], merged), append(dead[:n-2], nil)
		live[n-2] += live[n-1]
	}
	return segments, dead
}

// mergedBytes is about what a chunk takes while it is merged.
const mergedBytes = 2 << 10

// MergeBytes is about what the next change may take in memory for a while, by what it may
// have merged.
func (s *Snapshot) MergeBytes() int64 { return mergedBytes * int64(min(s.chunks, maxMerged)) }

// Files is how many files the snapshot holds.
func (s *Snapshot) Files() int { return s.liveFiles }

// Paths are the files of a snapshot; of one that was just restored, in their order.
func (s *Snapshot) Paths() []string {
	paths, _ := s.Listed()
	return paths
}

// Listed is Paths, with the language of each file.
func (s *Snapshot) Listed() (paths, languages []string) {
	for k, seg := range s.segments {
		for i := range seg.files {
			if !s.dead[k].has(i) {
				paths, languages = append(paths, seg.files[i].path), append(languages, seg.files[i].language)
			}
		}
	}
	return paths, languages
}
