package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"quarry/agent/report"
	"quarry/cmd/internal/cli"
	"quarry/index"
	"quarry/index/git"
)

// reportOptions are the flags of `quarry report`.
type reportOptions struct {
	prompt, repository, output string
	keepStore, outline         bool
}

func (a *app) reportCommand() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write a report about a repository, each point with its places",
		Long: `Write a report about a repository: what a prompt asks for, and an outline from the
index with purpose, structure, entry points, most used declarations, dependencies and
tests. Every point names its places as path:line-line.

The prompt is Markdown; each of its list items is a question, or else each heading. The
model answers from the places that the search finds, and what it says without proof is
left out. Without a model the places themselves stand there.

--repo takes a folder, or the address of a repository, whose newest commit is then fetched
into a temporary folder that is removed at the end. The report goes to standard output or
to --output; it is also kept and compared with the one before.`,
		Example: `  quarry report
  quarry report --prompt questions.md --output report.md
  quarry report --prompt questions.md --repo https://example.com/a/b.git`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.report(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.prompt, "prompt", "", "Markdown `FILE` with what to report about (default: the outline alone)")
	cmd.Flags().StringVar(&o.repository, "repo", "", "`DIR` or address of the repository (default: the workspace)")
	cmd.Flags().StringVar(&o.output, "output", "", "`FILE` to write, - for standard output (the default)")
	cmd.Flags().BoolVar(&o.keepStore, "persist-store", false, "keep what was fetched of an address, and its index, for the next report")
	cmd.Flags().BoolVar(&o.outline, "outline", false, "do not ask a model")
	a.WaitFlag(cmd)
	return cmd
}

// reportOutput is the JSON of `quarry report`.
type reportOutput struct {
	report.Report
	Version report.Version `json:"version"`
}

func (a *app) report(ctx context.Context, o reportOptions) (err error) {
	if o.output == "-" { // as stats --export has it
		o.output = ""
	}
	prompt := ""
	if o.prompt != "" {
		if prompt, err = readPrompt(o.prompt); err != nil {
			return fmt.Errorf("--prompt: %w", err)
		}
		if len(report.Questions(prompt)) == 0 {
			return fmt.Errorf("%w: --prompt %s asks for nothing; write a list item for each question", cli.ErrUsage, o.prompt)
		}
	}
	state, err := a.stateFolder()
	if err != nil {
		return err
	}
	root, name, remove, err := a.repositoryOf(ctx, o, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := a.Allowed().Refuses(root); err != nil {
		return err
	}
	text, err := a.writeReport(ctx, o, root, name, prompt)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(name + "\x00" + root + "\x00" + prompt))
	if git.IsURL(o.repository) {
		sum = sha256.Sum256([]byte(o.repository + "\x00" + prompt)) // the folder is another each time
	}
	version, err := report.Keep(filepath.Join(state, "reports", fileName(name)+"-"+hex.EncodeToString(sum[:6])), text.Text)
	if err != nil { // the report is made
		fmt.Fprintf(a.Stderr, "quarry: the report is not kept: %v\n", err)
	}
	if o.output != "" {
		if err := a.WriteOutput(o.output, []byte(text.Text), 0o644); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	switch {
	case a.JSON:
		return a.PrintJSON(reportOutput{text, version})
	case o.output == "":
		if _, err := fmt.Fprint(a.Stdout, text.Text); err != nil {
			return err
		}
	}
	a.summarize(text, version, o.output)
	return nil
}

// maxPrompt is the longest prompt that is read, far above ten questions.
const maxPrompt = 1 << 20

// readPrompt is the text of a file with questions.
func readPrompt(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxPrompt+1))
	switch {
	case err != nil:
		return "", err
	case len(raw) > maxPrompt:
		return "", fmt.Errorf("%s has more than %d KB; write at most ten questions", path, maxPrompt>>10)
	case !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0:
		return "", fmt.Errorf("%s is no UTF-8 text; write the questions in Markdown", path)
	}
	return string(raw), nil
}

