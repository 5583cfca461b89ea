package syntax

import (
	"bytes"
	"slices"
)

// lineTable holds the byte offset at which each line starts. A line ends after
// its '\n'; a '\r' alone ends none, as in tree-sitter.
type lineTable []uint32

func newLineTable(src []byte) lineTable {
	t := make(lineTable, 1, 1+len(src)/32)
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			return t
		}
		at += i + 1
		t = append(t, uint32(at))
	}
}

// line returns the 1-based line that holds the byte at offset.
func (t lineTable) line(offset uint32) uint32 {
	i, found := slices.BinarySearch(t, offset)
	if found {
		i++
	}
	return uint32(i)
}

// start returns the offset of a 1-based line.
func (t lineTable) start(line uint32) uint32 { return t[line-1] }

// end returns the offset after a 1-based line and its line ending.
func (t lineTable) end(line uint32, size int) uint32 {
	if int(line) < len(t) {
		return t[line]
	}
	return uint32(size)
}

func (t lineTable) span(start, end uint32) Span {
	return Span{Start: start, End: end, StartLine: t.line(start), EndLine: t.line(max(end, start+1) - 1)}
}

// isWordByte reports whether c is of a word: all above ASCII are.
func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
