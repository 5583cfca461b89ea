package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/retrieval/eval/newcomer"
)

// newcomerFlags are those of `quarry-eval newcomer`.
type newcomerFlags struct {
	newcomer.Options
	questions, half, against, expand string
	misses, replay                   bool
	vectors                          vectorOptions
}

func (a *app) newcomerCommand() *cobra.Command {
	var f newcomerFlags
	cmd := &cobra.Command{
		Use:   "newcomer",
		Short: "Search over whole checkouts by a newcomer's questions and pasted messages",
		Long: `newcomer indexes whole checkouts, each in a folder of its own that is removed again,
and asks questions of people who have never seen the code, as quarry search does
where there is no model; with --vectors as where one has embedded the chunks. It says how often the right file and the right lines come
first or among the first five (+also: places listed under a file count; within: the
lines are right where the file is first; lines: how many the first result shows).

Half of the repositories are held back: their questions are never shown one by one.
testdata/newcomer/fetch.sh fetches the trees.`,
		Example: `  testdata/newcomer/fetch.sh /tmp/newcomer
  quarry-eval newcomer --corpus /tmp/newcomer --misses
  quarry-eval newcomer --corpus /tmp/newcomer --json > before.json
  quarry-eval newcomer --corpus /tmp/newcomer --against before.json
  quarry-eval newcomer --corpus /tmp/newcomer --vectors vectors.dat --embed all-minilm --ollama 127.0.0.1:11599
  quarry-eval newcomer --corpus /tmp/newcomer --half held`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.newcomer(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.questions, "questions", "testdata/newcomer", "`DIR` with the repositories and their questions")
	flags.StringVar(&f.Corpus, "corpus", "", "`DIR` with one checkout a repository, by name")
	flags.StringVar(&f.half, "half", string(newcomer.Fit), "which repositories: fit or held")
	flags.StringSliceVar(&f.Only, "only", nil, "only these repositories")
	flags.StringVar(&f.against, "against", "", "a `FILE` that --json wrote: print the differences with their 95% intervals")
	f.vectors.add(flags)
	flags.StringVar(&f.expand, "expand", "", "have the model of the settings add names to the questions; its answers are kept in `FILE`")
	flags.BoolVar(&f.replay, "replay", false, "ask no model: only what --expand has")
	flags.BoolVar(&f.misses, "misses", false, "list the questions of the fit half whose right place is not first")
	return required(cmd, "corpus")
}

func (a *app) newcomer(ctx context.Context, f newcomerFlags) (err error) {
	f.Half = newcomer.Half(f.half)
	switch {
	case f.Half != newcomer.Fit && f.Half != newcomer.Held:
		return fmt.Errorf("%w: --half %q is neither fit nor held", cli.ErrUsage, f.half)
	case f.Half == newcomer.Held && f.misses:
		return fmt.Errorf("%w: --misses shows the fit half only; what is held back is not looked at question by question", cli.ErrUsage)
	case f.replay && f.expand == "":
		return fmt.Errorf("%w: --replay is for the answers of --expand", cli.ErrUsage)
	case f.Half == newcomer.Held && len(f.Only) > 0:
		return fmt.Errorf("%w: --only is for the fit half; the held one is asked as a whole", cli.ErrUsage)
	}
	var before newcomer.Report
	if f.against != "" {
		b, err := os.ReadFile(f.against)
		if err != nil {
			return fmt.Errorf("--against: %w", err)
		}
		if err := json.Unmarshal(b, &before); err != nil {
			return fmt.Errorf("--against %s is not what --json wrote: %w", f.against, err)
		}
	}
	set, err := newcomer.Read(f.questions)
	if err != nil {
		return err
	}
	if err := f.vectors.check(); err != nil {
		return err
	}
	vectors, closed, err := a.vectors(f.vectors)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed()) }()
	if f.expand != "" {
		expand, end, err := a.expanding(f.expand, f.replay)
		if err != nil {
			return fmt.Errorf("--expand: %w", err)
		}
		defer func() { err = errors.Join(err, end()) }()
		f.Expand = expand
	}
	f.Vectors, f.Way = vectors, f.vectors.way
	f.Done = func(r newcomer.Repository) { fmt.Fprintln(a.Stderr, r.Name) }
	report, err := set.Run(ctx, f.Options)
	if err != nil {
		return err
	}
	if f.against != "" {
		if err := report.Compare(before); err != nil {
			return fmt.Errorf("%w: --against %s: %w", cli.ErrUsage, f.against, err)
		}
	}
	if a.JSON {
		return a.PrintLine(report)
	}
	err = report.Write(a.Stdout)
	if f.misses {
		err = errors.Join(err, report.WriteMisses(a.Stdout))
	}
	return err
}
