package retrieval

import (
	"slices"
	"sort"
	"strings"
)

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
