package syntax

// #include "flatten.h"
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

// node is one node of a syntax tree. A tree is a []node in preorder: the
// children of node i start at i+1, the sibling after node i is nodes[i].next,
// and its subtree is nodes[i:nodes[i].next]. It has the memory layout of
// quarry_node in flatten.h, which fills it.
type node struct {
	start, end uint32 // bytes
	next       uint32 // index of the first node after the subtree
	parent     uint32 // index of the parent; the root is its own
	previous   uint32 // index of the sibling before it, 0 for none
	symbol     uint16 // the grammar's symbol, symbolError for an error
	field      uint16 // the field it fills in its parent, 0 for none
	missing    bool   // made up by error recovery, of no text
	extra      bool   // allowed anywhere: comments
	_          [2]byte
}

// symbolError is the symbol of what could not be parsed.
const symbolError = 65535

// The two must be the same memory.
const (
	_ = unsafe.Sizeof(node{}) - unsafe.Sizeof(C.quarry_node{})
	_ = unsafe.Sizeof(C.quarry_node{}) - unsafe.Sizeof(node{})
)

// flatPool keeps the node buffers of finished analyses: a large file needs
// megabytes of them, for milliseconds.
var flatPool = sync.Pool{New: func() any { return new([]node) }}

// flatten reads a whole tree in one call across the cgo boundary. The nodes
// are valid until release is called, independent of the tree.
func flatten(tree *keptTree) (nodes []node, release func()) {
	defer runtime.KeepAlive(tree)
	root := C.ts_tree_root_node(tree.c)
	buf := flatPool.Get().(*[]node)
	for {
		var out *C.quarry_node
		if len(*buf) > 0 {
			out = (*C.quarry_node)(unsafe.Pointer(&(*buf)[0]))
		}
		n := int(C.quarry_flatten(root, out, C.uint32_t(len(*buf))))
		if n <= len(*buf) {
			return (*buf)[:n:n], func() { flatPool.Put(buf) }
		}
		*buf = make([]node, n+n/4)
	}
}

// arena holds tree-sitter's memory for one parse at a time; arenas keeps those of
// finished parses, which have their blocks still. It makes a parse a tenth
// cheaper, and freeing a tree free.
type arena struct{ c *C.quarry_arena }

var arenas = sync.Pool{New: func() any {
	a := &arena{C.quarry_arena_new()}
	runtime.AddCleanup(a, func(c *C.quarry_arena) { C.quarry_arena_delete(c) }, a.c)
	return a
}}

func init() { C.quarry_install_arenas() }

// parseFlat parses a text that is read once. The nodes are nil if the parser gives
// up, and valid until release is called.
func parseFlat(l *language, src []byte) (nodes []node, release func()) {
	a := arenas.Get().(*arena)
	nodes = a.parse(l, src, parseLimit(len(src)))
	return nodes, func() {
		a.reset()
		arenas.Put(a)
	}
}

// parse returns nil if it takes longer than limit, in microseconds of the processor, or too
// much memory.
func (a *arena) parse(l *language, src []byte, limit int) []node {
	defer l.enter()()
	var count C.uint32_t
	first := C.quarry_parse(a.c, l.c(), (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint32_t(len(src)), C.uint64_t(limit), &count)
	return unsafe.Slice((*node)(unsafe.Pointer(first)), int(count))
}

func (a *arena) reset() { C.quarry_arena_reset(a.c) }

// c returns the C language.
func (l *language) c() *C.TSLanguage { return (*C.TSLanguage)(l.guarded) }

// trimNodes takes the white space at both ends out of every node: grammars
// differ in whether a line comment, a heading or a name includes it.
func trimNodes(nodes []node, src []byte) {
	for i := range nodes {
		n := &nodes[i]
		for n.start < n.end && isSpace(src[n.start]) {
			n.start++
		}
		for n.start < n.end && isSpace(src[n.end-1]) {
			n.end--
		}
	}
}
