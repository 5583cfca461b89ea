package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var parts = [][]byte{[]byte("postings"), {}, bytes.Repeat([]byte("trigram "), 300_000), []byte("names")}

func written(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snapshot")
	if err := Write(path, 7, len(parts), slices.Values(parts)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := written(t)
	f, err := Open(path, 7)
	if err != nil || !slices.EqualFunc(f.Sections, parts, bytes.Equal) {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 { // Windows has no such modes
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// Who has the old one open keeps it while another takes its place.
	if err := Write(path, 7, len([][]byte{[]byte("newer")}), slices.Values([][]byte{[]byte("newer")})); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(f.Sections, parts, bytes.Equal) {
		t.Error("an open snapshot changed")
	}
	if newer, err := Open(path, 7); err != nil || string(newer.Sections[0]) != "newer" {
		t.Error(err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("left over: %v, %v", list, err)
	}
}

func TestWhatCannotBeUsedIsNoticed(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none"), 7); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	path := written(t)
	if _, err := Open(path, 8); !errors.Is(err, ErrUnusable) {
		t.Errorf("of another version: %v", err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Every byte of header and table, and some of each section.
	for at := 0; at < len(whole); at++ {
		if at > headerSize+entrySize*len(parts) && at%(len(whole)/97) != 0 {
			continue
		}
		spoilt := bytes.Clone(whole)
		spoilt[at] ^= 0x10
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, 7)
		if err == nil && !slices.EqualFunc(f.Sections, parts, bytes.Equal) || err != nil && !errors.Is(err, ErrUnusable) {
			t.Fatalf("byte %d changed: %v", at, err)
		}
	}
	// A write that was cut short at any of 50 places, which a rename never shows.
	for n := range 50 {
		if err := os.WriteFile(path, whole[:n*len(whole)/50], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, 7); !errors.Is(err, ErrUnusable) {
			t.Fatalf("cut at %d of 50: %v", n, err)
		}
	}
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	path := written(t)
	if err := os.Mkdir(path+".d", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(path, "not", "a", "folder"), 7, len(parts), slices.Values(parts)); err == nil {
		t.Error("written into a file")
	}
	if err := Write(path+".d", 7, len(parts), slices.Values(parts)); err == nil {
		t.Error("written over a folder")
	}
	if f, err := Open(path, 7); err != nil || !slices.EqualFunc(f.Sections, parts, bytes.Equal) {
		t.Error(err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 2 {
		t.Errorf("left over: %v, %v", list, err)
	}
}

// A section is asked for when the one before is written, and their number is as announced.
func TestSectionsAreWrittenOneByOne(t *testing.T) {
	path := written(t)
	for _, n := range []int{len(parts) - 1, len(parts) + 1} {
		if err := Write(path, 8, n, slices.Values(parts)); !errors.Is(err, errCount) {
			t.Errorf("%d announced of %d: %v", n, len(parts), err)
		}
	}
	var size int64
	err := Write(path, 7, 2, func(yield func([]byte) bool) {
		_ = yield(make([]byte, 1<<20))
		left, err := filepath.Glob(path + unfinished + "*")
		if err != nil || len(left) != 1 {
			t.Fatal(left, err)
		}
		info, err := os.Stat(left[0])
		if err != nil {
			t.Fatal(err)
		}
		size = info.Size()
		_ = yield([]byte("second"))
	})
	if err != nil || size < 1<<20 {
		t.Errorf("%d bytes were written before the second section was asked for, %v", size, err)
	}
	if f, err := Open(path, 7); err != nil || string(f.Sections[1]) != "second" {
		t.Error(err)
	}
}

// A file that somebody marked as verified is not checked again by who asks once, but as soon as
// anything of it changed, its times set back or not, or another took its place; and who
// meets a fault in one that was not checked finds the damage.
func TestVerified(t *testing.T) {
	path := written(t)
	read := func() *File {
		t.Helper()
		f, err := OpenVerified(path, 7)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := read()
	if f.verified {
		t.Fatal("nobody marked it as verified")
	}
	f.MarkVerified()
	if _, ok := sameness(openFile(t, path)); !ok {
		t.Skip("only Linux tells by a file's number and change time that it is the same; elsewhere sums are checked each time")
	}
	if f := read(); !f.verified || f.Changed() {
		t.Fatalf("verified %v, changed %v", f.verified, f.Changed())
	}
	if f, err := Open(path, 7); err != nil || f.verified {
		t.Errorf("who stays did not check it: %v", err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func() {
		t.Helper()
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteAt([]byte{whole[len(whole)-70] ^ 1}, int64(len(whole)-70))
		if err := errors.Join(err, file.Close(), os.Chtimes(path, before.ModTime(), before.ModTime())); err != nil {
			t.Fatal(err)
		}
	}
	open := read()
	spoil()
	if _, err := OpenVerified(path, 7); !errors.Is(err, ErrUnusable) {
		t.Errorf("a byte changed: %v", err)
	}
	if !open.Changed() {
		t.Error("what was never checked and is damaged is said not to have changed")
	}
	// Another file in its place.
	if err := Write(path, 7, len(parts), slices.Values(parts)); err != nil {
		t.Fatal(err)
	}
	if f := read(); f.verified {
		t.Error("another file is taken for the one that was checked")
	} else {
		f.MarkVerified()
	}
	// A day later.
	old := time.Now().Add(-verifiedFor - time.Hour)
	if err := os.Chtimes(path+verifiedSuffix, old, old); err != nil {
		t.Fatal(err)
	}
	if f := read(); f.verified {
		t.Error("it is believed for ever")
	}
	// What says so may be anything.
	for _, text := range []string{"", "no numbers", strings.Repeat("1 ", 5000)} {
		if err := os.WriteFile(path+verifiedSuffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if f := read(); f.verified {
			t.Errorf("%.20q is believed", text)
		}
	}
}

func openFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Who has a file open sees what is written into it, zeros too, also when another has taken
// its place; that other one changes nothing.
func TestWrittenInto(t *testing.T) {
	if !stays {
		t.Skip("files are read into memory here")
	}
	path, before := written(t), time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, before, before); err != nil {
		t.Fatal(err)
	}
	open, err := Open(path, 7)
	if err != nil {
		t.Fatal(err)
	}
	if open.Written() || open.Damaged() {
		t.Error("a file that nobody touched")
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := Write(path, 7, len(parts), slices.Values(parts)); err != nil {
		t.Fatal(err)
	}
	if open.Written() || open.Damaged() {
		t.Error("another file took its place")
	}
	if _, err := file.WriteAt(make([]byte, len(open.data)), 0); err != nil {
		t.Fatal(err)
	}
	if !open.Written() || !open.Damaged() {
		t.Error("zeros are not noticed")
	}
	if err := os.Chtimes(fmt.Sprintf("/dev/fd/%d", file.Fd()), before, before); err != nil {
		t.Skip(err)
	}
	if !open.Damaged() {
		t.Error("zeros are not noticed where the file's time was set back")
	}
}
