package vectors

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Guard calls read, which reads rows of Sets, and answers ErrDamaged if they cannot be
// read: a file that another program has made shorter is a trap where it is mapped, and
// without Guard that ends the process. It holds for the calling goroutine only; one
// that read starts needs a Guard of its own, whose error it hands back for read to
// panic with. All other panics pass.
func Guard(read func()) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		switch cause := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			err = fmt.Errorf("%w: it was made shorter, or the disk does not give it (a fault at %#x)", ErrDamaged, cause.Addr())
		case error:
			if !errors.Is(cause, ErrDamaged) {
				panic(cause)
			}
			err = cause
		default:
			panic(cause)
		}
	}()
	read()
	return nil
}
