package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	completioneval "quarry/completion/eval"
	"quarry/completion/idioms"
	"quarry/completion/idioms/learn"
)

func (a *app) idiomsCommand() *cobra.Command {
	var corpus, out string
	cmd := &cobra.Command{
		Use:   "idioms",
		Short: "Learn how lines usually end, or measure what was learned",
		Long: `idioms with --out learns the tables of package completion/idioms from the
repositories in the corpus, one folder each. Without it, it types every line of
the corpus, alone with the line above it, and says how often the shipped tables
offer something and how often that is the rest of the line.`,
		Example: `  quarry-eval idioms --corpus LEARNED --out completion/idioms/table
  quarry-eval idioms --corpus CHECKOUTS`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			each := func(yield func(completioneval.Repository) error) error {
				return completioneval.Each(corpus, func(r completioneval.Repository) error {
					if err := cmd.Context().Err(); err != nil {
						return err
					}
					return yield(r)
				})
			}
			if out != "" {
				return a.learnIdioms(each, out)
			}
			report, err := completioneval.Idioms(each)
			if err != nil {
				return err
			}
			return a.print(report)
		},
	}
	cmd.Flags().StringVar(&corpus, "corpus", "", "`DIR` with one folder of source a repository")
	cmd.Flags().StringVar(&out, "out", "", "`DIR` to write the tables to")
	return required(cmd, "corpus")
}

func (a *app) learnIdioms(corpus learn.Corpus, out string) error {
	tables, err := learn.Learn(corpus)
	if err != nil {
		return err
	}
	for language, table := range tables {
		f, err := os.Create(filepath.Join(out, language+".txt"))
		if err != nil {
			return fmt.Errorf("write the idioms of %s: %w", language, err)
		}
		err = idioms.Write(f, table)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("write the idioms of %s: %w", language, err)
		}
		if _, err := fmt.Fprintf(a.Stdout, "%s: %d idioms\n", language, len(table)); err != nil {
			return err
		}
	}
	return nil
}
