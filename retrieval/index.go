package retrieval

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Options configure an Index.
type Options struct {
	// Project is the workspace's name. A question names its project without
	// meaning the files that do.
	Project string
	// Text reads the present text of a file for the literal signal; nil keeps
	// the texts of the Documents in memory instead.
	Text func(path string) (string, error)
}

// Index holds the searchable form of a workspace in memory. Search and the
// methods of Snapshot may run at any time; Apply calls are serialised.
//
// The data is a sequence of immutable segments: one large one, and one for each
// file that changed since it was built. A change builds the segment of its file
// and publishes a new snapshot; when the small segments add up, they are merged
// into the large one without the texts. Until then the postings of replaced
// files still count in document frequencies, as in Lucene.
type Index struct {
	options Options
	current atomic.Pointer[Snapshot]
	scratch sync.Pool // *scratch

	applying sync.Mutex // orders Apply
}

// New returns an empty index.
func New(options Options) *Index {
	ix := &Index{options: options}
	ix.scratch.New = func() any { return new(scratch) }
	empty := []*segment{buildSegment(nil, false)}
	ix.current.Store(newSnapshot(empty, nil, newGraph(empty[0]), 0))
	return ix
}

// Snapshot is one state of an Index; immutable, safe for concurrent use.
type Snapshot struct {
	segments []*segment
	// dead has a bit for each replaced or removed file of the first segment.
	dead bitset
	// fileBase and chunkBase are the numbers of each segment's first file and
	// chunk in the snapshot.
	fileBase, chunkBase []uint32
	files, chunks       int
	graph               *graph
	// Generation counts the snapshots of an Index.
	Generation uint64
}

func newSnapshot(segments []*segment, dead bitset, g *graph, generation uint64) *Snapshot {
	s := &Snapshot{segments: segments, dead: dead, graph: g, Generation: generation}
	for _, seg := range segments {
		s.fileBase = append(s.fileBase, uint32(s.files))
		s.chunkBase = append(s.chunkBase, uint32(s.chunks))
		s.files += len(seg.files)
		s.chunks += len(seg.chunks)
	}
	return s
}

// Change replaces the document of a path, or removes it when Document is nil.
type Change struct {
	Path     string
	Document *Document
}

// Of many changes at once a fresh merge is cheaper than many small segments;
// past these limits the small segments are merged.
const (
	maxSmallSegments = 64
	// smallShare is the share of all chunks, as a divisor, that small segments
	// may hold.
	smallShare = 8
)

// Apply makes the changes visible to searches that start after it returns, all
// at once. Later changes of a path win over earlier ones.
func (ix *Index) Apply(changes []Change) {
	ix.applying.Lock()
	defer ix.applying.Unlock()
	latest := map[string]*Document{}
	for _, c := range changes {
		latest[c.Path] = c.Document
	}
	old := ix.current.Load()
	base := old.segments[0]
	dead := slices.Clone(old.dead)
	var small []*segment
	for _, seg := range old.segments[1:] {
		if _, gone := latest[seg.files[0].path]; !gone {
			small = append(small, seg)
		}
	}
	paths := make([]string, 0, len(latest))
	for p := range latest {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var docs []Document
	for _, p := range paths {
		if id, ok := base.paths[p]; ok {
			dead = dead.with(int(id))
		}
		if d := latest[p]; d != nil {
			docs = append(docs, *d)
		}
	}
	ix.current.Store(ix.next(old, base, dead, small, docs))
}

// next builds the snapshot after old.
func (ix *Index) next(old *Snapshot, base *segment, dead bitset, small []*segment, docs []Document) *Snapshot {
	generation := old.Generation + 1
	smallChunks := 0
	for _, seg := range small {
		smallChunks += len(seg.chunks)
	}
	if len(docs) > maxSmallSegments/2 {
		// One segment for all: its parts could not be replaced one by one, so it
		// goes straight into the merge.
		return mergedSnapshot(base, dead, append(small, buildSegment(docs, ix.options.Text == nil)), generation)
	}
	for i := range docs {
		seg := buildSegment(docs[i:i+1], ix.options.Text == nil)
		smallChunks += len(seg.chunks)
		small = append(small, seg)
	}
	if len(small) > maxSmallSegments || smallChunks*smallShare > len(base.chunks) {
		return mergedSnapshot(base, dead, small, generation)
	}
	slices.SortFunc(small, func(a, b *segment) int { return strings.Compare(a.files[0].path, b.files[0].path) })
	return newSnapshot(append([]*segment{base}, small...), dead, old.graph, generation)
}

func mergedSnapshot(base *segment, dead bitset, small []*segment, generation uint64) *Snapshot {
	merged := mergeSegments(append([]*segment{base}, small...), dead)
	return newSnapshot([]*segment{merged}, nil, newGraph(merged), generation)
}
