package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/completion"
	completioneval "quarry/completion/eval"
	"quarry/completion/syntaxcheck"
	"quarry/model"
)

// typedFlags are those of `quarry-eval ghost`.
type typedFlags struct {
	suite, corpus, answers, missing, half, place string
	every, tokens, around                        int
	gate, beside, right, alone                   bool
	// before and after hold two versions of repositories; holes are cut into the last
	// change of their files then.
	before, after string
	choice        completioneval.Choice
}

func (a *app) ghostCommand() *cobra.Command {
	var f typedFlags
	cmd := &cobra.Command{
		Use:   "ghost",
		Short: "Ghost text of a real model at places as typing has them, beside plain FIM",
		Long: `ghost cuts holes into real files where a user would be while typing (most of them
inside a word), has the configured model fill them as quarry asks it, and as a
plain fill-in-the-middle prompt of the same window does. Answers are kept in a
file, so a run that broke off goes on. testdata/holes/fetch.sh fetches the trees.`,
		Example: `  testdata/holes/fetch.sh /tmp/holes
  quarry-eval ghost --corpus /tmp/holes --answers answers.jsonl --model qwen2.5-coder:1.5b
  quarry-eval ghost --corpus /tmp/holes --answers answers.jsonl --missing prompts.jsonl   # with no model: what is left to ask
  quarry-eval ghost --corpus /tmp/holes --right   # with no model: what becomes of right answers
  quarry-eval ghost --corpus /tmp/holes --answers answers.jsonl --form family --beside
  quarry-eval ghost --before OLD --after NEW --answers answers.jsonl --no-edits --beside`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.ghost(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "testdata/holes/repositories.json", "`FILE` that lists the repositories")
	flags.StringVar(&f.corpus, "corpus", "", "`DIR` with one folder a repository")
	flags.StringVar(&f.answers, "answers", "", "`FILE` that keeps the model's answers")
	flags.StringVar(&f.missing, "missing", "", "ask no model; write the prompts that have no answer to `FILE`")
	flags.StringVar(&f.half, "half", "", "only the holes of one half: fit or held")
	flags.StringVar(&f.place, "place", "", "only the holes at one kind of `PLACE`, as the report names it, such as \"at a line's end\"")
	flags.IntVar(&f.every, "every", 1, "only one of `N` holes, by chance: alike of all languages and kinds of place, with those of a larger N")
	flags.IntVar(&f.tokens, "tokens", 128, "longest answer")
	flags.BoolVar(&f.right, "right", false, "ask no model but a stand-in that writes what was taken out and goes on; nothing is kept")
	flags.BoolVar(&f.alone, "model-alone", false, "leave the model-free engine out, which a server sets beside the model")
	flags.BoolVar(&f.gate, "gate", false, "fail where quarry is worse than plain FIM on the held-out half, with --right where it loses right answers")
	flags.BoolVar(&f.beside, "beside", false, "set quarry's usual prompt beside what the flags below choose, instead of plain FIM")
	flags.IntVar(&f.around, "around", 0, "have plain FIM take `N` characters around the cursor, as lsp-ai does with 8000, in place of quarry's window")
	flags.StringVar(&f.choice.Form, "form", completioneval.FormComments, "`FORM` of code of other places in the prompt: "+strings.Join(completioneval.Forms, ", "))
	flags.BoolVar(&f.choice.Healing, "healing", false, "cut the typed word off the prompt and want it back")
	flags.BoolVar(&f.choice.NoHead, "no-head", false, "leave out all that stands before the document's imports")
	flags.BoolVar(&f.choice.NoHeader, "no-header", false, "leave out the line on the document's style")
	flags.BoolVar(&f.choice.NoOutline, "no-outline", false, "leave out the document's own lines behind the suffix")
	flags.BoolVar(&f.choice.NoImports, "no-imports", false, "leave out the imports and headers before a cut prefix")
	flags.BoolVar(&f.choice.NoEdits, "no-edits", false, "leave out the last edits, with --before and --after")
	flags.StringVar(&f.before, "before", "", "`DIR` with one folder a repository: cut holes into the last change of each file instead of --corpus")
	flags.StringVar(&f.after, "after", "", "`DIR` with folders of the same names, the newer version")
	return cmd
}

// places are the kinds of place that --place takes.
func places() []string {
	var names []string
	for _, k := range completioneval.CursorKinds {
		names = append(names, string(k))
	}
	return names
}

// holes are those to fill, in the order of their rounds, and the trees they are cut into.
func (f typedFlags) holes() (trees map[completioneval.Source]completioneval.Repository, sources []completioneval.Source, holes []completioneval.TypedHole, err error) {
	if f.before == "" {
		trees, sources, err = completioneval.LoadSuite(f.suite, f.corpus)
		if err != nil {
			return nil, nil, nil, err
		}
		return trees, sources, completioneval.Order(completioneval.CutSuite(trees, sources)), nil
	}
	from, err := completioneval.Load(f.before)
	if err != nil {
		return nil, nil, nil, err
	}
	to, err := completioneval.Load(f.after)
	if err != nil {
		return nil, nil, nil, err
	}
	trees = map[completioneval.Source]completioneval.Repository{}
	for _, was := range from {
		for _, is := range to {
			if was.Name != is.Name {
				continue
			}
			for _, docs := range [][]completion.Document{was.Documents, is.Documents} {
				for i := range docs {
					docs[i].Root = "/" + was.Name
				}
			}
			cut := completioneval.LastHunks(was, is)
			for _, h := range cut {
				if _, known := trees[h.Source]; !known {
					trees[h.Source] = was
					sources = append(sources, h.Source)
				}
			}
			holes = append(holes, cut...)
		}
	}
	if len(holes) == 0 {
		return nil, nil, nil, fmt.Errorf("no file has two changes between %s and %s: both should hold folders of the same names", f.before, f.after)
	}
	return trees, sources, completioneval.Order(holes), nil
}

func (a *app) ghost(ctx context.Context, f typedFlags) (err error) {
	if !slices.Contains(completioneval.Forms, f.choice.Form) {
		return fmt.Errorf("%w: --form is one of %s", cli.ErrUsage, strings.Join(completioneval.Forms, ", "))
	}
	if f.place != "" && !slices.Contains(places(), f.place) {
		return fmt.Errorf("%w: --place is one of %s", cli.ErrUsage, strings.Join(places(), ", "))
	}
	if f.before == "" && f.corpus == "" || (f.before == "") != (f.after == "") {
		return fmt.Errorf("%w: give --corpus, or --before and --after", cli.ErrUsage)
	}
	if f.around < 0 || f.around > 0 && f.beside {
		return fmt.Errorf("%w: --around is a number of characters of plain FIM, which --beside leaves out", cli.ErrUsage)
	}
	if (f.answers == "") != f.right {
		return fmt.Errorf("%w: give --answers, or --right", cli.ErrUsage)
	}
	trees, sources, all, err := f.holes()
	if err != nil {
		return err
	}
	var chosen []completioneval.TypedHole
	for _, h := range all {
		if (f.half == "" || string(h.Source.Half) == f.half) && (f.place == "" || string(h.Kind) == f.place) {
			chosen = append(chosen, h)
		}
	}
	chosen = chosen[:(len(chosen)+max(f.every, 1)-1)/max(f.every, 1)]
	s := a.CommandSettings()
	template, err := engines.Template(s)
	if err != nil {
		return err
	}
	if tags := template.Families(s.Model)[0].Tags; !completioneval.KnowsTags(tags) {
		return fmt.Errorf("%w: plain FIM cannot be made for %s, whose tags are %s; measure a Granite or Qwen2.5-Coder model", cli.ErrUsage, s.Model, strings.Join(tags, " "))
	}
	var upstream completion.Generator
	switch {
	case f.right:
		upstream = completioneval.NewKnowing(s.Model, chosen)
		dir, err := os.MkdirTemp("", "quarry-eval-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		f.answers = filepath.Join(dir, "answers")
	case f.missing == "":
		options := engines.ModelOptions(s)
		options.FIM.Temperature = 0 // two runs are to give the same answers
		runtime, err := model.New(options)
		if err != nil {
			return err
		}
		defer runtime.Close()
		runtime.Start()
		if err := runtime.WaitReady(ctx); err != nil {
			return err
		}
		upstream = runtime
	}
	answers, err := completioneval.OpenAnswers(f.answers, s.Model, f.tokens, upstream)
	if err != nil {
		return err
	}
	defer answers.Close()
	done := 0
	report, err := completioneval.FillTyped(ctx, answers, completioneval.Asking{Choice: f.choice, Beside: f.beside, Around: f.around}, completion.Options{
		ContextTokens: s.Ollama.ContextSize,
		Timeout:       timeout,
		Template:      template,
		Chat:          s.Completion.ChatLayout,
		Syntax:        syntaxcheck.New(),
		Alone:         f.alone || f.right, // whether it is shown is what that asks
	}, trees, sources, chosen, func(h completioneval.Filling) {
		if f.missing == "" {
			done++
			fmt.Fprintf(a.Stderr, "%d of %d  %s\n", done, len(chosen), h)
		}
	})
	if err != nil {
		return err
	}
	if f.missing != "" {
		if err := answers.WriteMissing(f.missing); err != nil {
			return err
		}
		fmt.Fprintf(a.Stderr, "%d holes, %d of them answered; %d prompts are in %s\n", len(chosen), len(report.Fillings), answers.Missing(), f.missing)
	}
	err = a.print(report)
	if f.right {
		for _, h := range report.Lost() {
			fmt.Fprintf(a.Stderr, "lost in %s: %s\n", h.Path, h)
		}
		if lost := report.TooManyLost(); err == nil && f.gate && lost != "" {
			return errors.New(lost)
		}
		return err
	}
	if worse := report.Worse(); err == nil && f.gate && worse != "" {
		return fmt.Errorf("ghost text is worse than plain fill-in-the-middle on held-out holes: %s", worse)
	}
	return err
}
