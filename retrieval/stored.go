package retrieval

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"quarry/index/fault"
)

// An index can be kept in a file and be searched from there: Sections makes the bytes,
// Restore begins with them, and Swap puts them in the place of what they were made of.
// Numbers are in the machine's own order, and the large arrays (postings, trigram sets,
// keys, graph) are used where they lie, so a search touches what it needs and no more;
// only names, paths and ranges become objects.

// StoredVersion says what Sections mean. It counts up whenever they, or what indexing a
// document means, change; an older file is then made anew.
var StoredVersion = storedVersion()

func storedVersion() uint32 {
	// 7: without the twins of compiled files; 6: imports without aliases; 5: style sheets and markup were code; 4: with a weight for each posting; 3: without the
	// lexicon's vectors; 2: without what completion asks for
	const version = 8
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return version | 1<<31
	}
	return version
}

// errStored says that sections are not what Sections makes.
var errStored = errors.New("this is no stored index")

// The sections, in their order.
const (
	secNames      = 0                 // and the one behind it
	secSignatures = secNames + 2      // and the one behind it
	secPaths      = secSignatures + 2 // and the one behind it: the strings of secFiles
	secFiles      = secPaths + 2 + iota - 3
	secTrigrams
	secChunks
	secDefs
	secByKey
	secKeys
	secTextKeys
	secByText
	secUses
	secImports
	secUsedBy
	secByName
	secByOwner
	secVectors
	secText                       // and the four behind it
	secMetadata = secText + 5     // and the four behind it
	secGraph    = secMetadata + 5 // and the six behind it
	sections    = secGraph + 7
)

// raw are the bytes of numbers, and view the numbers in bytes; T has no pointers.
func raw[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

func view[T any](b []byte) []T {
	var zero T
	if len(b) < int(unsafe.Sizeof(zero)) {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(zero)))
}

// Sections are the bytes of a snapshot, n of them, each made when it is asked for: all of
// them together are as large as what searches have in memory. Paths are the files it has,
// in the order in which the caller may keep what belongs to each.
//
// Where the bytes that the snapshot itself was restored from are lost there are none, or
// fewer than n.
func (s *Snapshot) Sections() (n int, stored iter.Seq[[]byte], paths []string) {
	defer s.release(fault.Expect())
	m := &merger{parts: s.segments, dead: s.dead}
	seg := m.records()
	t := newStrings()
	var files []uint32
	trigrams := 0
	for i := range seg.files {
		f := &seg.files[i]
		paths = append(paths, f.path)
		when := uint64(f.modified.UnixNano())
		files = append(files, t.id(f.path), t.id(f.language), uint32(when), uint32(when>>32), uint32(f.class), t.id(string(f.kind)), t.id(f.words.base),
			f.firstChunk, f.endChunk, f.firstDef, f.endDef, f.firstUse, f.endUse, f.firstImport, f.endImport, uint32(trigrams), uint32(len(f.trigrams)))
		trigrams += len(f.trigrams)
		for _, words := range [][]string{f.words.name, f.words.dirs} {
			files = append(files, uint32(len(words)))
			for _, w := range words {
				files = append(files, t.id(w))
			}
		}
	}
	g := s.graph
	nodes := make([]uint32, len(g.paths))
	for i, p := range g.paths {
		nodes[i] = t.id(p)
	}
	// Pieces, in the order of the constants above. What is large is made at the last moment.
	pieces := []func() [][]byte{
		func() [][]byte {
			return slices.Concat(seg.names.sections(), seg.signatures.sections(), t.table().sections(), [][]byte{raw(files)})
		},
		func() [][]byte {
			all := make([]uint64, 0, trigrams)
			for i := range seg.files {
				all = append(all, seg.files[i].trigrams...)
			}
			return [][]byte{raw(all)}
		},
		func() [][]byte {
			return [][]byte{raw(seg.chunks), raw(seg.defs), raw(seg.byKey), raw(seg.keys), raw(seg.textKeys), raw(seg.byText),
				raw(seg.uses), raw(seg.imports), raw(seg.usedBy), raw(seg.byName), raw(seg.byOwner)}
		},
		func() [][]byte { return [][]byte{raw(m.vectors())} },
		func() [][]byte { return m.postings(m.chunks).sections() },
		func() [][]byte { return m.postings(m.files).sections() },
		func() [][]byte {
			return [][]byte{raw(nodes), raw(g.starts), raw(g.targets), raw(g.weights), raw(g.rank), raw([]uint64(g.old)), raw([]uint64(g.twins))}
		},
	}
	guarded := func(piece func() [][]byte) [][]byte {
		defer s.release(fault.Expect())
		return piece()
	}
	return sections, func(yield func([]byte) bool) {
		defer runtime.KeepAlive(s) // what is merged may lie in a file that goes with it
		for _, piece := range pieces {
			for _, section := range guarded(piece) {
				if !yield(section) {
					return
				}
			}
		}
	}, paths
}

