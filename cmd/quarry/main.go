// Command quarry is a local coding assistant: a language server and, as
// subcommands over the same core, a command line.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"quarry/cmd/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := runProcess(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, endSoon)
	stop()
	os.Exit(code)
}

// endWithin is how long a server that was told to end may take, and the promise to
// editors is a second: they kill it after two, and wait for it until then.
const endWithin = 300 * time.Millisecond

// endSoon ends the process by force when it takes too long. What is stored survives that
// in any state, as it survives being killed.
func endSoon(code int) {
	time.AfterFunc(endWithin, func() {
		if code == cli.ExitStopped {
			fmt.Fprintln(os.Stderr, "quarry: stopped")
		}
		os.Exit(code)
	})
}
