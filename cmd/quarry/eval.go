package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"quarry/retrieval/eval"
)

func (a *app) evalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure quarry's own quality on annotated data",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.evalRetrievalCommand(), a.evalCompletionCommand(), a.evalTypingCommand(), a.evalContextCommand(), a.evalGoldenCommand())
	return cmd
}

func (a *app) evalRetrievalCommand() *cobra.Command {
	var corpus eval.Corpus
	var before string
	var outcomes bool
	cmd := &cobra.Command{
		Use:   "retrieval",
		Short: "NDCG@10 and hit rates of search over annotated questions",
		Example: `  quarry eval retrieval --annotations DIR/annotations --repos DIR/repos.json --corpus CHECKOUTS
  quarry eval retrieval ... --json --outcomes > before.json
  quarry eval retrieval ... --compare before.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.evalRetrieval(cmd.Context(), corpus, before, outcomes)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&corpus.Annotations, "annotations", "", "`DIR` with one file of questions a repository")
	flags.StringVar(&corpus.Repositories, "repos", "", "`FILE` that lists the repositories")
	flags.StringVar(&corpus.Checkouts, "corpus", "", "`DIR` with one checkout a repository, by name")
	flags.StringSliceVar(&corpus.Only, "only", nil, "only these repositories")
	flags.StringVar(&before, "compare", "", "a `FILE` that --json wrote: print the difference with its 95% interval")
	flags.BoolVar(&outcomes, "outcomes", false, "with --json, every question's own score too")
	for _, name := range []string{"annotations", "repos", "corpus"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was defined above
		}
	}
	return cmd
}

// evalOutput is the JSON of `quarry eval retrieval`.
type evalOutput struct {
	eval.Report
	Change *eval.Interval `json:"change,omitempty"`
}

func (a *app) evalRetrieval(ctx context.Context, corpus eval.Corpus, before string, outcomes bool) error {
	report, err := corpus.Run(ctx)
	if err != nil {
		return err
	}
	out := evalOutput{Report: report}
	if before != "" {
		var old eval.Report
		b, err := os.ReadFile(before)
		if err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
		if err := json.Unmarshal(b, &old); err != nil {
			return fmt.Errorf("--compare %s is not what --json wrote: %w", before, err)
		}
		change := eval.Compare(old, report)
		out.Change = &change
	}
	if a.json {
		if !outcomes {
			out.Outcomes = nil
		}
		return json.NewEncoder(a.stdout).Encode(out)
	}
	a.printReport(out)
	return nil
}

func (a *app) printReport(out evalOutput) {
	row := func(name string, s eval.Summary) {
		fmt.Fprintf(a.stdout, "%-24s %5d %8.3f %7.3f %7.3f %7.3f\n", name, s.Questions, s.NDCG, s.Hit1, s.Hit5, s.Hit10)
	}
	fmt.Fprintf(a.stdout, "%-24s %5s %8s %7s %7s %7s\n", "", "asked", "NDCG@10", "hit@1", "hit@5", "hit@10")
	for _, group := range []map[string]eval.Summary{out.Repositories, out.Languages, out.Categories, out.Halves} {
		if len(group) == 0 {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(group)) {
			row(name, group[name])
		}
		fmt.Fprintln(a.stdout)
	}
	row("overall", out.Overall)
	if out.Overall.Spans > 0 {
		fmt.Fprintf(a.stdout, "span recall %.3f of %d\n", out.Overall.SpanRecall, out.Overall.Spans)
	}
	l := out.LatencyMS
	fmt.Fprintf(a.stdout, "latency p50 %.2f ms, p95 %.2f ms, p99 %.2f ms\n", l.P50, l.P95, l.P99)
	if c := out.Change; c != nil {
		fmt.Fprintf(a.stdout, "change %+.4f, 95%% interval %+.4f to %+.4f\n", c.Difference, c.Low, c.High)
	}
}
