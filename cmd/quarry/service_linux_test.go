package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry/cmd/internal/cli"
	"quarry/lsp/headless"
	"quarry/lsp/service/client"
	"quarry/lsp/service/peer"
)

// started runs `quarry serve` in a process of its own until it serves.
func started(t *testing.T, ctx context.Context, calls []int, args ...string) *exec.Cmd {
	t.Helper()
	cmd := leaving(ctx, calls, append([]string{"serve", "--ollama", noOllama, "--log-level", "error"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || !strings.HasPrefix(line, "quarry: serving at ") {
		t.Fatalf("said %q, %v", line, err)
	}
	return cmd
}

// Whatever a service is at when it is told to end, it is gone soon, and its socket at once.
func TestLeavingServe(t *testing.T) {
	needHeldCalls(t)
	for name, state := range leavingStates {
		if state.embeds {
			continue
		}
		for _, way := range []string{"SIGTERM", "SIGHUP", "SIGINT"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				socket := serviceState(t)
				root := barn(t)
				if state.make != nil {
					state.make(t, root, os.Getenv("QUARRY_STATE_DIR"))
				}
				cmd := started(t, ctx, state.held)
				c, err := client.Dial(ctx, socket, client.Options{Hello: client.Hello{Roots: []string{root}}})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				answered := make(chan error, 1)
				go func() { // which is never answered where calls are held
					_, err := c.Search(ctx, client.Search{Query: "apples", Current: true})
					answered <- err
				}()
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				for state.at != nil && !state.at(t, cmd.Process.Pid) {
					select {
					case <-tick.C:
					case <-ctx.Done():
						t.Fatal("it is never where it should not go on")
					}
				}
				if err := cmd.Process.Signal(unix.SignalNum(way)); err != nil {
					t.Fatal(err)
				}
				told := time.Now()
				err = cmd.Wait()
				if ctx.Err() != nil || cmd.ProcessState.ExitCode() != cli.ExitOK {
					t.Fatalf("exit code %d: %v, %v", cmd.ProcessState.ExitCode(), err, ctx.Err())
				}
				t.Logf("gone after %v", time.Since(told).Round(time.Millisecond))
				<-answered
				if _, err := os.Lstat(socket); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the socket stays: %v", err)
				}
			})
		}
	}
}

// The socket of a service that was killed is replaced, and until then it is as if there were none.
func TestServeAfterAKill(t *testing.T) {
	socket := serviceState(t)
	cmd := started(t, t.Context(), nil)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if _, err := os.Lstat(socket); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := command(t, "serve", "--status"); code != 0 || !strings.HasPrefix(out, "No quarry serve runs.") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	settled(t, barn(t), "apples")
	stop := serving(t, "--ollama", noOllama)
	if st := serviceStatus(t); !st.Running {
		t.Errorf("%+v", st)
	}
	if code := stop(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// TestServeToAnotherUser attacks a service as another user of the machine: from outside its
// folder, and as if the folder and the socket were open to everybody.
func TestServeToAnotherUser(t *testing.T) {
	if os.Getenv(asNobodyEnv) != "" {
		var as asNobody
		if err := json.NewDecoder(os.Stdin).Decode(&as); err != nil {
			t.Fatal(err)
		}
		as.connect(t)
		return
	}
	beSomebodyElse(t, "attacks quarry serve")
	socket := serviceState(t)
	stop := serving(t, "--ollama", noOllama)
	attack := func(want string) {
		t.Helper()
		as, err := json.Marshal(asNobody{Address: socket, Attacks: map[string]string{
			"hello":   string(headless.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"quarry/hello","params":{"protocol":1}}`))),
			"nothing": "",
		}})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestServeToAnotherUser$", "-test.v")
		cmd.Dir, cmd.Env = "/", []string{asNobodyEnv + "=1", "GORACE=atexit_sleep_ms=0"}
		cmd.Stdin = bytes.NewReader(as)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), want) != 2 {
			t.Errorf("%v:\n%s", err, out)
		}
	}
	if err := os.Chmod(os.Getenv("QUARRY_STATE_DIR"), 0o755); err != nil { // what keeps others out is not the test's folder
		t.Fatal(err)
	}
	attack("cannot connect")
	for name, mode := range map[string]os.FileMode{filepath.Dir(socket): 0o755, socket: 0o666} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	attack("is hung up on")
	if st := serviceStatus(t); !st.Running || st.Service.Answered != 1 { // this status' own hello
		t.Errorf("%+v", st.Service)
	}
	if code := stop(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}

	// Nor does a client speak to a service of another user.
	theirs, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if err := peerIsNobody(t, socket); !errors.Is(err, peer.ErrOtherUser) {
		t.Errorf("a client of another user's service: %v", err)
	}
}

// connect says what each attack says; the test reads what came of it.
func (as asNobody) connect(t *testing.T) {
	for name, text := range as.Attacks {
		conn, err := net.Dial("unix", as.Address)
		if errors.Is(err, os.ErrPermission) {
			t.Logf("%s cannot connect", name)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, text) // the service may have hung up
		if answer, _ := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("%s is answered %q", name, answer)
			continue
		}
		t.Logf("%s is hung up on", name)
	}
}

// peerIsNobody dials a socket whose listener is another user's, as the system sees it: it is
// asked from a thread of that user.
func peerIsNobody(t *testing.T, socket string) error {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestDialAnotherUsersService$", "-test.v")
	cmd.Dir, cmd.Env = "/", []string{asNobodyEnv + "=1", "GORACE=atexit_sleep_ms=0", dialEnv + "=" + socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if strings.Contains(string(out), peer.ErrOtherUser.Error()) {
		return peer.ErrOtherUser
	}
	return fmt.Errorf("%s", out)
}

// dialEnv names a socket to a process of TestDialAnotherUsersService.
const dialEnv = "QUARRY_TEST_DIAL"

// TestDialAnotherUsersService is the part of TestServeToAnotherUser that another user runs.
func TestDialAnotherUsersService(t *testing.T) {
	socket := os.Getenv(dialEnv)
	if socket == "" {
		t.Skip("it is run by TestServeToAnotherUser")
	}
	c, err := client.Dial(t.Context(), socket, client.Options{})
	if err == nil {
		c.Close()
	}
	t.Log(err)
}
