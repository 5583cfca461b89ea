//go:build unix

package device

import "io/fs"

// isOpen answers whether others have any right to a file.
func isOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
