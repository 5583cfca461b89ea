package syntax

// #include "guard.h"
//
// extern void tree_sitter_lua_external_scanner_deserialize(void *, const char *, unsigned);
//
// static void quarry_reset_lua(void) {
//   tree_sitter_lua_external_scanner_deserialize(NULL, "\0\0", 2);
// }
import "C"

import (
	"sync"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
)

// A scanner says what sets a grammar's scanner apart; its zero value is nothing.
type scanner struct {
	// most is how many bytes of its state it can read again, 0 for nearly all there are.
	most uint
	// ownMemory: its state is a number, which it takes no memory for.
	ownMemory bool
	// forgets: it forgets what it took when it is given another state.
	forgets bool
}

var guarding sync.Mutex // held while a grammar is guarded

// guard returns a grammar that any text can be parsed by: see guard.c. It is nil if
// there is no memory, or no slot for another.
func guard(grammar *sitter.Language, s scanner) unsafe.Pointer {
	guarding.Lock()
	defer guarding.Unlock()
	// The binding keeps the C language to itself, as the only field.
	return unsafe.Pointer(C.quarry_guard(*(**C.TSLanguage)(unsafe.Pointer(grammar)),
		C.quarry_scanner{most: C.uint(s.most), own_memory: C.bool(s.ownMemory), forgets: C.bool(s.forgets)}))
}

// sharedScanner is a grammar's scanner that keeps its state in C's global
// variables: two texts read at once would be read as neither, and one that ends
// within a string would go on in the next. Lua's is the only one of its kind
// among the grammars here.
type sharedScanner struct {
	mu    sync.Mutex // held while a text is parsed
	reset func()     // brings the scanner to where a text begins
}

var luaScanner = sharedScanner{reset: func() { C.quarry_reset_lua() }}

// enter waits until a text of this language can be parsed; leave lets the next
// one in.
func (l *language) enter() (leave func()) {
	if l.shared == nil {
		return func() {}
	}
	l.shared.mu.Lock()
	l.shared.reset()
	return l.shared.mu.Unlock
}
