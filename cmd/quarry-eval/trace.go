package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
)

func (a *app) traceCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "What was opened of the answers that were shown, and which ghost text was accepted",
		Long: `trace adds up what quarry's servers noted in the last month of the answers that their
users and agents were shown: how many there were, which rank was opened first, and the
mean of one divided by that rank, over the answers of which something was opened (MRR)
and over all that had a place, where one that nobody opened counts as 0 (MRR OF ALL).
Of ghost text it says how much of each kind was accepted.

It reads the trace of this machine, or a file that quarry stats --export wrote.`,
		Example: `  quarry-eval trace
  quarry stats --export trace.jsonl
  quarry-eval trace --from trace.jsonl --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.trace(from, time.Now()) },
	}
	cmd.Flags().StringVar(&from, "from", "", "a `FILE` that quarry stats --export wrote")
	return cmd
}

func (a *app) trace(from string, today time.Time) (err error) {
	var list []usage.Traced
	if from != "" {
		if list, err = usage.ReadExport(from); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		return a.print(usage.FiguresOf(list))
	}
	dir, err := engines.StatsDir(a.StateDir)
	if err != nil {
		return err
	}
	if list, err = usage.ReadTrace(dir, today); err != nil {
		return err
	}
	return a.print(usage.FiguresOf(list))
}
