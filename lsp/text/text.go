// Package text is the immutable text of a document and the one home of all
// position conversion. A Text is a value that any number of goroutines may
// read; an edit makes a new one that shares nothing mutable with the old.
//
// Offsets are bytes into valid UTF-8. Lines end at "\n", "\r\n" or a lone "\r",
// as LSP says; a text ending in a line break has an empty last line.
package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Encoding is the unit in which a client counts characters within a line
// (LSP 3.17, PositionEncodingKind).
type Encoding string

// The encodings of LSP. A client that names none speaks UTF16.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	UTF32 Encoding = "utf-32"
)

// Position is a place as LSP counts: a 0-based line and a 0-based character in
// units of an Encoding.
type Position struct {
	Line, Character uint32
}

// After is the position behind s when s is inserted at p.
func (p Position) After(s string, enc Encoding) Position {
	t := New(s)
	end := t.OffsetToPosition(t.Len(), enc)
	if end.Line == 0 {
		return Position{p.Line, p.Character + end.Character}
	}
	return Position{p.Line + end.Line, end.Character}
}

// ErrOutside is wrapped by errors about positions that no reading of LSP places
// in the text.
var ErrOutside = errors.New("position outside the document")

// Text is an immutable text with its line starts.
type Text struct {
	text string
	// starts[i] is the offset of the first byte of line i; starts[0] is 0.
	starts []int
}

// New makes a Text of s. Invalid UTF-8 is replaced by U+FFFD, so that every
// later conversion is over valid text.
func New(s string) Text {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return Text{text: s, starts: appendStarts([]int{0}, s, 0, len(s))}
}

// String is the whole text.
func (t Text) String() string { return t.text }

// Len is the length in bytes.
func (t Text) Len() int { return len(t.text) }

// LineCount is the number of lines, at least 1.
func (t Text) LineCount() int { return len(t.starts) }

// Line is line i without its line break.
func (t Text) Line(i int) string {
	start, end := t.LineBounds(i)
	return t.text[start:end]
}

// LineBounds is the byte range of line i without its line break.
func (t Text) LineBounds(i int) (start, end int) {
	start, end = t.starts[i], len(t.text)
	if i+1 == len(t.starts) {
		return start, end
	}
	end = t.starts[i+1] - 1
	if t.text[end] == '\n' && end > start && t.text[end-1] == '\r' {
		end--
	}
	return start, end
}

// LineAt is the line that offset lies on; the break belongs to the line it ends.
func (t Text) LineAt(offset int) int {
	i, found := slices.BinarySearch(t.starts, offset)
	if found {
		return i
	}
	return i - 1
}

// Newline is the text's own line break: that of its first line, "\n" if it has
// none.
func (t Text) Newline() string {
	if len(t.starts) < 2 {
		return "\n"
	}
	_, end := t.LineBounds(0)
	return t.text[end:t.starts[1]]
}

// Replace makes the text in which [start, end) is s. The offsets must lie in
// the text on rune boundaries, start not after end.
func (t Text) Replace(start, end int, s string) Text {
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	b.Grow(len(t.text) - (end - start) + len(s))
	b.WriteString(t.text[:start])
	b.WriteString(s)
	b.WriteString(t.text[end:])
	next := Text{text: b.String()}

	// Breaks are looked for again only in the edit and in the byte before it, which a "\n" put
	// behind a lone "\r" joins; a line that began before that still does, and so does one that
	// begins behind the byte after the edit.
	first, _ := slices.BinarySearch(t.starts, start)
	last, _ := slices.BinarySearch(t.starts, end+1)
	shift := len(s) - (end - start)
	next.starts = make([]int, max(1, first), len(t.starts)+strings.Count(s, "\n")+1)
	copy(next.starts, t.starts[:first])
	next.starts = appendStarts(next.starts, next.text, max(0, start-1), start+len(s))
	for _, at := range t.starts[last:] {
		if at += shift; at > next.starts[len(next.starts)-1] { // or the scan has yielded it, too
			next.starts = append(next.starts, at)
		}
	}
	return next
}

// appendStarts appends the starts of the lines that begin in (from, to].
func appendStarts(starts []int, s string, from, to int) []int {
	for i := from; i < to; {
		j := strings.IndexAny(s[i:to], "\r\n")
		if j < 0 {
			break
		}
		i += j + 1
		if s[i-1] == '\r' && i < len(s) && s[i] == '\n' {
			i++
		}
		starts = append(starts, i)
	}
	return starts
}

// PositionToOffset converts p, counted in enc, to a byte offset. A character
// past the end of its line means the end of the line (LSP, Position), the line
// after the last means the end of the text, a character inside an astral rune
// means the rune's start. A line further out is ErrOutside.
func (t Text) PositionToOffset(p Position, enc Encoding) (int, error) {
	if int64(p.Line) == int64(len(t.starts)) {
		return len(t.text), nil
	}
	if int64(p.Line) > int64(len(t.starts)) {
		return 0, fmt.Errorf("line %d of a document of %d lines: %w", p.Line, len(t.starts), ErrOutside)
	}
	start, end := t.LineBounds(int(p.Line))
	return start + unitsToBytes(t.text[start:end], int64(p.Character), enc), nil
}

// OffsetToPosition converts a byte offset of the text to a Position in enc.
func (t Text) OffsetToPosition(offset int, enc Encoding) Position {
	line := t.LineAt(offset)
	start, end := t.LineBounds(line)
	return Position{
		Line:      uint32(line),
		Character: uint32(bytesToUnits(t.text[start:min(offset, end)], enc)),
	}
}

func unitsToBytes(line string, units int64, enc Encoding) int {
	if enc == UTF8 {
		n := int(min(units, int64(len(line))))
		for n > 0 && n < len(line) && !utf8.RuneStart(line[n]) {
			n--
		}
		return n
	}
	plain := asciiPrefix(line[:min(units, int64(len(line)))])
	units -= int64(plain)
	for i, r := range line[plain:] {
		width := int64(1)
		if enc != UTF32 && r > 0xFFFF {
			width = 2
		}
		if units < width {
			return plain + i
		}
		units -= width
	}
	return len(line)
}

// asciiPrefix is how many bytes of ASCII a text begins with, or up to seven less. Eight at a time, a line
// of megabytes takes milliseconds.
func asciiPrefix(s string) (n int) {
	for ; len(s)-n >= 8; n += 8 {
		if (s[n]|s[n+1]|s[n+2]|s[n+3]|s[n+4]|s[n+5]|s[n+6]|s[n+7])&0x80 != 0 {
			break
		}
	}
	return n
}

func bytesToUnits(s string, enc Encoding) int {
	switch enc {
	case UTF8:
		return len(s)
	case UTF32:
		return utf8.RuneCountInString(s)
	}
	n := asciiPrefix(s)
	for _, r := range s[n:] {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
