package syntax

// analyzeLines reads a file without syntax: its declarations are found by the
// words its lines start with, its chunks are windows of lines.
func analyzeLines(language string, src []byte, lines lineTable) *File {
	f := &File{Language: language}
	c := newChunker(f, src, lines)
	c.limit = maxChunk - overlap
	c.split([]atom{{start: 0, node: none}}, uint32(len(src)))
	c.overlapPieces()
	f.Chunks = c.finish(nil)
	return f
}

// overlapPieces extends pieces that start in the middle of a paragraph by the
// lines before, up to overlap bytes.
func (c *chunker) overlapPieces() {
	for i := len(c.pieces) - 1; i > 0; i-- {
		p := &c.pieces[i]
		for at, own := p.start, p.start; at > 0 && !c.blankBefore(at); p.start = at {
			at = c.lineStart(at - 1)
			if own-at > overlap || at < c.pieces[i-1].start {
				break
			}
		}
	}
}
