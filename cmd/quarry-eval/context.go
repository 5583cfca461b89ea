package main

import (
	"context"

	"github.com/spf13/cobra"

	"quarry/completion/crossfile"
	completioneval "quarry/completion/eval"
)

func (a *app) contextCommand() *cobra.Command {
	var corpus string
	var sites, tokens int
	var steps, rounds bool
	cmd := &cobra.Command{
		Use:   "context",
		Short: "How often a call's declaration in another file is in the prompt",
		Long: `context samples call sites in every repository of the corpus, one folder each,
whose callee exactly one other file declares, and looks for the callee's
signature in the prompt: with the call's line still to be written, and with the
call written up to its bracket.`,
		Example: "  quarry-eval context --corpus CHECKOUTS --sites 200",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rounds {
				return a.rounds(cmd.Context(), corpus, sites, tokens)
			}
			return a.context(cmd.Context(), corpus, sites, tokens, steps)
		},
	}
	cmd.Flags().StringVar(&corpus, "corpus", "", "`DIR` with one folder of source a repository")
	cmd.Flags().IntVar(&sites, "sites", 200, "call sites for each repository")
	cmd.Flags().IntVar(&tokens, "tokens", 2048, "budget of the context")
	cmd.Flags().BoolVar(&steps, "steps", false, "show what looking further away is worth, step by step")
	cmd.Flags().BoolVar(&rounds, "rounds", false, "measure two-round mode at function bodies instead, with drafts of several qualities")
	return required(cmd, "corpus")
}

func (a *app) rounds(ctx context.Context, corpus string, bodies, tokens int) error {
	repositories, err := completioneval.Load(corpus)
	if err != nil {
		return err
	}
	report, err := completioneval.Rounds(ctx, repositories, bodies, tokens, 1)
	if err != nil {
		return err
	}
	return a.print(report)
}

func (a *app) context(ctx context.Context, corpus string, sites, tokens int, steps bool) error {
	repositories, err := completioneval.Load(corpus)
	if err != nil {
		return err
	}
	if steps {
		list, err := completioneval.ContextSteps(ctx, repositories, sites, tokens, 1)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintLine(list)
		}
		return completioneval.WriteContextSteps(a.Stdout, list)
	}
	report, err := completioneval.Context(ctx, repositories, sites, tokens, 1, crossfile.Similar)
	if err != nil {
		return err
	}
	return a.print(report)
}
