package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// heldEnv names the calls of the system that never return to the quarry that is started with
// it, by their numbers.
const heldEnv = "QUARRY_TEST_HELD_CALLS"

// held becomes quarry, some of whose calls of the system never return: the kernel hands them
// to a supervisor that never answers, this process itself. A disk that does not answer is like
// that.
func held() {
	var filter []unix.SockFilter
	filter = append(filter, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}) // the number
	for _, text := range strings.Split(os.Getenv(heldEnv), ",") {
		number, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(number)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	runtime.LockOSThread() // the filter is this thread's, which the new program goes on with
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
		if err = error(errno); errno == 0 {
			_, err = unix.FcntlInt(listener, unix.F_SETFD, 0) // who listens is there as long as quarry is
		}
	}
	if err == nil {
		err = os.Unsetenv(heldEnv)
	}
	var path string
	if err == nil {
		path, err = exec.LookPath("quarry")
	}
	if err == nil {
		err = syscall.Exec(path, append([]string{"quarry"}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "hold calls of the system:", err)
	os.Exit(notHeld)
}

func init() { moreCommands = map[string]func(){"quarry-held": held} }

// notHeld is the exit code of who may not hold calls of the system.
const notHeld = 77

// leavingStates are what servers are told to end in.
var leavingStates = map[string]leavingState{
	"walk":         {held: []int{unix.SYS_GETDENTS64}, at: blockedIn(unix.SYS_GETDENTS64)},
	"first commit": {held: []int{unix.SYS_PWRITE64, unix.SYS_FSYNC, unix.SYS_FDATASYNC}, at: blockedIn(unix.SYS_PWRITE64)},
	"commit": {held: []int{unix.SYS_PWRITE64, unix.SYS_FSYNC, unix.SYS_FDATASYNC}, at: blockedIn(unix.SYS_PWRITE64),
		make: func(t *testing.T, root, state string) {
			indexBarn(t, root, state)
			writeAll(t, root, map[string]string{"late.go": "package barn\n\nfunc Late() {}\n"})
		}},
	"first index": {make: func(t *testing.T, root, _ string) {
		files := map[string]string{}
		addCrates(files, 100, 100)
		writeAll(t, root, files)
	}},
	"embedding": {embeds: true},
}

// Whoever is told to end is gone, whatever does not end: a walk whose listing never comes, a
// commit whose write never returns, a first index, a server that never answers what it is
// asked to embed. The minute only ends a test that fails; bench/start.sh -leaving measures
// the second.
func TestLeaving(t *testing.T) {
	needHeldCalls(t)
	for name, state := range leavingStates {
		for _, way := range []string{"exit", "end of input", "SIGTERM", "SIGHUP", "SIGINT"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				state.leave(t, way)
			})
		}
	}
}

// leavingState is what a server is at when it is told to end.
type leavingState struct {
	// held are the calls of the system that never return.
	held []int
	// make makes the folder and its index.
	make func(t *testing.T, root, state string)
	// at answers whether the process is where it never goes on; nil: it is told at once.
	at     func(t *testing.T, pid int) bool
	embeds bool
}

func (s leavingState) leave(t *testing.T, way string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	root, state := barn(t), t.TempDir()
	if s.make != nil {
		s.make(t, root, state)
	}
	ollama, asked := noOllama, make(chan struct{}, 1)
	if s.embeds {
		server := modeltest.NewServer(t)
		server.SetModels(modeltest.Model{Name: "letters"})
		never := make(chan struct{})
		t.Cleanup(func() { close(never) })
		server.ScriptEmbed(func(modeltest.Request) modeltest.EmbedAnswer {
			select {
			case asked <- struct{}{}:
			default:
			}
			return modeltest.EmbedAnswer{Hold: never}
		})
		ollama = server.URL
	}
	cmd := leaving(ctx, s.held, "lsp", "--state-dir", state, "--ollama", ollama, "--embedding-model", "letters", "--log-level", "error")
	profile, err := headless.LoadProfile("vscode")
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e, err := headless.Connect(ctx, duplex{out, in}, headless.Options{Profile: profile, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for s.at != nil && !s.at(t, cmd.Process.Pid) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it is never where it should not go on")
		}
	}
	if s.embeds {
		select {
		case <-asked:
		case <-ctx.Done():
			t.Fatal("nothing was to be embedded")
		}
	}
	code := 1
	switch way {
	case "exit":
		code = 0
		if err := e.Call(ctx, "shutdown", nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := e.Notify("exit", nil); err != nil {
			t.Fatal(err)
		}
	case "end of input":
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		if err := cmd.Process.Signal(unix.SignalNum(way)); err != nil {
			t.Fatal(err)
		}
	}
	told := time.Now()
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("exit code %d, want %d: %v, %v", cmd.ProcessState.ExitCode(), code, err, ctx.Err())
	}
	t.Logf("gone after %v", time.Since(told).Round(time.Millisecond))
	// What was kept is sound, whenever that was: the next process finds all.
	var found, errs bytes.Buffer
	if code := run(t.Context(), []string{"search", "--workspace", root, "--state-dir", state, "--ollama", noOllama, "--wait", "1m", "Harvest"}, nil, &found, &errs); code != 0 || !strings.Contains(found.String(), "barn/a.go") {
		t.Errorf("the next process: exit code %d: %s%s", code, found.String(), errs.String())
	}
}

// leaving is quarry with calls of the system that never return.
func leaving(ctx context.Context, calls []int, args ...string) *exec.Cmd {
	name, env := "quarry", append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if calls != nil {
		var numbers []string
		for _, n := range calls {
			numbers = append(numbers, strconv.Itoa(n))
		}
		name, env = "quarry-held", append(env, heldEnv+"="+strings.Join(numbers, ","))
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	return cmd
}

// needHeldCalls skips where the system does not let calls be held.
func needHeldCalls(t *testing.T) {
	t.Helper()
	cmd := leaving(t.Context(), []int{unix.SYS_GETDENTS64}, "version")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == notHeld {
		t.Skipf("this system holds no calls for a test: %s", bytes.TrimSpace(out))
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// blockedIn answers whether a thread of a process is in a call of the system.
func blockedIn(call int) func(t *testing.T, pid int) bool {
	return func(t *testing.T, pid int) bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(threads, func(name string) bool {
			text, _ := os.ReadFile(name) // it may be gone
			number, _, _ := strings.Cut(string(text), " ")
			return number == strconv.Itoa(call)
		})
	}
}

// duplex is a server's output and input.
type duplex struct {
	io.ReadCloser
	in io.WriteCloser
}

func (d duplex) Write(b []byte) (int, error) { return d.in.Write(b) }

func (d duplex) Close() error {
	if err := errors.Join(d.in.Close(), d.ReadCloser.Close()); !errors.Is(err, os.ErrClosed) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
