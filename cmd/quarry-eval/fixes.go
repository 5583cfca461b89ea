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
	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/diagnostics"
	"quarry/diagnostics/eval"
)

// fixesFlags are those of `quarry-eval fixes`.
type fixesFlags struct {
	suite, corpus, tools, answers, missing, half, form, script string
	every                                                      int
	only                                                       []string
	explain                                                    bool
}

func (a *app) fixesCommand() *cobra.Command {
	var f fixesFlags
	cmd := &cobra.Command{
		Use:   "fixes",
		Short: "Fixes of real diagnostics by a model, judged by the compiler that reported them",
		Long: `fixes breaks real trees, has their compiler or linter report the problem, gives that to
quarry's fix as an editor would, and has the compiler look at the result. Answers are
kept in a file, so a run that broke off goes on. With --explain the problems are
explained instead, and an explanation is right if it names the cause. With --script a
script answers in place of a model, which measures the suite: known takes each breakage
back, deleting deletes the line of the problem, silent knows no fix, and imports takes the
first import that is offered. What needs no model is done before any of them is asked.`,
		Example: `  testdata/fixes/fetch.sh /tmp/trees /tmp/checkers
  quarry-eval fixes --corpus /tmp/trees --tools /tmp/checkers --script known
  quarry-eval fixes --corpus /tmp/trees --tools /tmp/checkers --answers fixes.jsonl --form replace --model qwen2.5-coder:1.5b`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.fixes(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "testdata/fixes", "`DIR` with suite.json")
	flags.StringVar(&f.corpus, "corpus", "", "`DIR` with one folder a repository")
	flags.StringVar(&f.tools, "tools", "", "`DIR` with the checkers that testdata/fixes/fetch.sh fetches")
	flags.StringVar(&f.answers, "answers", "", "`FILE` that keeps the model's answers")
	flags.StringVar(&f.missing, "missing", "", "ask no model; write the conversations that have no answer to `FILE`")
	flags.StringVar(&f.half, "half", "", "only the breakages of one half: fit or held")
	flags.StringVar(&f.form, "form", diagnostics.Diff.String(), "what the model is asked to write: diff, replace, whole or line")
	flags.StringVar(&f.script, "script", "", "a script in place of a model: known, deleting, silent or imports")
	flags.IntVar(&f.every, "every", 1, "only every `N`th breakage of each language")
	flags.StringSliceVar(&f.only, "only", nil, "only these breakages, by id, language or repository")
	flags.BoolVar(&f.explain, "explain", false, "have the problems explained instead of fixed")
	return required(cmd, "corpus")
}

// slow is how long a model may take over one problem: it is not about speed.
const slow = time.Hour

func (a *app) fixes(ctx context.Context, f fixesFlags) (err error) {
	suite, err := eval.Load(f.suite)
	if err != nil {
		return err
	}
	form, err := diagnostics.FormOf(f.form)
	if err != nil {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	script := eval.Script(f.script)
	switch {
	case f.script == "" && f.answers == "":
		return fmt.Errorf("%w: name the file that keeps the answers (--answers)", cli.ErrUsage)
	case f.script != "" && !slices.Contains(eval.Scripts, script):
		return fmt.Errorf("%w: %q is no script: choose known, deleting, silent or imports", cli.ErrUsage, f.script)
	}
	// The trees' copies have an index each, which nobody needs afterwards.
	scratch, err := os.MkdirTemp("", "quarry-fixes")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	task := eval.Task{Suite: suite, Corpus: f.corpus, Runner: eval.Runner{Tools: f.tools, Scratch: scratch}, Explain: f.explain}
	var answers *eval.Answers
	if f.script == "" {
		if answers, err = eval.OpenAnswers(f.answers, a.CommandSettings().Model); err != nil {
			return err
		}
		defer answers.Close()
		task.Usage = answers.Used
	}
	a.Wait = slow
	task.Open = func(c eval.Case) (eval.Assistant, func() error, error) {
		state, err := os.MkdirTemp(scratch, "state")
		if err != nil {
			return nil, nil, err
		}
		a.StateDir = state
		core := a.Core(c.Folder)
		var chat agent.Chat
		switch {
		case f.script != "":
			chat = script.Chat(c)
		case f.missing != "":
			chat = answers.Of(nil)
		default:
			chat = answers.Of(core)
		}
		if missing, err := core.Learned(ctx); err != nil || missing != nil {
			return nil, nil, errors.Join(err, core.Close(), fmt.Errorf("the index of %s is not whole: %v", c.Folder, missing))
		}
		return script.Assistant(core.Assistant(chat, engines.Assisting{Form: form, Time: slow})), core.Close, nil
	}
	chosen := suite.Choose(f.half, f.every, f.only)
	var outcomes []eval.Outcome
	for i, b := range chosen {
		out, err := task.Run(ctx, b)
		if ctx.Err() != nil { // what there is by now is a report too
			fmt.Fprintf(a.Stderr, "interrupted: %s and what follows it are left out\n", b.ID)
			break
		}
		if err != nil {
			return err
		}
		if f.missing == "" {
			fmt.Fprintf(a.Stderr, "%d of %d  %s\n", i+1, len(chosen), out)
		}
		outcomes = append(outcomes, out)
	}
	if f.missing != "" {
		if err := answers.WriteMissing(f.missing); err != nil {
			return err
		}
		fmt.Fprintf(a.Stderr, "%d problems; %d conversations without an answer are in %s\n", len(chosen), answers.Missing(), f.missing)
		outcomes = eval.Answered(outcomes)
	}
	return a.print(eval.Sum(outcomes, f.explain))
}
