package syntax

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync"
	"unicode/utf8"

	sitter "github.com/smacker/go-tree-sitter"

	"quarry/index/pause"
)

// parseLimit bounds a parse, in microseconds; of the processor, where a text is read
// once. Source takes 0.1 to 0.3 a byte;
// the limit is for text that is not what its name says, on which error
// recovery takes time in the square of the length: far enough from the normal
// that load does not decide how a file is read.
func parseLimit(size int) int { return 1_000_000 + 5*size }

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
	language string
	src      []byte
	parsed   []byte // src as the parser sees it, of the same length
	hopeless bool   // the parser gave up on it

	mu   sync.Mutex   // guards tree: the binding writes to a tree that is only read
	tree *sitter.Tree // nil if there is none
}

// Parse parses a whole text. The caller must not change src afterwards, and
// should Close the tree when done: the memory it frees is not Go's, so that
// the garbage collector does not know its size.
func Parse(language string, src []byte) (*Tree, error) {
	if uint64(len(src)) >= math.MaxUint32 {
		return nil, ErrTooLarge
	}
	t := newTree(Canonical(language), src, false)
	t.parse(nil)
	return t, nil
}

func newTree(language string, src []byte, hopeless bool) *Tree {
	t := &Tree{language: language, src: src, parsed: src, hopeless: hopeless}
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
	next := newTree(t.language, src, t.hopeless)
	old := t.copyTree()
	if old == nil {
		next.parse(nil)
		return next, nil
	}
	defer old.Close()
	if bytes.Equal(t.parsed, next.parsed) {
		next.tree = old.Copy()
		return next, nil
	}
	old.Edit(editBetween(t.parsed, next.parsed))
	next.parse(old)
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
}

// Analyze returns what the text yields; see the function of that name.
func (t *Tree) Analyze() *File {
	lines := newLineTable(t.src)
	tree := t.copyTree()
	if tree == nil { // closed
		again := newTree(t.language, t.src, t.hopeless)
		again.parse(nil)
		tree = again.tree
	}
	if tree == nil {
		return t.analyzeLines(lines)
	}
	nodes, release := flatten(tree)
	defer release()
	tree.Close()
	return t.analyzeNodes(nodes, lines, nil)
}

// analyzeLines reads a text without a syntax tree.
func (t *Tree) analyzeLines(lines lineTable) *File {
	f := analyzeLines(t.language, t.src, lines)
	if t.hopeless {
		f.Errors = []Span{lines.span(0, uint32(len(t.src)))}
	}
	return f
}

func (t *Tree) analyzeNodes(nodes []node, lines lineTable, flag *pause.Flag) *File {
	a, f := analyzeTree(t.language, languageFor(t.language).facts, nodes, t.src, lines, flag)
	flag.Pass()
	f.Chunks = a.chunks(f)
	return f
}

// copyTree returns a copy that the caller owns, nil if there is no tree.
func (t *Tree) copyTree() *sitter.Tree {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tree == nil {
		return nil
	}
	return t.tree.Copy()
}

// parse sets the syntax tree, with the help of an older one if there is one. It
// stays nil where there is no grammar and where the parser gives up.
func (t *Tree) parse(old *sitter.Tree) {
	if l := languageFor(t.language); l != nil && !t.hopeless {
		t.tree = parse(l, old, t.parsed)
		t.hopeless = t.tree == nil
	}
}

// parse returns nil if the parser gives up.
//
// The context is never a cancellable one: the binding's cancel flag, set late,
// stays set and fails every later parse. A parser that did give up would go on
// with the old text at its next use, were it not reset.
func parse(l *language, old *sitter.Tree, src []byte) *sitter.Tree {
	p := l.parsers.Get().(*sitter.Parser)
	p.SetOperationLimit(parseLimit(len(src)))
	defer l.enter()()
	tree, err := p.ParseCtx(context.Background(), old, src)
	if err != nil {
		p.Reset()
	}
	l.parsers.Put(p)
	return tree
}

// editBetween is the smallest edit that turns a into b.
func editBetween(a, b []byte) sitter.EditInput {
	start := commonPrefix(a, b)
	for start > 0 && start < len(a) && !utf8.RuneStart(a[start]) {
		start--
	}
	tail := commonPrefixReversed(a[start:], b[start:])
	for tail > 0 && !utf8.RuneStart(a[len(a)-tail]) {
		tail--
	}
	return sitter.EditInput{
		StartIndex: uint32(start), OldEndIndex: uint32(len(a) - tail), NewEndIndex: uint32(len(b) - tail),
		StartPoint: pointAt(a, start), OldEndPoint: pointAt(a, len(a)-tail), NewEndPoint: pointAt(b, len(b)-tail),
	}
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+256 <= n && bytes.Equal(a[i:i+256], b[i:i+256]) {
		i += 256
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonPrefixReversed(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+256 <= n && bytes.Equal(a[len(a)-i-256:len(a)-i], b[len(b)-i-256:len(b)-i]) {
		i += 256
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

func pointAt(src []byte, offset int) sitter.Point {
	before := src[:offset]
	return sitter.Point{
		Row:    uint32(bytes.Count(before, []byte("\n"))),
		Column: uint32(offset - 1 - bytes.LastIndexByte(before, '\n')),
	}
}
