package catalogue

import "golang.org/x/sys/unix"

// MachineMemory is how many bytes of memory this machine has, 0 if it does not say.
func MachineMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
