package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
)

// modelCommands are the commands that get, choose and remove models.
type modelCommands struct{ *app }

func (a modelCommands) modelCommand() *cobra.Command {
	group := &cobra.Command{
		Use:   "model",
		Short: "See, fetch, choose and remove the models that quarry asks",
		Long: `model looks after the models in Ollama. Without a further word it says which ones
quarry asks and how they are doing, on another server, too.

  quarry setup model     fetch the ones that suit this machine, and use them`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.modelStatus(cmd.Context()) },
	}
	add := func(use, short, long string, args cobra.PositionalArgs, do func(ctx context.Context, args []string) error) *cobra.Command {
		cmd := &cobra.Command{
			Use: use, Short: short, Long: long, Args: args,
			RunE: func(cmd *cobra.Command, args []string) error { return do(cmd.Context(), args) },
		}
		group.AddCommand(cmd)
		return cmd
	}
	add("status", "Say which models quarry asks, and how they are doing", "", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.modelStatus(ctx) })
	add("list", "List the models that Ollama has", "", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.modelList(ctx) })
	add("catalogue", "List models that are known to serve, and which suits this machine",
		"catalogue lists models that are known to serve. "+engines.CataloguePath()+"\nmay hold your own, in the form that `--json` prints.", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.modelCatalogue(ctx) })
	var yes bool
	ask := func(cmd *cobra.Command) { cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do it without asking") }
	var direct bool
	pull := add("pull [NAME]", "Fetch a model, or go on fetching it",
		`pull has Ollama fetch a model and tries it. If it is stopped it goes on where it was
the next time. A model that has the name already keeps it unless the new one works.
Without a name it is `+"`quarry setup model`"+`: the models that suit this machine.`, cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error { return a.modelPull(ctx, args, direct, yes) })
	pull.Flags().BoolVar(&direct, "direct", false, "fetch the file that the catalogue names, not from Ollama's library")
	ask(pull)
	add("use NAME", "Choose the model that completes code, or the one that search embeds with",
		`use tries an installed model and writes its name into your settings. Nothing is
written unless it works.`, cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return a.modelUse(ctx, args[0]) })
	add("verify [NAME]", "Try a model: is it whole, does it know what it is asked for", "", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error { return a.modelVerify(ctx, args) })
	add("import FILE [NAME]", "Give Ollama the model of a GGUF file", "", cobra.RangeArgs(1, 2),
		func(ctx context.Context, args []string) error { return a.modelImport(ctx, args) })
	ask(add("rm NAME", "Delete an installed model", "", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return a.modelRemove(ctx, args[0], yes) }))
	var all bool
	clean := add("clean", "Delete what quarry's downloads have left that were ended or failed",
		`clean lists what is left of quarry's downloads: files that came in part or whose model failed
its trial, and models that Ollama has under the names of trials. With a yes they are deleted.
Files of no model that quarry did not bring, as of an `+"`ollama pull`"+` of yours, it asks about
separately; --yes leaves them alone unless --all is there, too.`, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.modelClean(ctx, yes, all) })
	ask(clean)
	clean.Flags().BoolVar(&all, "all", false, "with --yes: files of no model that quarry did not bring, too")
	return group
}

// models are the settings and what looks after the models they lead to.
func (a modelCommands) models() (settings.Settings, *engines.Models, error) {
	s := a.CommandSettings()
	m, err := engines.NewModels(s, a.StateDir)
	return s, m, err
}

// modelOutput is the JSON of a model in `quarry model`.
type modelOutput struct {
	model.Installed
	// Used says for what quarry asks it, nothing if for nothing.
	Used string `json:"used,omitempty"`
	// Left: it is left of a download, `quarry model clean` says of which.
	Left bool `json:"left,omitempty"`
}

