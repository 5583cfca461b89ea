package retrieval

import (
	"fmt"
	"sort"
	"strings"

	"quarry/index/syntax"
)

// PieceKind is the part a piece plays in a context.
type PieceKind string

// The kinds of pieces, in the order they are packed.
const (
	PieceHere      PieceKind = "here"      // the text around the cursor
	PieceSignature PieceKind = "signature" // declarations without bodies
	PieceChunk     PieceKind = "chunk"
	PieceSummary   PieceKind = "summary"
)

// Piece is one excerpt of a packed context. Lines are 1-based and inclusive.
type Piece struct {
	Kind               PieceKind
	Path               string
	StartLine, EndLine int
	Text               string
	// Why says what brought it here, for the trace.
	Why string
}

// Ref is the piece's citation, path:start-end.
func (p Piece) Ref() string { return fmt.Sprintf("%s:%d-%d", p.Path, p.StartLine, p.EndLine) }

// String is the piece as a model reads it: its citation on a line of its own,
// then the text, ending with a line break.
func (p Piece) String() string {
	text := p.Text
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return p.Ref() + "\n" + text
}

// Excerpt is material for packing.
type Excerpt struct {
	Path string
	// StartLine is the 1-based line Text starts on.
	StartLine int
	Text      string
	Why       string
	// Cuts are the 1-based lines of the file before which Text may end, in order:
	// where declarations and statements start. With none, Text is taken whole or
	// not at all.
	Cuts []int
}

func (e *Excerpt) endLine() int {
	return e.StartLine + strings.Count(strings.TrimSuffix(e.Text, "\n"), "\n")
}

// Material is what may go into a context, each list in order of worth.
type Material struct {
	// Here is the file at the cursor, whole, with the cursor's 1-based line;
	// nil if there is none.
	Here     *Excerpt
	HereLine int

	Signatures, Chunks, Summaries []Excerpt
}

// Budget bounds a packed context. Every field is a hard limit.
type Budget struct {
	// Bytes and Tokens bound the sum over the pieces' String.
	Bytes, Tokens int
	// Chunks bounds the pieces of kind PieceChunk, PerFile those of one file;
	// 12 and 2 if 0.
	Chunks, PerFile int
}

const (
	defaultChunks  = 12
	defaultPerFile = 2

	// The window around the cursor has at most hereMost lines and, when that does
	// not fit its share of the budget, shrinks; two thirds stand before the
	// cursor, since what is being written follows from what is above it.
	hereMost        = 400
	hereBeforeShare = 2. / 3
	// hereShare of the budget is for the window while there is other material.
	hereShare = .6
)

// Pack chooses from material, in the order the window around the cursor,
// signatures, chunks, summaries, what fits the budget. It is pure: the same
// input gives the same pieces in the same order, and raising a budget never
// drops the window. tokens counts the tokens of a text; for the sum to bound the
// joined text it must not grow by joining.
//
// A piece never overlaps one packed before it, and no chunk is nearly the text of
// one of more worth. A chunk too long for what is left
// ends before the last of its cuts that fits.
func Pack(m Material, b Budget, tokens func(string) int) []Piece {
	if b.Chunks <= 0 {
		b.Chunks = defaultChunks
	}
	if b.PerFile <= 0 {
		b.PerFile = defaultPerFile
	}
	p := packer{budget: b, tokens: tokens, bytesLeft: b.Bytes, tokensLeft: b.Tokens, perFile: map[string]int{}}
	if m.Here != nil {
		share := 1.0
		if len(m.Signatures)+len(m.Chunks)+len(m.Summaries) > 0 {
			share = hereShare
		}
		p.here(m.Here, m.HereLine, share)
	}
	for i := range m.Signatures {
		p.whole(PieceSignature, &m.Signatures[i])
	}
	chunks := 0
	like := nearDuplicates(m.Chunks)
	for i := range m.Chunks {
		e := &m.Chunks[i]
		if chunks == b.Chunks {
			break
		}
		if like[i] != i || p.perFile[e.Path] == b.PerFile {
			continue
		}
		if p.trimmed(e) {
			chunks++
			p.perFile[e.Path]++
		}
	}
	for i := range m.Summaries {
		p.whole(PieceSummary, &m.Summaries[i])
	}
	return p.out
}

