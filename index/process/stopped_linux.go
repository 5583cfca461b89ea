package process

import (
	"bytes"
	"fmt"
	"os"
)

// IsStopped answers whether a process is stopped, as by Ctrl+Z or a debugger: it exists and
// answers nobody.
func IsStopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, found := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" ")) // names may have parentheses
	return found && len(state) > 0 && (state[0] == 'T' || state[0] == 't')
}