func (a modelCommands) modelList(ctx context.Context) error {
	if s := a.CommandSettings(); !engines.OwnsModels(s) {
		return a.servedList(ctx, s)
	}
	s, l, err := a.models()
	if err != nil {
		return err
	}
	list, err := l.List(ctx)
	if err != nil {
		return err
	}
	left, err := l.Leftovers(ctx, list)
	if err != nil {
		return err
	}
	out := make([]modelOutput, len(list))
	for i, m := range list {
		out[i] = modelOutput{m, used(&s, m.Name), slices.ContainsFunc(left, func(l engines.Leftover) bool { return l.Name == m.Name })}
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Stdout, "Ollama has no models. `quarry model pull` fetches the one that suits this machine.")
		a.sayLeft(left)
		return nil
	}
	rows := [][]string{{"MODEL", "SIZE", "BITS", "DIGEST", "IN MEMORY", "QUARRY USES IT FOR"}}
	var total int64
	for _, m := range out {
		if m.Left {
			m.Used = "nothing: left of a download"
		}
		rows = append(rows, []string{m.Name, catalogue.Gigabytes(m.Bytes), m.Quant, m.Digest[:min(12, len(m.Digest))], engines.InMemory(m.Running), m.Used})
		total += m.Bytes
	}
	a.table(rows)
	fmt.Fprintf(a.Stdout, "\n%d models, %s on disk. `quarry model catalogue` lists others.\n", len(list), catalogue.Gigabytes(total))
	a.sayLeft(left)
	return nil
}

