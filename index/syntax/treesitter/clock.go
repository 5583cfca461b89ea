package treesitter

// #include "clock.h"
import "C"

import "strconv"

// slowness is how many times as long as a real processor an emulated one takes, by which limits
// of time are meant. testdata/supply/arm64.sh has the linker set it for tests.
var slowness = "1"

func init() {
	n, err := strconv.ParseUint(slowness, 10, 16)
	if err != nil || n == 0 {
		panic("slowness is no whole number from 1: " + slowness)
	}
	C.quarry_slowness = C.uint64_t(n)
}
