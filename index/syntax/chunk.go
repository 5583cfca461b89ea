package syntax

import (
	"bytes"

	"quarry/index/lang"
)

// How a file is cut into chunks.
//
// The text is a run of atoms: pieces of whole lines that start where a node of
// the tree starts, a declaration with its comments being one. A run that fits
// in a chunk is one. A longer run is cut at its strongest boundary and both
// halves are treated alike; a single atom too long for a chunk is replaced by
// the run of the nodes inside it, and where no nodes are left, by its lines.
//
//	run of a file     |import|const|func A|func B      |type C|func D|
//	strongest cut                         ^
//	halves            |import|const|func A|   |func B      |type C|func D|
//	fits: a chunk                             ^ cut, and so on
//
// Which boundary is the strongest must not depend on sizes, or an edit would
// move cuts all the way down the file. So it depends on what starts there
// alone: first whether that is a declaration and whether a blank line precedes,
// then a hash of the declaration's name (if it has none, of the text up to the end
// of its first line with a word: the elements of a table all start with a brace).
// What is alike even so is told apart by more of its text, and what is the same
// again and again cut in the middle. The cuts
// form a treap over the atoms, and an edit inside one atom touches only pieces
// that hold the atom: its chunk is cut in two when it outgrows the limit, or
// grows together with its neighbour when both shrink below it. Every other
// chunk keeps its text, hence its hash, its id and its embedding.
//
// Pieces of a random cut are uniformly long up to the limit, so that the limit
// of 2,000 bytes gives an average of 1,000, the middle of what was measured to
// retrieve best (750 to 1,500 characters; above 2,000 it got worse, which is
// why there is no 12 KB chunk here).
const (
	maxChunk = 2000
	// A line longer than this is cut inside; shorter ones stay whole, so that
	// a chunk may exceed maxChunk by what one line forces.
	maxLine = 2 * maxChunk
	// overlap is how much of the text before it a chunk of a file without
	// syntax repeats, in bytes: there cuts fall anywhere.
	overlap = 200
)

// atom is a piece of text that is cut only if it does not fit in a chunk. It
// ends where the next one of its run starts.
type atom struct {
	start    uint32 // the start of a line
	node     uint32 // the node to find smaller atoms in, none if there is none
	joined   bool   // a comment or attribute that belongs to what follows
	strength uint8
	id       uint64
	more     uint64 // the hash of more of its text, 0 until it is needed
}

// chunker cuts one file.
type chunker struct {
	src      []byte
	lines    lineTable
	language string
	file     *File
	limit    int
	comment  lang.Comment      // how comments are written, in files without syntax
	starts   map[uint32]uint64 // line start of a symbol's span -> the hash of the outermost such
	nodes    []node            // nil for a file without syntax
	marks    []captureRole
	bodies   map[uint32]uint32 // node of a declaration -> its body
	leads    map[uint32]uint32 // node of a declaration -> start of its comments
	isNamed  func(symbol uint16) bool

	pieces []piece
	most   int // how many pieces there may be, 0 for any number
}

// isFull answers whether there are more pieces than there may be, with which cutting ends.
func (c *chunker) isFull() bool { return c.most > 0 && len(c.pieces) > c.most }

// chunks cuts a parsed file, or finds that it is too dense.
func (a *analysis) chunks(f *File) []Chunk {
	c := newChunker(f, a.src, a.lines)
	c.nodes, c.marks, c.isNamed = a.nodes, a.marks, a.query.query.IsNamed
	for i := range a.declarations {
		d := &a.declarations[i]
		if d.body != none {
			c.bodies[d.outer] = d.body
		}
		if d.kind != "" && d.symbol >= 0 {
			c.leads[d.outer] = f.Symbols[d.symbol].Span.Start
		}
	}
	c.most = mostChunks(len(a.src))
	c.split([]atom{{start: 0, node: 0}}, uint32(len(a.src)))
	if a.dense = c.isFull(); a.dense {
		return nil
	}
	return c.finish(commentRanges(a.nodes, a.marks))
}

func newChunker(f *File, src []byte, lines lineTable) *chunker {
	c := &chunker{
		src: src, lines: lines, language: f.Language, file: f, limit: maxChunk,
		starts: make(map[uint32]uint64, len(f.Symbols)), bodies: map[uint32]uint32{}, leads: map[uint32]uint32{},
	}
	for i := range f.Symbols {
		symbol := &f.Symbols[i]
		at := lines.start(symbol.Span.StartLine)
		if _, ok := c.starts[at]; !ok {
			c.starts[at] = boundaryHash(string(symbol.Kind), symbol.Container, symbol.Name)
		}
	}
	return c
}

// split cuts a run that ends at end into pieces.
func (c *chunker) split(run []atom, end uint32) {
	if !c.addIfFits(run[0].start, end) {
		c.splitPart(c.newCutPoints(run, end), 0, len(run), end)
	}
}

// addIfFits adds a text as one piece if it is no longer than one may be.
func (c *chunker) addIfFits(start, end uint32) bool {
	p := c.withoutBlankLines(piece{start, end})
	if int(p.end-p.start) > c.limit {
		return false
	}
	c.addPiece(p.start, p.end)
	return true
}

// splitPart cuts the atoms from low to high, which end at end.
func (c *chunker) splitPart(p *cutPoints, low, high int, end uint32) {
	for !c.isFull() && !c.addIfFits(p.run[low].start, end) {
		if high-low == 1 {
			c.splitAtom(p.run[low], end)
			return
		}
		at := p.strongest(low, high)
		c.splitPart(p, low, at, p.run[at].start)
		low = at
	}
}

