// Package servicetest says where servers that others reach by a socket cannot be tried.
package servicetest

import (
	"net"
	"path/filepath"
	"runtime"
	"testing"
)

// NeedSockets skips a test where the system has no Unix sockets, one of which is tried in dir:
// under Wine, and on Windows before 10.
func NeedSockets(t testing.TB, dir string) {
	t.Helper()
	probe, err := net.Listen("unix", filepath.Join(dir, "p"))
	switch {
	case err == nil:
		if err := probe.Close(); err != nil {
			t.Fatal(err)
		}
	case runtime.GOOS == "windows":
		t.Skipf("this system has no Unix sockets: %v", err)
	}
}
