package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/completion"
	kept "quarry/completion/eval"
	"quarry/diagnostics"
	"quarry/diagnostics/eval"
	"quarry/diagnostics/golden"
	"quarry/model"
	"quarry/retrieval/workspace"
)

// goldenFlags are those of `quarry-eval golden`.
type goldenFlags struct {
	suite, corpus, answers, missing string
	only                            []string
	limit                           time.Duration
}

func (a *app) goldenCommand() *cobra.Command {
	var f goldenFlags
	cmd := &cobra.Command{
		Use:   "golden",
		Short: "Answers, fixes and completions of the model over a suite of tasks",
		Long: `golden gives the model a suite of tasks (where is X, explain this error, fix it,
complete with a helper of another file) and counts what can be decided without
reading: changes that apply and parse, places that stand, answers that nothing
proves. quarry's own suite is testdata/golden.

With --answers what the model says of questions, explanations and fixes is kept in a
file, so that a run that broke off goes on; with --missing no model is asked.`,
		Example: `  quarry-eval golden --suite testdata/golden --model granite4.1:3b
  quarry-eval golden --suite testdata/questions/held --corpus /tmp/holes --answers questions.jsonl   # questions on real repositories, see testdata/holes/fetch.sh`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.golden(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "", "`DIR` with tasks.json and workspace")
	flags.StringVar(&f.corpus, "corpus", "", "`DIR` with one folder a repository, for tasks about those")
	flags.StringSliceVar(&f.only, "only", nil, "only these tasks, by id or kind")
	flags.DurationVar(&f.limit, "timeout", 5*time.Minute, "how long a task may take; with --answers an hour")
	flags.StringVar(&f.answers, "answers", "", "`FILE` that keeps the model's answers")
	flags.StringVar(&f.missing, "missing", "", "ask no model; write the conversations that have no answer to `FILE`")
	return required(cmd, "suite")
}

func (a *app) golden(ctx context.Context, f goldenFlags) error {
	whole, err := golden.Load(f.suite)
	if err != nil {
		return err
	}
	if f.missing != "" && f.answers == "" {
		return fmt.Errorf("%w: name the file that keeps the answers (--answers)", cli.ErrUsage)
	}
	whole.Tasks = slices.DeleteFunc(whole.Tasks, func(t golden.Task) bool {
		return len(f.only) > 0 && !slices.Contains(f.only, t.ID) && !slices.Contains(f.only, string(t.Kind)) && !slices.Contains(f.only, t.Repository)
	})
	suites, err := whole.Split(f.corpus)
	if err != nil {
		return fmt.Errorf("%w: %w (--corpus)", cli.ErrUsage, err)
	}
	var outcomes []golden.Outcome
	if f.answers == "" {
		outcomes, err = a.goldenSuites(ctx, suites, f.limit, nil)
	} else {
		outcomes, err = a.goldenKept(ctx, suites, f)
	}
	if err != nil {
		return err
	}
	report := golden.Sum(outcomes)
	if a.JSON {
		return a.PrintJSON(report)
	}
	_, err = fmt.Fprint(a.Stdout, report.Table())
	return err
}

// goldenKept is goldenSuites with answers that are kept in a file.
func (a *app) goldenKept(ctx context.Context, suites []golden.Suite, f goldenFlags) (outcomes []golden.Outcome, err error) {
	answers, err := eval.OpenAnswers(f.answers, a.CommandSettings().Model)
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	scratch, err := os.MkdirTemp("", "quarry-golden") // what an index of another day has must not decide what is asked
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	a.StateDir = scratch
	outcomes, err = a.goldenSuites(ctx, suites, slow, func(c *engines.Core) (golden.Engines, error) {
		switch missing, err := c.Learned(ctx); {
		case err != nil:
			return nil, err
		case missing != nil:
			return nil, fmt.Errorf("the index is not whole: %v", missing)
		}
		var upstream agent.Chat
		if f.missing == "" {
			upstream = c
		}
		return &fromFile{core: c, answers: answers, upstream: upstream, small: model.SmallByName(a.CommandSettings().Model)}, nil
	})
	if f.missing == "" || err != nil {
		return outcomes, err
	}
	asked, q := len(outcomes), golden.Sum(outcomes).Questions
	outcomes = golden.Answered(outcomes)
	if q.Answerable > 0 {
		fmt.Fprintf(a.Stderr, "%d of %d answerable questions have a line of a place that answers among what the model is shown\n", q.Offered, q.Answerable)
	}
	fmt.Fprintf(a.Stderr, "%d tasks, %d without an answer; the conversations are in %s\n", asked, asked-len(outcomes), f.missing)
	return outcomes, answers.WriteMissing(f.missing)
}

// fromFile are engines whose model answers from a file. Its model is asked as one of few
// parameters if its name says that it has few: nobody else can be asked.
type fromFile struct {
	core     *engines.Core
	answers  *eval.Answers
	upstream agent.Chat
	small    bool
	offered  []agent.Citation
	lacks    bool // of the task that was begun last
}

// Offered implements golden.Offering.
func (e *fromFile) Offered() []agent.Citation { return e.offered }

// begin is for the next task.
func (e *fromFile) begin() { e.offered, e.lacks = nil, false }

// Chat implements agent.Chat. What is asked because an answer was lacking is none of the
// task's own questions.
func (e *fromFile) Chat(ctx context.Context, c agent.Conversation, emit func(text string) bool) (agent.Reply, error) {
	if e.lacks {
		return agent.Reply{}, kept.ErrNoAnswer
	}
	reply, err := e.answers.Of(e.upstream).Chat(ctx, c, emit)
	e.lacks = errors.Is(err, kept.ErrNoAnswer)
	return reply, err
}

// Ask implements golden.Engines.
func (e *fromFile) Ask(ctx context.Context, q agent.Question, emit func(text string) bool) (agent.Answer, error) {
	r, err := e.core.AskOf(ctx, e, e.small, q, slow, ask.Watch{Text: emit})
	e.offered = r.Offered
	return r.Answer, err
}

func (e *fromFile) assistant() *diagnostics.Assistant {
	how := engines.Assisting{Time: slow}
	if e.small {
		how.Form = diagnostics.Line
	}
	return e.core.Assistant(e, how)
}

// Explain implements golden.Engines.
func (e *fromFile) Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error) {
	return e.assistant().Explain(workspace.Question(ctx), p, emit)
}

