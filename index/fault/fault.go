// Package fault makes errors of reads that a mapped file does not answer. A file that another
// program makes shorter, or that its disk does not give any more, is a trap where it is
// mapped, and a trap ends the process unless whoever reads expects it.
//
// What is set holds for the calling goroutine only: one that a guarded read starts needs a
// guard of its own.
package fault

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Error says that memory could not be read.
type Error struct{ Addr uintptr }

func (e *Error) Error() string {
	return fmt.Sprintf("it was made shorter, or the disk does not give it (a fault at %#x)", e.Addr)
}

// Expect makes faults of the calling goroutine panics, and answers whether they were; Restore
// makes them what they were.
func Expect() (before bool) { return debug.SetPanicOnFault(true) }

// Restore is the end of Expect.
func Restore(before bool) { debug.SetPanicOnFault(before) }

// Of is the fault that a recovered value tells of, nil if it is something else.
func Of(cause any) *Error {
	if e, ok := cause.(interface {
		runtime.Error
		Addr() uintptr
	}); ok {
		return &Error{e.Addr()}
	}
	return nil
}

// Guard calls read, and answers the fault that ended it, if one did. All other panics pass.
func Guard(read func()) (err error) {
	defer Restore(Expect())
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		e := Of(cause)
		if e == nil {
			panic(cause)
		}
		err = e
	}()
	read()
	return nil
}
