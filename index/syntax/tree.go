package syntax

import (
	"errors"
	"math"
	"sync"

	"quarry/index/lang"
	"quarry/index/syntax/treesitter"
)

// node is a node of a tree; what is computed from trees is written in terms of it.
type node = treesitter.Node

// parseLimit bounds a parse, in microseconds of the processor. Source takes 0.1 to 0.3 a byte,
// C full of macros 1.7; the limit is for text that is not what its name says, on which error
// recovery takes time in the square of the length: far enough from the normal
// that load does not decide how a file is read.
func parseLimit(size int) int { return 1_000_000 + 5*size }

// limit bounds the parse of a file of the language.
func (l *language) limit(size int) int {
	if l.deep {
		return openLimit(size, true)
	}
	return parseLimit(size)
}

// shortOf is File.Short of a text of size bytes that was given up in some room.
func shortOf(room int64, size int) int64 {
	if room < treesitter.Needs(int64(size)) {
		return max(1, room)
	}
	return 0
}

// MayParse answers whether a text of size bytes that was given up with short bytes of room may
// be parsed now: there is all that a parse may take, or so much more than then that the
// difference is not the moment's.
func MayParse(size, short int64) bool { return hasRoom(parseRoom(), size, short) }

func hasRoom(room, size, short int64) bool {
	return room >= min(treesitter.Needs(size), short+short/4)
}

// ErrTooLarge is returned for text whose offsets do not fit in 32 bits.
var ErrTooLarge = errors.New("file of 4 GB or more cannot be indexed")

// Tree is the syntax tree of one version of an open document, with its text.
// It is immutable and safe for concurrent use: Update makes the tree of the
// next version from it.
//
// A Tree of a language without a grammar, one the parser gave up on, and a
// closed one hold no syntax tree; their methods work all the same, by lines or
// by parsing anew.
type Tree struct {
	language   string
	src        []byte
	parsed     []byte // src as the parser sees it, of the same length
	unparsable bool   // the parser gave up on it
	short      int64  // File.Short

	mu      sync.Mutex       // guards what follows, which Close frees
	tree    *treesitter.Tree // nil if there is none
	version *version         // nil before the parse and in a language without a grammar
}

// Parse parses a whole text. The caller must not change src afterwards, and
// should Close the tree when done: the memory it frees is not Go's, so that
// the garbage collector does not know its size.
func Parse(language string, src []byte) (*Tree, error) {
	if uint64(len(src)) >= math.MaxUint32 {
		return nil, ErrTooLarge
	}
	t := newTree(lang.Canonical(language), src, false)
	t.parse(nil, true)
	return t, nil
}

func newTree(language string, src []byte, unparsable bool) *Tree {
	t := &Tree{language: language, src: src, parsed: src, unparsable: unparsable}
	if l := languageFor(language); l != nil && l.mask != nil {
		t.parsed = l.mask(src)
	}
	return t
}

// Update returns the tree of the document's next version. What did not change
// is not parsed again; for text without syntax errors the result equals that of
// Parse, around errors it may recover in another way. The edit is found by
// comparing the texts (microseconds), so that no missed or misreported change
// can make tree and text disagree. t stays usable. Text that the parser gave up
// on once is not tried again.
func (t *Tree) Update(src []byte) (*Tree, error) {
	if uint64(len(src)) >= math.MaxUint32 {
		return nil, ErrTooLarge
	}
	next := newTree(t.language, src, t.unparsable)
	next.short = t.short
	old := t.copyTree()
	if old != nil {
		defer old.Close()
	}
	next.parse(old, false)
	return next, nil
}

// Language returns the identifier of the tree's language.
func (t *Tree) Language() string { return t.language }

// Close frees the tree's memory. Further use is slower, not wrong.
func (t *Tree) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tree != nil {
		t.tree.Close()
		t.tree = nil
	}
	if t.version != nil {
		t.version.release()
		t.version = nil
	}
}

// Whole answers whether the text was parsed without the help of an older version, or
// as if: around errors the two may differ.
func (t *Tree) Whole() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unparsable || t.version == nil || t.version.whole || t.version.errors == 0
}

// Analyze returns what the text yields; see the function of that name.
func (t *Tree) Analyze() *File {
	f, _ := t.analyze()
	return f
}

// analyze is Analyze, and answers whether the syntax tree was read.
func (t *Tree) analyze() (f *File, bySyntax bool) {
	lines := newLineTable(t.src)
	tree := t.copyTree()
	if tree == nil { // closed
		again := newTree(t.language, t.src, t.unparsable)
		again.short = t.short
		again.parse(nil, true)
		defer again.Close()
		tree = again.copyTree()
	}
	if tree == nil {
		return t.analyzeLines(lines, t.unparsable), false
	}
	nodes, release := tree.Nodes()
	defer release()
	tree.Close()
	return t.analyzeNodes(nodes, lines)
}

// analyzeLines reads a text without a syntax tree. instead: it should have one.
func (t *Tree) analyzeLines(lines lineTable, instead bool) *File {
	f := analyzeLines(t.language, t.src, lines)
	if instead {
		f.Errors = []Span{lines.span(0, uint32(len(t.src)))}
		f.Short = t.short
	}
	return f
}

// analyzeNodes reads a syntax tree, unless it is too dense.
func (t *Tree) analyzeNodes(nodes []node, lines lineTable) (f *File, bySyntax bool) {
	a, f := analyzeTree(t.language, languageFor(t.language).facts, nodes, t.src, lines)
	if !a.dense {
		f.Chunks = a.chunks(f)
	}
	if a.dense {
		return t.analyzeLines(lines, true), false
	}
	return f, true
}

// copyTree returns a copy that the caller owns, nil if there is no tree.
func (t *Tree) copyTree() *treesitter.Tree {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tree == nil {
		return nil
	}
	return t.tree.Copy()
}

// parse sets the syntax tree, with the help of an older one if there is one, or as
// another Tree of the same text has it. It stays nil where there is no grammar and
// where the parser gives up. whole is versionOf's.
func (t *Tree) parse(old *treesitter.Tree, whole bool) {
	l := languageFor(t.language)
	if l == nil || t.unparsable {
		return
	}
	t.version = versionOf(l, t.language, old, t.parsed, whole)
	if t.unparsable = t.version.tree == nil; t.unparsable {
		t.short = t.version.short
	} else {
		t.tree = t.version.tree.Copy()
	}
}

// trimNodes takes the white space at both ends out of every node: grammars
// differ in whether a line comment, a heading or a name includes it.
func trimNodes(nodes []node, src []byte) {
	for i := range nodes {
		n := &nodes[i]
		for n.Start < n.End && isSpace(src[n.Start]) {
			n.Start++
		}
		for n.Start < n.End && isSpace(src[n.End-1]) {
			n.End--
		}
	}
}
