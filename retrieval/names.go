package retrieval

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// lookup calls visit for every declaration whose key is exactly key.
func (s *segment) lookup(key string, visit func(*def)) {
	i := sort.Search(len(s.byKey), func(i int) bool { return s.key(s.byKey[i]) >= key })
	for ; i < len(s.byKey) && s.key(s.byKey[i]) == key; i++ {
		visit(s.def(s.byKey[i]))
	}
}

// from calls visit for the declarations whose key starts with prefix, in the order of
// their keys, until it answers false.
func (s *segment) from(prefix string, visit func(*def) bool) {
	i := sort.Search(len(s.byKey), func(i int) bool { return s.key(s.byKey[i]) >= prefix })
	for ; i < len(s.byKey) && strings.HasPrefix(s.key(s.byKey[i]), prefix) && visit(s.def(s.byKey[i])); i++ {
	}
}

// similar calls visit for every declaration whose key is within maxEdits edits
// of key, with the number of edits. It looks at the length and the letters of
// every distinct key, and computes the distance for the few that can be near.
func (s *segment) similar(key string, maxEdits int, visit func(*def, int)) {
	want := letterMask(key)
	var rows editRows
	for i, k := range s.keys {
		if n := int(k.length) - len(key); n > maxEdits || -n > maxEdits || bits.OnesCount32(want^k.letters) > 2*maxEdits {
			continue
		}
		edits := rows.distance(key, s.key(s.byKey[k.first]), maxEdits)
		if edits > maxEdits {
			continue
		}
		end := len(s.byKey)
		if i+1 < len(s.keys) {
			end = int(s.keys[i+1].first)
		}
		for _, d := range s.byKey[k.first:end] {
			visit(s.def(d), edits)
		}
	}
}

// nameKey is one distinct key of a segment's declarations, with what tells most
// keys apart from a misspelled one without reading them.
type nameKey struct {
	first   uint32 // in byKey
	letters uint32
	length  uint16 // bytes
}

func (s *segment) indexKeys() {
	last := ""
	for i, d := range s.byKey {
		if k := s.key(d); i == 0 || k != last {
			s.keys = append(s.keys, nameKey{uint32(i), letterMask(k), uint16(min(len(k), math.MaxUint16))})
			last = k
		}
	}
	s.keys = slices.Clip(s.keys)
}

// letterMask has a bit for each letter that occurs: an edit changes at most two.
func letterMask(s string) uint32 {
	m := uint32(0)
	for i := 0; i < len(s); i++ {
		m |= 1 << (s[i] & 31)
	}
	return m
}

// editRows is scratch space for distance.
type editRows struct{ before, previous, current []int }

// distance is the optimal string alignment distance (Damerau 1964: insertions,
// deletions, substitutions and swaps of neighbours) between a and b in bytes,
// or limit+1 when it is more.
func (r *editRows) distance(a, b string, limit int) int {
	n := len(b) + 1
	for len(r.before) < n {
		r.before, r.previous, r.current = append(r.before, 0), append(r.previous, 0), append(r.current, 0)
	}
	before, previous, current := r.before[:n], r.previous[:n], r.current[:n]
	for j := range previous {
		previous[j] = j
	}
	leastBefore := 0
	for i := 1; i <= len(a); i++ {
		current[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			current[j] = d
			least = min(least, d)
		}
		// A swap reaches over one row, so two rows must be past the limit.
		if least > limit && leastBefore >= limit {
			return limit + 1
		}
		leastBefore = least
		before, previous, current = previous, current, before
	}
	return min(previous[len(b)], limit+1)
}
