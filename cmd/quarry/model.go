package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/index"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/download"
)

func (a *app) modelCommand() *cobra.Command {
	group := &cobra.Command{
		Use:   "model",
		Short: "See, fetch, choose and remove the models that quarry asks",
		Long: `model looks after the models in Ollama. Without a further word it says which ones
quarry asks and how they are doing.

  quarry model pull      fetch the one that suits this machine, and use it`,
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
		"catalogue lists models that are known to serve. "+cataloguePath()+"\nmay hold your own, in the form that `--json` prints.", cobra.NoArgs,
		func(context.Context, []string) error { return a.modelCatalogue() })
	var yes bool
	ask := func(cmd *cobra.Command) { cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do it without asking") }
	ask(add("pull [NAME]", "Fetch a model, or go on fetching it",
		`pull has Ollama fetch a model and tries it. If it is stopped it goes on where it was
the next time. Without a name it proposes the model that suits this machine, and
uses it once it works.`, cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error { return a.modelPull(ctx, args, yes) }))
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
	return group
}

// cataloguePath is where the user's own catalogue is.
func cataloguePath() string {
	return filepath.Join(filepath.Dir(settings.UserFilePath()), "models.json")
}

// catalogue is the models that quarry knows, and the user's own.
func catalogue() (model.Catalogue, error) {
	path := cataloguePath()
	users, err := settings.ReadUserFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return model.Catalogue{}, err
	}
	c, err := model.LoadCatalogue(users)
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// models are the settings and what they lead to.
func (a *app) models() (settings.Settings, *model.Library, model.Catalogue, error) {
	s := a.CommandSettings()
	c, err := catalogue()
	if err != nil {
		return s, nil, c, err
	}
	l, err := model.NewLibrary(engines.ModelOptions(s))
	return s, l, c, err
}

// useOf is what a model is for.
func useOf(c *model.Catalogue, s *settings.Settings, name string) string {
	if e, ok := c.Find(name); ok {
		return e.Use
	}
	if model.SameModel(name, s.Embedding.Model) || strings.Contains(name, "embed") {
		return model.ForSearch
	}
	return model.ForCompletion
}

// modelOutput is the JSON of a model in `quarry model`.
type modelOutput struct {
	model.Installed
	// Used says for what quarry asks it, nothing if for nothing.
	Used string `json:"used,omitempty"`
}

func (a *app) modelList(ctx context.Context) error {
	s, l, _, err := a.models()
	if err != nil {
		return err
	}
	list, err := l.List(ctx)
	if err != nil {
		return err
	}
	out := make([]modelOutput, len(list))
	for i, m := range list {
		out[i] = modelOutput{m, used(&s, m.Name)}
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Stdout, "Ollama has no models. `quarry model pull` fetches the one that suits this machine.")
		return nil
	}
	rows := [][]string{{"MODEL", "SIZE", "BITS", "DIGEST", "IN MEMORY", "QUARRY USES IT FOR"}}
	var total int64
	for _, m := range out {
		rows = append(rows, []string{m.Name, model.Gigabytes(m.Bytes), m.Quant, m.Digest[:min(12, len(m.Digest))], inMemory(m.Running), m.Used})
		total += m.Bytes
	}
	a.table(rows)
	fmt.Fprintf(a.Stdout, "\n%d models, %s on disk. `quarry model catalogue` lists others.\n", len(list), model.Gigabytes(total))
	return nil
}

func used(s *settings.Settings, name string) string {
	switch {
	case model.SameModel(name, s.Model):
		return "completion"
	case s.Embedding.Enabled && model.SameModel(name, s.Embedding.Model):
		return "search"
	}
	return ""
}

// inMemory is how a model is in memory.
func inMemory(r *model.Running) string {
	if r == nil {
		return "no"
	}
	text := model.Gigabytes(r.Bytes)
	if r.OnGPU > 0 {
		text += fmt.Sprintf(", %d %% on the GPU", 100*r.OnGPU/max(r.Bytes, 1))
	}
	if left := time.Until(r.Until); left > 0 && left < 24*time.Hour {
		text += fmt.Sprintf(", for %s more", left.Round(time.Minute))
	}
	return text
}