// sections are the bytes of a table.
func (t stringTable) sections() [][]byte {
	return [][]byte{raw(t.starts), unsafe.Slice(unsafe.StringData(t.text), len(t.text))}
}

func (p postings) sections() [][]byte {
	return [][]byte{raw(p.terms.starts), p.terms.text, raw(p.starts), p.lists, raw(p.norms)}
}

// restored is what Sections were made of. keep is what the bytes belong to.
func restored(stored [][]byte, keep any) (seg *segment, g *graph, err error) {
	defer fault.Restore(fault.Expect())
	defer func() {
		// The bytes were checked by whoever read them; a fault here is a fault of ours,
		// and is no reason not to start.
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", errStored, cause)
		}
	}()
	if len(stored) != sections {
		return nil, nil, fmt.Errorf("%w: it has %d sections", errStored, len(stored))
	}
	// Names leave with answers and may outlive what they were read from; signatures are
	// copied one by one.
	table := func(at int, text func([]byte) string) stringTable {
		return stringTable{view[uint32](stored[at]), text(stored[at+1])}
	}
	copied := func(b []byte) string { return string(b) }
	str := table(secPaths, copied).at
	seg = &segment{
		keep: keep, names: table(secNames, copied), chunks: view[chunk](stored[secChunks]), defs: view[defRecord](stored[secDefs]),
		signatures: table(secSignatures, func(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }),
	}
	var words []string // of many files, in one array
	trigrams := view[uint64](stored[secTrigrams])
	for rest := view[uint32](stored[secFiles]); len(rest) > 0; {
		f := file{
			path: str(rest[0]), language: str(rest[1]), modified: time.Unix(0, int64(uint64(rest[2])|uint64(rest[3])<<32)),
			class: fileClass(rest[4]), kind: Type(str(rest[5])), words: pathWords{base: str(rest[6])},
			firstChunk: rest[7], endChunk: rest[8], firstDef: rest[9], endDef: rest[10],
			firstUse: rest[11], endUse: rest[12], firstImport: rest[13], endImport: rest[14],
			trigrams: trigramSet(trigrams[rest[15] : rest[15]+rest[16]]),
		}
		rest = rest[17:]
		for _, of := range []*[]string{&f.words.name, &f.words.dirs} {
			n := rest[0]
			if len(words)+int(n) > cap(words) {
				words = make([]string, 0, max(int(n), 4096))
			}
			from := len(words)
			for _, id := range rest[1 : 1+n] {
				words = append(words, str(id))
			}
			*of, rest = slices.Clip(words[from:]), rest[1+n:]
		}
		seg.files = append(seg.files, f)
	}
	seg.folders = foldersOf(seg.files)
	seg.byKey, seg.keys = view[uint32](stored[secByKey]), view[nameKey](stored[secKeys])
	seg.vectors = &lexiconVectors{rows: view[int8](stored[secVectors])}
	seg.textKeys, seg.byText = view[Key](stored[secTextKeys]), view[uint32](stored[secByText])
	seg.uses, seg.imports, seg.usedBy = view[uint32](stored[secUses]), view[uint32](stored[secImports]), view[uint32](stored[secUsedBy])
	seg.byName, seg.byOwner = view[uint32](stored[secByName]), view[uint32](stored[secByOwner])
	for at, p := range map[int]*postings{secText: &seg.text, secMetadata: &seg.metadata} {
		p.terms = terms{starts: view[uint32](stored[at]), text: stored[at+1]}
		p.starts, p.lists, p.norms = view[uint32](stored[at+2]), stored[at+3], view[float32](stored[at+4])
	}
	nodes := view[uint32](stored[secGraph])
	g = &graph{
		keep: keep, paths: make([]string, len(nodes)), starts: view[uint32](stored[secGraph+1]), targets: view[uint32](stored[secGraph+2]),
		weights: view[float32](stored[secGraph+3]), rank: view[float32](stored[secGraph+4]), old: bitset(view[uint64](stored[secGraph+5])), twins: bitset(view[uint64](stored[secGraph+6])),
	}
	for i, id := range nodes {
		g.paths[i] = str(id)
	}
	return seg, g, nil
}

