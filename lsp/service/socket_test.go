//go:build unix

package service_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"quarry/lsp/service"
)

// Y10: a socket is made only where no other user can reach it, and in place of nothing but the
// socket of a process that was killed.
func TestSocket(t *testing.T) {
	listen := func(path string) (*service.Socket, error) { return service.Listen(context.Background(), path) }
	refused := func(path, want string) {
		t.Helper()
		s, err := listen(path)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "service.socket") {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	dir := socketDir(t)
	path := filepath.Join(dir, "new", "s")
	s, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, path + ".lock": 0o600} {
		if info, err := os.Lstat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if _, err := listen(path); !errors.Is(err, service.ErrRuns) {
		t.Errorf("a second: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}

	// Of a process that was killed.
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	if s, err = listen(path); err != nil {
		t.Fatalf("a socket that was left: %v", err)
	}
	s.Close()

	own := filepath.Join(dir, "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	file, link, folder := filepath.Join(own, "file"), filepath.Join(own, "link"), filepath.Join(own, "folder")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, folder} {
		refused(path, "in the way, and no socket")
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "text" {
		t.Errorf("the file is %q, %v", text, err)
	}
	for _, suffix := range []string{".lock", ".process"} { // what is in the place of the files beside it
		for kind, make := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"link":   func(path string) error { return os.Symlink(file, path) },
			"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		} {
			path := filepath.Join(own, kind+suffix[1:])
			if err := make(path + suffix); err != nil {
				t.Fatal(err)
			}
			refused(path, suffix+" is in the way, and no plain file")
			if got := service.Owner(path); suffix == ".process" && got != "unknown" {
				t.Errorf("a %s says that %q serves", kind, got)
			}
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "text" {
		t.Errorf("the file that a link led to is %q, %v", text, err)
	}
	linked := filepath.Join(dir, "linked")
	if err := os.Symlink(own, linked); err != nil {
		t.Fatal(err)
	}
	refused(filepath.Join(linked, "s"), "or a link to one")
	refused(filepath.Join(file, "s"), "")
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o711); err != nil {
		t.Fatal(err)
	}
	refused(filepath.Join(open, "s"), "can be entered by other users: `chmod 700")
	refused(filepath.Join(own, strings.Repeat("x", 100)), "too long")
	if os.Geteuid() != 0 {
		return // only root can make what is another's
	}
	const nobody = 65534
	theirs := filepath.Join(own, "theirs")
	left, err = net.ListenUnix("unix", &net.UnixAddr{Name: theirs, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer left.Close()
	if err := os.Lchown(theirs, nobody, nobody); errors.Is(err, syscall.EINVAL) {
		t.Logf("what is another user's is not tried: root here is alone in a name space of users: %v", err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	refused(theirs, "another user's")
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	refused(filepath.Join(folder, "s"), "another user's folder")
}
