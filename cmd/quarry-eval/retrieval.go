package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/model"
	"quarry/retrieval"
	"quarry/retrieval/eval"
)

func (a *app) retrievalCommand() *cobra.Command {
	var corpus eval.Corpus
	var before string
	var outcomes bool
	var vectors vectorOptions
	cmd := &cobra.Command{
		Use:   "retrieval",
		Short: "NDCG@10 and hit rates of search over annotated questions",
		Example: `  quarry-eval retrieval --annotations DIR/annotations --repos DIR/repos.json --corpus CHECKOUTS
  quarry-eval retrieval ... --json --outcomes > before.json
  quarry-eval retrieval ... --compare before.json
  quarry-eval retrieval ... --vectors vectors.dat --embed all-minilm --ollama 127.0.0.1:11599`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.retrieval(cmd.Context(), corpus, vectors, before, outcomes)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&corpus.Annotations, "annotations", "", "`DIR` with one file of questions a repository")
	flags.StringVar(&corpus.Repositories, "repos", "", "`FILE` that lists the repositories")
	flags.StringVar(&corpus.Checkouts, "corpus", "", "`DIR` with one checkout a repository, by name")
	flags.StringSliceVar(&corpus.Only, "only", nil, "only these repositories")
	flags.StringVar(&before, "compare", "", "a `FILE` that --json wrote: print the difference with its 95% interval")
	vectors.add(flags)
	flags.BoolVar(&outcomes, "outcomes", false, "with --json, every question's own score too")
	return required(cmd, "annotations", "repos", "corpus")
}

// retrievalOutput is the JSON of `quarry-eval retrieval`.
type retrievalOutput struct {
	eval.Report
	Change *eval.Interval `json:"change,omitempty"`
}

// vectorOptions says what ranks in an evaluation.
type vectorOptions struct {
	file, model string
	way         eval.Way
}

// add makes them flags of a command.
func (m *vectorOptions) add(flags *pflag.FlagSet) {
	flags.StringVar(&m.file, "vectors", "", "rank by meaning too, with the vectors in `FILE`, which keeps what --embed adds")
	flags.StringVar(&m.model, "embed", "", "`MODEL` that embeds what --vectors lacks")
	flags.StringVar((*string)(&m.way.Signals), "mode", string(retrieval.SignalsAll), "what ranks: hybrid, lexical or semantic")
	flags.StringVar((*string)(&m.way.Fusion), "fusion", string(retrieval.FusionLinear), "how signals become one order: linear or rrf")
}

// check answers what is wrong with them.
func (m *vectorOptions) check() error {
	switch m.way.Signals {
	case retrieval.SignalsAll, retrieval.SignalsLexical, retrieval.SignalsSemantic:
	default:
		return fmt.Errorf("%w: --mode %q must be hybrid, lexical or semantic", cli.ErrUsage, m.way.Signals)
	}
	switch m.way.Fusion {
	case retrieval.FusionLinear, retrieval.FusionRank:
	default:
		return fmt.Errorf("%w: --fusion %q is neither linear nor rrf", cli.ErrUsage, m.way.Fusion)
	}
	return nil
}

// vectors opens the vectors of an evaluation, nil if it has none.
func (a *app) vectors(m vectorOptions) (v *eval.Vectors, closed func() error, err error) {
	if m.file == "" {
		return nil, func() error { return nil }, nil
	}
	var by eval.Embedder
	end := func() {}
	if m.model != "" {
		options := engines.ModelOptions(a.CommandSettings())
		options.EmbedThreads = runtime.NumCPU() // nobody completes code meanwhile
		server, err := model.New(options)
		if err != nil {
			return nil, nil, err
		}
		by, end = server.NewEmbedder(m.model), server.Close
	}
	v, err = eval.OpenVectors(m.file, m.model, by, func(s string) { fmt.Fprintln(a.Stderr, s) })
	if err != nil {
		end()
		return nil, nil, err
	}
	return v, func() error { end(); return v.Close() }, nil
}

func (a *app) retrieval(ctx context.Context, corpus eval.Corpus, vectors vectorOptions, before string, outcomes bool) (err error) {
	if err := vectors.check(); err != nil {
		return err
	}
	v, closed, err := a.vectors(vectors)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed()) }()
	report, err := corpus.Run(ctx, v, vectors.way)
	if err != nil {
		return err
	}
	out := retrievalOutput{Report: report}
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
	if a.JSON {
		if !outcomes {
			out.Outcomes = nil
		}
		return a.PrintLine(out)
	}
	a.printReport(out)
	return nil
}

func (a *app) printReport(out retrievalOutput) {
	row := func(name string, s eval.Summary) {
		fmt.Fprintf(a.Stdout, "%-24s %5d %8.3f %7.3f %7.3f %7.3f\n", name, s.Questions, s.NDCG, s.Hit1, s.Hit5, s.Hit10)
	}
	fmt.Fprintf(a.Stdout, "%-24s %5s %8s %7s %7s %7s\n", "", "asked", "NDCG@10", "hit@1", "hit@5", "hit@10")
	for _, group := range []map[string]eval.Summary{out.Repositories, out.Languages, out.Categories, out.Halves} {
		if len(group) == 0 {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(group)) {
			row(name, group[name])
		}
		fmt.Fprintln(a.Stdout)
	}
	row("overall", out.Overall)
	if out.Overall.Spans > 0 {
		fmt.Fprintf(a.Stdout, "span recall %.3f of %d\n", out.Overall.SpanRecall, out.Overall.Spans)
	}
	l := out.LatencyMS
	fmt.Fprintf(a.Stdout, "latency p50 %.2f ms, p95 %.2f ms, p99 %.2f ms\n", l.P50, l.P95, l.P99)
	if c := out.Change; c != nil {
		fmt.Fprintf(a.Stdout, "change %+.4f, 95%% interval %+.4f to %+.4f\n", c.Difference, c.Low, c.High)
	}
}
