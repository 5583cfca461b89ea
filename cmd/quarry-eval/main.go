// Command quarry-eval measures quarry's own quality: search, completion, what prompts
// hold, ghost text of a real model, the assistant and its fixes. It is for who works on quarry;
// users have no need of it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// app is the evaluations over what all commands share.
type app struct{ *cli.Env }

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, args, stdin, stdout, stderr, func(env *cli.Env) *cobra.Command { return (&app{env}).root() })
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "quarry-eval",
		Short: "Measure quarry's own quality on annotated data",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(a.retrievalCommand(), a.newcomerCommand(), a.lexiconCommand(), a.completionCommand(), a.idiomsCommand(), a.firstCommand(), a.typingCommand(), a.agentsCommand(), a.ghostCommand(), a.contextCommand(), a.goldenCommand(), a.fixesCommand(), a.importsCommand(), a.traceCommand())
	return root
}

// required is a command with flags that it does nothing without.
func required(cmd *cobra.Command, flags ...string) *cobra.Command {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was defined before
		}
	}
	return cmd
}

// print writes a report: as text, or as JSON with --json.
func (a *app) print(report fmt.Stringer) error {
	if a.JSON {
		return a.PrintLine(report)
	}
	_, err := fmt.Fprint(a.Stdout, report)
	return err
}