// widest is how many characters a cell may have: one that a server sent may be as long as
// its answer, and every row has its width.
const widest = 120

// table prints rows in columns, the first as their names.
func (a *app) table(rows [][]string) {
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
		fmt.Fprintln(a.Stdout, line)
	}
}

// catalogueOutput is the JSON of `quarry model catalogue`.
type catalogueOutput struct {
	model.Catalogue
	Memory      int64  `json:"machine_memory"`
	Recommended string `json:"recommended"`
	Why         string `json:"why"`
}

func (a *app) modelCatalogue() error {
	c, err := catalogue()
	if err != nil {
		return err
	}
	memory := model.MachineMemory()
	best, why := c.Recommend(model.ForCompletion, memory)
	if a.JSON {
		return a.PrintJSON(catalogueOutput{c, memory, best.Name, why})
	}
	rows := [][]string{{"MODEL", "FOR", "BITS", "FETCHES", "TAKES", "LICENCE", ""}}
	for _, e := range c.Models {
		rows = append(rows, []string{e.Name, e.Use, fmt.Sprint(e.Bits), model.Gigabytes(e.Download), model.Gigabytes(e.Memory), e.Licence, e.About})
	}
	a.table(rows)
	fmt.Fprintf(a.Stdout, "\nFor this machine: %s; %s. `quarry model pull` fetches it and uses it.\n", best.Name, why)
	return nil
}

// statusOutput is the JSON of `quarry model status`.
type modelStatusOutput struct {
	Completion modelState `json:"completion"`
	Search     modelState `json:"search"`
	Memory     int64      `json:"machine_memory"`
}

type modelState struct {
	Name      string         `json:"name"`
	Installed bool           `json:"installed"`
	Running   *model.Running `json:"running,omitempty"`
	Next      string         `json:"next,omitempty"` // what to do
}

