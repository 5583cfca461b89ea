package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"quarry/completion"
	completioneval "quarry/completion/eval"
)

func (a *app) evalCompletionCommand() *cobra.Command {
	var corpus string
	var holes int
	var seed uint64
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Exact match and precision of the model-free engine on holes in real files",
		Long: `completion cuts holes into the files of every repository in the corpus, one
folder each, and has the model-free engine fill them, beside an n-gram model and
a copier of the last match as baselines.`,
		Example: "  quarry eval completion --corpus CHECKOUTS --holes 800",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.evalCompletion(cmd.Context(), corpus, holes, seed)
		},
	}
	cmd.Flags().StringVar(&corpus, "corpus", "", "`DIR` with one folder of source a repository")
	cmd.Flags().IntVar(&holes, "holes", 800, "holes for each repository")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "chooses the holes")
	if err := cmd.MarkFlagRequired("corpus"); err != nil {
		panic(err) // the flag was defined above
	}
	return cmd
}

func (a *app) evalCompletion(ctx context.Context, corpus string, holes int, seed uint64) error {
	repositories, err := completioneval.Load(corpus)
	if err != nil {
		return err
	}
	engine := completion.New(nil, completion.Options{})
	defer engine.Close()
	report, err := completioneval.Run(ctx, engine, repositories, holes, seed)
	if err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.stdout).Encode(report)
	}
	_, err = fmt.Fprint(a.stdout, report)
	return err
}
