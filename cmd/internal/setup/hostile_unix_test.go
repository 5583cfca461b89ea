//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file of settings that is none, or that no parser should be given, is left as it is,
// and said to be.
func TestHostileConfigurationFiles(t *testing.T) {
	deep := func(open string) func(path string) error {
		return func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat(open, 8<<20/len(open))), 0o600)
		}
	}
	for name, make := range map[string]func(path string) error{
		"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":         func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to itself": func(path string) error { return os.Symlink(path, path) },
		"a folder":         func(path string) error { return os.Mkdir(path, 0o700) },
		"200 GB": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 200<<30)
		},
		"deep lists":   deep("["),
		"deep objects": deep(`{"a":`),
		"deep tables":  deep("[[a.b]]\na = ["),
	} {
		for target, file := range map[string]string{"crush": ".config/crush/crush.json", "codex": ".codex/config.toml", "helix": ".config/helix/languages.toml"} {
			t.Run(name+" for "+target, func(t *testing.T) {
				s := machine(t, nil)
				path := filepath.Join(s.Home, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := make(path); err != nil {
					t.Skip("this system makes none:", err)
				}
				before, err := os.Lstat(path)
				if err != nil {
					t.Fatal(err)
				}
				known, _ := Find(target)
				plan, err := known.Plan(s.Machine)
				if err == nil {
					_, err = s.Changes(target, plan)
				}
				if err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
					t.Errorf("%v", err)
				}
				if now, err := os.Lstat(path); err != nil || now.Mode() != before.Mode() || now.Size() != before.Size() {
					t.Errorf("it is another file now: %v", err)
				}
			})
		}
	}
}
