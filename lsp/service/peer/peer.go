// Package peer says whose process is at the other end of a Unix socket.
package peer

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// ErrOtherUser says that the process at the other end is another user's.
var ErrOtherUser = errors.New("the process at the other end belongs to another user")

// Check fails with ErrOtherUser unless the process that is at the other end of conn is of the
// user that this one is of. Where the system does not tell (Known), it says nothing: what
// keeps others out is the folder that the socket is in.
func Check(conn net.Conn) error {
	if !Known {
		return nil
	}
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T has no peer to ask for", conn)
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var failed error
	if err := control.Control(func(fd uintptr) { uid, failed = uidOf(int(fd)) }); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return fmt.Errorf("ask for the user of a connection: %w", failed)
	case uid != os.Geteuid():
		return fmt.Errorf("%w (%d)", ErrOtherUser, uid)
	}
	return nil
}