func (a *app) modelStatus(ctx context.Context) error {
	s, l, c, err := a.models()
	if err != nil {
		return err
	}
	list, err := l.List(ctx)
	if err != nil {
		return err
	}
	state := func(name string) modelState {
		st := modelState{Name: name}
		for _, m := range list {
			if model.SameModel(m.Name, name) {
				st.Installed, st.Running = true, m.Running
			}
		}
		return st
	}
	out := modelStatusOutput{Completion: state(s.Model), Search: state(s.Embedding.Model), Memory: model.MachineMemory()}
	if !out.Completion.Installed {
		best, why := c.Recommend(model.ForCompletion, out.Memory)
		out.Completion.Next = fmt.Sprintf("quarry model pull %s   # or, without a name, %s: %s", s.Model, best.Name, why)
		if model.SameModel(best.Name, s.Model) {
			out.Completion.Next = "quarry model pull " + s.Model
		}
		for _, m := range list {
			if e, ok := c.Find(m.Name); ok && e.Use == model.ForCompletion {
				out.Completion.Next = "quarry model use " + m.Name + "   # it is installed"
				break
			}
		}
	}
	if s.Embedding.Enabled && !out.Search.Installed {
		out.Search.Next = "quarry model pull " + s.Embedding.Model + "   # search finds code by its words until then"
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	look := screen{colour: cli.OnTerminal(a.Stdout)}
	show := func(what string, st modelState, off bool) {
		how := "not installed"
		switch {
		case off:
			how = "switched off by embedding.enabled"
		case st.Running != nil:
			how = "in memory: " + inMemory(st.Running)
		case st.Installed:
			how = "installed; it is loaded when it is first asked"
		}
		fmt.Fprintf(a.Stdout, "%-11s %s, %s\n", what, st.Name, how)
		if st.Next != "" {
			fmt.Fprintf(a.Stdout, "%-11s %s\n", "", look.style(cli.Bold, "→ "+st.Next))
		}
	}
	show("completion", out.Completion, false)
	show("search", out.Search, !s.Embedding.Enabled)
	return nil
}

func (a *app) modelPull(ctx context.Context, args []string, yes bool) error {
	s, l, c, err := a.models()
	if err != nil {
		return err
	}
	name, use := "", false
	if len(args) > 0 {
		name = args[0]
	} else {
		best, why := c.Recommend(model.ForCompletion, model.MachineMemory())
		fmt.Fprintf(a.Stderr, "%s suits this machine: %s.\n", best.Name, why)
		ok, err := a.confirm(a.answers(), yes, fmt.Sprintf("Fetch it (%s) and complete code with it?", model.Gigabytes(best.Download)))
		if err != nil || !ok {
			return err
		}
		name, use = best.Name, true
	}
	if e, _ := c.Find(name); e.URL != "" {
		if err := a.fetchModel(ctx, l, &c, s, e); err != nil {
			return err
		}
	} else {
		if err := a.room(&c, s, name); err != nil {
			return err
		}
		bar := a.newBar()
		err = l.Pull(ctx, name, func(done, total int64) { bar.part("fetching "+name, done, total) })
		bar.end()
		if ctx.Err() != nil {
			return stopped(name)
		}
		if err == nil && !use { // use tries it
			err = a.tryModel(ctx, l, &c, s, name, useOf(&c, &s, name))
		}
		if err != nil {
			return err
		}
	}
	switch {
	case use:
		return a.modelUse(ctx, name)
	case used(&s, name) == "" && !a.JSON:
		fmt.Fprintf(a.Stdout, "→ quarry model use %s\n", name)
	}
	return nil
}

func stopped(name string) error {
	return fmt.Errorf("stopped; `quarry model pull %s` goes on where it was", name)
}

func (a *app) newBar() *progressBar {
	return &progressBar{app: a, terminal: cli.OnTerminal(a.Stderr), start: time.Now(), first: -1}
}

// fetchModel brings the model of a GGUF file to Ollama. The file itself is not kept:
// Ollama has a copy.
func (a *app) fetchModel(ctx context.Context, l *model.Library, c *model.Catalogue, s settings.Settings, e model.Entry) error {
	state := a.StateDir
	if state == "" {
		var err error
		if state, err = index.DefaultStateDir(); err != nil {
			return err
		}
	}
	bar := a.newBar()
	path, err := download.Fetch(ctx, download.File{URL: e.URL, SHA256: e.SHA256, Size: e.Download}, filepath.Join(state, "models"), download.Options{
		Report: func(done int64) { bar.part("fetching "+e.Name, done, e.Download) }, Free: model.FreeSpace,
	})
	bar.end()
	if ctx.Err() != nil {
		return stopped(e.Name)
	}
	if err != nil {
		return err
	}
	if err := a.importModel(ctx, l, c, s, path, e.Name); err != nil {
		return err
	}
	return download.Discard(path)
}

// importModel gives Ollama a file's model under a name once it has been tried.
func (a *app) importModel(ctx context.Context, l *model.Library, c *model.Catalogue, s settings.Settings, path, name string) error {
	bar := a.newBar()
	digest, err := l.Import(ctx, path, name, func(done, total int64) { bar.part("importing "+name, done, total) }, func(trial string) error {
		bar.end()
		return a.tryModel(ctx, l, c, s, trial, useOf(c, &s, name))
	})
	bar.end()
	if err == nil && !a.JSON {
		fmt.Fprintf(a.Stdout, "%s is the file with %s.\n", name, digest)
	}
	return err
}

// room fails if the disk of Ollama's models has too little of it. Where they are is
// known only of an Ollama on this machine that has them in their usual place.
func (a *app) room(c *model.Catalogue, s settings.Settings, name string) error {
	e, known := c.Find(name)
	if !known || s.Ollama.AllowRemote {
		return nil
	}
	dir := os.Getenv("OLLAMA_MODELS")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		dir = filepath.Join(home, ".ollama", "models")
	}
	free, ok := model.FreeSpace(dir)
	if ok && free < e.Download {
		return fmt.Errorf("%s needs %s and the disk of %s has %s left: make room, or set OLLAMA_MODELS for Ollama to another disk", name, model.Gigabytes(e.Download), dir, model.Gigabytes(free))
	}
	return nil
}

