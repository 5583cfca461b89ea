package treesitter

// #include "flatten.h"
import "C"

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

// Tree is a syntax tree that lasts until it is closed, for the parse of the
// document's next version.
type Tree struct {
	*tree
	cleanup runtime.Cleanup // closes it if nobody does
}

// tree is what the copies of a Tree share.
type tree struct {
	c      *C.TSTree
	src    []byte
	memory *memory
	copies atomic.Int32
}

// memory is an arena for the trees of a document's versions, which share what did not
// change. It vanishes with the last of them: what a parse that was left had taken does so
// only then.
type memory struct {
	arena *C.quarry_arena
	// busy is held while the arena is used, for as long as a parse takes.
	busy sync.Mutex

	mu     sync.Mutex  // guards the fields below
	users  int         // trees, and parses
	closed []*C.TSTree // while the arena was busy
}

func newTree(t *tree) *Tree {
	t.copies.Add(1)
	own := &Tree{tree: t}
	own.cleanup = runtime.AddCleanup(own, (*tree).close, t)
	return own
}

// Parse parses a text, with the help of the tree of an older version of it if there is
// one. It returns nil if the parser gives up, which it does after limit microseconds of
// the processor. took is how many it took. The caller must not change src afterwards.
func (g *Grammar) Parse(old *Tree, src []byte, limit int) (parsed *Tree, took int) {
	return g.ParseIn(old, src, limit, g.Room())
}

// ParseIn is Parse for a parse that may take room bytes of memory, and as many for its stack.
func (g *Grammar) ParseIn(old *Tree, src []byte, limit int, room int64) (parsed *Tree, took int) {
	var m *memory
	var before *C.TSTree
	var edit C.TSInputEdit
	if old == nil {
		m = &memory{arena: C.quarry_arena_new(true)}
	} else {
		m, before, edit = old.memory, old.c, editBetween(old.src, src)
	}
	m.enter()
	var micros C.uint64_t
	c := m.parse(g, before, &edit, src, limit, room, &micros)
	runtime.KeepAlive(old)
	if c == nil {
		m.leave()
		return nil, int(micros)
	}
	return newTree(&tree{c: c, src: src, memory: m}), int(micros)
}

func (m *memory) parse(g *Grammar, old *C.TSTree, edit *C.TSInputEdit, src []byte, limit int, room int64, took *C.uint64_t) *C.TSTree {
	m.busy.Lock()
	defer m.busy.Unlock()
	defer m.deleteClosed()
	defer g.enter()()
	return C.quarry_parse_tree(m.arena, g.guarded, old, edit, (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint32_t(len(src)), C.uint64_t(limit), C.int64_t(room), took)
}

func (m *memory) enter() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users++
}

// leave ends what enter began.
func (m *memory) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users == 0 {
		C.quarry_arena_delete(m.arena)
	}
}

// delete frees a tree of the memory, now or when it is no longer busy.
func (m *memory) delete(c *C.TSTree) {
	m.mu.Lock()
	last := m.users == 1
	if !last {
		m.closed = append(m.closed, c)
	}
	m.mu.Unlock()
	if !last && m.busy.TryLock() {
		m.deleteClosed()
		m.busy.Unlock()
	}
}

func (m *memory) deleteClosed() {
	m.mu.Lock()
	closed := m.closed
	m.closed = nil
	m.mu.Unlock()
	for _, c := range closed {
		C.quarry_delete_tree(m.arena, c)
	}
}

// Copy returns a tree of its own, at no cost.
func (t *Tree) Copy() *Tree { return newTree(t.tree) }

// Close frees the tree, which must not be used afterwards.
func (t *Tree) Close() {
	t.cleanup.Stop()
	t.tree.close()
}

func (t *tree) close() {
	if t.copies.Add(-1) == 0 {
		t.memory.delete(t.c)
		t.memory.leave()
	}
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
