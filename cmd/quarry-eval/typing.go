package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	completioneval "quarry/completion/eval"
)

func (a *app) typingCommand() *cobra.Command {
	var before, after string
	var right float64
	var limit int
	cmd := &cobra.Command{
		Use:   "typing",
		Short: "Requests, reuse and re-read prompt of typing that real diffs tell of",
		Long: `typing replays, keystroke by keystroke, what was added between two versions of
repositories, against a stand-in for the model that foretells the text with the
given probability.`,
		Example: "  quarry-eval typing --before OLD --after NEW --right 0.5",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.typing(cmd.Context(), before, after, right, limit)
		},
	}
	cmd.Flags().StringVar(&before, "before", "", "`DIR` with one folder a repository, the older version")
	cmd.Flags().StringVar(&after, "after", "", "`DIR` with folders of the same names, the newer version")
	cmd.Flags().Float64Var(&right, "right", 0.5, "how often the stand-in foretells the text")
	cmd.Flags().IntVar(&limit, "traces", 200, "how many insertions to replay at most")
	return required(cmd, "before", "after")
}

func (a *app) typing(ctx context.Context, before, after string, right float64, limit int) error {
	from, err := completioneval.Load(before)
	if err != nil {
		return err
	}
	to, err := completioneval.Load(after)
	if err != nil {
		return err
	}
	byName := map[string]completioneval.Repository{}
	for _, r := range from {
		byName[r.Name] = r
	}
	var traces []completioneval.Trace
	for _, r := range to {
		traces = append(traces, completioneval.Traces(byName[r.Name], r)...)
	}
	if len(traces) == 0 {
		return fmt.Errorf("nothing was added between %s and %s: both should hold folders of the same names", before, after)
	}
	report, err := completioneval.Type(ctx, traces[:min(limit, len(traces))], right, 1)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.encode(report)
	}
	_, err = fmt.Fprintf(a.Stdout, "%d insertions, %d keystrokes: %d requests to the model, %d answers reused\n"+
		"requests while typing what was shown: %d\nof a prompt of %.0f tokens, %.0f are read again (a window that slides: %.0f); "+
		"what was typed, the suffix and 16 at most in %.1f %%\nreused answer: p50 %.3f ms, p99 %.3f ms\n",
		report.Traces, report.Keystrokes, report.Requests, report.Reused, report.ShownRequests,
		report.Prompt, report.Reread, report.RereadSliding, 100*report.Within, report.P50, report.P99)
	return err
}
