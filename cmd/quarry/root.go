package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
)

// app is the commands over what they share.
type app struct{ *cli.Env }

// run is main without the process: it answers the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runProcess(ctx, args, stdin, stdout, stderr, func(int) {})
}

// runProcess is run with what is called when a server is told to end.
func runProcess(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, ending func(code int)) int {
	return cli.Run(ctx, args, stdin, stdout, stderr, func(env *cli.Env) *cobra.Command {
		env.Ending = ending
		return (&app{env}).root()
	})
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "quarry",
		Short: "A local, private coding assistant: one language server, no code leaves your machine",
		Long: `quarry completes code in your editor, explains and fixes what is reported about
it, and answers questions, with a small model on your own machine. It searches
and completes without one too, and changes no file without asking.

The five commands to know first:
  quarry doctor         find out what is missing, and how to get it
  quarry demo           see ghost text in this terminal, no editor needed
  quarry search WORDS   find code by what it does, with no model at all
  quarry ask QUESTION   answer a question about the repository, with citations
  quarry lsp            the language server that editors start`,
	}
	lsp := a.lspCommand()
	root.RunE = lsp.RunE // quarry alone is quarry lsp, which is how editors often start it
	root.Flags().AddFlagSet(lsp.Flags())
	root.AddCommand(lsp, a.completeCommand(), searches{a}.searchCommand(), a.askCommand(), a.explainCommand(), a.reportCommand(), a.mcpCommand(), a.serveCommand(), a.indexCommand(), a.statusCommand(), a.demoCommand(), doctors{a}.doctorCommand(), a.statsCommand(), modelCommands{a}.modelCommand(), a.setupCommand(), a.versionCommand(), a.ManCommand(root))
	return root
}
