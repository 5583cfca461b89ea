//go:build unix

package process

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// The end of a process is noticed, of one that is gone already, too, and the wait ends
// with its context.
func TestAwait(t *testing.T) {
	cmd := exec.Command("cat") // until its input ends
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, await := range map[string]func(context.Context, int) bool{"by the system": Await, "by looking": poll} {
		ended, end := context.WithCancel(ctx)
		end()
		if await(ended, cmd.Process.Pid) {
			t.Errorf("%s: a process that runs is taken for gone", name)
		}
	}
	gone := make(chan bool)
	go func() { gone <- Await(ctx, cmd.Process.Pid) }()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !<-gone {
		t.Error("the end of a process is not noticed")
	}
	if !Await(ctx, cmd.Process.Pid) {
		t.Error("a process that was gone before is not noticed")
	}
}
