package catalogue

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MachineMemory is how many bytes of memory this machine has, 0 if it does not say. A
// container has as many as its control group may take.
func MachineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := int64(uint64(info.Totalram) * uint64(info.Unit))
	if raw, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && limit > 0 {
			total = min(total, limit)
		}
	}
	return total
}
