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

// stringTable numbers strings, one behind the other in text: string i ends where
// starts[i+1] says. It is immutable.
type stringTable struct {
	starts []uint32
	text   string
}

func (t stringTable) len() int { return max(len(t.starts)-1, 0) }

func (t stringTable) at(i uint32) string { return t.text[t.starts[i]:t.starts[i+1]] }

// find answers the number of a string of a table that is in order.
func (t stringTable) find(s string) (uint32, bool) {
	i := sort.Search(t.len(), func(i int) bool { return t.at(uint32(i)) >= s })
	return uint32(i), i < t.len() && t.at(uint32(i)) == s
}

// stringsBuilder collects the strings of a table, each once.
type stringsBuilder struct {
	ids    map[string]uint32
	starts []uint32
	text   []byte
}

func newStrings() *stringsBuilder {
	return &stringsBuilder{ids: map[string]uint32{}, starts: []uint32{0}}
}

func (b *stringsBuilder) id(s string) uint32 {
	id, ok := b.ids[s]
	if !ok {
		id = uint32(len(b.starts) - 1)
		b.ids[s] = id
		b.text = append(b.text, s...)
		b.starts = append(b.starts, uint32(len(b.text)))
	}
	return id
}

// from answers the number here of a string by its number in another table.
func (b *stringsBuilder) from(t stringTable) func(uint32) uint32 {
	known := make([]uint32, t.len()) // the number plus 1
	return func(i uint32) uint32 {
		if known[i] == 0 {
			known[i] = b.id(t.at(i)) + 1
		}
		return known[i] - 1
	}
}

func (b *stringsBuilder) table() stringTable {
	return stringTable{b.starts, string(b.text)}
}

// ordered is the table in the order of its strings, with the number that each has there.
func (b *stringsBuilder) ordered() (t stringTable, renumber []uint32) {
	given := b.table()
	order := make([]uint32, given.len())
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(given.at(x), given.at(y)) })
	t.starts, renumber = make([]uint32, 1, len(order)+1), make([]uint32, len(order))
	text := b.text[:0] // given has its own
	for i, id := range order {
		renumber[id] = uint32(i)
		text = append(text, given.at(id)...)
		t.starts = append(t.starts, uint32(len(text)))
	}
	t.text = string(text)
	return t, renumber
}
