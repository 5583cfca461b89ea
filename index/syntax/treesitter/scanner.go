package treesitter

// #include "flatten.h"
// #include "guard.h"
//
// extern void tree_sitter_lua_external_scanner_deserialize(void *, const char *, unsigned);
//
// static void quarry_reset_lua(void) {
//   tree_sitter_lua_external_scanner_deserialize(NULL, "\0\0", 2);
// }
import "C"

import (
	"errors"
	"math"
	"sync"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
)

// A Scanner says what sets a grammar's scanner apart; its zero value is nothing.
type Scanner struct {
	// Most is how many bytes of its state it can read again, 0 for nearly all there are.
	Most uint
	// OwnMemory: its state is a number, which it takes no memory for.
	OwnMemory bool
	// Forgets: it forgets what it took when it is given another state.
	Forgets bool
	// Shared: it keeps its state in C's global variables, so that two texts read at once
	// would be read as neither, and one that ends within a string would go on in the
	// next. Lua's is the only one of its kind among the grammars here.
	Shared bool
}

// Grammar is a language's grammar, loaded when it is first used.
type Grammar struct {
	of      func() *sitter.Language
	scanner Scanner
	room    func() int64 // see Within

	load    sync.Once
	guarded *C.TSLanguage
	shared  sync.Mutex // held while a text is parsed, if the scanner is shared
}

// New is the grammar that of returns.
func New(of func() *sitter.Language, s Scanner) *Grammar {
	return &Grammar{of: of, scanner: s, room: func() int64 { return math.MaxInt64 }}
}

// Within has each parse from now on take room() bytes of memory at most, and as many for its
// stack; one that needs more is given up. It is called before the first parse.
func (g *Grammar) Within(room func() int64) { g.room = room }

// Room is what a parse may take now.
func (g *Grammar) Room() int64 { return g.room() }

// Needs is the room in which the parse of a text of size bytes is given up for nothing but the
// text.
func Needs(size int64) int64 { return int64(C.quarry_parse_needs(C.int64_t(size))) }

// Language is the grammar as it came, for its names of symbols and fields: texts are
// parsed by a guarded copy.
func (g *Grammar) Language() *sitter.Language { return g.of() }

// Load makes the grammar ready to parse by. It fails if there is no memory, or no slot for
// another in guard.c.
func (g *Grammar) Load() error {
	g.load.Do(func() {
		guarding.Lock()
		defer guarding.Unlock()
		// The binding keeps the C language to itself, as the only field.
		g.guarded = C.quarry_guard(*(**C.TSLanguage)(unsafe.Pointer(g.of())),
			C.quarry_scanner{most: C.uint(g.scanner.Most), own_memory: C.bool(g.scanner.OwnMemory), forgets: C.bool(g.scanner.Forgets)})
	})
	if g.guarded == nil {
		return errors.New("guard.c has no slot left, or there is no memory")
	}
	return nil
}

var guarding sync.Mutex // held while a grammar is guarded

// enter waits until a text of this language can be parsed; leave lets the next
// one in.
func (g *Grammar) enter() (leave func()) {
	if !g.scanner.Shared {
		return func() {}
	}
	g.shared.Lock()
	C.quarry_reset_lua() // brings the scanner to where a text begins
	return g.shared.Unlock
}
