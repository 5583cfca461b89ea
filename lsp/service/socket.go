package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
)

// ErrRuns says that another process serves at a socket.
var ErrRuns = errors.New("another quarry serve has this socket")

// maxPath is the longest path of a socket that every system takes, in bytes.
const maxPath = 103

// Socket is a Unix socket that only this user's processes reach.
type Socket struct {
	path     string
	listener net.Listener
	lock     *flock.Flock
}

// Listen makes the socket at path, in a folder that is made if it is missing and must be this
// user's alone. What a process left there that was killed is replaced; anything else is refused.
// The error is ErrRuns if another process serves there.
func Listen(ctx context.Context, path string) (*Socket, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("the path of the socket is too long: %d bytes, and systems take %d; set service.socket to a shorter one than %s", len(path), maxPath, path)
	}
	if err := private(filepath.Dir(path)); err != nil {
		return nil, err
	}
	for _, beside := range []string{path + lockSuffix, path + ownerSuffix} { // a pipe would be waited for
		if info, err := os.Lstat(beside); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is in the way, and no plain file: remove it, or set service.socket to another path", beside)
		}
	}
	// Whoever holds the lock serves. A process that dies gives it back, whatever it leaves.
	lock := flock.New(path+lockSuffix, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock the socket: %w; set service.socket to a path where that can be", err)
	case !locked:
		return nil, ErrRuns
	}
	listener, err := listen(ctx, path)
	if err == nil {
		err = os.WriteFile(path+ownerSuffix, []byte(strconv.Itoa(os.Getpid())), 0o600)
	}
	if err != nil {
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}
		return nil, errors.Join(err, lock.Unlock())
	}
	return &Socket{path, listener, lock}, nil
}

// Behind the socket's path these are that of the lock, and of a file with the number of the process
// that serves there.
const (
	lockSuffix  = ".lock"
	ownerSuffix = ".process"
)

// Owner is the number of the process that serves at a path where Listen fails with ErrRuns, as
// far as that can be read, for whoever has to end one that does not answer.
func Owner(path string) string {
	info, err := os.Lstat(path + ownerSuffix)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 20 {
		return "unknown"
	}
	text, err := os.ReadFile(path + ownerSuffix)
	if _, failed := strconv.Atoi(string(text)); err != nil || failed != nil {
		return "unknown"
	}
	return string(text)
}

// Close removes the socket, unless that is done.
func (s *Socket) Close() error {
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, os.Remove(s.path+ownerSuffix), s.lock.Unlock())
}

func listen(ctx context.Context, path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("look at the socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is in the way, and no socket: remove it, or set service.socket to another path", path)
	case !isOwn(info):
		return nil, fmt.Errorf("%s is in the way, and another user's: remove it, or set service.socket to another path", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the socket of a quarry serve that was killed: %w", err)
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("make the socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("keep the socket to yourself: %w", err), listener.Close())
	}
	return listener, nil
}

// private makes a folder that only this user may enter, or fails if it is another's or open to
// others: they could put a socket of their own there.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the socket: %w; set service.socket to a path in a folder of your own", err)
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("look at the folder of the socket: %w; set service.socket to a path in a folder of your own", err)
	case !info.IsDir():
		return fmt.Errorf("%s is no folder, or a link to one: set service.socket to a path in a folder of your own", dir)
	case !isOwn(info):
		return fmt.Errorf("%s is another user's folder: set service.socket to a path in a folder of your own", dir)
	case isOpen(info):
		return fmt.Errorf("%s can be entered by other users: `chmod 700 %[1]s`, or set service.socket to a path in a folder of your own", dir)
	}
	return nil
}
