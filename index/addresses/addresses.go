// Package addresses knows how much address space the process may still take, where that is
// limited (`ulimit -v`), as on login nodes of clusters. Neither Go's runtime nor most of C
// survives an allocation that is refused, so that whoever is about to take much asks before.
// All functions are safe for concurrent use; where nothing is limited they cost nothing.
package addresses

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// ErrShort says that there is too little address space for what is asked.
var ErrShort = errors.New("`ulimit -v` allows too little memory")

const (
	// arena is what Go's heap grows by.
	arena = 64 << 20
	// reserve is what stays free for threads, and what C takes between two looks.
	reserve = 20 << 20
	// working is what Go's heap needs free to go on with anything.
	working = 32 << 20
)

// Limited answers whether address space is limited.
func Limited() bool { return limit() < math.MaxInt64 }

// Left is how many bytes of addresses may still be taken, math.MaxInt64 if any number may.
func Left() int64 {
	most := limit()
	if most == math.MaxInt64 {
		return most
	}
	return max(0, most-taken())
}

// Heap is how much Go's heap may take in all, in bytes, math.MaxInt64 where addresses are not
// limited: half of what was left at the first call, in whole arenas, and the arena that Go
// begins with.
var Heap = sync.OnceValue(func() int64 {
	left := Left()
	if left == math.MaxInt64 {
		return left
	}
	return (left/2/arena + 1) * arena
})

// Save makes the garbage collector keep the heap small where addresses are limited, unless the
// user has said how large it may be.
func Save() {
	if Limited() && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(Heap())
	}
}

// Check is an error that wraps ErrShort, and says what helps, if there is too little to go on
// with what takes so many bytes of Go's heap besides the usual.
func Check(bytes int64) error {
	left := Left()
	if left == math.MaxInt64 || isEnough(left, working+bytes, heap) {
		return nil
	}
	return fmt.Errorf("%w (%d MB): raise it, as by `ulimit -v unlimited`, or open a smaller folder", ErrShort, limit()>>20)
}

// isEnough answers whether Go's heap may grow by need bytes with left bytes of addresses.
func isEnough(left, need int64, heap func() (free int64)) bool {
	if left < reserve {
		return false
	}
	need -= (left - reserve) / arena * arena
	if need <= 0 || heap() >= need {
		return true
	}
	runtime.GC() // much of what is in use may be garbage
	return heap() >= need
}

// heap is what Go's heap may grow by without taking addresses: what is free, and the rest of
// its last arena.
func heap() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"},
	}
	metrics.Read(samples)
	var all int64
	for _, s := range samples {
		all += int64(s.Value.Uint64())
	}
	free := int64(samples[0].Value.Uint64() + samples[1].Value.Uint64())
	return free + (arena-all%arena)%arena
}
