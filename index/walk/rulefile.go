package walk

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"syscall"

	"quarry/index/glob"
)

// What a workspace may ask of whoever reads its rules. The rules come with a clone
// or an archive, so that anybody may have written them.
const (
	// maxRuleFile is the size in bytes of the largest file of rules that is read
	// whole. The largest .gitignore that people keep have a few thousand lines.
	maxRuleFile = 1 << 20
	// maxPatterns and maxRuleText bound the patterns that are in force for one path,
	// those of all folders above it together: each path is matched against all.
	maxPatterns = 20_000
	maxRuleText = 1 << 20
	// maxCached bounds in bytes what is kept of all folders' patterns between questions: those
	// of four folders that say as much as they may.
	maxCached = 32 << 20
)

// readRules reads at most limit bytes of a file that says what is left out; more is
// true if it has more. Only a regular file is read, since a pipe has no end to wait
// for and a device none to reach, and of that no more than it is said to have, as git
// does: what the kernel makes up when it is asked, /proc/kmsg for one, has no size,
// and may be waited for. follow says whether it may be a link.
func readRules(name string, follow bool, limit int) (text []byte, more bool, err error) {
	stat := os.Lstat
	if follow {
		stat = os.Stat
	}
	named, err := stat(name)
	if err != nil {
		return nil, false, err
	}
	if !named.Mode().IsRegular() {
		return nil, false, &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	// A pipe may have taken its place meanwhile; opening one would wait for a writer.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !os.SameFile(named, opened) {
		return nil, false, &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	most := min(int64(limit), maxRuleFile)
	text = make([]byte, min(most, opened.Size()))
	n, err := io.ReadFull(f, text)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF { // it may have become shorter
		return nil, false, err
	}
	return text[:n], opened.Size() > most, nil
}

var errNotRegular = errors.New("not a regular file")

// allowance is what may still be read on the way down to a folder. sum is a hash of all
// that was read, so that of two walks it says whether the same rules are in force.
type allowance struct {
	patterns, text int
	sum            uint64
}

// read reads a list of ignore patterns and takes it off the allowance. cut is
// true if there are more lines than that allows: those are not in force.
func (a *allowance) read(r *reader, name string, follow, fold bool) (list []glob.Pattern, cut bool, err error) {
	text, cut, err := r.text(name, follow, a.text)
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %t %t %t %d ", a.sum, name, fold, cut, err == nil, len(text))
	h.Write(text)
	a.sum = h.Sum64()
	if err != nil {
		return nil, false, err
	}
	a.text -= len(text)
	list, all := parseIgnore(text, cut, fold, a.patterns)
	a.patterns -= len(list)
	return list, cut || !all, nil
}
