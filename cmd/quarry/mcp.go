package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"quarry/agent"
	"quarry/agent/mcp"
	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/lsp"
	"quarry/lsp/service/client"
)

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to an agent over the Model Context Protocol",
		Long: `Serve search, symbols and files of the workspace to an agent over the Model Context
Protocol, on standard input and output.

Where quarry serve runs, it is asked, so that agents share one index; else, and when it
ends, this process has its own.

One server serves any number of repositories: the folders that the agent says it works
in, else the repository around the current folder, and any other that a call names by
its argument repository. With --workspace it serves that folder alone.

Nothing is changed: a tool that changes files answers a checked diff. Secrets and what
.quarryignore leaves out are not read.`,
		Example: `  quarry mcp --workspace ~/src/project`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd.Context()) },
	}
}

func (a *app) mcp(ctx context.Context) (err error) {
	here, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	settings := a.CommandSettings()
	open := func(folders []string) (mcp.Project, error) {
		core := a.Engines(lsp.Start{
			Settings: settings,
			Roots:    folders,
			Watch:    true, // no editor tells of changes
			Notify:   func(_ lsp.Severity, _, message string) { fmt.Fprintln(a.Stderr, "quarry:", message) },
			Job:      func(string, func()) lsp.Job { return silentJob{} },
			Staging:  agent.NewStaging(func() string { return strings.Join(folders, "\n") }, time.Now),
		}, engines.Options{Level: a.SetLogLevel})
		return served{core.Tools().ForAgent(), core}, nil
	}
	shared := func(folders []string) (mcp.Project, error) {
		conn := userService{a}.agent(ctx, folders, settings)
		if conn == nil {
			return open(folders)
		}
		return &sharedProject{conn: conn, open: func() (mcp.Project, error) { return open(folders) }, log: a.Log}, nil
	}
	a.Serves(cli.ExitFailed)
	err = mcp.Serve(ctx, mcp.Options{
		Version: cli.Version(), Definitions: agent.NewToolbox(agent.Parts{}).AllDefinitions(),
		Folders: []string{here}, Pinned: a.Workspace != "", Open: shared, Around: repositoryAround,
		Ended: func() { a.Ending(cli.ExitOK) }, Log: a.Log,
	}, a.Stdin, a.Protocol)
	if ctx.Err() != nil {
		return nil // asked to end
	}
	return err
}

// served is one project.
type served struct {
	*agent.Toolbox
	core *engines.Core
}

// Close implements mcp.Project.
func (s served) Close() error { return s.core.Close() }

// sharedProject is one project by the user's quarry serve, so that the agents of a repository
// share its index. When that one ends or fails, the project is opened here.
type sharedProject struct {
	conn *client.Conn
	open func() (mcp.Project, error)
	log  *slog.Logger

	mu  sync.Mutex
	own mcp.Project // nil as long as the service answers; guarded by mu
}

// Call implements mcp.Tools.
func (s *sharedProject) Call(ctx context.Context, name string, args json.RawMessage) agent.Envelope {
	s.mu.Lock()
	own := s.own
	s.mu.Unlock()
	if own == nil {
		e, err := s.ask(ctx, client.Tool{Name: name, Arguments: args})
		if err == nil {
			return e
		}
		if ctx.Err() != nil {
			return agent.Refused(agent.InternalError, ctx.Err())
		}
		s.log.Info("going on without quarry serve", "error", err)
		if own, err = s.leave(); err != nil {
			return agent.Refused(agent.InternalError, err)
		}
	}
	return own.Call(ctx, name, args)
}

// errSilent says that a service took a call and is not to be heard of any more.
var errSilent = errors.New("quarry serve does not answer")

// ask has the service do a call. It fails with errSilent where that one answers nothing meanwhile.
func (s *sharedProject) ask(ctx context.Context, tool client.Tool) (e agent.Envelope, err error) {
	within, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		again := time.NewTicker(aliveEvery)
		defer again.Stop()
		for {
			select {
			case <-within.Done():
				return
			case <-again.C:
			}
			soon, end := context.WithTimeout(within, aliveWithin)
			_, _ = s.conn.Status(soon) // a refusal is an answer
			if soon.Err() != nil && within.Err() == nil {
				cancel(errSilent)
			}
			end()
		}
	}()
	err = s.conn.Call(within, client.MethodTool, tool, &e)
	if errors.Is(context.Cause(within), errSilent) {
		err = errSilent
	}
	cancel(nil)
	<-watched
	return e, err
}

// leave opens the project here, once.
func (s *sharedProject) leave() (mcp.Project, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil {
		return s.own, nil
	}
	own, err := s.open()
	if err == nil {
		s.own = own
	}
	return own, err
}

// Close implements mcp.Project.
func (s *sharedProject) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.Close() // the service may have gone
	if s.own != nil {
		return s.own.Close()
	}
	return nil
}

// repositoryAround is the repository that a path lies in. An agent may name any on this
// machine, but no other folder: it works in repositories.
func repositoryAround(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || strings.HasPrefix(rest, "/")) {
		if home, err := os.UserHomeDir(); err == nil {
			path = home + rest
		}
	}
	if strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//") { // asking Windows for it would tell that machine who the user is
		return "", fmt.Errorf("%q is on another machine; give the path of a repository on this one", path)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("no repository called %q is open; give the whole path of its folder", path)
	}
	path = filepath.Clean(path)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not there; give the path of a repository", path)
	}
	for at := path; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is in no repository; give the path of one", path)
		}
	}
}

// silentJob shows nothing: there is no place for progress.
type silentJob struct{}

// Report implements lsp.Job.
func (silentJob) Report(float64, string) {}

// End implements lsp.Job.
func (silentJob) End(string) {}
