package git

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// runWithin runs a command that may have so many bytes of memory of its own, 0 for any, and that
// ends with quarry, even where quarry is killed.
//
// RLIMIT_DATA counts what a process writes to and no file holds: a pack that git maps to read it is
// no part of it, as it would be of RLIMIT_AS. The bound is set a moment after the start: it counts
// what was taken before, too. The system sends the death signal when the thread ends that started
// the command, so that this one is kept for it.
func runWithin(cmd *exec.Cmd, memory int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return err
	}
	if memory > 0 {
		bound := &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}
		if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_DATA, bound, nil); err != nil {
			return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		}
	}
	return cmd.Wait()
}
