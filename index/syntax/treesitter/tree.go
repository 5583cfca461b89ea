package treesitter

// #include "flatten.h"
import "C"

import (
	"bytes"
	"runtime"
	"unicode/utf8"
	"unsafe"
)

// Tree is a syntax tree that lasts until it is closed, for the parse of the
// document's next version. It is tree-sitter's own: the binding's would be parsed on
// the stack of whatever thread there is.
type Tree struct {
	c       *C.TSTree
	cleanup runtime.Cleanup // frees it if nobody does
}

func newKeptTree(c *C.TSTree) *Tree {
	t := &Tree{c: c}
	t.cleanup = runtime.AddCleanup(t, func(c *C.TSTree) { C.ts_tree_delete(c) }, c)
	return t
}

// Parse parses a text, with the help of the tree of the version before if that was
// edited to have its length. It returns nil if the parser gives up, which it does
// after limit microseconds of the processor. took is how many it took.
func (g *Grammar) Parse(old *Tree, src []byte, limit int) (tree *Tree, took int) {
	defer g.enter()()
	var before *C.TSTree
	if old != nil {
		before = old.c
	}
	var micros C.uint64_t
	c := C.quarry_parse_tree(nil, g.guarded, before, (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint32_t(len(src)), C.uint64_t(limit), &micros)
	runtime.KeepAlive(old)
	if c == nil {
		return nil, int(micros)
	}
	return newKeptTree(c), int(micros)
}

// Copy returns a tree of its own, at no cost: what is the same of two is shared.
func (t *Tree) Copy() *Tree { return newKeptTree(C.ts_tree_copy(t.c)) }

// Edit moves what is behind the edit that turned the text before into after to where it
// is now.
func (t *Tree) Edit(before, after []byte) {
	edit := editBetween(before, after)
	C.ts_tree_edit(t.c, &edit)
}

// Close frees the tree, which must not be used afterwards.
func (t *Tree) Close() {
	t.cleanup.Stop()
	C.ts_tree_delete(t.c)
}

// CountErrors counts the outermost nodes that are errors or made up.
func (t *Tree) CountErrors() int {
	defer runtime.KeepAlive(t)
	return int(C.quarry_count_errors(C.ts_tree_root_node(t.c)))
}

// editBetween is the smallest edit that turns a into b.
func editBetween(a, b []byte) C.TSInputEdit {
	start := CommonPrefix(a, b)
	for start > 0 && start < len(a) && !utf8.RuneStart(a[start]) {
		start--
	}
	tail := CommonSuffix(a[start:], b[start:])
	for tail > 0 && !utf8.RuneStart(a[len(a)-tail]) {
		tail--
	}
	return C.TSInputEdit{
		start_byte: C.uint32_t(start), old_end_byte: C.uint32_t(len(a) - tail), new_end_byte: C.uint32_t(len(b) - tail),
		start_point: pointAt(a, start), old_end_point: pointAt(a, len(a)-tail), new_end_point: pointAt(b, len(b)-tail),
	}
}

// CommonPrefix is how many bytes a and b share at their beginning.
func CommonPrefix(a, b []byte) int {
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

// CommonSuffix is how many bytes a and b share at their end.
func CommonSuffix(a, b []byte) int {
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

func pointAt(src []byte, offset int) C.TSPoint {
	before := src[:offset]
	return C.TSPoint{
		row:    C.uint32_t(bytes.Count(before, []byte("\n"))),
		column: C.uint32_t(offset - 1 - bytes.LastIndexByte(before, '\n')),
	}
}

// GiveBack returns to the system what C's library keeps of freed trees.
func GiveBack() { C.quarry_give_back() }