// nearDuplicates answers for each excerpt the index of the first that is nearly the
// same text: copies with a renamed variable tell a model nothing new.
func nearDuplicates(excerpts []Excerpt) []int {
	prints := make([]uint64, len(excerpts))
	for i := range excerpts {
		prints[i] = syntax.Fingerprint([]byte(excerpts[i].Text))
	}
	return syntax.NearDuplicates(prints)
}

// linesOf splits a text into lines with their line breaks.
func linesOf(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if n := len(lines); lines[n-1] == "" && n > 1 {
		lines = lines[:n-1]
	}
	return lines
}

type packer struct {
	budget                Budget
	tokens                func(string) int
	bytesLeft, tokensLeft int
	perFile               map[string]int
	out                   []Piece
}

// fits answers whether a piece fits a share of what is left.
func (p *packer) fits(piece Piece, share float64) bool {
	text := piece.String()
	return float64(len(text)) <= share*float64(p.bytesLeft) && float64(p.tokens(text)) <= share*float64(p.tokensLeft)
}

func (p *packer) take(piece Piece) {
	text := piece.String()
	p.bytesLeft -= len(text)
	p.tokensLeft -= p.tokens(text)
	p.out = append(p.out, piece)
}

// overlaps answers whether a piece of the same file is there already. A summary
// speaks of a file, not of its lines.
func (p *packer) overlaps(path string, from, to int) bool {
	for _, o := range p.out {
		if o.Kind != PieceSummary && o.Path == path && from <= o.EndLine && o.StartLine <= to {
			return true
		}
	}
	return false
}

func (p *packer) whole(kind PieceKind, e *Excerpt) {
	piece := Piece{kind, e.Path, e.StartLine, e.endLine(), e.Text, e.Why}
	if strings.TrimSpace(e.Text) == "" || kind != PieceSummary && p.overlaps(e.Path, piece.StartLine, piece.EndLine) {
		return
	}
	if p.fits(piece, 1) {
		p.take(piece)
	}
}

// trimmed takes a chunk, or its longest head that ends before a cut and fits.
func (p *packer) trimmed(e *Excerpt) bool {
	lines := linesOf(e.Text)
	// ends are how many lines may be taken, in rising order.
	var ends []int
	for _, cut := range e.Cuts {
		if n := cut - e.StartLine; n > 0 && n < len(lines) {
			ends = append(ends, n)
		}
	}
	ends = append(ends, len(lines))
	sort.Ints(ends)
	piece := func(n int) Piece {
		for n > 1 && strings.TrimSpace(lines[n-1]) == "" {
			n--
		}
		return Piece{PieceChunk, e.Path, e.StartLine, e.StartLine + n - 1, strings.Join(lines[:n], ""), e.Why}
	}
	for i := len(ends) - 1; i >= 0; i-- {
		c := piece(ends[i])
		if strings.TrimSpace(c.Text) == "" || p.overlaps(e.Path, c.StartLine, c.EndLine) || !p.fits(c, 1) {
			continue
		}
		p.take(c)
		return true
	}
	return false
}

// here takes the largest window around line that fits share of the budget.
func (p *packer) here(e *Excerpt, line int, share float64) {
	lines := linesOf(e.Text)
	at := min(max(line-e.StartLine, 0), len(lines)-1)
	window := func(n int) Piece {
		before := min(at, int(float64(n-1)*hereBeforeShare))
		from := at - before
		to := min(len(lines), from+n)
		from = max(0, to-n)
		from = snapToCut(e, from, at)
		return Piece{PieceHere, e.Path, e.StartLine + from, e.StartLine + to - 1, strings.Join(lines[from:to], ""), e.Why}
	}
	// The cost need not grow with every line, but a window of n lines that fits
	// is found whenever all smaller ones do.
	n := sort.Search(min(hereMost, len(lines)), func(n int) bool { return !p.fits(window(n+1), share) })
	if n > 0 {
		if w := window(n); p.fits(w, share) && strings.TrimSpace(w.Text) != "" {
			p.take(w)
		}
	}
}

// snapToCut moves the start of a window down to the next place where a
// declaration or statement starts, if one comes within a quarter of the way to
// the cursor.
func snapToCut(e *Excerpt, from, at int) int {
	if from == 0 {
		return 0
	}
	for _, cut := range e.Cuts {
		if n := cut - e.StartLine; n >= from && n <= from+(at-from)/4 {
			return n
		}
	}
	return from
}