// Fix implements golden.Engines.
func (e *fromFile) Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
	return e.assistant().Fix(workspace.Question(ctx), p)
}

// Complete implements golden.Engines.
func (e *fromFile) Complete(context.Context, completion.Request) (completion.Result, error) {
	e.lacks = true
	return completion.Result{}, errors.New("completions are not kept in --answers: leave them out with --only where,explain,fix")
}

// goldenSuites runs the tasks of several workspaces; with, if not nil, makes the engines
// that are judged.
func (a *app) goldenSuites(ctx context.Context, suites []golden.Suite, limit time.Duration, with func(*engines.Core) (golden.Engines, error)) (outcomes []golden.Outcome, err error) {
	for _, suite := range suites {
		part, err := a.goldenSuite(ctx, suite, limit, with)
		outcomes = append(outcomes, part...)
		if err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

// goldenSuite runs the tasks of one workspace.
func (a *app) goldenSuite(ctx context.Context, suite golden.Suite, limit time.Duration, with func(*engines.Core) (golden.Engines, error)) (outcomes []golden.Outcome, err error) {
	a.Wait = limit // a task asks about all of the workspace
	c := a.Core(suite.Workspace)
	defer func() { err = errors.Join(err, c.Close()) }()
	var judged golden.Engines = slowly{c, limit}
	if with != nil {
		if judged, err = with(c); err != nil {
			return nil, err
		}
	}
	for _, t := range suite.Tasks {
		out, err := runTask(ctx, judged, suite, t, limit)
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
func runTask(ctx context.Context, e golden.Engines, s golden.Suite, t golden.Task, limit time.Duration) (golden.Outcome, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	file, isKept := e.(*fromFile)
	if isKept {
		file.begin()
	}
	out, err := s.Run(within, t, e)
	out.Unanswered = isKept && file.lacks
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
	case o.Unanswered:
		word = "no answer is kept"
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
