package catalogue

import "golang.org/x/sys/windows"

// FreeSpace is how many bytes the disk of a folder has left for this user. ok is false
// if it is not known.
func FreeSpace(dir string) (bytes int64, ok bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(free), true
}
