package syntax

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"unicode/utf8"
)

// piece is a chunk's range.
type piece struct{ start, end uint32 }

// cutLine cuts what is one line, if it is excessive, at a blank or separator
// near the limit.
func (c *chunker) cutLine(start, end uint32) {
	if p := c.withoutBlankLines(piece{start, end}); int(p.end-p.start) <= maxLine {
		c.pieces = append(c.pieces, p)
		return
	}
	for int(end-start) > c.limit {
		window := c.src[start : start+uint32(c.limit)]
		n := 1 + bytes.LastIndexAny(window[len(window)*3/4:], " \t,;{}>\x00")
		if n > 0 {
			n += len(window) * 3 / 4
		} else {
			for n = len(window); n > len(window)-utf8.UTFMax && !utf8.RuneStart(c.src[start+uint32(n)]); n-- {
			}
		}
		c.addPiece(start, start+uint32(n))
		start += uint32(n)
	}
	c.addPiece(start, end)
}

// addPiece adds what is not blank.
func (c *chunker) addPiece(start, end uint32) {
	if p := c.withoutBlankLines(piece{start, end}); p.start < p.end {
		c.pieces = append(c.pieces, p)
	}
}

// finish makes chunks of the pieces that hold more than blanks.
func (c *chunker) finish(comments []piece) []Chunk {
	chunks := make([]Chunk, 0, len(c.pieces))
	byName := make([]int, len(c.file.Symbols)) // symbols in the order of their names
	for i := range byName {
		byName[i] = i
	}
	symbols := c.file.Symbols
	slices.SortFunc(byName, func(x, y int) int { return cmp.Compare(symbols[x].NameSpan.Start, symbols[y].NameSpan.Start) })
	text := contentOf(c.language)
	for _, p := range c.pieces {
		chunk := Chunk{Span: c.lines.span(p.start, p.end), Content: text, Hash: c.hash(p)}
		for len(byName) > 0 && symbols[byName[0]].NameSpan.Start < p.end {
			if symbols[byName[0]].NameSpan.Start >= p.start {
				chunk.Symbols = append(chunk.Symbols, byName[0])
			}
			byName = byName[1:]
		}
		slices.SortStableFunc(chunk.Symbols, func(x, y int) int {
			return cmp.Compare(importance(symbols[y].Kind), importance(symbols[x].Kind))
		})
		covered := 0
		for len(comments) > 0 && comments[0].start < p.end {
			covered += max(0, int(min(comments[0].end, p.end))-int(max(comments[0].start, p.start)))
			if comments[0].end > p.end {
				break
			}
			comments = comments[1:]
		}
		if text == ContentCode && covered*10 >= 8*int(p.end-p.start) {
			chunk.Content = ContentComment
		}
		chunks = append(chunks, chunk)
	}
	return chunks
}

// withoutBlankLines takes the blank lines at both ends off a piece, and the
// white space at its end.
func (c *chunker) withoutBlankLines(p piece) piece {
	for p.start < p.end && isSpace(c.src[p.end-1]) {
		p.end--
	}
	text := c.src[p.start:p.end]
	blank := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	p.start += uint32(bytes.LastIndexByte(text[:blank], '\n') + 1)
	return p
}

func (c *chunker) hash(p piece) (sum [16]byte) {
	h := sha256.New()
	h.Write([]byte(c.language))
	h.Write([]byte{0})
	h.Write(c.src[p.start:p.end])
	copy(sum[:], h.Sum(nil))
	return sum
}

// importance orders the symbols of a chunk.
func importance(k Kind) int {
	switch k {
	case KindClass, KindStruct, KindInterface, KindEnum, KindType, KindModule:
		return 4
	case KindFunction, KindMethod, KindMacro:
		return 3
	case KindConst, KindVar, KindSection:
		return 2
	}
	return 1
}

func commentRanges(nodes []node, marks []captureRole) []piece {
	var out []piece
	for i, m := range marks {
		if m == captureComment {
			out = append(out, piece{nodes[i].Start, nodes[i].End})
		}
	}
	return out
}
