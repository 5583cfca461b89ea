package main

import (
	"fmt"
	"os"
	"testing"
)

// beSomebodyElse skips a test that does something as user nobody where there is no such user: only
// root can be one, and root in a name space of users has those that were mapped into it.
func beSomebodyElse(t *testing.T, what string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user; run by root it " + what + " as one")
	}
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	var first, mapped, n int
	if _, err := fmt.Sscan(string(users), &first, &mapped, &n); err != nil {
		t.Fatalf("%q: %v", users, err)
	}
	if first+n <= nobody {
		t.Skip("root here is alone in a name space of users; elsewhere it " + what + " as another user")
	}
}

// limitsAreItsOwn skips a test of limits on the addresses of a process where an emulator runs it
// (testdata/supply/arm64.sh): the emulator's own count there, too.
func limitsAreItsOwn(t *testing.T) {
	t.Helper()
	if larger > 1 {
		t.Skip("the race detector alone takes terabytes of addresses; `make memory` runs this without it")
	}
	if os.Getenv("QEMU_LD_PREFIX") != "" {
		t.Skip("qemu's own addresses count under the limit; on a processor this runs")
	}
}
