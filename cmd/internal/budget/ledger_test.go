package budget

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Notes are seen by the others as long as who wrote them lives, and what is left of one who was killed goes.
func TestLedger(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	join := func() *Ledger {
		t.Helper()
		l, err := Join(dir)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, b := join(), join()
	write := func(l *Ledger, n Note) {
		t.Helper()
		if err := l.Write(n); err != nil {
			t.Fatal(err)
		}
	}
	sees := func(l *Ledger, want ...Note) {
		t.Helper()
		got := l.Others()
		slices.SortFunc(got, func(x, y Note) int { return int(x.Own - y.Own) })
		for i := range want {
			want[i].Process = thisProcess
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if l.Changed() {
			t.Error("it has changed since it was read")
		}
	}
	sees(a)
	of := Note{Own: 1e9, Server: "s", Completion: []string{"m"}, Embedding: "e", Models: 2e9, Step: Context, Small: true, Budget: 8e9}
	write(b, of)
	if !a.Changed() {
		t.Error("a note is not noticed")
	}
	sees(a, of)
	sees(b)
	write(b, Note{Own: 1e9 + 1, Server: "s", Completion: []string{"m"}, Embedding: "e", Models: 2e9, Step: Context, Small: true, Budget: 8e9})
	sees(a, of) // a byte is not worth a write
	of.Step = Unload
	write(b, of)
	sees(a, of)
	if got := Read(dir); len(got) != 1 {
		t.Errorf("who leaves no note sees %+v", got)
	}

	c := join()
	write(c, Note{Own: 2e9})
	sees(a, of, Note{Own: 2e9})
	if err := c.lock.Unlock(); err != nil { // killed
		t.Fatal(err)
	}
	if got := Read(dir); len(got) != 1 {
		t.Errorf("of one who was killed there is %+v", got)
	}
	b.Leave()
	if !a.Changed() {
		t.Error("that one left is not noticed")
	}
	sees(a)
	a.Leave()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v are left", entries, err)
	}

	var none *Ledger // where there can be none everyone is alone
	none.Leave()
	if err := none.Write(of); err != nil || none.Others() != nil || none.Changed() {
		t.Errorf("%v", err)
	}
}

// A folder that cannot be made keeps nobody from working, and half a note counts as none.
func TestLedgerThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(filepath.Join(file, "memory")); err == nil {
		t.Error("no error")
	}
	a, err := Join(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Leave()
	if err := os.WriteFile(a.path, []byte(`{"own_bytes": 1`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Read(filepath.Dir(file)); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// A process counts once, and so does what a server has loaded, whoever asks it; a step holds for those who ask the same server.
func TestShare(t *testing.T) {
	notes := []Note{
		{Process: thisProcess, Own: 500, Server: "s", Completion: []string{"mine"}, Models: 900, Step: Candidates, Budget: 5},
		{Process: "x", Own: 100, Server: "s", Completion: []string{"a"}, Embedding: "e", Models: 1000, Step: Context, Budget: 7},
		{Process: "x", Own: 110, Server: "s", Completion: []string{"a"}, Models: 1000},
		{Process: "y", Own: 30, Server: "other", Completion: []string{"b"}, Models: 70, Step: Unload, Small: true},
		{Process: "z", Own: 1},
	}
	for _, test := range []struct {
		server string
		want   Shared
	}{
		{"s", Shared{Processes: 3, Own: 141, Completion: []string{"mine", "a", "a"}, Embedding: []string{"e"}, Elsewhere: 70, Models: 1000, Step: Context, Budget: 7}},
		{"other", Shared{Processes: 3, Own: 141, Completion: []string{"b"}, Elsewhere: 1000, Models: 70, Step: Unload, Small: true}},
		{"", Shared{Processes: 3, Own: 141, Elsewhere: 1070}},
	} {
		if diff := cmp.Diff(test.want, Share(notes, test.server)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.server, diff)
		}
	}
	if diff := cmp.Diff(Shared{}, Share(nil, "s")); diff != "" {
		t.Errorf("alone (-want +got):\n%s", diff)
	}
}
