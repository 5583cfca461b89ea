//go:build unix

package ollamatest

import (
	"io"
	"os/exec"
	"syscall"
)

// process is Ollama and its runners: one process group under a shell that ends
// the group when its standard input closes, which also happens when the test
// process dies.
type process struct {
	cmd      *exec.Cmd
	lifeline io.Closer
}

const supervise = `"$0" serve & cat >/dev/null; kill -9 -$$`

func startProcess(bin string, env []string, log io.Writer) (*process, error) {
	cmd := exec.Command("sh", "-c", supervise, bin)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd: cmd, lifeline: stdin}, nil
}

func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // gone already is what is wanted
	_ = p.lifeline.Close()
	_ = p.cmd.Wait() // always "signal: killed"
}