// tryModel looks at an installed model in every way that its use needs, prints what
// was found, and fails if something is wrong.
func (a *app) tryModel(ctx context.Context, l *model.Library, c *model.Catalogue, s settings.Settings, name, use string) error {
	m, ok, err := l.Find(ctx, name)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("Ollama has no model %s: `quarry model pull %s` fetches it", name, name)
	}
	findings := []model.Finding{digestFinding(c, m)}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	if use == model.ForSearch {
		runtime, err := model.New(engines.ModelOptions(s))
		if err != nil {
			return err
		}
		findings = append(findings, runtime.NewEmbedder(name).Check(ctx)...)
	} else {
		s.Model = name
		runtime, err := model.New(engines.ModelOptions(s))
		if err != nil {
			return err
		}
		findings = append(findings, runtime.Check(ctx)...)
	}
	out := doctorOutput{OK: true, Findings: findings}
	for _, f := range findings {
		out.OK = out.OK && f.OK
	}
	if a.JSON {
		err = a.PrintJSON(out)
	} else {
		a.printList(findings)
	}
	if err == nil && !out.OK {
		err = cli.ErrSilent
	}
	return err
}

// digestFinding compares the model with the catalogue. Ollama has checked the sha256
// of each file when it fetched it.
func digestFinding(c *model.Catalogue, m model.Installed) model.Finding {
	f := model.Finding{Name: "digest", OK: true, Detail: m.Digest[:min(12, len(m.Digest))] + ", " + model.Gigabytes(m.Bytes)}
	e, _ := c.Find(m.Name)
	if e.Digest != "" && !strings.HasPrefix(m.Digest, strings.TrimPrefix(e.Digest, "sha256:")) {
		f.OK = false
		f.Detail += fmt.Sprintf(": the catalogue wants %s", e.Digest)
		f.Fix = fmt.Sprintf("quarry model pull %s, or correct the catalogue if you trust this one", m.Name)
	}
	return f
}

func (a *app) modelVerify(ctx context.Context, args []string) error {
	s, l, c, err := a.models()
	if err != nil {
		return err
	}
	name := s.Model
	if len(args) > 0 {
		name = args[0]
	}
	return a.tryModel(ctx, l, &c, s, name, useOf(&c, &s, name))
}

func (a *app) modelUse(ctx context.Context, name string) error {
	s, l, c, err := a.models()
	if err != nil {
		return err
	}
	if err := a.tryModel(ctx, l, &c, s, name, useOf(&c, &s, name)); err != nil {
		return err
	}
	key, does := "model", "completes code"
	if useOf(&c, &s, name) == model.ForSearch {
		key, does = "embedding.model", "embeds code for search"
	}
	path := settings.UserFilePath()
	if path == "" {
		return errors.New("this system names no folder for settings: set XDG_CONFIG_HOME")
	}
	if err := settings.SetInFile(path, key, name); err != nil {
		return err
	}
	if a.JSON {
		return nil
	}
	fmt.Fprintf(a.Stdout, "\n%s %s from now on: %q is set in %s. Servers that run go on with theirs until they are restarted.\n", name, does, key, path)
	if now, _ := a.Settings(); used(&now, name) == "" {
		fmt.Fprintf(a.Stderr, "An environment variable or a flag sets another one here, and it wins: %s is not asked yet.\n", name)
	}
	return nil
}

func (a *app) modelImport(ctx context.Context, args []string) error {
	s, l, c, err := a.models()
	if err != nil {
		return err
	}
	file := args[0]
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	if len(args) > 1 {
		name = args[1]
	}
	if err := a.importModel(ctx, l, &c, s, file, name); err != nil {
		return err
	}
	if !a.JSON && used(&s, name) == "" {
		fmt.Fprintf(a.Stdout, "→ quarry model use %s\n", name)
	}
	return nil
}

func (a *app) modelRemove(ctx context.Context, name string, yes bool) error {
	s, l, _, err := a.models()
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
	question := fmt.Sprintf("Delete %s (%s)?", m.Name, model.Gigabytes(m.Bytes))
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
	fmt.Fprintf(a.Stdout, "%s is gone, and %s of disk are free again, but for files that other models share.\n", m.Name, model.Gigabytes(m.Bytes))
	return nil
}
