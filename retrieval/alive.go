package retrieval

import (
	"cmp"
	"slices"
	"strings"
)

// gone are the dead files of one segment, in their order, and their chunks as ranges
// that do not touch.
type gone struct {
	files  []uint32
	chunks [][2]uint32
}

// countLive finds out what of the segments still counts.
func (s *Snapshot) countLive() {
	s.gone = make([]gone, len(s.segments))
	s.liveFiles, s.liveChunks = s.files, s.chunks
	for k, seg := range s.segments {
		g := &s.gone[k]
		for i := range s.dead[k].all() {
			f := &seg.files[i]
			g.files = append(g.files, uint32(i))
			s.liveFiles--
			s.liveChunks -= int(f.endChunk - f.firstChunk)
			if n := len(g.chunks); n > 0 && g.chunks[n-1][1] == f.firstChunk {
				g.chunks[n-1][1] = f.endChunk
			} else if f.firstChunk < f.endChunk {
				g.chunks = append(g.chunks, [2]uint32{f.firstChunk, f.endChunk})
			}
		}
	}
}

// liveChunksOf counts those of some chunks of a segment, in their order, that are of live
// files.
func (s *Snapshot) liveChunksOf(k int, chunks list) int {
	n := chunks.n
	if dead := s.gone[k].chunks; len(dead) <= n {
		for _, r := range dead {
			n -= chunks.between(r[0], r[1])
		}
		return n
	}
	for at := chunks.first(); at.next(); {
		if s.dead[k].has(int(s.segments[k].chunks[at.doc].file)) {
			n--
		}
	}
	return n
}

// liveFilesOf is the same for files.
func (s *Snapshot) liveFilesOf(k int, files list) int {
	n := files.n
	if dead := s.gone[k].files; len(dead) <= n {
		for _, f := range dead {
			if files.has(f) {
				n--
			}
		}
		return n
	}
	for at := files.first(); at.next(); {
		if s.dead[k].has(int(at.doc)) {
			n--
		}
	}
	return n
}

// orderFiles and orderChunks order by path, and within a file by place, whatever
// segments the two are in.
func (s *Snapshot) orderFiles(a, b uint32) int {
	if len(s.segments) == 1 {
		return cmp.Compare(a, b) // a segment has its files in that order
	}
	return strings.Compare(s.file(a).path, s.file(b).path)
}

func (s *Snapshot) orderChunks(a, b uint32) int {
	if len(s.segments) == 1 {
		return cmp.Compare(a, b)
	}
	if x, y := s.fileOfChunk(a), s.fileOfChunk(b); x != y {
		return s.orderFiles(x, y)
	}
	return cmp.Compare(a, b)
}

// prefixed calls visit for every live declaration whose key starts with prefix, of at
// most limit distinct keys in their order, with its segment.
func (s *Snapshot) prefixed(prefix string, limit int, visit func(k int, d *def)) {
	type hit struct {
		segment int
		def     *def
	}
	var hits []hit
	var keys []string
	for k, seg := range s.segments {
		more, last := limit, ""
		seg.from(prefix, func(d *def) bool {
			switch {
			case s.dead[k].has(int(d.file)):
				return true
			case d.key == last:
			case more == 0:
				return false
			default:
				more, last = more-1, d.key
				keys = append(keys, d.key)
			}
			hits = append(hits, hit{k, d})
			return true
		})
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if len(keys) > limit {
		keys = keys[:limit]
	}
	for _, h := range hits {
		if h.def.key <= keys[len(keys)-1] {
			visit(h.segment, h.def)
		}
	}
}
