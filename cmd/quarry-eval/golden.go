package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/diagnostics/golden"
)

func (a *app) goldenCommand() *cobra.Command {
	var suite, corpus string
	var only []string
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "golden",
		Short: "Answers, fixes and completions of the model over a suite of tasks",
		Long: `golden gives the model a suite of tasks (where is X, explain this error, fix it,
complete with a helper of another file) and counts what can be decided without
reading: changes that apply and parse, places that stand, answers that nothing
proves. quarry's own suite is testdata/golden.`,
		Example: `  quarry-eval golden --suite testdata/golden --model granite4:micro
  quarry-eval golden --suite testdata/questions/held --corpus /tmp/holes   # questions on real repositories, see testdata/holes/fetch.sh`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.golden(cmd.Context(), suite, corpus, only, limit)
		},
	}
	cmd.Flags().StringVar(&suite, "suite", "", "`DIR` with tasks.json and workspace")
	cmd.Flags().StringVar(&corpus, "corpus", "", "`DIR` with one folder a repository, for tasks about those")
	cmd.Flags().StringSliceVar(&only, "only", nil, "only these tasks, by id or kind")
	cmd.Flags().DurationVar(&limit, "timeout", 5*time.Minute, "how long a task may take")
	return required(cmd, "suite")
}

func (a *app) golden(ctx context.Context, dir, corpus string, only []string, limit time.Duration) error {
	whole, err := golden.Load(dir)
	if err != nil {
		return err
	}
	whole.Tasks = slices.DeleteFunc(whole.Tasks, func(t golden.Task) bool {
		return len(only) > 0 && !slices.Contains(only, t.ID) && !slices.Contains(only, string(t.Kind)) && !slices.Contains(only, t.Repository)
	})
	suites, err := whole.Split(corpus)
	if err != nil {
		return fmt.Errorf("%w: %w (--corpus)", cli.ErrUsage, err)
	}
	var outcomes []golden.Outcome
	for _, suite := range suites {
		part, err := a.goldenSuite(ctx, suite, limit)
		outcomes = append(outcomes, part...)
		if err != nil {
			return err
		}
	}
	report := golden.Sum(outcomes)
	if a.JSON {
		return a.PrintJSON(report)
	}
	_, err = fmt.Fprint(a.Stdout, report.Table())
	return err
}

// goldenSuite runs the tasks of one workspace.
func (a *app) goldenSuite(ctx context.Context, suite golden.Suite, limit time.Duration) (outcomes []golden.Outcome, err error) {
	a.Wait = limit // a task asks about all of the workspace
	c := a.Core(suite.Workspace)
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, t := range suite.Tasks {
		out, err := runTask(ctx, c, suite, t, limit)
		if ctx.Err() != nil { // what there is by now is a report too
			fmt.Fprintf(a.Stderr, "interrupted: %s and what follows it are left out\n", t.ID)
			break
		}
		if err != nil {
			return outcomes, err
		}
		fmt.Fprintln(a.Stderr, progressOf(out))
		outcomes = append(outcomes, out)
	}
	return outcomes, nil
}

// runTask runs one task within limit; one that takes longer has failed.
func runTask(ctx context.Context, c *engines.Core, s golden.Suite, t golden.Task, limit time.Duration) (golden.Outcome, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := s.Run(within, t, slowly{c, limit})
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		out.Failed, err = fmt.Sprintf("took longer than %v", limit), nil
	}
	return out, err
}

// slowly gives answers as long as the evaluation does: it is not about speed.
type slowly struct {
	*engines.Core
	limit time.Duration
}

// Ask implements golden.Engines.
func (s slowly) Ask(ctx context.Context, q agent.Question, emit func(text string) bool) (agent.Answer, error) {
	r, err := s.AskWithin(ctx, q, s.limit, ask.Watch{Text: emit})
	return r.Answer, err
}

// progressOf is an outcome in one line.
func progressOf(o golden.Outcome) string {
	word := "withheld"
	switch {
	case o.Failed != "":
		word = "failed: " + o.Failed
	case o.Hallucinated:
		word = "hallucinated"
	case o.Right:
		word = "right"
	case o.Shown:
		word = "shown, not right"
	}
	return fmt.Sprintf("%-22s %6.1f s  %s", o.ID, o.Seconds, word)
}
