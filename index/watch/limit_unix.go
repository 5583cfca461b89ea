//go:build unix

package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
)

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// isLimit: inotify says ENOSPC when max_user_watches is used up; kqueue opens a
// file for each watch.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// advice says what to raise. On Linux the system's own words, "no space left on device",
// are about no disk.
func advice(err error) string {
	if runtime.GOOS != "linux" {
		return "raise `ulimit -n`, or leave folders out with a .quarryignore"
	}
	name := "max_user_watches"
	if !errors.Is(err, syscall.ENOSPC) {
		name = "max_user_instances"
	}
	now := ""
	if text, err := os.ReadFile("/proc/sys/fs/inotify/" + name); err == nil {
		now = " above " + strings.TrimSpace(string(text))
	}
	help := fmt.Sprintf("raise fs.inotify.%s%s (`sudo sysctl fs.inotify.%s=...`)", name, now, name)
	if name == "max_user_instances" {
		return help + ", or `ulimit -n`"
	}
	return help + ", or leave folders out with a .quarryignore"
}
