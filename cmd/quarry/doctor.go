package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/index"
	"quarry/index/store"
	"quarry/lsp/settings"
	"quarry/model"
)

// doctorTimeout bounds the whole examination; loading a model from a slow disk
// takes most of a minute.
const doctorTimeout = 2 * time.Minute

func (a *app) doctorCommand() *cobra.Command {
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

func (a *app) doctor(ctx context.Context) error {
	s, problems := a.Settings()
	findings := []model.Finding{settingsFinding(problems), indexFinding()}
	findings = append(findings, modelFindings(ctx, s)...)
	if f, ok := a.adviceFinding(ctx, s); ok {
		findings = append(findings, f)
	}
	if f, ok := a.vectorsFinding(ctx, s); ok {
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

func settingsFinding(problems []settings.Problem) model.Finding {
	f := model.Finding{Name: "settings", OK: len(problems) == 0, Detail: "no problem"}
	if len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = p.String()
		}
		f.Detail = strings.Join(lines, "; ")
		f.Fix = "correct or remove these; docs/settings.md lists what there is"
	}
	return f
}

// indexFinding tries the database the index needs, in memory.
func indexFinding() model.Finding {
	f := model.Finding{Name: "full-text search", OK: true, Detail: "SQLite with FTS5"}
	s, err := store.Open("", nil)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		f.OK, f.Detail, f.Fix = false, err.Error(), "build quarry with `make build`"
	}
	return f
}

func modelFindings(ctx context.Context, s settings.Settings) []model.Finding {
	runtime, err := model.New(engines.ModelOptions(s))
	if err != nil {
		return []model.Finding{{
			Name: "ollama", Detail: err.Error(),
			Fix: "correct ollama.url or ollama.allowRemote in " + settings.UserFilePath() + ", or OLLAMA_HOST or --ollama, whichever sets it",
		}}
	}
	findings := runtime.Check(ctx)
	if findings[0].OK && s.Embedding.Enabled && s.Embedding.Model != "" {
		findings = append(findings, embeddingFinding(ctx, runtime, s.Embedding.Model))
	}
	return findings
}

// adviceFinding says which models suit this machine, and why; ok is false where quarry asks no
// Ollama. It is never a failure: what is asked may work, too.
func (a *app) adviceFinding(ctx context.Context, s settings.Settings) (f model.Finding, ok bool) {
	m, err := engines.NewModels(s, a.StateDir)
	if err != nil {
		return f, false // the server's finding says why
	}
	advice, _, _ := m.Advise(ctx) // without Ollama nothing is installed
	best := advice.Completion
	f = model.Finding{Name: "advice", OK: true, Detail: fmt.Sprintf("%s suits %s: %s", best.Name, advice.Machine, best.Why)}
	if beside := advice.Search; s.Embedding.Enabled && beside.Name == "" {
		f.Detail += "; " + beside.Why
	}
	if !best.Installed || used(&s, best.Name) == "" {
		f.Fix = "quarry setup model"
	}
	return f, true
}

// embeddingFinding looks at semantic search. It is never a failure: search by
// words does without.
func embeddingFinding(ctx context.Context, runtime *model.Runtime, name string) model.Finding {
	f := runtime.NewEmbedder(name).Check(ctx)[0]
	if !f.OK {
		f.OK, f.Detail = true, "search finds code by its words only: "+f.Detail
	}
	return f
}

// vectorsFinding looks at how embedding fared in the workspace; ok is false if there is
// no index, or nothing is to be embedded. Like embeddingFinding it is never a failure.
func (a *app) vectorsFinding(ctx context.Context, s settings.Settings) (f model.Finding, ok bool) {
	dir, err := a.WorkspaceAround(".")
	if err != nil || !s.Embedding.Enabled || s.Embedding.Model == "" {
		return f, false
	}
	st, err := index.Peek(ctx, dir, a.StateDir, a.Allowed(), 0)
	if err != nil {
		return f, false // `quarry status` says why
	}
	e := st.Embedding
	f = model.Finding{Name: "vectors", OK: true, Detail: fmt.Sprintf("%s of %s texts embedded", grouped(int64(e.Embedded)), grouped(int64(e.Texts)))}
	if e.Lost > 0 {
		f.Detail += fmt.Sprintf("; %s were damaged or gone at %s and are made anew", grouped(int64(e.Lost)), e.LostAt.Local().Format(time.DateTime))
	}
	if e.Error != "" {
		f.Detail += "; the latest try failed: " + e.Error
		f.Fix = "mend that, or choose another embedding.model; `quarry index --embed` tries at once"
	}
	return f, true
}

func (a *app) printFindings(out doctorOutput) {
	a.printList(out.Findings)
	if out.OK {
		fmt.Fprintln(a.Stdout, "\nEverything works. Run `quarry demo` to see ghost text.")
		return
	}
	fmt.Fprintln(a.Stdout, "\nWithout a model, completions are copied from your open files.")
}

// printList prints each finding and what to do about it.
func (a *app) printList(findings []model.Finding) {
	look := screen{colour: cli.OnTerminal(a.Stdout)}
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Name))
	}
	for _, f := range findings {
		mark := look.style(cli.Green, "ok  ")
		if !f.OK {
			mark = look.style(cli.Red, "FAIL")
		}
		fmt.Fprintf(a.Stdout, "%s  %-*s  %s\n", mark, width, f.Name, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(a.Stdout, "      %-*s  %s\n", width, "", look.style(cli.Bold, "→ "+f.Fix))
		}
	}
}
