//go:build !unix

package git

import "os/exec"

// endTogether leaves a command as it is: there are no process groups, and its own end closes what
// those it started would write to.
func endTogether(*exec.Cmd) {}
