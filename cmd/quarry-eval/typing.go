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
	var inside bool
	cmd := &cobra.Command{
		Use:   "typing",
		Short: "Requests, reuse and re-read prompt of typing that real diffs tell of",
		Long: `typing replays, keystroke by keystroke, what was added between two versions of
repositories, against a stand-in for the model that foretells the text with the
given probability. The last table has every prompt and what it followed.`,
		Example: `  quarry-eval typing --before OLD --after NEW --right 0.5
  quarry-eval typing --before OLD --after NEW --right 0.5 --context`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.typing(cmd.Context(), before, after, right, limit, inside)
		},
	}
	cmd.Flags().StringVar(&before, "before", "", "`DIR` with one folder a repository, the older version")
	cmd.Flags().StringVar(&after, "after", "", "`DIR` with folders of the same names, the newer version")
	cmd.Flags().Float64Var(&right, "right", 0.5, "how often the stand-in foretells the text")
	cmd.Flags().IntVar(&limit, "traces", 200, "how many insertions to replay at most")
	cmd.Flags().BoolVar(&inside, "context", false, "with the repository's code in the prompts, and a look into another document now and then")
	return required(cmd, "before", "after")
}

func (a *app) typing(ctx context.Context, before, after string, right float64, limit int, inside bool) error {
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
	var edited []completioneval.Edited
	left := limit
	for _, r := range to {
		was, ok := byName[r.Name]
		if !ok {
			continue
		}
		traces := completioneval.Traces(was, r)
		traces = traces[:min(left, len(traces))]
		left -= len(traces)
		edited = append(edited, completioneval.Edited{Before: was, Traces: traces})
	}
	if left == limit {
		return fmt.Errorf("nothing was added between %s and %s: both should hold folders of the same names", before, after)
	}
	report, err := completioneval.TypeInto(ctx, edited, right, 1, inside)
	if err != nil {
		return err
	}
	return a.print(report)
}
