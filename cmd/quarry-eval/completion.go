package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/engines"
	"quarry/completion"
	completioneval "quarry/completion/eval"
	"quarry/completion/syntaxcheck"
	"quarry/model"
)

func (a *app) completionCommand() *cobra.Command {
	var corpus string
	var holes int
	var seed uint64
	var byModel, reading bool
	var tokens int
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Exact match and precision of the model-free engine on holes in real files",
		Long: `completion cuts holes into the files of every repository in the corpus, one
folder each, and has the model-free engine fill them, beside an n-gram model and
a copier of the last match as baselines. With --by-model the configured model
fills them, with and without the code of other files in its prompt. With --reading
the engine reads each repository by itself, as it does in a server.`,
		Example: `  quarry-eval completion --corpus CHECKOUTS --holes 800
  quarry-eval completion --corpus CHECKOUTS --holes 10 --by-model --model qwen2.5-coder:1.5b
  quarry-eval completion --corpus CHECKOUTS --holes 100 --reading`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if byModel {
				return a.model(cmd.Context(), corpus, holes, tokens, seed)
			}
			return a.completion(cmd.Context(), corpus, holes, seed, reading)
		},
	}
	cmd.Flags().StringVar(&corpus, "corpus", "", "`DIR` with one folder of source a repository")
	cmd.Flags().IntVar(&holes, "holes", 800, "holes for each repository")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "chooses the holes")
	cmd.Flags().BoolVar(&byModel, "by-model", false, "have the model fill them, too")
	cmd.Flags().BoolVar(&reading, "reading", false, "have the engine read each repository by itself, for each hole anew and once for all")
	cmd.Flags().IntVar(&tokens, "tokens", 3072, "with --by-model: budget of a prompt, two thirds of it for other files")
	return required(cmd, "corpus")
}

func (a *app) completion(ctx context.Context, corpus string, holes int, seed uint64, reading bool) error {
	repositories, err := completioneval.Load(corpus)
	if err != nil {
		return err
	}
	if reading {
		report, err := completioneval.Reading(ctx, repositories, holes, seed)
		if err != nil {
			return err
		}
		return a.print(report)
	}
	engine := completion.New(nil, completion.Options{})
	defer engine.Close()
	report, err := completioneval.Run(ctx, engine, repositories, holes, seed)
	if err != nil {
		return err
	}
	return a.print(report)
}

// timeout is how long a model may take for one hole: an evaluation on a busy
// machine is about what is answered.
const timeout = 10 * time.Minute

func (a *app) model(ctx context.Context, corpus string, holes, tokens int, seed uint64) error {
	repositories, err := completioneval.Load(corpus)
	if err != nil {
		return err
	}
	s := a.CommandSettings()
	template, err := engines.Template(s)
	if err != nil {
		return err
	}
	runtime, err := model.New(engines.ModelOptions(s))
	if err != nil {
		return err
	}
	defer runtime.Close()
	runtime.Start()
	if err := runtime.WaitReady(ctx); err != nil {
		return err
	}
	report, err := completioneval.FillByModel(ctx, runtime, completion.Options{
		ContextTokens: s.Ollama.ContextSize,
		PrefixTokens:  tokens / 3,
		SnippetTokens: tokens * 2 / 3,
		MaxTokens:     s.Completion.MaxTokens,
		Timeout:       timeout,
		Template:      template,
		Family:        runtime.Family,
		Chat:          s.Completion.ChatLayout,
		Syntax:        syntaxcheck.New(),
	}, repositories, holes, seed, func(h completioneval.ModelHole) { fmt.Fprintln(a.Stderr, h) })
	if err != nil {
		return err
	}
	return a.print(report)
}