// servedList lists the models of a server that is no Ollama.
func (a modelCommands) servedList(ctx context.Context, s settings.Settings) error {
	names, err := engines.NewServed(s).Names(ctx)
	if err != nil {
		return err
	}
	out := make([]modelOutput, len(names))
	rows := [][]string{{"MODEL", "QUARRY USES IT FOR"}}
	for i, name := range names {
		out[i] = modelOutput{Installed: model.Installed{Name: name}, Used: used(&s, name)}
		rows = append(rows, []string{name, out[i].Used})
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	a.table(rows)
	fmt.Fprintf(a.Stdout, "\n%d models at %s. `quarry model use NAME` tries one and uses it.\n", len(names), engines.ModelOf(s, &engines.Elsewhere{}).URL)
	return nil
}

// sayLeft prints what downloads have left, and what goes on with it or removes it.
func (a modelCommands) sayLeft(left []engines.Leftover) {
	if len(left) == 0 {
		return
	}
	fmt.Fprintln(a.Stdout, "\nLeft of downloads:")
	for _, l := range left {
		fmt.Fprintf(a.Stdout, "  %s: %s\n", l, l.Next())
	}
}

// cleanOutput is the JSON of `quarry model clean`.
type cleanOutput struct {
	Left []engines.Leftover `json:"left"`
	// Strange is what quarry did not bring, and deletes with --all only.
	Strange []engines.Leftover `json:"strange"`
	// Freed is how many bytes of disk are free again, but for files that other models share.
	Freed int64 `json:"freed"`
	Done  bool  `json:"done"`
}

// modelClean removes what downloads have left.
func (a modelCommands) modelClean(ctx context.Context, yes, all bool) error {
	_, l, err := a.models()
	if err != nil {
		return err
	}
	list, noOllama := l.List(ctx)
	left, err := l.Leftovers(ctx, list)
	if err != nil {
		return err
	}
	out := cleanOutput{Left: append([]engines.Leftover{}, left...), Strange: []engines.Leftover{}}
	if noOllama == nil { // else nobody says which folder is its own
		if strange, ok := l.Strangers(ctx); ok {
			out.Strange = append(out.Strange, strange)
		}
	}
	if a.JSON && !yes {
		out.Done = len(left) == 0
		return errors.Join(noOllama, a.PrintJSON(out))
	}
	if !a.JSON {
		if a.sayLeft(left); len(left) == 0 {
			fmt.Fprintln(a.Stdout, "Nothing is left of downloads.")
		}
	}
	input := a.answers()
	left = slices.DeleteFunc(left, func(l engines.Leftover) bool { return !l.Removable })
	if out.Freed, err = a.deleteLeft(ctx, l, input, left, yes, "Delete %s (nobody may be fetching that now)?"); err != nil {
		return err
	}
	if !a.JSON && len(out.Strange) > 0 {
		fmt.Fprintf(a.Stdout, "\nNot quarry's: %s\n", out.Strange[0])
	}
	err = errStays
	if all || !yes {
		var freed int64
		freed, err = a.deleteLeft(ctx, l, input, out.Strange, yes, "Delete these %s, too (no `ollama pull` and no import may be under way)?")
		out.Freed += freed
	}
	if errors.Is(err, cli.ErrUsage) && len(out.Strange) > 0 && !a.JSON { // nobody is there to ask
		fmt.Fprintln(a.Stdout, "They stay: `quarry model clean --yes --all` deletes them, too.")
	}
	if err != nil && !errors.Is(err, cli.ErrUsage) {
		return err
	}
	if a.JSON {
		out.Done = true
		return errors.Join(noOllama, a.PrintJSON(out))
	}
	return noOllama
}

// errStays: nobody has said yes to what quarry did not bring.
var errStays = fmt.Errorf("%w: it stays", cli.ErrUsage)

// deleteLeft deletes some of what is left after a yes to a question that names its size, and says what it deleted; none it does
// not ask about.
func (a modelCommands) deleteLeft(ctx context.Context, m *engines.Models, input *bufio.Reader, left []engines.Leftover, yes bool, question string) (freed int64, err error) {
	var bytes int64
	for _, l := range left {
		bytes += l.Bytes
	}
	if len(left) == 0 {
		return 0, nil
	}
	if ok, err := a.confirm(input, yes, fmt.Sprintf(question, catalogue.Gigabytes(bytes))); err != nil || !ok {
		return 0, err
	}
	upTo, shared := "", ""
	for _, l := range left {
		done, bytes, err := m.RemoveLeftover(ctx, l)
		if err != nil {
			return freed, err
		}
		if freed += bytes; l.Name != "" {
			upTo, shared = "up to ", " (files that other models share stay)"
		}
		if !a.JSON {
			fmt.Fprintln(a.Stdout, done+".")
		}
	}
	if !a.JSON && freed > 0 {
		fmt.Fprintf(a.Stdout, "Freed %s%s of disk space%s.\n", upTo, catalogue.Gigabytes(freed), shared)
	}
	return freed, nil
}

func used(s *settings.Settings, name string) string { return engines.UsedFor(*s, name) }

// widest is how many characters a cell may have: one that a server sent may be as long as
// its answer, and every row has its width.
const widest = 120

// table prints rows in columns, the first as their names.
func (a *app) table(rows [][]string) {
	for _, line := range a.rows(rows) {
		fmt.Fprintln(a.Stdout, line)
	}
}

// rows are the lines of a table.
func (a *app) rows(rows [][]string) (lines []string) {
	look := screen{colour: cli.OnTerminal(a.Stdout)}
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if r := []rune(cell); len(r) > widest {
				cell = string(r[:widest-1]) + "…"
				row[i] = cell
			}
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&b, "%-*s  ", width[i], cell)
		}
		line := strings.TrimRight(b.String(), " ")
		if n == 0 {
			line = look.style(cli.Dim, line)
		}
		lines = append(lines, line)
	}
	return lines
}

// catalogueOutput is the JSON of `quarry model catalogue`.
type catalogueOutput struct {
	catalogue.List
	Advice catalogue.Advice `json:"advice"`
	// Wrong says what of the user's own catalogue is left out, and why.
	Wrong []string `json:"wrong"`
}

