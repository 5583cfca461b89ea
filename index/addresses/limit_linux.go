package addresses

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// limit is RLIMIT_AS, which nobody changes in a process that runs.
var limit = sync.OnceValue(func() int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &r); err != nil || r.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(r.Cur)
})

// taken is the size of the process's address space, 0 if it is not known.
func taken() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(text, []byte(" "))
	pages, _ := strconv.ParseInt(string(first), 10, 64)
	return pages * int64(os.Getpagesize())
}
