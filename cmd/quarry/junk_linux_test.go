package main

import (
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/lsp/headless"
)

// junk is a megabyte of operators in lines, which error recovery takes longest for.
func junk(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	pieces := []string{"<", ">", "(", ")", "[", "]", "{", "}", "+", "=>", "?", ":", "a", "b", " ", "\n", "`", "\"", "/", "*", ";", ","}
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// usage is what a process has taken of the processor, and holds in memory.
func spent(t *testing.T, pid int) (processor time.Duration, resident int) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, i := range []int{11, 12} { // utime and stime, proc(5)
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			t.Fatal(err)
		}
		processor += time.Duration(n) * 10 * time.Millisecond
	}
	pages, err := strconv.Atoi(fields[21])
	if err != nil {
		t.Fatal(err)
	}
	return processor, pages * os.Getpagesize()
}

// unit is what packing the junk four times takes of the processor here and now: a time
// that depends on the machine, and on what else it does, as the parser's does. The race
// detector slows it down more than the parser, so that `make memory` is the stricter test.
func unit() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const thread = 1 // RUSAGE_THREAD, getrusage(2)
	var before, after syscall.Rusage
	_ = syscall.Getrusage(thread, &before)
	w, _ := flate.NewWriter(io.Discard, flate.BestCompression)
	for range 4 {
		_, _ = io.WriteString(w, junk(0))
	}
	_ = w.Close()
	_ = syscall.Getrusage(thread, &after)
	return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
}

const (
	documents = 28
	// mostEach is what a document may take of the processor, in units (see unit). Before
	// there was a bound it was 14 to 20 s, a hundred units and more.
	mostEach = 20
	// mostKept is what may stay when all are closed, in bytes; before, 1.6 GB did.
	mostKept = 100 << 20 * larger
)

// Y9: 28 open documents of a megabyte each that no parser gets through, and an edit in
// each, cost a bounded time of the processor; closed, they leave no memory behind.
func TestJunkInOpenDocuments(t *testing.T) {
	profile, err := headless.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("quarry", "lsp", "--log-level=error", "--ollama="+noOllama)
	cmd.Env = append(os.Environ(), "QUARRY_STATE_DIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	syntax := map[string]any{"diagnostics": map[string]any{"syntax": true}}
	e, err := headless.StartProcess(t.Context(), cmd, headless.Options{Profile: profile, Root: t.TempDir(), InitializationOptions: syntax, Configuration: syntax})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Kill() // after Quit it has ended
	pid := cmd.Process.Pid
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	// idle waits until the server takes nothing of the processor any more.
	idle := func() {
		for before, still := time.Duration(-1), 0; still < 3; <-tick.C {
			now, _ := spent(t, pid)
			if still++; now-before > 10*time.Millisecond {
				still = 0
			}
			before = now
		}
	}
	idle()
	work := unit()
	began, empty := spent(t, pid)
	languages := []struct{ ext, id string }{
		{"ts", "typescript"}, {"c", "c"}, {"scala", "scala"}, {"js", "javascript"}, {"ex", "elixir"}, {"go", "go"}, {"py", "python"},
		{"rs", "rust"}, {"java", "java"}, {"rb", "ruby"}, {"php", "php"}, {"kt", "kotlin"},
	}
	var open []string
	for i := range documents {
		l := languages[i%len(languages)]
		name := fmt.Sprintf("junk%d.%s", i, l.ext)
		b, err := e.Open(name, l.id, junk(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Replace(b, 500_000, 500_000, "x"); err != nil {
			t.Fatal(err)
		}
		open = append(open, name)
	}
	idle()
	took, most := spent(t, pid)
	work = max(work, unit())
	for _, name := range open {
		if err := e.CloseDocument(name); err != nil {
			t.Fatal(err)
		}
	}
	kept := most
	for range 300 { // a minute; it is given back some seconds after the last is closed
		if _, kept = spent(t, pid); kept-empty <= mostKept {
			break
		}
		<-tick.C
	}
	t.Logf("%v of the processor (a unit is %v), %d MB empty, %d MB with all open, %d MB closed", took-began, work, empty>>20, most>>20, kept>>20)
	if each := (took - began) / documents; each > mostEach*work {
		t.Errorf("a document took %v of the processor, %.0f units", each, float64(each)/float64(work))
	}
	if kept-empty > mostKept {
		t.Errorf("%d MB are kept", (kept-empty)>>20)
	}
	if code, err := e.Quit(t.Context()); code != 0 || err != nil {
		t.Errorf("the server ends with %d, %v", code, err)
	}
}
