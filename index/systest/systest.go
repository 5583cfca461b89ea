// Package systest skips tests where the system lacks what they try. CI lacks no program and no
// links, but on Windows: there such a test fails, so that none is left out unseen.
package systest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// NeedAddress skips a test that cuts a mapped file short where the program is not told which
// address was read then: under qemu (testdata/supply/arm64.sh).
func NeedAddress(t testing.TB) {
	t.Helper()
	NotEmulated(t, "qemu does not tell at which address a mapped file ended")
}

// NotEmulated skips a test under qemu, where testdata/supply/arm64.sh runs it.
func NotEmulated(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("QEMU_LD_PREFIX") != "" {
		t.Skip(why, "(testdata/supply/arm64.sh)")
	}
}

// NeedProgram skips a test where a program is not installed: under Wine no git and no Go are.
func NeedProgram(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		lacks(t, "a program that the test asks is not installed:", err)
	}
}

// NeedLinks skips a test where the system makes no symbolic links, or says that it makes one and makes
// none, as Wine does.
func NeedLinks(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		lacks(t, "this system makes no links:", err)
	}
	if _, err := os.Readlink(link); err != nil {
		lacks(t, "this system says that it makes links, and makes none:", err)
	}
}

func lacks(t testing.TB, what string, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" && runtime.GOOS != "windows" {
		t.Fatal(what, err)
	}
	t.Skip(what, err)
}

// NeedNames skips a test that names files with characters that control a terminal, which Windows has in no name.
func NeedNames(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no file of Windows has such a name")
	}
}
