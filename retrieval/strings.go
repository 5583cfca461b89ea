package retrieval

import "slices"

// stringTable numbers strings, one behind the other in text: string i ends where
// starts[i+1] says. It is immutable.
type stringTable struct {
	starts []uint32
	text   string
}

func (t stringTable) at(i uint32) string { return t.text[t.starts[i]:t.starts[i+1]] }

// more begins with the strings of a table, in their places. Those are not looked for
// again: a string that is one of them gets a second number.
func (t stringTable) more() *stringsBuilder {
	b := newStrings()
	if len(t.starts) > 0 {
		b.starts, b.text = slices.Clone(t.starts), []byte(t.text)
	}
	return b
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
	known := make([]uint32, max(len(t.starts)-1, 0)) // the number plus 1
	return func(i uint32) uint32 {
		if known[i] == 0 {
			known[i] = b.id(t.at(i)) + 1
		}
		return known[i] - 1
	}
}

func (b *stringsBuilder) table() stringTable { return stringTable{b.starts, string(b.text)} }
