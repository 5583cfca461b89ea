package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/cmd/internal/cli"
)

// A terminal shows a model's words as they come, and then what is left of them when they were
// checked. Without a model there were none before.
func TestExplainOnATerminalWithoutAModel(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	t.Chdir(barn(t))
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(master) // which fails once nobody has the terminal open
		shown <- string(text)
	}()
	var errs bytes.Buffer
	args := []string{"explain", "--ollama", noOllama, "--wait", "1m", "--state-dir", t.TempDir(), "--message", "too many arguments", "barn/a.go:4"}
	code := run(t.Context(), args, strings.NewReader(""), terminal, &errs)
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	if text := <-shown; code != cli.ExitOK || !strings.HasPrefix(text, "No model can answer now: ") || strings.Contains(text, "After checking") {
		t.Errorf("exit code %d: the terminal shows %q; %s", code, text, &errs)
	}
}