func (a modelCommands) modelCatalogue(ctx context.Context) error {
	known, err := engines.LoadCatalogue()
	if err != nil {
		return err
	}
	s, advice := a.CommandSettings(), catalogue.Advice{}
	if engines.OwnsModels(s) {
		m, err := engines.NewModels(s, a.StateDir)
		if err != nil {
			return err
		}
		advice, _, _ = m.AdviseTried(ctx) // without Ollama nothing is installed
	}
	if a.JSON {
		return a.PrintJSON(catalogueOutput{known, advice, known.Faults()})
	}
	rows := [][]string{{"MODEL", "FOR", "BITS", "FETCHES", "TAKES", "LICENCE"}}
	for _, e := range known.Models {
		rows = append(rows, []string{e.Name, e.Use, fmt.Sprint(e.Bits), catalogue.Gigabytes(e.Download), catalogue.Gigabytes(e.Memory), e.Licence})
	}
	columns := cmp.Or(cli.Columns(a.Stdout), usualColumns)
	for i, line := range a.rows(rows) {
		fmt.Fprintln(a.Stdout, line)
		if i == 0 {
			continue
		}
		const margin = "  "
		for _, about := range wrapped(known.Models[i-1].About, columns-len(margin)) {
			fmt.Fprintln(a.Stdout, strings.TrimRight(margin+about, " "))
		}
	}
	fmt.Fprintln(a.Stdout)
	best := engines.ErrNoneSuits.Error() + "."
	if c := advice.Completion; !engines.OwnsModels(s) {
		best = "`quarry model list` has the models of your server, which whoever runs it installs; `quarry model use NAME` tries one and uses it."
	} else if c.Name != "" {
		best = fmt.Sprintf("For this machine: %s; %s. `quarry setup model` fetches what is missing and uses it.", c.Name, c.Why)
	}
	for _, line := range wrapped(best, columns) {
		fmt.Fprintln(a.Stdout, line)
	}
	if len(known.Wrong) > 0 {
		fmt.Fprintf(a.Stdout, "\nCorrect %s, the rest of it counts:\n", engines.CataloguePath())
		for _, wrong := range known.Faults() {
			fmt.Fprintln(a.Stdout, "- "+wrong)
		}
	}
	return nil
}

// usualColumns are those of a terminal that does not say how many it has.
const usualColumns = 80

// modelStatusOutput is the JSON of `quarry model status`.
type modelStatusOutput struct {
	Completion modelState `json:"completion"`
	Search     modelState `json:"search"`
	// Languages are the models of single languages.
	Languages map[string]modelState `json:"languages,omitempty"`
	Memory    int64                 `json:"machine_memory"`
}

type modelState struct {
	Name      string         `json:"name"`
	Installed bool           `json:"installed"`
	Running   *model.Running `json:"running,omitempty"`
	Next      string         `json:"next,omitempty"` // what to do
	how       string         // it is doing
}

func (a modelCommands) modelStatus(ctx context.Context) error {
	s := a.CommandSettings()
	state, failed := a.modelStates(ctx, s)
	out := modelStatusOutput{Languages: map[string]modelState{}, Memory: catalogue.MachineMemory()}
	var rows [][2]string
	look, width := screen{colour: cli.OnTerminal(a.Stdout)}, 0
	for _, asked := range engines.AskedBy(s) {
		st := state(asked)
		switch {
		case asked.Language != "":
			out.Languages[asked.Language] = st
		case asked.Use == catalogue.ForSearch:
			out.Search = st
		default:
			out.Completion = st
		}
		rows = append(rows, [2]string{asked.Use, st.Name + ", " + st.how})
		if st.Next != "" {
			rows = append(rows, [2]string{"", look.style(cli.Bold, "→ "+st.Next)})
		}
		width = max(width, len(asked.Use))
	}
	if a.JSON {
		if failed != nil {
			return failed
		}
		return a.PrintJSON(out)
	}
	for _, row := range rows {
		fmt.Fprintf(a.Stdout, "%-*s  %s\n", width, row[0], row[1])
	}
	return failed
}

