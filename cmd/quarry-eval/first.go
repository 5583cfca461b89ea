package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	completioneval "quarry/completion/eval"
)

func (a *app) firstCommand() *cobra.Command {
	var corpus, half string
	var shown bool
	cmd := &cobra.Command{
		Use:   "first",
		Short: "What shows without a model while a first small file is typed",
		Long: `first types the beginnings of files of the corpus letter by letter, each in an
empty workspace, and says at how many letters the model-free engine shows
something, and how often all of it is what comes next. What is tuned is tuned on
the files of one half and reported on the other.`,
		Example: `  quarry-eval first --corpus CHECKOUTS --half held
  quarry-eval first --corpus CHECKOUTS --half fit --shown`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if half != string(completioneval.Fit) && half != string(completioneval.Held) {
				return fmt.Errorf("--half is %q: it should be fit or held", half)
			}
			var each func(completioneval.FirstShown)
			if shown {
				each = func(s completioneval.FirstShown) {
					fmt.Fprintf(a.Stdout, "%t\t%s\t%s\t%q\t%q\t%q\t%q\n", s.Right, s.Engine, s.Language, s.Path, strings.TrimLeft(s.Typed, " \t"), s.Text, s.Next)
				}
			}
			report, err := completioneval.First(cmd.Context(), corpus, completioneval.Half(half), each)
			if err != nil {
				return err
			}
			return a.print(report)
		},
	}
	cmd.Flags().StringVar(&corpus, "corpus", "", "`DIR` with one folder of source a repository")
	cmd.Flags().StringVar(&half, "half", string(completioneval.Held), "which files: fit or held")
	cmd.Flags().BoolVar(&shown, "shown", false, "list all that was shown before the table")
	return required(cmd, "corpus")
}
