package gotypes

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithThis has a command end with the thread that starts it, even where this process is killed.
func endWithThis(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// boundMemory bounds what this process may take beside what it has: RLIMIT_DATA counts what it
// writes to. That an address space of terabytes was taken before, as the race detector does, is no
// part of it.
func boundMemory(bytes int) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("bound the memory of Go's type checker: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), "\nVmData:")
	var taken uint64
	if _, err := fmt.Sscanf(rest, "%d kB", &taken); err != nil {
		return fmt.Errorf("bound the memory of Go's type checker: VmData: %w", err)
	}
	most := taken<<10 + uint64(bytes)
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &now); err != nil {
		return fmt.Errorf("bound the memory of Go's type checker: %w", err)
	}
	most = min(most, now.Max)
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("bound the memory of Go's type checker: %w", err)
	}
	return nil
}
