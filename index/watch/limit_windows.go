package watch

import (
	"errors"
	"io/fs"
	"syscall"
)

// errTooManyOpenFiles is ERROR_TOO_MANY_OPEN_FILES.
const errTooManyOpenFiles = syscall.Errno(4)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func isLimit(err error) bool { return errors.Is(err, errTooManyOpenFiles) }

func advice(error) string { return "close other programs, or leave folders out with a .quarryignore" }
