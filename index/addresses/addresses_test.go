package addresses

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// What is left decides in whole arenas, and below the reserve nothing goes on.
func TestEnough(t *testing.T) {
	free := func(n int64) func() int64 { return func() int64 { return n } }
	for _, c := range []struct {
		left, need, free int64
		want             bool
	}{
		{reserve - 1, 0, arena, false},
		{reserve, working, working, true},
		{reserve, working, working - 1, false},
		{reserve + arena - 1, working, working - 1, false},
		{reserve + arena, working, 0, true},
		{reserve + arena, arena + working, working - 1, false},
		{reserve + 2*arena, arena + working, 0, true},
	} {
		if got := isEnough(c.left, c.need, free(c.free)); got != c.want {
			t.Errorf("%d left, %d needed, %d free in the heap: %t", c.left>>20, c.need>>20, c.free>>20, got)
		}
	}
}

// Garbage does not count as taken: it is collected before an answer that says no.
func TestEnoughAfterACollection(t *testing.T) {
	looks := 0
	if !isEnough(reserve, working, func() int64 { looks++; return int64(looks-1) * working }) || looks != 2 {
		t.Errorf("asked %d times", looks)
	}
}

// In a process without a limit nothing is short; in one with it, what it may take shrinks.
func TestLimit(t *testing.T) {
	if os.Getenv("QUARRY_TEST_LIMITED") != "" {
		before := Left()
		if !Limited() || before <= 0 || before > 3<<30 || Heap() < arena || Heap() == math.MaxInt64 {
			t.Errorf("%d left, heap %d", before, Heap())
		}
		if err := Check(4 << 30); !errors.Is(err, ErrShort) || !strings.Contains(err.Error(), "raise it") {
			t.Error(err)
		}
		taken := make([]byte, 512<<20)
		for i := 0; i < len(taken); i += 4096 {
			taken[i] = 1
		}
		if after := Left(); after > before-256<<20 {
			t.Errorf("%d MB left, before %d", after>>20, before>>20)
		}
		runtime.KeepAlive(taken)
		return
	}
	if Limited() {
		t.Skip("addresses are limited where this test runs")
	}
	if Left() != math.MaxInt64 || Check(1<<40) != nil || Heap() != math.MaxInt64 {
		t.Error("short of something without a limit")
	}
	if runtime.GOOS != "linux" || isRace {
		t.Skip("the race detector alone takes terabytes of addresses, and only Linux is asked")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -v 3000000 && exec "$0" -test.run '^TestLimit$'`, os.Args[0])
	cmd.Env = append(os.Environ(), "QUARRY_TEST_LIMITED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