// modelStates answers what says of a model how it is doing; the error is why that is not known.
func (a modelCommands) modelStates(ctx context.Context, s settings.Settings) (state func(engines.Asked) modelState, err error) {
	if !s.Ollama.Enabled {
		return func(asked engines.Asked) modelState {
			return modelState{Name: asked.Name, how: "switched off by ollama.enabled"}
		}, nil
	}
	unknown := func(asked engines.Asked) modelState { return modelState{Name: asked.Name, how: "not known"} }
	if !engines.OwnsModels(s) {
		if err := engines.Served(ctx, s, engines.Asked{Use: catalogue.ForCompletion, Name: s.Model}); err != nil && !errors.Is(err, model.ErrModelMissing) {
			return unknown, err
		}
		return func(asked engines.Asked) modelState { return onServer(ctx, s, asked) }, nil
	}
	m, err := engines.NewModels(s, a.StateDir)
	if err != nil {
		return unknown, err
	}
	advice, list, err := m.Advise(ctx)
	if err != nil {
		return unknown, err
	}
	return func(asked engines.Asked) modelState {
		st := modelState{Name: asked.Name, how: "not installed"}
		if at := slices.IndexFunc(list, func(m model.Installed) bool { return model.SameModel(m.Name, asked.Name) }); at >= 0 {
			st.Installed, st.Running = true, list[at].Running
		}
		switch {
		case asked.Off:
			st.how = "switched off by embedding.enabled"
		case model.InCloud(asked.Name): // which is not listed, and cannot be pulled
			if st.how = "runs in " + model.Cloud; !s.Ollama.AllowRemote {
				st.how, st.Next = model.WhatAndFix(model.RefusedCloud(asked.Name))
				st.how = strings.TrimPrefix(st.how, asked.Name+" ") + ", which is not allowed"
			}
		case st.Running != nil:
			st.how = "in memory: " + engines.InMemory(st.Running)
		case st.Installed:
			st.how = "installed; it is loaded when it is first asked"
		case asked.Language != "":
			st.Next = fmt.Sprintf("quarry model pull %s   # %s completes %s until then", asked.Name, s.Model, asked.Language)
		case asked.Use == catalogue.ForSearch:
			st.Next = "quarry model pull " + asked.Name + "   # search finds code by its words until then"
		default:
			st.Next = fmt.Sprintf("quarry setup model   # %s: %s", advice.Completion.Name, advice.Completion.Why)
		}
		return st
	}, nil
}

// onServer says how a model is doing on a server that is no Ollama.
func onServer(ctx context.Context, s settings.Settings, asked engines.Asked) modelState {
	st := modelState{Name: asked.Name}
	if asked.Off {
		st.how = "switched off by embedding.enabled"
		return st
	}
	if err := engines.Served(ctx, s, asked); err != nil {
		st.how = err.Error()
		return st
	}
	st.Installed, st.how = true, "served at "+engines.ModelOf(s, &engines.Elsewhere{}).URL
	st.Next = strings.TrimSuffix("quarry model verify "+asked.Name, " "+s.Model) + "   # tries it"
	return st
}

func (a modelCommands) modelPull(ctx context.Context, args []string, direct, yes bool) error {
	if len(args) == 0 {
		return a.setupModel(ctx, setupOptions{yes: yes})
	}
	s, m, err := a.models()
	if err != nil {
		return err
	}
	name := args[0]
	if err := a.fetchModel(ctx, m, name, direct, a.sayFindings); err != nil {
		return err
	}
	if used(&s, name) == "" && !a.JSON {
		fmt.Fprintf(a.Stdout, "→ quarry model use %s\n", name)
	}
	return nil
}

// fetchModel fetches a model and tries it.
func (a modelCommands) fetchModel(ctx context.Context, m *engines.Models, name string, direct bool, say func([]model.Finding) error) error {
	bar := a.newBar()
	err := m.Fetch(ctx, name, direct, bar.part, func(trial string) error {
		bar.end()
		return a.tryModel(ctx, m, trial, name, say)
	})
	bar.end()
	if ctx.Err() != nil {
		return fmt.Errorf("stopped; `quarry model pull %s` goes on where it was", name)
	}
	return err
}

func (a *app) newBar() *progressBar {
	return &progressBar{app: a, terminal: cli.OnTerminal(a.Stderr), start: time.Now(), first: -1}
}

// tryModel looks at an installed model in every way that its use needs, says what
// was found, and fails if something is wrong; as is the name that it is to have.
func (a modelCommands) tryModel(ctx context.Context, m *engines.Models, name, as string, say func([]model.Finding) error) error {
	bar := a.newBar()
	findings, err := m.Try(ctx, name, as, bar.part)
	bar.end()
	return sayTried(findings, err, say)
}

