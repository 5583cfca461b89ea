package index

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"testing"
)

// What is wide is judged by where a folder is, not by how it is named, and allowed by
// its own path alone.
func TestAllowedFolders(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(top, "users", "u")
	project := filepath.Join(home, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(home, link); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, c := range []struct {
		dir     string
		allowed Allowed
		wide    bool
	}{
		{home, nil, true},
		{home + string(filepath.Separator), nil, true},
		{filepath.Join(project, ".."), nil, true},
		{link, nil, runtime.GOOS != "windows"},
		{filepath.Dir(home), nil, true},
		{top, nil, true},
		{filepath.VolumeName(top) + string(filepath.Separator), nil, true},
		{project, nil, false},
		{filepath.Join(top, "users", "u2"), nil, false}, // begins alike, and is not there
		{home, Allowed{"~"}, false},
		{link, Allowed{home}, false},
		{filepath.Dir(home), Allowed{"~", "u", "."}, true},
		{filepath.Dir(home), Allowed{home, filepath.Dir(home)}, false},
		{"/proc", Allowed{"/proc"}, runtime.GOOS == "linux"},
		{"/sys/kernel", Allowed{"/sys/kernel"}, runtime.GOOS == "linux"},
	} {
		err := c.allowed.Refuses(c.dir)
		var wide *Wide
		if c.wide != errors.As(err, &wide) || !c.wide && err != nil {
			t.Errorf("%s with %q: %v", c.dir, c.allowed, err)
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	if err := (Allowed)(nil).Refuses(home); err != nil {
		t.Errorf("of a folder that nobody calls home: %v", err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	var wide *Wide
	if err := (Allowed)(nil).Refuses(me.HomeDir); !errors.As(err, &wide) {
		t.Errorf("%s, which the system calls home: %v", me.HomeDir, err)
	}
	if me.HomeDir != filepath.Dir(me.HomeDir) {
		if err := (Allowed{"~"}).Refuses(me.HomeDir); err != nil {
			t.Errorf("%s, which is allowed as home: %v", me.HomeDir, err)
		}
	}
}
