//go:build unix

package syntax

import (
	"strings"
	"syscall"
	"testing"
)

// mostMemory is how much the process has held at once so far, in a unit that
// differs by system.
func mostMemory(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return int64(usage.Maxrss)
}

// TestReadingLeavesNoMemory reads a text again and again whose scanner takes memory
// that is not Go's: only the system sees it leak.
func TestReadingLeavesNoMemory(t *testing.T) {
	body := strings.Repeat("  SELECT a + b, c FROM t WHERE x = 1 AND y = 2;\n", 400)
	text := []byte("CREATE FUNCTION f() RETURNS INTEGER AS $$\n" + body + "$$ LANGUAGE sql;\n")
	read := func(times int) {
		for range times {
			if _, err := Analyze("sql", text); err != nil {
				t.Fatal(err)
			}
			tree, err := Parse("sql", text)
			if err != nil {
				t.Fatal(err)
			}
			tree.Close()
		}
	}
	read(50)
	before := mostMemory(t)
	read(150)
	if after := mostMemory(t); after > before*3/2 {
		t.Errorf("reading a text of %d bytes 150 times took the process from %d to %d", len(text), before, after)
	} else {
		t.Logf("%d before, %d after", before, after)
	}
}
