package walk

import "golang.org/x/sys/unix"

// isKernelsMount answers whether a folder is of a file system that the kernel makes up.
func isKernelsMount(abs string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(abs, &fs) != nil {
		return false
	}
	switch int64(fs.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC:
		return true
	}
	return false
}
