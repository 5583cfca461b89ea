package main

import (
	"bytes"
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

	"quarry/cmd/internal/cli"
)

// nobody is a user who owns nothing.
const nobody = 65534

// asNobody is what a second user tries, in a process of his own.
type asNobody struct {
	Address string
	Attacks map[string]string
	Process int    // of the server
	State   string // its folder
	Token   string // its file
}

// TestListenToAnotherUser attacks a server as another user of the machine, who has the
// address and every right that the system gives him: not the token.
func TestListenToAnotherUser(t *testing.T) {
	if os.Getenv(asNobodyEnv) != "" {
		var as asNobody
		if err := json.NewDecoder(os.Stdin).Decode(&as); err != nil {
			t.Fatal(err)
		}
		as.try(t)
		return
	}
	beSomebodyElse(t, "attacks --listen")
	const secret = "a-token-that-is-long-enough-to-be-one"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address, token, stop := listening(t)
	state := os.Getenv("QUARRY_STATE_DIR")
	if code := run(t.Context(), []string{"index", "--workspace", t.TempDir(), "--ollama", "127.0.0.1:1"}, strings.NewReader(""), io.Discard, io.Discard); code != cli.ExitOK {
		t.Fatalf("quarry index ends with %d", code) // it makes the folder for state
	}
	for _, dir := range []string{filepath.Dir(state), filepath.Dir(filepath.Dir(state)), filepath.Dir(file)} {
		if err := os.Chmod(dir, 0o755); err != nil { // what keeps others out is quarry's, not the test's
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(state); err != nil {
		t.Fatal(err)
	}
	attacks, err := json.Marshal(asNobody{address, listenAttacks("Authorization: Bearer " + secret), os.Getpid(), state, file})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestListenToAnotherUser$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{asNobodyEnv + "=1", "GORACE=atexit_sleep_ms=0"}
	cmd.Stdin = bytes.NewReader(attacks)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("%d attacks as user %d", len(listenAttacks(token))+5, nobody)) {
		t.Errorf("%v:\n%s", err, out)
	}
	editorAt(t, address, token)
	if got := stop(); got != cli.ExitOK {
		t.Errorf("exit code %d", got)
	}
}

func (as asNobody) try(t *testing.T) {
	for name, text := range as.Attacks {
		if answer, err := attack(as.Address, text); err != nil || len(answer) > 0 {
			t.Errorf("%s is answered %.80q, %v", name, answer, err)
		}
	}
	process := fmt.Sprintf("/proc/%d/", as.Process)
	for _, name := range []string{process + "environ", process + "mem", process + "fd", as.State, as.Token} {
		f, err := os.Open(name)
		if err == nil {
			_, err = f.Read(make([]byte, 1))
			f.Close()
		}
		if err == nil || !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s can be read: %v", name, err)
		}
	}
	if line, err := os.ReadFile(process + "cmdline"); err == nil && strings.Contains(string(line), "Bearer") {
		t.Errorf("the command line says %q", line)
	}
	for range 40 { // and keep the address to themselves
		if conn, err := net.Dial("tcp", as.Address); err == nil {
			defer conn.Close()
		}
	}
	t.Logf("%d attacks as user %d", len(as.Attacks)+5, os.Getuid())
}
