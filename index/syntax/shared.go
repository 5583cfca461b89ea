package syntax

import (
	"bytes"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"quarry/index/syntax/treesitter"
)

// An open document has several readers: the index, the syntax check of completions, the
// checker. A version is what the parser made of one text of it, for all Trees of that
// text: who comes second waits for the first and takes a copy, which costs nothing. It
// lives as long as one of its Trees is not closed.
type version struct {
	language string
	// parsed is guarded by open.mu where the parser gave up: the latest text that it stands for.
	parsed []byte
	// stood is for how many later texts that was; guarded by open.mu.
	stood int
	// whole: without the help of an older tree, which may recover from errors in
	// another way.
	whole  bool
	users  int              // guarded by open.mu
	ready  chan struct{}    // closed when the fields below are set
	tree   *treesitter.Tree // nil if the parser gave up
	short  int64            // File.Short
	errors int
}

// open are the versions alive, some two a document.
var open struct {
	mu   sync.Mutex
	list []*version
	trim *time.Timer
}

// parses counts texts that went to the parser, for tests.
var parses int

// unparsableNear is how much of a text may differ from one that the parser gave up on
// to be taken for the same document.
const unparsableNear = 4 << 10

// Versions that the parser gave up on are remembered when they are closed, too: the
// checker has no Tree of its own. mostUnparsable of them are, none larger than largeUnparsable.
const (
	mostUnparsable  = 8
	largeUnparsable = 4 << 20
	// mostStood is after how many later texts one is tried again: it may be mended by then.
	mostStood = 200
)

// openLimit bounds the parse of an open document, in microseconds of the processor:
// four to twelve times what source takes on an idle machine, for a busy one makes it dearer. What
// takes longer is not what its name says, and is read by its lines from then on, and so is what
// has errors and takes half of it. An edit has a fourth.
func openLimit(size int, whole bool) int {
	limit := min(400_000+size*12/10, 4_000_000)
	if !whole {
		limit /= 4
	}
	return limit
}

// tooDear answers whether a text that was parsed as a whole is given up on all the same:
// one with errors is parsed so after each edit.
func tooDear(errors, took, limit int) bool { return errors > 0 && took > limit/2 }

// versionOf is the version of a text, which the caller releases. whole: only one that
// was parsed as a whole will do, or one without errors, which is the same.
func versionOf(l *language, name string, old *treesitter.Tree, parsed []byte, whole bool) *version {
	open.mu.Lock()
	for i := 0; i < len(open.list); i++ {
		v := open.list[i]
		if v.language != name {
			continue
		}
		given := v.ended() && v.tree == nil && v.stood < mostStood
		switch {
		case given && near(v.parsed, parsed):
			if !bytes.Equal(v.parsed, parsed) {
				// The next edit may be at another place: it is near to this text, not to the first.
				v.parsed = parsed
				v.stood++
			}
			v.users++
			open.mu.Unlock()
			return v
		case len(v.parsed) == len(parsed) && (v.whole || !whole || v.ended() && v.errors == 0) && bytes.Equal(v.parsed, parsed):
			v.users++
			open.mu.Unlock()
			<-v.ready
			return v
		case !v.ended() && old == nil && near(v.parsed, parsed):
			// Nobody knows yet whether the version before is unparsable; who types on would
			// begin a parse with each letter.
			open.mu.Unlock()
			<-v.ready
			open.mu.Lock()
			i = -1
		}
	}
	if old == nil && !whole {
		if old = before(name, parsed); old != nil {
			defer old.Close()
		}
	}
	v := &version{language: name, parsed: parsed, whole: old == nil, users: 1, ready: make(chan struct{})}
	open.list = append(open.list, v)
	parses++
	open.mu.Unlock()
	defer close(v.ready)
	limit := openLimit(len(parsed), v.whole)
	room := l.grammar.Room()
	tree, took := l.grammar.ParseIn(old, parsed, limit, room)
	if tree == nil {
		v.short = shortOf(room, len(parsed))
	} else {
		if v.errors = tree.CountErrors(); v.whole && tooDear(v.errors, took, limit) {
			tree.Close()
			return v
		}
	}
	v.tree = tree
	return v
}

// before is a tree of a text that this one may be a later version of, for a reader that has none
// and takes any: to parse a large text anew after each edit costs a second. The caller closes it;
// it is nil if there is none, and open.mu is held.
func before(language string, parsed []byte) *treesitter.Tree {
	for _, v := range slices.Backward(open.list) { // the latest first
		if v.language == language && v.ended() && v.tree != nil && near(v.parsed, parsed) {
			return v.tree.Copy()
		}
	}
	return nil
}

func (v *version) ended() bool {
	select {
	case <-v.ready:
		return true
	default:
		return false
	}
}

// near answers whether b may be a later version of a.
func near(a, b []byte) bool {
	most := min(unparsableNear, len(a)/16)
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	start := treesitter.CommonPrefix(a, b)
	return min(len(a), len(b))-start-treesitter.CommonSuffix(a[start:], b[start:]) <= most
}

const (
	// largeText is what leaves memory worth giving back.
	largeText = 256 << 10
	// trimAfter is how long after the last large tree was freed: edits free one each.
	trimAfter = 2 * time.Second
)

// release ends what versionOf began.
func (v *version) release() {
	open.mu.Lock()
	defer open.mu.Unlock()
	if v.users--; v.users > 0 {
		return
	}
	open.list = slices.DeleteFunc(open.list, func(o *version) bool { return o == v })
	if v.tree != nil {
		v.tree.Close()
	} else if len(v.parsed) <= largeUnparsable {
		open.list = append(open.list, v)
		idle := func(o *version) bool { return o.users == 0 }
		if n := len(open.list) - len(slices.DeleteFunc(slices.Clone(open.list), idle)); n > mostUnparsable {
			i := slices.IndexFunc(open.list, idle)
			open.list = slices.Delete(open.list, i, i+1)
		}
	}
	if len(v.parsed) >= largeText {
		if open.trim == nil {
			open.trim = time.AfterFunc(trimAfter, giveBack)
		} else {
			open.trim.Reset(trimAfter)
		}
	}
}

// giveBack returns to the system what large trees have left: C's library keeps it, and
// Go does not know of it.
func giveBack() {
	treesitter.GiveBack()
	debug.FreeOSMemory()
}
