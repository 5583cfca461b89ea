package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"quarry/retrieval/lexicon/train"
)

// lexiconFlags are those of `quarry-eval lexicon`.
type lexiconFlags struct{ list, corpus, out string }

func (a *app) lexiconCommand() *cobra.Command {
	var f lexiconFlags
	cmd := &cobra.Command{
		Use:   "lexicon",
		Short: "Learn the table that finds code by words it does not have",
		Long: `lexicon reads the doc comments and declarations of the repositories of a list and
writes the table that lies in quarry's binary. The same checkouts give the same table,
to the byte. testdata/learned/fetch.sh fetches them.`,
		Example: `  testdata/learned/fetch.sh /tmp/lexicon
  quarry-eval lexicon --corpus /tmp/lexicon`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.lexicon(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.list, "list", "testdata/learned/repositories.json", "`FILE` with the repositories")
	flags.StringVar(&f.corpus, "corpus", "", "`DIR` with their checkouts")
	flags.StringVar(&f.out, "out", "retrieval/lexicon/table.bin", "`FILE` to write the table to")
	return required(cmd, "corpus")
}

func (a *app) lexicon(ctx context.Context, f lexiconFlags) error {
	list, err := train.ReadList(f.list)
	if err != nil {
		return err
	}
	table, err := train.Learn(ctx, f.corpus, list, func(s string) { fmt.Fprintln(a.Stderr, s) })
	if err != nil {
		return err
	}
	return os.WriteFile(f.out, table, 0o644)
}
