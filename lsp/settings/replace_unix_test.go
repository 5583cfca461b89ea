//go:build unix

package settings_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"quarry/lsp/settings"
)

// What root writes in a user's folder, as by sudo, is that user's.
func TestOwnerStays(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root writes files for others")
	}
	const user, group = 4321, 8765
	owner := func(path string) (int, int) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		of := info.Sys().(*syscall.Stat_t)
		return int(of.Uid), int(of.Gid)
	}
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(home, "there.json")
	if err := os.WriteFile(there, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, as := range map[string]int{home: user, there: user + 1} {
		if err := os.Chown(path, as, group); err != nil {
			t.Skip("this system does not give files away:", err)
		}
	}
	made := filepath.Join(home, ".config", "quarry")
	if err := settings.MakeFolder(made, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{there, filepath.Join(home, "new.json"), filepath.Join(made, "settings.json")} {
		if err := settings.ReplaceFile(path, []byte("{ }"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{there: user + 1, filepath.Join(home, "new.json"): user, filepath.Dir(made): user, made: user, filepath.Join(made, "settings.json"): user} {
		if uid, gid := owner(path); uid != want || gid != group {
			t.Errorf("%s is %d:%d's, not %d:%d's", path, uid, gid, want, group)
		}
	}
}
