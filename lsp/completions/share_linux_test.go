package completions

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listenEnv names a socket to a process of TestNothingGoesToAnotherUser.
const listenEnv = "QUARRY_TEST_LISTEN"

// Y10: neither code nor the token goes to a socket of another user's, whoever let that one put it
// beside the own ones.
func TestNothingGoesToAnotherUser(t *testing.T) {
	if socket := os.Getenv(listenEnv); socket != "" {
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(socket, 0o777); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("listens\n")
		for {
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(conn) // ends with the asker
			os.Stdout.WriteString("got " + strings.ReplaceAll(string(text), "\n", " ") + "\n")
			conn.Close()
		}
	}
	if os.Getuid() != 0 {
		t.Skip("only root can be another user; run by root it puts another user's socket beside quarry's")
	}
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "theirs")
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestNothingGoesToAnotherUser$")
	cmd.Dir, cmd.Env = "/", []string{listenEnv + "=" + socket, "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) {
		t.Skip("root here is alone in a name space of users; elsewhere it puts another user's socket beside quarry's")
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "listens" {
		t.Fatal(lines.Text(), lines.Err())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // of use where code does go there
	defer cancel()
	o := others{dir, filepath.Join(dir, "own"), token, time.Hour}
	if answer, ok := o.ask(ctx, request{Prompt: "secret code"}); ok {
		t.Errorf("answered %+v", answer)
	}
	if _, err := o.post(ctx, socket, []byte("secret code")); err == nil {
		t.Error("asked")
	}
	for range 2 { // both connected, to find out who is there
		if !lines.Scan() || lines.Text() != "got " {
			t.Errorf("another user's process %s", lines.Text())
		}
	}
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("another user's socket is taken for one that was left: %v", err)
	}
}
