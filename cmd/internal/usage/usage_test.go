package usage

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// recorder is a Recorder of a clock that the test sets.
func recorder(t *testing.T, dir string, now *time.Time) *Recorder {
	t.Helper()
	r := New(dir, func(err error) { t.Error(err) })
	r.clock = func() time.Time { return *now }
	r.Keep(true)
	t.Cleanup(r.Close)
	return r
}

// hasModes is whether the system says by a file's mode who may read it. On Windows the folder
// says it.
const hasModes = runtime.GOOS != "windows"

// What several processes note on several days adds up, and is gone after a month.
func TestAMonth(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stats")
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.Local)
	one, two := recorder(t, dir, &now), recorder(t, dir, &now)
	one.Shown("a.go", "go", "granite", "x := 1\n", 0)
	two.Shown("b.py", "python", "local", "pass", 0)
	two.Accepted("b.py", "python")
	one.Memory(100, 200)
	one.Event("memory", "step 1", true)
	one.Flush()
	two.Flush()
	if info, err := os.Stat(filepath.Join(dir, "2026-03-31.jsonl")); err != nil || hasModes && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	now = now.AddDate(0, 0, KeptDays-1)
	one.Shown("a.go", "go", "granite", "y := 2\n", 0)
	one.Flush()
	days, err := Read(dir, now)
	if err != nil || len(days) != KeptDays || days[0].Date != "2026-03-31" || days[KeptDays-1].Date != "2026-04-29" {
		t.Fatalf("%v, %+v", err, days)
	}
	n := Total(days)
	want := []Ghost{{"go", "granite", 2, 0}, {"python", "local", 1, 1}}
	if !reflect.DeepEqual(n.Ghost, want) || n.Resident != 100 || n.Models != 200 || len(n.Events) != 1 || n.Events[0].What != "step 1" {
		t.Errorf("%+v", n)
	}
	if shown, accepted := n.ShownAndAccepted(); shown != 3 || accepted != 1 {
		t.Errorf("%d, %d", shown, accepted)
	}
	now = now.AddDate(0, 0, 1)
	two.Retrieved(time.Millisecond)
	two.Flush()
	if _, err := os.Stat(filepath.Join(dir, "2026-03-31.jsonl")); !os.IsNotExist(err) {
		t.Errorf("the oldest day is still there: %v", err)
	}
	now = now.AddDate(0, 1, 0)
	if days, err := Read(dir, now); err != nil || Total(days).Retrieval.Count() != 0 {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("reading leaves what is too old: %v, %v", left, err)
	}
}

// Ghost text that goes on while it is typed through counts once, and what is accepted counts
// for the engine that it came from.
func TestShownOnce(t *testing.T) {
	now := time.Now()
	r := recorder(t, t.TempDir(), &now)
	r.Accepted("a.go", "go") // nothing was shown
	r.Shown("a.go", "go", "granite", "return nil\n", 0)
	r.Shown("a.go", "go", "granite", "turn nil\n", 2)
	r.Shown("a.go", "go", "granite", "return nil\n", 0)
	r.Shown("a.go", "go", "granite", "return nil\n", 40) // at another place
	r.Shown("b.go", "go", "granite", "return nil\n", 0)
	r.Shown("a.go", "go", "local", "return err\n", 0)
	r.Accepted("a.go", "go")
	r.Accepted("a.go", "go") // once is enough
	r.Closed("b.go")
	r.Accepted("b.go", "go")
	want := []Ghost{{"go", "granite", 3, 0}, {"go", "local", 1, 1}}
	if !reflect.DeepEqual(r.now.Ghost, want) {
		t.Errorf("%+v", r.now.Ghost)
	}
}

// A line that is no line of ours, or was cut off, costs itself.
func TestDamagedLines(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	r := recorder(t, dir, &now)
	r.Indexed(time.Second)
	r.Flush()
	path := filepath.Join(dir, now.Format(dateForm)+extension)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := "not json\n[1]\n" + string(whole) + string(whole[:len(whole)/2])
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.jsonl", "2026-13-99.jsonl", "2020-01-01.txt"} { // the user's own
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	days, err := Read(dir, now)
	if n := Total(days); err != nil || n.Index.Count() != 1 {
		t.Errorf("%v, %+v", err, n)
	}
	if err := Clear(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("%v, %v: only quarry's own files are removed", left, err)
	}
}

// Where nothing can be written that is said, and nothing else happens.
func TestNoRoom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	r := New(file, func(err error) { said = append(said, err.Error()) })
	r.Keep(true)
	r.Indexed(1)
	r.Close()
	r.Indexed(1)
	r.Close()
	if len(said) != 1 || !strings.Contains(said[0], "file") {
		t.Errorf("%q", said)
	}
}

// Where nothing is to be kept nothing is written, and the process still knows its own counts.
func TestNotKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stats")
	now := time.Now()
	r := recorder(t, dir, &now)
	r.Keep(false)
	r.Shown("a.go", "go", "local", "x", 0)
	r.Accepted("a.go", "go")
	r.Shown("b.go", "go", "granite", "x", 0)
	r.Shown("c.go", "go", "granite", "x", 0)
	r.Flush()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
	if want := []Ghost{{"go", "granite", 2, 0}, {"go", "local", 1, 1}}; !reflect.DeepEqual(r.Ghost(), want) {
		t.Errorf("%+v", r.Ghost())
	}
}

func TestTimes(t *testing.T) {
	var all Times
	if all.Percentile(50) != 0 || all.Count() != 0 {
		t.Error("of none")
	}
	for i := range 100 {
		var one Times
		one.put(time.Duration(i+1) * time.Millisecond)
		all.merge(one)
	}
	for p, want := range map[int]time.Duration{50: 50 * time.Millisecond, 95: 95 * time.Millisecond} {
		if got := all.Percentile(p); got < want*9/10 || got > want*11/10 {
			t.Errorf("p%d is %v, want about %v", p, got, want)
		}
	}
	all.put(0)
	all.put(-time.Second)
	if got := all.Percentile(1); got > 2*time.Microsecond {
		t.Errorf("the least is %v", got)
	}
}
