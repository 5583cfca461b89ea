package catalogue

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A group is the control group that a container has for its own.
type group struct{ limit, used int64 }

// controlGroup reads it below a root, of the first or the second version of the kernel's; ok is false where there is no limit. Pages
// of files that nobody reads are not used: the kernel gives them up before anything else.
func controlGroup(root string) (g group, ok bool) {
	for _, names := range [][4]string{
		{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
		{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
	} {
		dir := filepath.Join(root, names[0])
		if g.limit, ok = readNumber(filepath.Join(dir, names[1])); !ok {
			continue
		}
		g.used, _ = readNumber(filepath.Join(dir, names[2]))
		g.used = max(0, g.used-statOf(filepath.Join(dir, "memory.stat"), names[3]))
		return g, true
	}
	return group{}, false
}

// readNumber reads a file that has a number above 0 and nothing else.
func readNumber(path string) (int64, bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	return n, err == nil && n > 0
}

// statOf reads a line of a file of names and numbers, 0 if it has none.
func statOf(path, name string) int64 {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}
