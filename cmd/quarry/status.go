package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
	"quarry/index"
	"quarry/index/snapshot"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
	"quarry/retrieval"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what the index of the workspace holds, and what quarry did today",
		Long: `status shows the index of the workspace, how the folder differs from it by
now, what is wrong with what searches begin with, which model is configured, and what
editors' servers did today: ghost text, times, tokens, memory, and what they did
without. They write that down every few minutes. It reads no file of the workspace and
changes nothing. What one server does right now it tells its editor, by quarry/status;
whether the model works, quarry doctor.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.status(cmd.Context()) },
	}
	cmd.Flags().DurationVar(&a.Wait, "wait", cli.DefaultWait, "how long comparing the folder with the index may take, `TIME` as in 30s")
	return cmd
}

// currency says how true an index is to its folder.
func currency(st index.Status) string {
	d := st.Stale
	switch {
	case len(st.Troubles) > 0: // of the writer
		said := strings.Join(st.Troubles, " ")
		if d != nil {
			said += fmt.Sprintf(" Not indexed: files new %s, changed %s, gone %s.", grouped(int64(d.New)), grouped(int64(d.Changed)), grouped(int64(d.Gone)))
		}
		return said
	case st.Writer == index.OtherProcess && !st.Whole:
		return "incomplete: a running quarry reads the folder for the first time"
	case st.Writer == index.OtherProcess:
		return "a running quarry keeps it current"
	case !st.Whole && d != nil && d.New+d.Changed == 0:
		return "incomplete: no file is missing, but the index could not be finished, as where the disk is full; with room, `quarry index` finishes it, and so does a quarry that is started or runs and has it in memory"
	case !st.Whole && d != nil:
		return fmt.Sprintf("incomplete: files not read yet %s; `quarry index` reads them, or any quarry that is started", grouped(int64(d.New+d.Changed)))
	case !st.Whole:
		return "incomplete: not every file was read; `quarry index` reads the rest, or any quarry that is started"
	case d == nil:
		return "no quarry is running, and comparing the folder takes longer than --wait; the next quarry brings the index up to date"
	case *d == (index.Difference{}):
		return "up to date with the folder; no quarry is running"
	}
	return fmt.Sprintf("out of date: files new %s, changed %s, gone %s; `quarry index` reads them, or any quarry that is started", grouped(int64(d.New)), grouped(int64(d.Changed)), grouped(int64(d.Gone)))
}

// searchFiles says what is wrong with the files that searches of an index begin with, "" if
// nothing is, or a running quarry sees to them.
func (a *app) searchFiles(st index.Status) string {
	if st.Writer != index.NoProcess || !st.Whole || st.Files == 0 {
		return ""
	}
	_, err := snapshot.OpenVerified(filepath.Join(filepath.Dir(st.Database), index.KeptName), retrieval.StoredVersion)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case errors.Is(err, snapshot.ErrUnusable):
		return "damaged"
	}
	return ""
}

// statusOutput is the JSON of `quarry status`.
type statusOutput struct {
	index.Status
	Model  engines.ConfiguredModel `json:"model"`
	Today  usage.Day               `json:"today"`
	Budget int64                   `json:"memory_budget"`
	Now    nowOutput               `json:"now"`
	// SearchFiles is what is wrong with the files that searches begin with where nobody mends
	// it: missing or damaged.
	SearchFiles string `json:"search_files,omitempty"`
}

// nowOutput is what the user's running quarrys have, in bytes, and do without.
type nowOutput struct {
	Processes int          `json:"processes"`
	Own       int64        `json:"own_bytes"`
	Models    int64        `json:"model_bytes"`
	Untold    bool         `json:"models_untold"`
	Savings   []lsp.Saving `json:"savings"`
}

func (a *app) status(ctx context.Context) error {
	dir, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	s := a.CommandSettings()
	asked := engines.ModelOf(s, engines.LookElsewhere(ctx, s))
	st, err := index.Peek(ctx, a.Scope().Config(dir, a.StateDir), a.WaitLimit())
	if err != nil {
		if !a.JSON {
			err = errors.Join(a.printElse(s, asked), err)
		}
		return err
	}
	if a.JSON {
		today, err := a.today()
		if err != nil {
			return err
		}
		now := engines.RunningNow(a.StateDir, s)
		return a.PrintJSON(statusOutput{st, asked, today, engines.Budget(s, catalogue.ThisMachine()), nowOutput{now.Processes, now.Own, now.Models, now.Untold, now.Savings}, a.searchFiles(st)})
	}
	fmt.Fprintf(a.Stdout, "index of %s\n%s files, %s", st.Root, grouped(st.Files), megabytes(st.Bytes))
	if !st.Scanned.IsZero() {
		fmt.Fprintf(a.Stdout, ", compared with the disk at %s in %.1f s", st.Scanned.Local().Format(time.DateTime), st.ScanSeconds)
	}
	fmt.Fprintln(a.Stdout)
	fmt.Fprintln(a.Stdout, currency(st))
	if said := a.searchFiles(st); said != "" {
		fmt.Fprintf(a.Stdout, "what searches begin with is %s: names are found at once, all else is slow and incomplete; `quarry index` makes it anew, and so does the next `quarry search`\n", said)
	}
	a.printIndex(st)
	return a.printElse(s, asked)
}

// printElse prints what is so of models and memory, whatever the workspace.
func (a *app) printElse(s settings.Settings, asked engines.ConfiguredModel) error {
	a.printModel(s, asked)
	today, err := a.today()
	if err != nil {
		return err
	}
	if !s.Ollama.AllowRemote { // what left it before is none of now
		today.Events = slices.DeleteFunc(today.Events, func(e usage.Event) bool { return e.Kind == engines.KindElsewhere })
	}
	a.printToday(&today, engines.Budget(s, catalogue.ThisMachine()), engines.RunningNow(a.StateDir, s))
	return nil
}

// printModel says which model is asked and where it is, and what leaves this machine.
func (a *app) printModel(s settings.Settings, asked engines.ConfiguredModel) {
	var where []string
	_, err := model.ParseEndpoint(s.Ollama.URL, s.Ollama.AllowRemote)
	switch {
	case !s.Ollama.Enabled:
		where = append(where, "is not asked, since ollama.enabled is false")
	case err != nil:
		where = append(where, "is not asked: "+err.Error())
	}
	if leaving := engines.Leaving(asked.Sends); leaving != "" { // a reranker's may, where no model is asked
		where = append(where, "code leaves this machine for "+leaving)
	}
	if len(where) == 0 {
		where = append(where, "on this machine")
	}
	fmt.Fprintf(a.Stdout, "model %s at %s, %s\n", asked.Name, asked.URL, strings.Join(where, "; "))
	if warning := engines.KeyInPlain(s); warning != "" {
		fmt.Fprintln(a.Stdout, warning)
	}
}

// today is what editors' servers have noted of this day.
func (a *app) today() (usage.Day, error) {
	dir, err := engines.StatsDir(a.StateDir)
	if err != nil {
		return usage.Day{}, err
	}
	days, err := usage.Read(dir, time.Now())
	if err != nil {
		return usage.Day{}, err
	}
	return days[len(days)-1], nil
}

// printToday prints a day and what models and quarry may take together; budget is 0 if that is
// not known.
func (a *app) printToday(d *usage.Day, budget int64, now engines.Running) {
	if shown, accepted := d.ShownAndAccepted(); shown > 0 {
		fmt.Fprintf(a.Stdout, "today: ghost text shown %s, accepted %s%s\n", grouped(int64(shown)), grouped(int64(accepted)), share(accepted, shown))
	}
	if d.FirstToken.Count() > 0 {
		fmt.Fprintf(a.Stdout, "today: first token after %s, waiting %s (p50)", briefly(d.FirstToken.Percentile(50)), briefly(d.Queue.Percentile(50)))
		if token := d.Token.Percentile(50); token > 0 {
			fmt.Fprintf(a.Stdout, ", %.0f tokens a second", 1/token.Seconds())
		}
		if d.PromptBytes > 0 {
			fmt.Fprintf(a.Stdout, ", %.0f %% of prompts reused", 100*float64(d.ReusedBytes)/float64(d.PromptBytes))
		}
		fmt.Fprintln(a.Stdout)
	}
	for _, line := range memoryLines(d, budget, now) {
		fmt.Fprintln(a.Stdout, line)
	}
	a.printLess(d.Events, now.Savings)
}

// memoryLines say what quarrys and their models had at most on a day, what they have now, and what they may take. What a server
// does not tell of its models is no 0.
func memoryLines(d *usage.Day, budget int64, now engines.Running) (lines []string) {
	may := ""
	if budget > 0 {
		may = fmt.Sprintf("quarry and its models may take %s", catalogue.Gigabytes(budget))
	}
	had := fmt.Sprintf("quarry had %s and the models %s at most today", catalogue.Gigabytes(d.Resident), catalogue.Gigabytes(d.Models))
	if d.Models == 0 {
		had = fmt.Sprintf("quarry had %s at most today, of models nothing is known", catalogue.Gigabytes(d.Resident))
	}
	switch {
	case d.Resident > 0:
		lines = append(lines, fmt.Sprintf("memory: %s; %s", had, cmp.Or(may, "how much they may take is not known")))
	case may != "":
		lines = append(lines, "memory: "+may)
	}
	if now.Processes == 0 {
		return lines
	}
	who := "1 quarry process has"
	if now.Processes > 1 {
		who = fmt.Sprintf("%d quarry processes have", now.Processes)
	}
	models := "the models in memory that they ask " + catalogue.Gigabytes(now.Models)
	switch {
	case now.Untold && now.Models == 0:
		models = "what the models that they ask have their server does not tell"
	case now.Untold:
		models += ", but for those whose server does not tell"
	}
	return append(lines, fmt.Sprintf("memory now: %s %s, %s", who, catalogue.Gigabytes(now.Own), models))
}

// printLess prints what running quarrys do without, why, and what undoes it, and of which kinds all is done again. events are
// those of the day, which say since when, if they are kept. What was done without by a quarry that has ended `quarry stats` tells.
func (a *app) printLess(events []usage.Event, savings []lsp.Saving) {
	last := map[string]usage.Event{}
	for _, e := range events {
		if !e.At.Before(last[e.Kind].At) {
			last[e.Kind] = e
		}
	}
	told := map[string]bool{}
	for len(savings) > 0 {
		kind, why, undo := savings[0].Kind, savings[0].Why, savings[0].Undo
		var what []string
		for len(savings) > 0 && savings[0].Kind == kind && savings[0].Why == why {
			what, savings = append(what, savings[0].What), savings[1:]
		}
		since := ""
		if e := last[kind]; e.Less {
			since = ", since " + e.At.Local().Format(time.TimeOnly)
		}
		fmt.Fprintf(a.Stdout, "%s%s: %s\n  → %s; undone by %s\n", kind, since, strings.Join(what, "; "), why, undo)
		told[kind] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(last)) {
		e, undo := last[kind], engines.UndoOf(kind)
		if undo == "" || told[kind] { // undo "": a model that was away, of which `quarry doctor` says whether it still is
			continue
		}
		if e.Less && kind != engines.KindElsewhere {
			continue
		}
		fmt.Fprintf(a.Stdout, "%s, at %s: %s\n", kind, e.At.Local().Format(time.TimeOnly), e.What)
		if e.Less {
			fmt.Fprintf(a.Stdout, "  → undone by %s\n", undo)
		}
	}
}
