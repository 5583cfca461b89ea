//go:build unix

package snapshot

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"quarry/index/systest"
)

// killedAfter makes this binary write a snapshot over the one at a path until it is killed.
const killedAfter = "QUARRY_TEST_SNAPSHOT"

func TestMain(m *testing.M) {
	path := os.Getenv(killedAfter)
	if path == "" {
		os.Exit(m.Run())
	}
	for n := byte(0); ; n++ {
		if err := Write(path, 7, len(versionOf(n)), slices.Values(versionOf(n))); err != nil {
			panic(err)
		}
		os.Stdout.Write([]byte{'.'})
	}
}

// versionOf are sections that tell which they are.
func versionOf(n byte) [][]byte {
	return [][]byte{{n}, bytes.Repeat([]byte{n}, 3<<20), bytes.Repeat([]byte{n + 1}, 100_000)}
}

// A writer that is killed at any moment leaves a whole snapshot, which another process can
// read all the time, and no rubbish that lasts.
func TestAWriterIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	check := func() {
		t.Helper()
		f, err := Open(path, 7)
		if errors.Is(err, fs.ErrNotExist) {
			return // before the first was whole
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Sections) != 3 || !slices.EqualFunc(f.Sections, versionOf(f.Sections[0][0]), bytes.Equal) {
			t.Fatal("it is a mixture of two")
		}
	}
	for n := range 50 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedAfter+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range n % 5 { // some snapshots are whole, and then another part of one
			if _, err := out.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			check()
		}
		timer := time.AfterFunc(time.Duration(n*n)*20*time.Microsecond, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		_ = cmd.Wait() // it was killed
		timer.Stop()
		check()
	}
	if err := Write(path, 7, len(versionOf(200)), slices.Values(versionOf(200))); err != nil {
		t.Fatal(err)
	}
	check()
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 1 {
		t.Errorf("left over: %q, %v", left, err)
	}
}

// A disk that is full, or a limit on the size of files, leaves the snapshot there is.
func TestNoRoomLeavesTheOldFile(t *testing.T) {
	if path := os.Getenv(killedAfter + "_FULL"); path != "" {
		limit := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, 7, len(versionOf(2)), slices.Values(versionOf(2))); err == nil {
			t.Error("written without room")
		}
		return
	}
	path := filepath.Join(t.TempDir(), "snapshot")
	if err := Write(path, 7, len(versionOf(1)), slices.Values(versionOf(1))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), killedAfter+"_FULL="+path)
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Fatalf("%v\n%s", err, out)
	}
	if f, err := Open(path, 7); err != nil || !bytes.Equal(f.Sections[1], versionOf(1)[1]) {
		t.Error("the old one is gone", err)
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 1 {
		t.Errorf("left over: %s, %v", strconv.Quote(left[len(left)-1]), err)
	}
}

// A file that was made shorter since it was mapped is noticed where it is checked, and
// does not end the process.
func TestAFileMadeShorterIsNoticed(t *testing.T) {
	systest.NeedAddress(t)
	path := filepath.Join(t.TempDir(), "snapshot")
	if err := Write(path, 7, len(versionOf(1)), slices.Values(versionOf(1))); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data, release, err := load(f, int(info.Size()))
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	sections, err := sectionsOf(data, 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := check(data, sections); !errors.Is(err, ErrUnusable) {
		t.Errorf("checked: %v", err)
	}
}

// What is forgotten takes no memory and is read again.
func TestForget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	if err := Write(path, 7, 3, slices.Values(versionOf(1))); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, 7)
	if err != nil {
		t.Fatal(err)
	}
	same := func() bool { return slices.EqualFunc(f.Sections, versionOf(1), bytes.Equal) }
	if !same() {
		t.Fatal("read otherwise than written")
	}
	before := resident(t, path)
	f.Forget()
	if after := resident(t, path); before != 0 && after > before/10 {
		t.Errorf("%d KB of it are in memory, %d before", after, before)
	}
	if !same() {
		t.Error("read otherwise after it was forgotten")
	}
}

// resident is how much of a mapped file counts as this process's memory, in KB; 0 where the
// system does not tell.
func resident(t *testing.T, path string) (kb int) {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Log("the system does not tell what is in memory")
		return 0
	}
	_, of, _ := bytes.Cut(text, []byte(path))
	_, of, _ = bytes.Cut(of, []byte("Rss:"))
	if fields := bytes.Fields(of); len(fields) > 0 {
		kb, err = strconv.Atoi(string(fields[0]))
	}
	if err != nil {
		t.Fatal(err)
	}
	return kb
}
