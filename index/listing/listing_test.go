package listing

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"quarry/index/snapshot"
	"quarry/index/walk"
)

var entries = []Entry{
	{Path: "a.go", Kind: Indexed, ID: 3, Size: 10, ModTime: 20, Changed: 30},
	{Path: "a/b/c.go", Kind: Indexed, ID: 4, Size: 11, ModTime: 21, Changed: 31},
	{Path: "", Kind: Folder, Rules: 7},
	{Path: "a/key.pem", Kind: Left, Reason: walk.Secret},
	{Path: "a/b", Kind: Folder, Changed: 5, Rules: 1 << 63},
	{Path: "a", Kind: Folder, Changed: 6},
	{Path: "a/x.dat", Kind: Unfit, Size: 12, ModTime: 22, Changed: 32, Reason: walk.Binary},
	{Path: "a-b", Kind: Folder, Changed: 8},
}

// What is written is read, in the order of a walk, and a folder ends behind all that is
// in it, whatever its neighbours are called.
func TestWhatIsWrittenIsRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "listing")
	made := New(Head{Identity: "db", Generation: 9, MadeBy: "me", Program: "this", Skipped: "sum"}, slices.Clone(entries))
	if err := made.Write(name); err != nil {
		t.Fatal(err)
	}
	l, err := Read(name)
	if err != nil || !reflect.DeepEqual(l, made) {
		t.Fatalf("read %+v, %v", l, err)
	}
	var paths []string
	ends := map[string]int{}
	for i := range l.Len() {
		paths = append(paths, l.Path(i))
		if m := l.Met(i); m.Folder != nil {
			ends[m.Path] = m.End
			if l.Find(m.Path) != i {
				t.Errorf("the folder %q is found at %d", m.Path, l.Find(m.Path))
			}
		}
	}
	if want := []string{"", "a", "a/b", "a/b/c.go", "a/key.pem", "a/x.dat", "a-b", "a.go"}; !slices.Equal(paths, want) {
		t.Errorf("order %q", paths)
	}
	if want := map[string]int{"": 8, "a": 6, "a/b": 4, "a-b": 7}; !reflect.DeepEqual(ends, want) {
		t.Errorf("folders end at %v", ends)
	}
	if at := l.Find("a.go"); at >= 0 {
		t.Error("a file is found as a folder")
	}
	if m := l.Met(2); m.Folder.Rules != 1<<63 || m.Folder.Changed != 5 {
		t.Errorf("folder %+v", *m.Folder)
	}
	for _, e := range []walk.Entry{{Size: 12, ModTime: 22, Changed: 32}, {Size: 13, ModTime: 22, Changed: 32}, {Size: 12, ModTime: 23, Changed: 32}, {Size: 12, ModTime: 22, Changed: 33}} {
		if got, want := l.IsAs(5, e), e == (walk.Entry{Size: 12, ModTime: 22, Changed: 32}); got != want {
			t.Errorf("a file is as %+v: %v", e, got)
		}
	}
	if !l.IsFile(5) || l.Reason(5) != walk.Binary || l.IsFile(4) || l.Met(4).Reason != walk.Secret || l.ID(7) != 3 {
		t.Error("an entry is not as it was written")
	}
}

// A file that is no listing, or one in which a folder ends nowhere, is not read.
func TestWhatIsNoListing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "listing")
	for what, spoil := range map[string]func(l *List){
		"ends before it begins": func(l *List) { l.sizes[1] = 1 },
		"ends behind the list":  func(l *List) { l.sizes[1] = 9 },
		"lacks a reason":        func(l *List) { l.reasons = l.reasons[1:] },
		"lacks a number":        func(l *List) { l.changed = l.changed[1:] },
	} {
		l := New(Head{}, slices.Clone(entries))
		spoil(l)
		if err := l.Write(name); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(name); err == nil {
			t.Errorf("a listing that %s is read", what)
		}
	}
	if err := snapshot.Write(name, version, 1, slices.Values([][]byte{[]byte("{}")})); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(name); err == nil {
		t.Error("a file of one section is read")
	}
	if err := os.WriteFile(name, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(name); err == nil {
		t.Error("a file of rubbish is read")
	}
}
