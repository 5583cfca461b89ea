// Package faulttest says where memory that is gone cannot be tried.
package faulttest

import (
	"os"
	"testing"
)

// NeedAddress skips a test that cuts a mapped file short where the program is not told which
// address was read then: under qemu (testdata/supply/arm64.sh).
func NeedAddress(t testing.TB) {
	t.Helper()
	if os.Getenv("QEMU_LD_PREFIX") != "" {
		t.Skip("qemu does not tell at which address a mapped file ended (testdata/supply/arm64.sh)")
	}
}
