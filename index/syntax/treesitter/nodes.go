// Package treesitter parses texts by tree-sitter's grammars so that nothing in a text can
// harm the process: scanners are kept within their bounds, parses within a stack, a memory
// and a time of their own. A tree comes out as one slice of nodes. All of quarry's C is here.
package treesitter

// #include "flatten.h"
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

// Node is one node of a syntax tree. A tree is a []Node in preorder: the
// children of node i start at i+1, the sibling after node i is nodes[i].Next,
// and its subtree is nodes[i:nodes[i].Next]. It has the memory layout of
// quarry_node in flatten.h, which fills it.
type Node struct {
	Start, End uint32 // bytes
	Next       uint32 // index of the first node after the subtree
	Parent     uint32 // index of the parent; the root is its own
	Previous   uint32 // index of the sibling before it, 0 for none
	Symbol     uint16 // the grammar's symbol, SymbolError for an error
	Field      uint16 // the field it fills in its parent, 0 for none
	Missing    bool   // made up by error recovery, of no text
	Extra      bool   // allowed anywhere: comments
	_          [2]byte
}

// SymbolError is the symbol of what could not be parsed.
const SymbolError = 65535

// The two must be the same memory.
const (
	_ = unsafe.Sizeof(Node{}) - unsafe.Sizeof(C.quarry_node{})
	_ = unsafe.Sizeof(C.quarry_node{}) - unsafe.Sizeof(Node{})
)

// flatPool keeps the node buffers of finished analyses: a large file needs
// megabytes of them, for milliseconds.
var flatPool = sync.Pool{New: func() any { return new([]Node) }}

// Nodes reads a whole tree in one call across the cgo boundary. The nodes
// are valid until release is called, independent of the tree.
func (tree *Tree) Nodes() (nodes []Node, release func()) {
	defer runtime.KeepAlive(tree)
	root := C.ts_tree_root_node(tree.c)
	buf := flatPool.Get().(*[]Node)
	for {
		var out *C.quarry_node
		if len(*buf) > 0 {
			out = (*C.quarry_node)(unsafe.Pointer(&(*buf)[0]))
		}
		n := int(C.quarry_flatten(root, out, C.uint32_t(len(*buf))))
		if n <= len(*buf) {
			return (*buf)[:n:n], func() { flatPool.Put(buf) }
		}
		*buf = make([]Node, n+n/4)
	}
}

// arena holds tree-sitter's memory for one parse at a time; arenas keeps those of
// finished parses, which have their blocks still. It makes a parse a tenth
// cheaper, and freeing a tree free.
type arena struct{ c *C.quarry_arena }

var arenas = sync.Pool{New: func() any {
	a := &arena{C.quarry_arena_new(false)}
	runtime.AddCleanup(a, func(c *C.quarry_arena) { C.quarry_arena_delete(c) }, a.c)
	return a
}}

func init() { C.quarry_install_arenas() }

// Nodes parses a text that is read once. The nodes are nil if the parser gives up, which
// it does after limit microseconds of the processor, and valid until release is called.
func (g *Grammar) Nodes(src []byte, limit int) (nodes []Node, release func()) {
	return g.NodesIn(src, limit, g.Room())
}

// NodesIn is Nodes for a parse that may take room bytes of memory, and as many for its stack.
func (g *Grammar) NodesIn(src []byte, limit int, room int64) (nodes []Node, release func()) {
	a := arenas.Get().(*arena)
	nodes = a.parse(g, src, limit, room)
	return nodes, func() {
		a.reset()
		arenas.Put(a)
	}
}

// parse returns nil if it takes longer than limit, in microseconds of the processor, or too
// much memory.
func (a *arena) parse(g *Grammar, src []byte, limit int, room int64) []Node {
	defer g.enter()()
	var count C.uint32_t
	first := C.quarry_parse(a.c, g.guarded, (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint32_t(len(src)), C.uint64_t(limit), C.int64_t(room), &count)
	return unsafe.Slice((*Node)(unsafe.Pointer(first)), int(count))
}

func (a *arena) reset() { C.quarry_arena_reset(a.c) }