// splitAtom cuts an atom that is too long for a piece.
func (c *chunker) splitAtom(a atom, end uint32) {
	inner := c.inside(a, end)
	if len(inner) < 2 {
		inner = c.linesOf(a.start, end, closes)
	}
	if len(inner) < 2 {
		inner = c.linesOf(a.start, end, func([]byte) bool { return false })
	}
	if len(inner) < 2 {
		c.cutLine(a.start, end)
		return
	}
	c.split(inner, end)
}

// inside returns the atoms a large atom consists of: the nodes inside it, on
// whatever level, that start a line. The first atom is the text before them: a
// declaration's comments and head are never cut from each other.
func (c *chunker) inside(a atom, end uint32) []atom {
	if a.node == none {
		return nil
	}
	floor := c.lineStart(c.nodes[a.node].Start)
	if body, ok := c.bodies[a.node]; ok {
		floor = c.lineStart(c.nodes[body].Start)
	}
	run, _ := c.gather([]atom{{start: a.start, node: none}}, a.node, floor, end)
	return c.weigh(run, end)
}

// gather appends the nodes below parent that start a line after floor.
func (c *chunker) gather(run []atom, parent, floor, end uint32) ([]atom, uint32) {
	for i := parent + 1; i < c.nodes[parent].Next; i = c.nodes[i].Next {
		n := &c.nodes[i]
		if n.Start == n.End || n.Start >= end {
			continue
		}
		at := c.lineStart(n.Start)
		switch {
		case at > floor && startsLine(c.src, n.Start) && c.isNamed(n.Symbol) && !closes(c.src[n.Start:n.End]):
			if lead, ok := c.leads[i]; ok && lead < at && c.lineStart(lead) > run[len(run)-1].start {
				at = c.lineStart(lead) // the comment may be in the node before
			}
			run = append(run, atom{start: at, node: i, joined: c.marks[i] == captureComment || c.marks[i] == captureLeading})
			floor = at
		case c.lines.line(n.Start) < c.lines.line(n.End): // searched for, a long line would be read for each node
			run, floor = c.gather(run, i, floor, end)
		}
	}
	return run, floor
}

// linesOf returns the lines of a piece of text as atoms, the less indented the
// stronger. Lines that belong to the one before start none.
func (c *chunker) linesOf(start, end uint32, belongs func([]byte) bool) []atom {
	run := []atom{{start: start, node: none}}
	for line := c.lines.line(start) + 1; int(line) <= len(c.lines) && c.lines.start(line) < end; line++ {
		at := c.lines.start(line)
		text := bytes.TrimSpace(c.src[at:min(end, c.lines.end(line, len(c.src)))])
		if len(text) == 0 || belongs(text) {
			continue
		}
		run = append(run, atom{start: at, node: none, joined: c.comment.Starts(string(text[:min(len(text), longestMark)]))})
	}
	run = c.weigh(run, end)
	for i := range run {
		depth := 0
		for _, b := range c.src[run[i].start:end] {
			if b == '\t' {
				depth += 4
			} else if b == ' ' {
				depth++
			} else {
				break
			}
		}
		run[i].strength += uint8(8 * (12 - min(depth, 24)/2))
	}
	return run
}

// weigh joins comments to what follows them and gives each atom its strength.
func (c *chunker) weigh(run []atom, end uint32) []atom {
	// From the end: the lines of a comment join one by one.
	out := len(run)
	for i := len(run) - 1; i >= 0; i-- {
		if i > 0 && out < len(run) && run[i].joined && !c.blankBefore(run[out].start) {
			run[out].start = run[i].start
			continue
		}
		out--
		run[out] = run[i]
	}
	run = run[out:]
	for i := range run {
		a := &run[i]
		if c.blankBefore(a.start) {
			a.strength = 1
		}
		if id, ok := c.starts[a.start]; ok && i > 0 {
			a.strength += 2
			a.id = id
			continue
		}
		a.id = boundaryHash(bytes.TrimSpace(c.headOf(a.start, end)))
	}
	return run
}

// headOf is the text from start to the end of the first line that holds a word, or
// of the first line if the next few hold none.
func (c *chunker) headOf(start, end uint32) []byte {
	first := c.lines.line(start)
	for line := first; line < first+4 && int(line) <= len(c.lines) && c.lines.start(line) < end; line++ {
		head := c.src[start:min(end, c.lines.end(line, len(c.src)))]
		if bytes.ContainsFunc(head, isWordRune) {
			return head
		}
	}
	return c.src[start:min(end, c.lines.end(first, len(c.src)))]
}

func isWordRune(r rune) bool { return r >= 0x80 || isWordByte(byte(r)) }

func (c *chunker) lineStart(offset uint32) uint32 { return c.lines.start(c.lines.line(offset)) }

// blankBefore tells whether the line before the one starting at offset is
// blank.
func (c *chunker) blankBefore(offset uint32) bool {
	if offset == 0 {
		return false
	}
	return len(bytes.TrimSpace(c.src[c.lineStart(offset-1):offset])) == 0
}

// closes tells whether a text only ends what stands before it, so that no
// chunk should start there.
func closes(text []byte) bool {
	switch text[0] {
	case '}', ')', ']':
		return true
	case '<':
		return len(text) > 1 && text[1] == '/'
	case 'e':
		return bytes.HasPrefix(text, []byte("end")) && (len(text) == 3 || !isWordByte(text[3]))
	}
	return false
}

// boundaryHash is FNV-1a over the parts, mixed: its high bits vary little for
// short strings.
func boundaryHash[T string | []byte](parts ...T) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return mix(h)
}
