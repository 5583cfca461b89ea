package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"quarry/diagnostics/eval"
	"quarry/diagnostics/imports"
)

// importsFlags are those of `quarry-eval imports`.
type importsFlags struct {
	suite, corpus, half string
	most                int
	only                []string
	trials              bool
}

func (a *app) importsCommand() *cobra.Command {
	var f importsFlags
	cmd := &cobra.Command{
		Use:   "imports",
		Short: "Missing imports that are found without a model",
		Long: `imports takes imports out of the files of real trees, one at a time, and asks for each name
that one gave: is that import offered, first or among three, and is the text then what it was?
As the opposite it takes out lines that declare a variable: no import is right for its name.`,
		Example: `  testdata/holes/fetch.sh /tmp/holes
  quarry-eval imports --corpus /tmp/holes --half fit`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.imports(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "testdata/holes/repositories.json", "`FILE` that lists the repositories")
	flags.StringVar(&f.corpus, "corpus", "", "`DIR` with one folder a repository")
	flags.StringVar(&f.half, "half", "", "only the repositories of one half: fit or held")
	flags.IntVar(&f.most, "most", 60, "at most `N` imports, and as many declarations, of a repository")
	flags.StringSliceVar(&f.only, "only", nil, "only these repositories, by name or language")
	flags.BoolVar(&f.trials, "trials", false, "write each trial that was not right, with what was offered")
	return required(cmd, "corpus")
}

func (a *app) imports(ctx context.Context, f importsFlags) error {
	list, err := eval.LoadRepositories(f.suite)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "quarry-imports")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	a.Wait = slow
	var trials []eval.ImportTrial
	for _, r := range list {
		if f.half != "" && r.Half != f.half || len(f.only) > 0 && !slices.Contains(f.only, r.Name) && !slices.Contains(f.only, r.Language) {
			continue
		}
		found, err := a.importsIn(ctx, r, filepath.Join(f.corpus, r.Name), scratch, f.most)
		if err != nil {
			return fmt.Errorf("imports of %s: %w", r.Name, err)
		}
		fmt.Fprintf(a.Stderr, "%s: %d\n", r.Name, len(found))
		trials = append(trials, found...)
	}
	report := eval.SumImports(trials)
	if !f.trials {
		report.Trials = nil
		return a.print(report)
	}
	if a.JSON {
		return a.PrintLine(report)
	}
	for _, t := range trials {
		for _, n := range t.Names {
			if t.Declaration && len(n.Offers) == 0 || !t.Declaration && n.Rank == 1 && t.Exact {
				continue
			}
			fmt.Fprintf(a.Stdout, "%s/%s:%d %q %s: rank %d, certain %v, exact %v, declaration %v\n", t.Repository, t.File, t.Line, t.Statement, n.Name, n.Rank, n.Certain, t.Exact, t.Declaration)
			for _, o := range n.Offers {
				fmt.Fprintf(a.Stdout, "\t%s\n", o)
			}
			fmt.Fprint(a.Stdout, t.Differs)
		}
	}
	return a.print(report)
}

// importsIn asks with an index of one tree.
func (a *app) importsIn(ctx context.Context, r eval.Repository, root, scratch string, most int) (trials []eval.ImportTrial, err error) {
	if a.StateDir, err = os.MkdirTemp(scratch, "state"); err != nil {
		return nil, err
	}
	core := a.Core(root)
	defer func() { err = errors.Join(err, core.Close()) }()
	if missing, err := core.Learned(ctx); err != nil || missing != nil {
		return nil, errors.Join(err, fmt.Errorf("the index is not whole: %v", missing))
	}
	return eval.Imports(ctx, r, root, imports.New(core.Workspace), most)
}
