//go:build unix

package engines

import (
	"os/exec"
	"syscall"
)

// detach lets a process live on when this one ends, or its terminal does.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
