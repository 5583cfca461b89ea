package vectors

import (
	"errors"
	"fmt"

	"quarry/index/fault"
)

// Guard calls read, which reads rows of Sets, and answers ErrDamaged if they cannot be
// read (package fault). A goroutine that read starts needs a Guard of its own, whose error
// it hands back for read to panic with. All other panics pass.
func Guard(read func()) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			own, ok := cause.(error)
			if !ok || !errors.Is(own, ErrDamaged) {
				panic(cause)
			}
			err = own
		}
	}()
	if failed := fault.Guard(read); failed != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, failed)
	}
	return nil
}
