package index

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"quarry/index/walk"
)

// Wide is the error for a folder that holds far more than a project, which is not
// indexed unless the user has allowed it: nobody who starts an editor at home wants all
// of it read. One that holds what the kernel says is not indexed at all.
type Wide struct {
	// Dir is the folder, as it was named.
	Dir string
	// what it is, in words.
	what string
	// Never says that nobody can allow it.
	Never bool
}

func (e *Wide) Error() string {
	if e.Never {
		return fmt.Sprintf("%s is %s: open a project's folder, since this one is never indexed", e.Dir, e.what)
	}
	return fmt.Sprintf("%s is not indexed unasked, since it is %s; open a project's folder, or run `quarry index --allow --workspace %s`", e.Dir, e.what, e.Dir)
}

// Allowed says which wide folders the user has allowed; "~" is the home folder. No
// workspace may add to it.
type Allowed []string

// Refuses is a *Wide if dir is the root of a file system, the user's home folder or a
// folder above it, and is not allowed, or the kernel's; else nil.
func (a Allowed) Refuses(dir string) error {
	e := &Wide{Dir: dir}
	dir = realPath(dir)
	home := homeFolder()
	switch {
	case walk.IsKernels(dir):
		e.what, e.Never = "the kernel's", true
		return e
	case filepath.Dir(dir) == dir:
		e.what = "the root of the file system"
	case dir == home:
		e.what = "your home folder"
	case home != "" && strings.HasPrefix(home, dir+string(filepath.Separator)):
		e.what = "above your home folder"
	default:
		return nil
	}
	for _, allowed := range a {
		if allowed == "~" {
			allowed = home
		}
		if filepath.IsAbs(allowed) && realPath(allowed) == dir {
			return nil
		}
	}
	return e
}

// homeFolder is the user's home folder, which the system knows where the environment does not
// name it, as for what a service starts; "" if nobody does.
func homeFolder() string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		me, err := user.Current()
		if err != nil || !filepath.IsAbs(me.HomeDir) {
			return ""
		}
		home = me.HomeDir
	}
	return realPath(home)
}

// realPath is a path absolute, clean and with its links resolved, as far as it exists.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
