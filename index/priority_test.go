package index

import (
	"runtime"
	"testing"
)

func TestResponsiveLeavesPlacesThatNoWorkerTakes(t *testing.T) {
	t.Cleanup(func() { runtime.GOMAXPROCS(cores) })
	Responsive()
	Responsive() // as a second server in one process does
	if places := runtime.GOMAXPROCS(0); places != 2*cores+2 {
		t.Errorf("%d places for %d workers", places, cores)
	}
}
