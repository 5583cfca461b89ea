package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"quarry/agent"
	"quarry/agent/eval"
	"quarry/agent/mcp"
	"quarry/cmd/internal/cli"
	kept "quarry/diagnostics/eval"
	"quarry/diagnostics/patch"
	"quarry/retrieval/overview"
	"quarry/retrieval/workspace"
)

func (a *app) agentsCommand() *cobra.Command {
	var f struct {
		eval.Options
		tasks, answers string
		steps, replay  bool
	}
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "What an agent needs for its tasks with ripgrep and with quarry's tools",
		Long: `agents works on tasks (find, explain, fix, what a change touches, rename) in two ways,
each by a script: with ripgrep and reading, and with the tools of the MCP server and
their default arguments, without a model. It counts the calls and the tokens of the
answers until the right place stands in them, or all places that have to change. A
token is taken to be 3 bytes, and after 6,000 tokens a script gives up.

With --answers the model of the settings works on the tasks that want one place, too,
with the tools of either, and what its tools answer is counted in the same way.

Half of the repositories are held back: nothing is tuned on them.
testdata/holes/fetch.sh fetches the trees.`,
		Example: `  testdata/holes/fetch.sh /tmp/holes
  quarry-eval agents --corpus /tmp/holes
  quarry-eval agents --corpus /tmp/holes --half fit --steps
  quarry-eval agents --corpus /tmp/holes --json > agents.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Half != "" && f.Half != "fit" && f.Half != "held" {
				return fmt.Errorf("%w: --half %q is neither fit nor held", cli.ErrUsage, f.Half)
			}
			set, err := eval.Read(f.tasks)
			if err != nil {
				return err
			}
			f.Serve = a.serveTools
			f.Done = func(task string) { fmt.Fprintln(a.Stderr, task) }
			var missing func() int
			if f.answers != "" {
				var end func()
				if missing, end, err = a.agentModel(&f.Options, f.answers, f.replay); err != nil {
					return err
				}
				defer end()
			}
			report, err := set.Run(cmd.Context(), f.Options)
			if err != nil {
				return err
			}
			if missing != nil && missing() > 0 { // a server that failed gave none; those of another model lack all
				fmt.Fprintf(a.Stderr, "%d answers are not in %s: QUARRY_MODEL names the model that they are of\n", missing(), f.answers)
			}
			if a.JSON {
				return a.PrintLine(report)
			}
			err = report.Write(a.Stdout)
			if f.steps {
				err = errors.Join(err, report.WriteSteps(a.Stdout))
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tasks, "tasks", "testdata/agents/tasks.json", "a `FILE` with repositories and tasks")
	flags.StringVar(&f.Corpus, "corpus", "", "`DIR` with one tree a repository, by name")
	flags.StringVar(&f.Half, "half", "", "which repositories: fit or held; both if left out")
	flags.StringSliceVar(&f.Only, "only", nil, "only these repositories")
	flags.StringVar(&f.answers, "answers", "", "have the model of the settings work on the tasks that want one place, and keep what it says in a `FILE`")
	flags.BoolVar(&f.replay, "replay", false, "ask no model: only what --answers has")
	flags.BoolVar(&f.steps, "steps", false, "list the calls of each task of the fit half")
	return required(cmd, "corpus")
}

// agentModel has the model of the settings work on the tasks, with its answers kept in a file; missing
// is how many of them were wanted and not there.
func (a *app) agentModel(opt *eval.Options, file string, replay bool) (missing func() int, end func(), err error) {
	answers, err := kept.OpenAnswers(file, a.CommandSettings().Model)
	if err != nil {
		return nil, nil, err
	}
	if replay {
		opt.Chat = answers.Of(nil)
		return answers.Missing, func() { _ = answers.Close() }, nil
	}
	scratch, err := os.MkdirTemp("", "quarry-agents")
	if err != nil {
		return nil, nil, err
	}
	a.StateDir, a.Wait = filepath.Join(scratch, "state"), slow
	core := a.Core(scratch)
	opt.Chat = answers.Of(core)
	return answers.Missing, func() {
		if err := errors.Join(core.Close(), answers.Close(), os.RemoveAll(scratch)); err != nil {
			a.Log.Error("end the model", "error", err)
		}
	}, nil
}

// serveTools makes the tools that quarry mcp serves, over a folder whose index is whole, with
// no model.
func (a *app) serveTools(ctx context.Context, dir, state string) (mcp.Options, error) {
	w := workspace.New(workspace.Options{StateDir: state, Project: overview.Answer, WaitLimit: time.Hour})
	w.SetRoots([]string{dir})
	if err := w.CatchUp(ctx); err != nil {
		w.Close()
		return mcp.Options{}, err
	}
	staging := agent.NewStaging(func() string { return dir }, time.Now)
	tools := agent.NewToolbox(agent.Parts{Workspace: w, Patcher: patch.New(w), Staging: staging})
	opened := opened{tools.ForAgent(), w}
	return mcp.Options{
		Version: cli.Version(), Definitions: tools.AllDefinitions(), Folders: []string{dir}, Pinned: true,
		Open: func([]string) (mcp.Project, error) { return opened, nil },
	}, nil
}

// opened is a project that is closed with its workspace.
type opened struct {
	*agent.Toolbox
	workspace *workspace.Workspace
}

// Close implements mcp.Project.
func (o opened) Close() error {
	o.workspace.Close()
	return nil
}
