//go:build unix

package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"quarry/lsp/settings"
)

// Whatever lies in the place of the user's settings, quarry says so and goes on without.
func TestUserFilesThatAreNone(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":         func(path string) error { return os.Symlink("/dev/zero", path) },
		"a folder":         func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to itself": func(path string) error { return os.Symlink(path, path) },
		"200 GB": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 200<<30)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings.json")
			if err := make(path); err != nil {
				t.Skip("this system makes none:", err)
			}
			s := settings.Default()
			problems := s.ApplyFile(path)
			if len(problems) != 1 || !strings.Contains(problems[0].Reason, "settings.json") || s.Model != settings.Default().Model {
				t.Errorf("told %v, the model is %s", problems, s.Model)
			}
			before, _ := os.Lstat(path)
			if err := settings.SetInFile(path, "model", "new"); err == nil {
				t.Error("it was written")
			}
			if now, err := os.Lstat(path); err != nil || now.Mode() != before.Mode() || now.Size() != before.Size() {
				t.Errorf("it is another file now: %v", err)
			}
		})
	}
}
