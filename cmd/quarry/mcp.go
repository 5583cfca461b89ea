package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"quarry/agent"
	"quarry/agent/mcp"
	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/lsp"
)

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to an agent over the Model Context Protocol",
		Long: `Serve search, symbols and files of the workspace to an agent over the Model Context
Protocol, on standard input and output.

Nothing is changed: a tool that changes files answers a checked diff. Secrets and what
.quarryignore leaves out are not read.`,
		Example: `  quarry mcp --workspace ~/src/project`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd.Context()) },
	}
}

func (a *app) mcp(ctx context.Context) (err error) {
	root, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	c := a.Engines(lsp.Start{
		Settings: a.CommandSettings(),
		Roots:    []string{root},
		Watch:    true, // no editor tells of changes
		Notify:   func(_ lsp.Severity, _, message string) { fmt.Fprintln(a.Stderr, "quarry:", message) },
		Job:      func(string, func()) lsp.Job { return silentJob{} },
		Staging:  agent.NewStaging(func() string { return root }, time.Now),
	}, engines.Options{Level: a.SetLogLevel})
	defer func() {
		a.Ending(cli.ExitOK)
		err = errors.Join(err, c.Close())
	}()
	err = mcp.Serve(ctx, c.Tools(), cli.Version(), a.Stdin, a.Protocol)
	if ctx.Err() != nil {
		return nil // asked to end
	}
	return err
}

// silentJob shows nothing: there is no place for progress.
type silentJob struct{}

// Report implements lsp.Job.
func (silentJob) Report(float64, string) {}

// End implements lsp.Job.
func (silentJob) End(string) {}