// sayTried says what was found of a model, and fails if something is wrong or err says that it could not be looked at.
func sayTried(findings []model.Finding, err error, say func([]model.Finding) error) error {
	if err == nil {
		err = say(findings)
	}
	if err == nil && engines.Failed(findings) != nil {
		err = cli.ErrSilent // say has said it
	}
	return err
}

// sayFindings prints what was found of a model.
func (a modelCommands) sayFindings(findings []model.Finding) error {
	if a.JSON {
		return a.PrintJSON(doctorOutput{OK: engines.Failed(findings) == nil, Findings: findings})
	}
	a.printList(findings)
	return nil
}

func (a modelCommands) modelVerify(ctx context.Context, args []string) error {
	s := a.CommandSettings()
	name := s.Model
	if len(args) > 0 {
		name = args[0]
	}
	bar := a.newBar()
	findings, err := engines.Verify(ctx, s, a.StateDir, name, bar.part)
	bar.end()
	return sayTried(findings, err, a.sayFindings)
}

func (a modelCommands) modelUse(ctx context.Context, name string) error {
	if s := a.CommandSettings(); !engines.OwnsModels(s) {
		if err := a.modelVerify(ctx, []string{name}); err != nil {
			return err
		}
		return a.chooseModel(engines.NewServed(s), name)
	}
	_, m, err := a.models()
	if err != nil {
		return err
	}
	if err := a.tryModel(ctx, m, name, name, a.sayFindings); err != nil {
		return err
	}
	return a.chooseModel(m, name)
}

// chooser knows what a model is for, and writes it into the user's settings.
type chooser interface {
	UseOf(name string) string
	Does(name string) string
	Choose(name string) (key, path string, err error)
}

// chooseModel writes a model that was tried into the user's settings.
func (a modelCommands) chooseModel(m chooser, name string) error {
	key, path, err := m.Choose(name)
	if err != nil || a.JSON {
		return err
	}
	now, _ := a.Settings()
	if off := now.Unasked(m.UseOf(name) == catalogue.ForSearch); off != "" {
		fmt.Fprintf(a.Stdout, "\nYour settings name %s, but %s.\n", name, off)
		return nil
	}
	fmt.Fprintf(a.Stdout, "\n%s from now on: %q is set in %s, and editors that run quarry follow.\n", m.Does(name), key, path)
	if used(&now, name) == "" {
		fmt.Fprintf(a.Stderr, "An environment variable or a flag sets another one here, and it wins: %s is not asked yet.\n", name)
	}
	return nil
}

func (a modelCommands) modelImport(ctx context.Context, args []string) error {
	s, m, err := a.models()
	if err != nil {
		return err
	}
	file := args[0]
	name := lsp.ModelNameOf(file)
	if len(args) > 1 {
		name = args[1]
	}
	bar := a.newBar()
	digest, err := m.Import(ctx, file, name, func(done, total int64) { bar.part("importing "+name, done, total) }, func(trial string) error {
		bar.end()
		return a.tryModel(ctx, m, trial, name, a.sayFindings)
	})
	bar.end()
	if err != nil || a.JSON {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s is the file with %s.\n", name, digest)
	if used(&s, name) == "" {
		fmt.Fprintf(a.Stdout, "→ quarry model use %s\n", name)
	}
	return nil
}

func (a modelCommands) modelRemove(ctx context.Context, name string, yes bool) error {
	s, l, err := a.models()
	if err != nil {
		return err
	}
	m, ok, err := l.Find(ctx, name)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("Ollama has no model %s; `quarry model list` says what it has", name)
	}
	question := fmt.Sprintf("Delete %s (%s)?", m.Name, catalogue.Gigabytes(m.Bytes))
	if u := used(&s, m.Name); u != "" {
		question = fmt.Sprintf("quarry uses %s for %s. %s", m.Name, u, question)
	}
	if ok, err := a.confirm(a.answers(), yes, question); err != nil || !ok {
		return err
	}
	if err := l.Remove(ctx, m.Name); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(m)
	}
	fmt.Fprintf(a.Stdout, "Deleted %s; freed up to %s (files that other models share stay).\n", m.Name, catalogue.Gigabytes(m.Bytes))
	return nil
}
