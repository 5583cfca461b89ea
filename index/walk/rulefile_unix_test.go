//go:build unix

package walk

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"quarry/index/walk/walktest"
)

// The attacks on what is read as rules: files without an end, and pipes, which wait
// for somebody who writes. All that else is in the folder is read as ever.
func TestRuleFilesThatAreNone(t *testing.T) {
	sparse, pipe, endless := walktest.Sparse, walktest.Pipe, walktest.Endless
	const config = "[core]\n\texcludesFile = "
	tests := []struct {
		name   string
		make   func(t *testing.T, name string)
		file   string
		config string
	}{
		{"sparse .gitignore", sparse, ".gitignore", ""},
		{"sparse .ignore", sparse, ".ignore", ""},
		{"sparse .quarryignore of a folder", sparse, "sub/.quarryignore", ""},
		{"sparse .git", sparse, "sub/.git", ""},
		{"sparse info/exclude", sparse, ".git/info/exclude", ""},
		{"sparse commondir", sparse, ".git/commondir", ""},
		{"sparse excludesFile", sparse, "big.txt", config + "big.txt\n"},
		{"sparse included configuration", sparse, "big.txt", "[include]\n\tpath = ../big.txt\n"},
		{"sparse HEAD", sparse, ".git/HEAD", "[includeIf \"onbranch:main\"]\n\tpath = other\n"},
		{"pipe .gitignore", pipe, ".gitignore", ""},
		{"pipe .git", pipe, "sub/.git", ""},
		{"pipe info/exclude", pipe, ".git/info/exclude", ""},
		{"pipe commondir", pipe, ".git/commondir", ""},
		{"pipe excludesFile", pipe, "pipe", config + "pipe\n"},
		{"pipe included configuration", pipe, "pipe", "[include]\n\tpath = ../pipe\n"},
		{"pipe HEAD", pipe, ".git/HEAD", "[includeIf \"onbranch:main\"]\n\tpath = other\n"},
		{"excludesFile /dev/zero", nil, "", config + "/dev/zero\n"},
		{"excludesFile that the kernel makes up", nil, "", config + "/proc/self/environ\n"},
		{"/dev/zero as info/exclude", endless, ".git/info/exclude", ""},
		{"/dev/zero as .gitignore", endless, ".gitignore", ""},
		{"/dev/zero as commondir", endless, ".git/commondir", ""},
		{"/dev/zero as .git", endless, "sub/.git", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			home(t)
			dir := t.TempDir()
			write(t, dir, map[string]string{".git/info/x": "", ".git/config": test.config, "a.go": "", "sub/b.go": ""})
			if test.make != nil {
				test.make(t, filepath.Join(dir, test.file))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := root(t, dir)
			files, _ := walked(t, r)
			for _, want := range []string{"a.go", "sub/b.go"} {
				// A .quarryignore that cannot be read whole withholds its folder.
				excluded := test.file == "sub/.quarryignore" && want == "sub/b.go"
				if found := slices.Contains(files, want); found == excluded {
					t.Errorf("files %v, Check(%s) = %q", files, want, r.Check(want))
				}
			}
			runtime.ReadMemStats(&after)
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 100 {
				t.Errorf("%d MB are allocated", mb)
			}
		})
	}
}

// A pipe that takes a file's place between the question and the reading must not be
// waited for.
func TestReadDoesNotWaitForAPipe(t *testing.T) {
	home(t)
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "a.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, _, reason, err := root(t, dir).Read("a.go"); reason != Special || err != nil || text != nil {
		t.Errorf("Read = %q, %q, %v", text, reason, err)
	}
}

// What the kernel makes up when it is asked, as /proc/kmsg, which waits for the next
// message, says that it is a regular file without a byte; no more of it is read.
func TestNothingIsReadOfWhatHasNoSize(t *testing.T) {
	const made = "/proc/self/status"
	if info, err := os.Stat(made); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		t.Skipf("this system has no %s: %v", made, err)
	}
	text, more, err := readRules(made, true, maxRuleFile)
	if len(text) > 0 || more || err != nil {
		t.Errorf("read %q, more: %t, %v", text, more, err)
	}
	if text, _, reason, err := root(t, "/proc/self").Read("status"); len(text) > 0 || reason != "" || err != nil {
		t.Errorf("as a file of a folder: %q, %q, %v", text, reason, err)
	}
}
