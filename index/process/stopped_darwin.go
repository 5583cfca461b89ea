package process

import "golang.org/x/sys/unix"

// IsStopped answers whether a process is stopped, as by Ctrl+Z or a debugger: it exists and
// answers nobody.
func IsStopped(pid int) bool {
	const stopped = 4 // SSTOP of sys/proc.h
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_stat == stopped
}
