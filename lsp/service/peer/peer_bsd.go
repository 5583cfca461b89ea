//go:build darwin || freebsd

package peer

import "golang.org/x/sys/unix"

// Known says that the system tells whose process is at the other end of a socket.
const Known = true

func uidOf(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
