package snapshot

import (
	"os"
	"time"
)

// Checking a file of a large workspace takes longer than a search in it. So whoever has checked
// one may mark it as verified, in a small file beside it that says which file that was: its
// device, number, size, and when its bytes and its entry changed last, which the system
// keeps and no program can set back. What the system does not see, a disk that forgets, is
// looked for again every day, and by every process that stays.

const (
	verifiedSuffix = ".checked"
	verifiedFor    = 24 * time.Hour
)

// MarkVerified says that the file was checked.
func (f *File) MarkVerified() {
	if f.verified {
		return
	}
	open, err := os.Open(f.path)
	if err != nil {
		return
	}
	defer open.Close()
	info, err := open.Stat()
	if err != nil || !os.SameFile(info, f.info) || f.Changed() {
		return
	}
	if same, ok := sameness(open); ok {
		_ = os.WriteFile(f.path+verifiedSuffix, []byte(same), 0o600) // without it the file is checked again
	}
}

// isVerified answers whether the open file at path was marked as verified lately.
func isVerified(f *os.File, path string) bool {
	info, err := os.Lstat(path + verifiedSuffix)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1000 {
		return false
	}
	if age := time.Since(info.ModTime()); age < 0 || age > verifiedFor {
		return false
	}
	text, err := os.ReadFile(path + verifiedSuffix)
	if err != nil {
		return false
	}
	same, ok := sameness(f)
	return ok && same == string(text)
}