// Restore begins with what Sections made; ix is empty. keep is what the bytes belong to;
// they are not changed as long as it is held. Links are not known until SetLinks; until
// then the graph is the stored one.
func (ix *Index) Restore(stored [][]byte, keep any) error {
	seg, g, err := restored(stored, keep)
	if err != nil {
		return err
	}
	ix.applying.Lock()
	defer ix.applying.Unlock()
	ix.fixed = true
	ix.publish(newSnapshot([]*segment{seg}, []bitset{nil}, g, ix.current.Load().Generation+1))
	return nil
}

// Swap puts stored sections, which were made of the snapshot old, in the place of what
// they were made of; what changed since stays on top. ok is false if old was merged with
// something newer meanwhile, and nothing was done.
func (ix *Index) Swap(old *Snapshot, stored [][]byte, keep any) (ok bool, err error) {
	seg, g, err := restored(stored, keep)
	if err != nil {
		return false, err
	}
	ix.applying.Lock()
	defer ix.applying.Unlock()
	now, n := ix.current.Load(), len(old.segments)
	if len(now.segments) < n || !slices.Equal(now.segments[:n], old.segments) {
		return false, nil
	}
	dead := bitset(nil)
	for k, before := range old.segments {
		for i := range before.files {
			if now.dead[k].has(i) && !old.dead[k].has(i) {
				if at, found := seg.fileAt(before.files[i].path); found {
					dead = dead.with(at)
				}
			}
		}
	}
	if now.graph != old.graph {
		g = now.graph
	}
	ix.publish(newSnapshot(append([]*segment{seg}, now.segments[n:]...), append([]bitset{dead}, now.dead[n:]...), g, now.Generation+1))
	return true, nil
}

// linkSections is how many there are of LinkSections.
const linkSections = 5

// LinkSections are the bytes of a snapshot's graph of files alone. They name no file: who
// has the same files knows which they mean.
func (s *Snapshot) LinkSections() [][]byte {
	defer s.look()
	defer s.release(fault.Expect())
	g := s.graph
	return [][]byte{raw([]uint64{sumOf(g.paths)}), slices.Clone(raw(g.starts)), slices.Clone(raw(g.targets)), slices.Clone(raw(g.weights)), slices.Clone(raw(g.rank))}
}

// RestoreLinks begins with a graph that LinkSections made of an index with the same files;
// otherwise it answers false and does nothing. The bytes are the index's from then on.
func (ix *Index) RestoreLinks(stored [][]byte) bool {
	ix.applying.Lock()
	defer ix.applying.Unlock()
	defer ix.release(fault.Expect())
	old := ix.current.Load()
	g, _ := nodesOf(old)
	n := len(g.paths)
	if len(stored) != linkSections || len(stored[0]) != 8 || view[uint64](stored[0])[0] != sumOf(g.paths) {
		return false
	}
	g.starts, g.targets = view[uint32](stored[1]), view[uint32](stored[2])
	g.weights, g.rank = view[float32](stored[3]), view[float32](stored[4])
	if len(g.starts) != n+1 || len(g.rank) != n || len(g.targets) != int(g.starts[n]) || len(g.weights) != len(g.targets) {
		return false
	}
	ix.links, ix.linked, ix.fixed, ix.unlinked = nil, false, true, 0
	ix.publish(newSnapshot(old.segments, old.dead, g, old.Generation+1))
	return true
}

