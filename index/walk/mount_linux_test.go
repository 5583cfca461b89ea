package walk

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The root of another system, as containers are made of, has a /proc and a /sys of its own.
func TestKernelsMounts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"proc", "sys"} {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if IsKernels(at) {
			t.Errorf("a folder called %s is taken for the kernel's", name)
		}
		err := unix.Mount("none", at, map[string]string{"proc": "proc", "sys": "sysfs"}[name], 0, "")
		if err != nil {
			t.Logf("%s cannot be mounted here (%v): a link stands for it", name, err)
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/"+name, at); err != nil {
				t.Fatal(err)
			}
		} else {
			t.Cleanup(func() {
				if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
		}
		if !IsKernels(at) {
			t.Errorf("%s below %s is not taken for the kernel's", name, dir)
		}
	}
	r, err := Open(dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Walk(t.Context(), "", Visitor{Dir: func(string) {}, Skip: func(Skip) {}, File: func(e Entry) error { t.Errorf("%s is met", e.Path); return nil }}); err != nil {
		t.Error(err)
	}
}
