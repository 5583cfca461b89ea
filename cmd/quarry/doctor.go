package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
	"quarry/index"
	"quarry/index/store"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
)

// doctorTimeout bounds the whole examination; loading a model from a slow disk
// takes most of a minute.
const doctorTimeout = 2 * time.Minute

// doctors are the checks of quarry doctor.
type doctors struct{ *app }

func (a doctors) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find out what is missing for ghost text, and how to get it",
		Long: `doctor looks at everything a completion needs, in the order in which things
depend on each other, and says for each finding what to do. The exit code is 0
only if code can be completed by the model.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), doctorTimeout)
			defer cancel()
			return a.doctor(ctx)
		},
	}
}

// doctorOutput is the JSON of `quarry doctor`.
type doctorOutput struct {
	OK       bool            `json:"ok"`
	Findings []model.Finding `json:"findings"`
}

func (a doctors) doctor(ctx context.Context) error {
	s, problems := a.Settings()
	findings := []model.Finding{settingsFinding(s, problems)}
	known, now := engines.LookElsewhere(ctx, s), engines.RunningNow(a.StateDir, s)
	tick := time.NewTicker(waitingEvery)
	answered := waiting(a.Stderr, serverNamed(s), time.Now(), tick.C)
	findings = append(findings, modelFindings(ctx, now.Settings, known)...) // as they ask them: else a model were loaded anew
	answered()
	tick.Stop()
	asked := engines.ModelOf(s, known)
	findings = append(findings, remoteFindings(s, asked)...)
	if f, ok := a.adviceFinding(ctx, s, findings); ok {
		findings = append(findings, f)
	}
	if f, ok := catalogueFinding(); ok {
		findings = append(findings, f)
	}
	if f, ok := a.unfinishedFinding(ctx, s); ok {
		findings = append(findings, f)
	}
	findings = append(findings, memoryFindings(ctx, s, now, asked.Host != "")...)
	findings = append(findings, a.indexFinding(ctx, s), statisticsFinding(s))
	if f, ok := a.editorsFinding(); ok {
		findings = append(findings, f)
	}
	out := doctorOutput{OK: true, Findings: findings}
	for _, f := range findings {
		out.OK = out.OK && f.OK
	}
	if a.JSON {
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	} else {
		a.printFindings(out)
	}
	if !out.OK {
		return cli.ErrSilent
	}
	return nil
}

// catalogueFinding says what is wrong with the user's own catalogue; ok is false if nothing is. An entry that is left out is
// no failure: the rest counts.
func catalogueFinding() (f model.Finding, ok bool) {
	known, err := engines.LoadCatalogue()
	switch {
	case err != nil:
		fix, why, _ := strings.Cut(err.Error(), ": ")
		return model.Finding{Name: "catalogue", Detail: why, Fix: fix + ": until then no model is advised, fetched or tried"}, true
	case len(known.Wrong) > 0:
		return model.Finding{Name: "catalogue", OK: true, Detail: strings.Join(known.Faults(), "; "), Fix: "correct " + engines.CataloguePath() + ", the rest of it counts"}, true
	}
	return f, false
}

// waitingEvery is how often it is said for whom doctor waits.
const waitingEvery = 5 * time.Second

// waiting says at each tick for whom doctor waits, and since when, until answered is called.
func waiting(to io.Writer, server string, since time.Time, tick <-chan time.Time) (answered func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case now := <-tick:
				fmt.Fprintf(to, "waiting for %s: %.0f s so far, at most %.0f\n", server, now.Sub(since).Seconds(), doctorTimeout.Seconds())
			case <-over:
				return
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// serverNamed is the model server of the settings in words.
func serverNamed(s settings.Settings) string {
	u, err := model.ParseEndpoint(s.Ollama.URL, true)
	switch {
	case err != nil:
		return "the model server"
	case engines.OwnsModels(s):
		return "Ollama at " + u.Host
	}
	return "the model server at " + u.Host
}

func settingsFinding(s settings.Settings, problems []settings.Problem) model.Finding {
	f := model.Finding{Name: "settings", OK: len(problems) == 0, Detail: "no problem"}
	if s.Profile != settings.Default().Profile {
		f.Detail += ", profile " + s.Profile
	}
	if len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = p.String()
		}
		f.Detail = strings.Join(lines, "; ")
		f.Fix = "correct or remove these; the rest applies"
	}
	return f
}

// canSearch tries the database that the index needs, in memory.
func canSearch() error {
	s, err := store.Open("", nil)
	if err != nil {
		return err
	}
	return s.Close()
}

// remoteFindings name the machines that code is sent to, and for what; none where it stays here. They are
// no failures: the user has allowed it.
func remoteFindings(s settings.Settings, asked engines.ConfiguredModel) (list []model.Finding) {
	if leaving := engines.Leaving(asked.Sends); leaving != "" {
		list = append(list, model.Finding{
			Name: "remote", OK: true, Detail: "code leaves this machine for " + leaving + ": your ollama.allowRemote permits it",
			Fix: "set ollama.allowRemote to false in " + settings.UserFilePath() + " to keep it here",
		})
	}
	if warning := engines.KeyInPlain(s); warning != "" {
		fix, why, _ := strings.Cut(warning, ": ")
		list = append(list, model.Finding{Name: "key", OK: true, Detail: why, Fix: fix})
	}
	return list
}

// modelFindings looks at the models that the settings name; known hears what their answers say of where they are.
func modelFindings(ctx context.Context, s settings.Settings, known *engines.Elsewhere) []model.Finding {
	reranks := func() []model.Finding { return rerankerFindings(ctx, s, known) }
	if !s.Ollama.Enabled {
		return append([]model.Finding{{Name: "models", OK: true, Detail: "none is asked, since ollama.enabled is false: completions are copied from your own code"}}, reranks()...)
	}
	runtime, err := model.New(heard(s, known))
	if err != nil {
		name := "ollama"
		if !engines.OwnsModels(s) {
			name = "model server"
		}
		return append([]model.Finding{{
			Name: name, Detail: err.Error(),
			Fix: "correct ollama.url or ollama.allowRemote in " + settings.UserFilePath() + ", or OLLAMA_HOST or --ollama, whichever sets it",
		}}, reranks()...)
	}
	findings := runtime.Check(ctx)
	for _, language := range slices.Sorted(maps.Keys(s.Completion.Models)) {
		if findings[0].OK {
			findings = append(findings, languageFinding(ctx, s, language, known))
		}
	}
	if findings[0].OK && s.Embedding.Enabled && s.Embedding.Model != "" {
		findings = append(findings, embeddingFinding(ctx, runtime, s.Embedding.Model))
	}
	return append(findings, reranks()...)
}

// heard is the options of a model whose answers known hears.
func heard(s settings.Settings, known *engines.Elsewhere) model.Options {
	options := engines.ModelOptions(s)
	options.OnElsewhere = known.Note
	return options
}

// rerankerFindings look at a cross-encoder of the settings, none where they name none. It is never a failure: searches go
// without it.
func rerankerFindings(ctx context.Context, s settings.Settings, known *engines.Elsewhere) []model.Finding {
	what, err := engines.TryReranker(ctx, s, known)
	switch {
	case err != nil:
		return []model.Finding{{Name: "reranker", OK: true, Detail: "searches keep their own order: " + err.Error()}}
	case what != "":
		return []model.Finding{{Name: "reranker", OK: true, Detail: what}}
	}
	return nil
}

// languageFinding looks at the model of a single language. It is never a failure: the usual one
// completes in its place.
func languageFinding(ctx context.Context, s settings.Settings, language string, known *engines.Elsewhere) model.Finding {
	name := s.Completion.Models[language]
	f := model.Finding{Name: "model of " + language, OK: true, Detail: name + " completes"}
	runtime, err := model.New(heard(engines.WithModel(s, name), known))
	if err != nil {
		f.Detail = s.Model + " completes instead: " + err.Error()
		return f
	}
	for _, found := range runtime.Check(ctx) {
		if !found.OK {
			f.Detail, f.Fix = fmt.Sprintf("%s completes instead: %s", s.Model, found.Detail), found.Fix
			break
		}
	}
	return f
}

// adviceFinding says which models suit this machine, and why; ok is false where quarry asks no
// Ollama. It is never a failure: what is asked may work, too.
func (a doctors) adviceFinding(ctx context.Context, s settings.Settings, found []model.Finding) (f model.Finding, ok bool) {
	m, err := engines.NewModels(s, a.StateDir)
	if err != nil || !s.Ollama.Enabled {
		return f, false // the server's finding says why
	}
	var unsuited []string
	if slices.ContainsFunc(found, func(f model.Finding) bool { return !f.OK && (f.Name == model.FillsIn || f.Name == model.IsThere) }) && m.Unsuited(ctx, s.Model) {
		unsuited = append(unsuited, s.Model)
	}
	advice, _, _ := m.Advise(ctx, unsuited...) // without Ollama nothing is installed
	best := advice.Completion
	f = model.Finding{Name: "advice", OK: true, Detail: best.Suits(advice.Machine.String())}
	if beside := advice.Search; s.Embedding.Enabled && beside.Name == "" {
		f.Detail += "; " + beside.Why
	}
	if !best.Installed || used(&s, best.Name) == "" {
		f.Fix = "quarry setup model"
	}
	return f, true
}

// unfinishedFinding names what downloads have left that were ended, or whose models failed; ok is false if nothing is. It
// is never a failure: the model's own finding says whether that completes.
func (a doctors) unfinishedFinding(ctx context.Context, s settings.Settings) (f model.Finding, ok bool) {
	m, err := engines.NewModels(s, a.StateDir)
	if err != nil || !s.Ollama.Enabled {
		return f, false // the server's finding says why
	}
	list, _ := m.List(ctx) // as does this
	left, err := m.Leftovers(ctx, list)
	f = model.Finding{Name: "downloads", OK: true}
	var says []string
	if err != nil {
		says = append(says, err.Error())
	}
	removable := false
	for _, l := range left {
		says = append(says, l.String())
		removable = removable || l.Removable
		if f.Fix == "" && l.Resume != "" {
			f.Fix = l.Resume + " goes on with it"
		}
	}
	if removable {
		f.Fix = strings.TrimPrefix(f.Fix+"; quarry model clean removes it", "; ")
	}
	f.Detail = strings.Join(says, "; ")
	return f, len(says) > 0
}

// memoryFindings say what quarry and its models may take together, what the models have of it, and what running quarrys do
// without. They are never failures.
func memoryFindings(ctx context.Context, s settings.Settings, now engines.Running, elsewhere bool) []model.Finding {
	f, taken := memoryFinding(ctx, s, elsewhere)
	less, ok := savingsFinding(s, now, catalogue.FreeMemory(), now.Own+max(taken, now.Models))
	if !ok {
		return []model.Finding{f}
	}
	f.Fix = "" // that of the other one is the same
	return []model.Finding{f, less}
}

// savingsFinding says what running quarrys do without, or one that starts with so much memory free beside what quarrys and
// their models have; ok is false if nothing is.
func savingsFinding(s settings.Settings, now engines.Running, free, taken int64) (f model.Finding, ok bool) {
	f = model.Finding{Name: "savings", OK: true}
	var what, why, undo []string
	for _, v := range now.Savings {
		what, why, undo = append(what, v.What), append(why, v.Why), append(undo, v.Undo)
	}
	switch {
	case len(what) > 0:
		f.Detail = strings.Join(what, "; ") + ": " + strings.Join(slices.Compact(why), "; ")
		f.Fix = strings.Join(slices.Compact(undo), "; ")
	case engines.Small(s, free, taken):
		f.Detail = "a quarry that starts now uses no embeddings for search, and its prompts are half as long: little memory is free"
		f.Fix = "close other programs, or set memory.budgetMB in " + settings.UserFilePath()
	}
	return f, f.Detail != ""
}

// memoryFinding says what quarry and its models may take together, and what the models have of
// it; those that run elsewhere have none.
func memoryFinding(ctx context.Context, s settings.Settings, elsewhere bool) (f model.Finding, taken int64) {
	here := catalogue.ThisMachine()
	all := engines.Budget(s, here)
	f = model.Finding{Name: "memory", OK: true, Detail: "how much this machine has is not known"}
	if all > 0 {
		f.Detail = "may take " + catalogue.Gigabytes(all) + " (memory.budgetMB)"
		if s.Memory.BudgetMB == 0 {
			f.Detail = "may take " + catalogue.Gigabytes(all) + " (half of this machine)"
		}
	}
	if free := catalogue.FreeMemory(); free > 0 {
		f.Detail += fmt.Sprintf("; %s free", catalogue.Gigabytes(free))
	}
	if catalogue.OnBattery() && s.Battery.Save {
		f.Detail += "; on battery ghost text waits longer and no code is embedded (battery.save)"
	}
	if !s.Ollama.Enabled || elsewhere {
		return f, 0
	}
	taken, told, err := engines.ModelsMemory(ctx, s)
	if err != nil {
		return f, 0 // the server's finding says why
	}
	if !told {
		f.Detail += "; what models have is not counted: their server does not tell"
	}
	if taken > 0 {
		f.Detail += fmt.Sprintf("; models have %s", catalogue.Gigabytes(taken))
	}
	if all > 0 && taken*100 > all*nearBudget {
		f.Fix = "quarry setup model, or a larger memory.budgetMB"
	}
	return f, taken
}

// nearBudget is the part of the budget, in percent, from which on quarry does with less.
const nearBudget = 85

// embeddingFinding looks at semantic search. It is never a failure: search by
// words does without.
func embeddingFinding(ctx context.Context, runtime *model.Runtime, name string) model.Finding {
	f := runtime.NewEmbedder(name).Check(ctx)[0]
	if !f.OK {
		f.OK, f.Detail = true, engines.WithoutEmbeddings+": "+f.Detail
	}
	return f
}

// indexFinding looks at the index of the workspace and how embedding fared there. It is a
// failure only where this build of quarry can have none.
func (a doctors) indexFinding(ctx context.Context, s settings.Settings) model.Finding {
	f := model.Finding{Name: "index", OK: true}
	if err := canSearch(); err != nil {
		f.OK, f.Detail, f.Fix = false, "there is no full-text search: "+err.Error(), "build quarry with `make build`"
		return f
	}
	dir, err := a.WorkspaceAround(".")
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	st, err := index.Peek(ctx, a.Scope().Config(dir, a.StateDir), 0)
	if err != nil {
		if f.Detail = err.Error(); errors.Is(err, index.ErrNoIndex) {
			f.Detail, f.Fix = "none of this folder yet (SQLite with FTS5)", "quarry index; an editor makes it by itself"
		}
		return f
	}
	f.Detail = grouped(st.Files) + " files in SQLite with FTS5"
	if st.Writer == index.OtherProcess {
		f.Detail += ", kept current by a running quarry"
	}
	if st.LastError != "" {
		f.Detail += "; the latest scan failed: " + st.LastError
		f.Fix = "mend that, and run quarry index"
	}
	if !s.Ollama.Enabled || !s.Embedding.Enabled || s.Embedding.Model == "" {
		return f
	}
	e := st.Embedding
	f.Detail += fmt.Sprintf("; %s of %s texts embedded", grouped(int64(e.Embedded)), grouped(int64(e.Texts)))
	if e.Lost > 0 {
		f.Detail += fmt.Sprintf("; %s were damaged or gone at %s and are made anew", grouped(int64(e.Lost)), e.LostAt.Local().Format(time.DateTime))
	}
	if e.Error != "" && e.Asked != "" && e.Asked == embeddingAsked(s) {
		f.Detail += "; the latest try failed: " + e.Error
		f.Fix = "mend that, or choose another embedding.model; `quarry index --embed` tries at once"
	}
	return f
}

// embeddingAsked is whom the settings have embed, "" where they lead to no server: what another said is no advice for this one.
func embeddingAsked(s settings.Settings) string {
	server, err := model.New(engines.ModelOptions(s))
	if err != nil {
		return ""
	}
	defer server.Close()
	return engines.EmbeddingAsked(server, s.Embedding)
}

// statisticsFinding says where to read what quarry did.
func statisticsFinding(s settings.Settings) model.Finding {
	f := model.Finding{Name: "statistics", OK: true, Detail: fmt.Sprintf("kept here for %d days: `quarry stats`", usage.KeptDays)}
	if !s.Stats.Keep {
		f.Detail = "not kept: stats.keep is false"
	}
	return f
}

// editorsFinding says in which editors and agents that are here quarry is set up; ok is false
// if there are none. It is never a failure: there are other ways to set them up.
func (a doctors) editorsFinding() (f model.Finding, ok bool) {
	r, err := a.setupOn(setupOptions{})
	if err != nil {
		return f, false
	}
	var done, open, wrong []string
	for _, t := range r.states() {
		switch {
		case t.Found == "":
		case t.State == setUpAlready:
			done = append(done, t.Name)
		case t.State == notSetUp:
			open = append(open, t.Name)
		default:
			wrong = append(wrong, t.Name+": "+t.State)
		}
	}
	var parts []string
	if len(done) > 0 {
		parts = append(parts, "set up in "+strings.Join(done, ", "))
	}
	if len(open) > 0 {
		parts = append(parts, "not by `quarry setup` in "+strings.Join(open, ", "))
		f.Fix = "quarry setup " + open[0]
	}
	f.Name, f.OK, f.Detail = "editors", true, strings.Join(append(parts, wrong...), "; ")
	return f, len(parts)+len(wrong) > 0
}

func (a doctors) printFindings(out doctorOutput) {
	look := screen{colour: cli.OnTerminal(a.Stdout)}
	for _, line := range look.fitting(out.Findings, cli.Columns(a.Stdout), usualRows-len("\n\n")) { // the last sentence and the line before it
		fmt.Fprintln(a.Stdout, line)
	}
	if out.OK {
		fmt.Fprintln(a.Stdout, "\nEverything works. Run `quarry demo` to see ghost text.")
		return
	}
	fmt.Fprintln(a.Stdout, "\nWithout a model, completions are copied from your own code.")
}

// printList prints each finding and what to do about it.
func (a *app) printList(findings []model.Finding) {
	look := screen{colour: cli.OnTerminal(a.Stdout)}
	for _, line := range look.findings(findings, cli.Columns(a.Stdout)) {
		fmt.Fprintln(a.Stdout, line)
	}
}

// findings are lines of at most so many characters: what is longer goes on below itself. 0 is
// any number of them.
func (s screen) findings(findings []model.Finding, columns int) (lines []string) {
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Name))
	}
	before := len("FAIL  ") + width + len("  ")
	for _, f := range findings {
		mark := s.style(cli.Green, "ok  ")
		switch {
		case !f.OK:
			mark = s.style(cli.Red, "FAIL")
		case f.Note:
			mark = s.style(cli.Bold, "note")
		}
		begins := fmt.Sprintf("%s  %-*s  ", mark, width, f.Name)
		for _, line := range wrapped(f.Detail, columns-before) {
			lines = append(lines, begins+line)
			begins = strings.Repeat(" ", before)
		}
		if f.Fix == "" {
			continue
		}
		for _, line := range wrapped("→ "+f.Fix, columns-before) {
			lines = append(lines, strings.Repeat(" ", before)+s.style(cli.Bold, line))
		}
	}
	return lines
}

// usualRows are those of a terminal.
const usualRows = 24

// fitting is findings in at most so many rows, as far as that goes: first those with which nothing is to be done are named in one line,
// then what is said of those that are no failures is cut to a line, then only what to do about them is said. Without columns all is said.
func (s screen) fitting(findings []model.Finding, columns, rows int) []string {
	lines := s.findings(findings, columns)
	if columns <= 0 || len(lines) <= rows {
		return lines
	}
	var names []string
	var rest []model.Finding
	for _, f := range findings {
		if f.OK && f.Fix == "" {
			names = append(names, f.Name)
		} else {
			rest = append(rest, f)
		}
	}
	if len(names) > 0 {
		rest = append([]model.Finding{{Name: "well", OK: true, Detail: strings.Join(names, ", ") + " (each: quarry doctor --json)"}}, rest...)
	}
	width := 0
	for _, f := range rest {
		width = max(width, len(f.Name))
	}
	room := columns - len("FAIL  ") - width - len("  ")
	for _, cut := range []func(f *model.Finding){
		func(*model.Finding) {},
		func(f *model.Finding) { f.Detail = shortened(f.Detail, room) },
		func(f *model.Finding) { f.Detail, f.Fix = shortened("→ "+f.Fix, room), "" },
	} {
		for i := range rest {
			if f := &rest[i]; f.OK && f.Fix != "" {
				cut(f)
			}
		}
		if lines = s.findings(rest, columns); len(lines) <= rows {
			break
		}
	}
	return lines
}

// shortened is a text of at most so many characters.
func shortened(text string, width int) string {
	runes := []rune(text)
	if width < leastWidth || len(runes) <= width {
		return text
	}
	return strings.TrimRight(string(runes[:width-1]), " ") + "…"
}

// leastWidth is how many columns a text needs to be worth breaking.
const leastWidth = 20

// wrapped breaks a text between words into lines of at most so many characters; a word that is
// longer has a line of its own, and where there is no room for lines the text is one.
func wrapped(text string, width int) []string {
	if width < leastWidth {
		return []string{text}
	}
	var lines []string
	line, used := "", 0
	for word := range strings.SplitSeq(text, " ") {
		n := utf8.RuneCountInString(word)
		if used > 0 && used+1+n > width {
			lines, line, used = append(lines, line), word, n
			continue
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}