// summarize says on standard error how the report came about.
func (a *app) summarize(r report.Report, v report.Version, output string) {
	said := "an outline, no model asked"
	if r.Calls > 0 {
		said = fmt.Sprintf("%s of the model, %d tokens read, %d written", counted(r.Calls, "call"), r.PromptTokens, r.Tokens)
		if r.Engine == report.ByOutline {
			said = "an outline, since the model gave no answer: " + said
		}
	}
	if len(r.Warnings) > 0 {
		said += ", " + counted(len(r.Warnings), "warning")
	}
	if v.Number > 0 {
		said += fmt.Sprintf("; version %d", v.Number)
	}
	if v.Before != "" {
		said += fmt.Sprintf(", %s new and %d gone since %s", counted(v.New, "line"), v.Gone, v.Before)
	}
	if output != "" {
		said = output + ": " + said
	}
	fmt.Fprintln(a.Stderr, said)
	for _, w := range r.Warnings {
		fmt.Fprintln(a.Stderr, "quarry: warning:", w)
	}
}

// writeReport makes the report of a folder.
func (a *app) writeReport(ctx context.Context, o reportOptions, root, name, prompt string) (r report.Report, err error) {
	c := a.Core(root)
	defer func() { err = errors.Join(err, c.Close()) }()
	req := report.Request{Name: name, Prompt: prompt}
	if prompt != "" && !o.outline {
		if c.Ready(ctx) {
			req = c.ReportRequest(req)
		} else {
			fmt.Fprintf(a.Stderr, "quarry: no model answers, so the places themselves stand in the report: %v\n", c.Available())
		}
	}
	return report.Write(ctx, c.Workspace, req)
}

// stateFolder is where quarry keeps what outlives a command.
func (a *app) stateFolder() (string, error) {
	if a.StateDir != "" {
		return a.StateDir, nil
	}
	return index.DefaultStateDir()
}

// repositoryOf is the folder to report about and what it is called. remove takes away what was
// fetched for it.
func (a *app) repositoryOf(ctx context.Context, o reportOptions, state string) (root, name string, remove func() error, err error) {
	if !git.IsURL(o.repository) {
		if o.repository != "" {
			if a.Workspace != "" {
				return "", "", nil, fmt.Errorf("%w: --repo and --workspace name the same thing; give one", cli.ErrUsage)
			}
			a.Workspace = o.repository
		}
		root, err = a.WorkspaceAround(".")
		if o.repository != "" && err != nil {
			err = errors.New(strings.Replace(err.Error(), "--workspace", "--repo", 1))
		}
		return root, filepath.Base(root), func() error { return nil }, err
	}
	name = fileName(strings.TrimSuffix(o.repository[strings.LastIndexAny(o.repository, "/:")+1:], ".git"))
	parent := ""
	if o.keepStore {
		sum := sha256.Sum256([]byte(o.repository))
		parent = filepath.Join(state, "repositories", name+"-"+hex.EncodeToString(sum[:6]))
		// What was fetched before is replaced: its index stays, and knows what is the same.
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return "", "", nil, err
		}
		// It stays where nothing can be fetched.
		root = filepath.Join(parent, name)
		fetched := filepath.Join(parent, ".new") // as no repository is called
		err := os.RemoveAll(fetched)
		if err == nil {
			err = git.Clone(ctx, o.repository, fetched)
		}
		if err != nil {
			return "", "", nil, errors.Join(err, os.RemoveAll(fetched))
		}
		if err = os.RemoveAll(root); err == nil {
			err = os.Rename(fetched, root)
		}
		return root, name, func() error { return nil }, err
	}
	if parent, err = os.MkdirTemp("", "quarry-report-"); err != nil {
		return "", "", nil, err
	}
	remove = func() error { return os.RemoveAll(parent) }
	a.StateDir = filepath.Join(parent, "state")
	root = filepath.Join(parent, name)
	if err := git.Clone(ctx, o.repository, root); err != nil {
		return "", "", nil, errors.Join(err, remove())
	}
	return root, name, remove, nil
}

// fileName is a name as a file may have it.
func fileName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	if clean = strings.Trim(clean, ".-"); clean == "" {
		return "repository"
	}
	return clean[:min(len(clean), 60)]
}