// sumOf tells lists of paths apart (FNV-1a).
func sumOf(paths []string) uint64 {
	h := fnv.New64a()
	for _, p := range paths {
		_, _ = io.WriteString(h, p) // a hash takes all
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// What was restored lies in a mapped file, and another program can make that shorter, or
// write into it. Every method that reads it is guarded: it ends early then, with what it has,
// and Options.Lost is called before it returns. The index has nothing to say until Reset;
// whoever hears of the loss has to know that its answers are none.

// changeable is what an index can be restored from.
type changeable interface {
	// Changed answers whether the bytes may not be those that were restored.
	Changed() bool
	// Written answers at once whether the file that they lie in was written into.
	Written() bool
	// Damaged reads them all.
	Damaged() bool
}

// errWritten says why what was restored is lost where reading it was no fault.
var errWritten = errors.New("another program wrote into it, or made it shorter")

// kept are the files that a snapshot lies in.
func (s *Snapshot) kept() (list []changeable) {
	add := func(keep any) {
		if of, ok := keep.(changeable); ok && !slices.Contains(list, of) {
			list = append(list, of)
		}
	}
	for _, seg := range s.segments {
		add(seg.keep)
	}
	if s.graph != nil {
		add(s.graph.keep)
	}
	return list
}

// look ends what reads a snapshot: what another program wrote into the file need not be a
// fault to be wrong, zeros least of all. It is deferred before release, and outside of what
// is called for each declaration or file: it asks the system.
func (s *Snapshot) look() (written bool) {
	if written = slices.ContainsFunc(s.kept(), changeable.Written); written && s.lost != nil {
		s.lost(errWritten)
	}
	return written
}

// IsSound reads all of the files that a snapshot lies in, and answers whether they have the
// bytes that were written. Where they have not, Options.Lost was called.
func (s *Snapshot) IsSound() bool {
	if !slices.ContainsFunc(s.kept(), changeable.Damaged) {
		return true
	}
	if s.lost != nil {
		s.lost(errWritten)
	}
	return false
}

// release ends a guard: defer s.release(fault.Expect()).
func (s *Snapshot) release(before bool) {
	fault.Restore(before)
	if cause := recover(); cause != nil {
		s.lose(cause)
	}
}

// release ends a guard of the index.
func (ix *Index) release(before bool) {
	fault.Restore(before)
	if cause := recover(); cause != nil {
		ix.current.Load().lose(cause)
	}
}

// lose tells that the bytes below a snapshot are not what they were, if that explains a
// panic. Where it does not, the panic goes on.
func (s *Snapshot) lose(cause any) {
	err, ok := cause.(runtime.Error)
	if !ok || s.lost == nil {
		panic(cause)
	}
	if e := fault.Of(cause); e != nil {
		s.lost(e)
		return
	}
	// The page that the file ends in reads as zeros, and what is made of those is no fault.
	if slices.ContainsFunc(s.kept(), changeable.Changed) {
		s.lost(fmt.Errorf("%w: %w", errWritten, err))
		return
	}
	panic(cause)
}

// forgettable is what an index was restored from, if memory that reading it takes can be
// given back.
type forgettable interface{ Forget() }

// Rest gives memory back that the next search takes again.
func (s *Snapshot) Rest() {
	for _, seg := range s.segments {
		if of, ok := seg.keep.(forgettable); ok {
			of.Forget()
		}
	}
}

// Reset forgets everything, for Restore or Apply to begin anew.
func (ix *Index) Reset() {
	ix.applying.Lock()
	defer ix.applying.Unlock()
	ix.links, ix.linked, ix.fixed, ix.unlinked = nil, false, false, 0
	ix.publish(newSnapshot(nil, nil, &graph{}, ix.current.Load().Generation+1))
}

// publish makes a snapshot the one that searches see.
func (ix *Index) publish(s *Snapshot) {
	if lost := ix.options.Lost; lost != nil {
		s.lost = func(cause error) { lost(cause, ix.current.Load().shares(s)) }
	}
	ix.current.Store(s)
}

// shares answers whether two snapshots were restored from the same bytes.
func (s *Snapshot) shares(other *Snapshot) bool {
	if s.graph != nil && s.graph.keep != nil && s.graph == other.graph {
		return true
	}
	return slices.ContainsFunc(s.segments, func(seg *segment) bool { return seg.keep != nil && slices.Contains(other.segments, seg) })
}
