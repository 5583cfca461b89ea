package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"quarry/agent"
	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/index"
	"quarry/lsp"
	"quarry/lsp/service"
	"quarry/lsp/service/client"
	"quarry/lsp/settings"
)

func (a *app) serveCommand() *cobra.Command {
	var status bool
	var websocket string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve search to agents, commands and paired devices from one process",
		Long: `Serve search of all your repositories from one process, over a Unix socket that only
you can use, to agents and programs without an editor (docs/service.md), until it is
told to end (Ctrl-C). quarry search asks it where it runs, and answers the same as
without it.

A repository is opened when somebody asks for it, kept current, and let go when nobody
has asked for a quarter of an hour. No file is changed, and no secret is read.

With --websocket, and only then, programs on other machines may search too: those that
you have paired, in the folders that you have named, over TLS.`,
		Example: `  quarry serve &
  quarry serve --status
  quarry serve --websocket 192.168.1.5:7417`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.Workspace != "" {
				return fmt.Errorf("%w: --workspace does not go with serve, whose clients say which folders they search", cli.ErrUsage)
			}
			if status {
				return userService{a}.status(cmd.Context())
			}
			return userService{a}.serve(cmd.Context(), websocket)
		},
	}
	cmd.Flags().StringVar(&websocket, "websocket", "", "let paired devices in at an `address` of this machine, host:port")
	cmd.AddCommand(a.deviceCommands()...)
	cmd.Flags().BoolVar(&status, "status", false, "say whether one runs, and what it serves")
	return cmd
}

// userService is the quarry serve of the user, which is this process or another.
type userService struct{ *app }

// socket is the path of the socket by the settings.
func (a userService) socket(s settings.Settings) (string, error) {
	if s.Service.Socket != "" {
		if !filepath.IsAbs(s.Service.Socket) {
			return "", fmt.Errorf("service.socket is %q: set it to an absolute path", s.Service.Socket)
		}
		return s.Service.Socket, nil
	}
	state, err := a.stateFolder()
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(state, "serve", "socket"))
}

// thisBuild is equal for two processes of one binary: two of one version may be of different
// code. A binary that is replaced while a service runs is another.
var thisBuild = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d bytes of %d", info.Size(), info.ModTime().UnixNano())
})

// digest is equal for two processes of one build that answer searches by the same settings and the
// same indexes.
func (a userService) digest(s settings.Settings) string {
	state, err := a.stateFolder()
	if err == nil {
		state, err = filepath.Abs(state)
	}
	if err != nil {
		state = ""
	}
	raw, err := json.Marshal([]any{thisBuild(), state, s.Index, s.Embedding, s.Ollama, s.Reranker})
	if err != nil {
		panic(err) // plain values always encode
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// serve serves until ctx ends; websocket is where devices may connect, "" for nowhere.
func (a userService) serve(ctx context.Context, websocket string) error {
	s := a.CommandSettings()
	path, err := a.socket(s)
	if err != nil {
		return err
	}
	if _, port, err := net.SplitHostPort(websocket); websocket != "" && (err != nil || port == "") {
		return fmt.Errorf("%w: --websocket %q is no address: host:port, such as 192.168.1.5:7417", cli.ErrUsage, websocket)
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	socket, err := service.Listen(ctx, path)
	if errors.Is(err, service.ErrRuns) && websocket != "" {
		return fmt.Errorf("a quarry serve runs already, process %s: end it, and start this one again", service.Owner(path))
	}
	if errors.Is(err, service.ErrRuns) {
		return a.runsAlready(ctx, path)
	}
	if err != nil {
		return fmt.Errorf("quarry serve: %w", err)
	}
	var remote *service.Remote
	if websocket != "" {
		if remote, err = service.ListenRemote(ctx, websocket, store); err != nil {
			return errors.Join(fmt.Errorf("quarry serve: %w", err), socket.Close())
		}
	}
	index.Responsive()
	if a.LogLevel == "" {
		if err := a.SetLogLevel(s.LogLevel); err != nil {
			return errors.Join(err, socket.Close())
		}
	}
	pipe := newLogPipe(a.Stderr)
	defer pipe.Close()
	a.LogTo(pipe)
	a.Serves(cli.ExitOK)
	fmt.Fprintf(pipe, "quarry: serving at %s; Ctrl-C ends it\n", path)
	if remote != nil {
		fmt.Fprintf(pipe, "quarry: devices connect at %s; `quarry serve pair NAME` lets one in\n", strings.Join(remote.Addresses(), ", "))
	}
	err = service.Serve(ctx, socket, service.Options{
		Version: cli.Version(), Log: a.Log,
		Open: func(folders []string, progress func(client.Progress)) (service.Project, error) {
			return a.project(folders, progress), nil
		},
		Settings: func() string {
			now, _ := a.Settings()
			return a.digest(now)
		},
		Ended:   func() { a.Ending(cli.ExitOK) },
		Devices: store, Remote: remote,
	})
	return errors.Join(err, socket.Close())
}

// project is the engines of some folders, as a service asks them.
func (a userService) project(folders []string, progress func(client.Progress)) serviceProject {
	s, _ := a.Settings()
	return serviceProject{a.Engines(lsp.Start{
		Settings: s,
		Roots:    folders,
		Watch:    true, // no editor tells of changes
		Notify: func(_ lsp.Severity, _, message string) { // answers say what they lack
			a.Log.Info(message, "folders", folders)
		},
		Job:     func(title string, _ func()) lsp.Job { return service.NewJob(title, progress) },
		Staging: agent.NewStaging(func() string { return strings.Join(folders, "\n") }, time.Now),
	}, engines.Options{Level: a.SetLogLevel}), a.app}
}

type serviceProject struct {
	*engines.Core
	app *app
}

// AgentTools implements service.Project.
func (p serviceProject) AgentTools() service.Tools { return p.Tools().ForAgent() }

// Configure implements service.Project.
func (p serviceProject) Configure() error {
	s, _ := p.app.Settings()
	return p.Core.Configure(s)
}

// runningWithin is how long a service has for saying what it is to a user who wants to know.
const runningWithin = 5 * time.Second

// runsAlready says which quarry serve has the socket. It fails if that one is of no use to this
// quarry.
func (a userService) runsAlready(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, runningWithin)
	defer cancel()
	conn, err := client.Dial(ctx, socket, client.Options{Hello: client.Hello{Client: "quarry serve"}})
	if err != nil {
		return fmt.Errorf("quarry serve runs already and does not answer as it should: end its process, %s, and start this one again (%w)", service.Owner(socket), err)
	}
	w := conn.Welcome
	_ = conn.Close()
	if w.Version != cli.Version() {
		return fmt.Errorf("quarry serve of another version (%s) runs already: end its process, %d, and start this one again", w.Version, w.Process)
	}
	fmt.Fprintf(a.Stderr, "quarry serve runs already: process %d at %s; `quarry serve --status` says what it serves\n", w.Process, socket)
	return nil
}

// serveOutput is the JSON of `quarry serve --status`.
type serveOutput struct {
	Running bool   `json:"running"`
	Socket  string `json:"socket"`
	// Service is what it says of itself, absent if none runs.
	Service *client.Status `json:"service,omitempty"`
}

func (a userService) status(ctx context.Context) error {
	path, err := a.socket(a.CommandSettings())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, runningWithin)
	defer cancel()
	out := serveOutput{Socket: path}
	conn, err := client.Dial(ctx, path, client.Options{Hello: client.Hello{Client: "quarry serve --status"}})
	var st client.Status
	if err == nil {
		st, err = conn.Status(ctx)
		out.Running, out.Service = true, &st
		_ = conn.Close()
	}
	if err != nil && !errors.Is(err, client.ErrNotRunning) {
		return fmt.Errorf("quarry serve at %s does not say what it serves: %w", path, err)
	}
	switch {
	case a.JSON:
		return a.PrintJSON(out)
	case !out.Running:
		fmt.Fprintf(a.Stdout, "No quarry serve runs. `quarry serve` starts one, at %s.\n", path)
		return nil
	}
	list := func(names []string) string {
		if len(names) == 0 {
			return "none"
		}
		return strings.Join(names, ", ")
	}
	fmt.Fprintf(a.Stdout, "quarry serve runs: process %d, version %s, protocol %d, since %s\n", st.Process, st.Version, st.Protocol, st.Started.Local().Format(time.DateTime))
	fmt.Fprintf(a.Stdout, "socket            %s\n", inLine(st.Socket))
	if len(st.Addresses) > 0 {
		fmt.Fprintf(a.Stdout, "devices connect   %s\n", strings.Join(st.Addresses, ", "))
	}
	fmt.Fprintf(a.Stdout, "requests answered %s\n", grouped(st.Answered))
	fmt.Fprintf(a.Stdout, "folders open      %s\n", inLine(list(st.Open)))
	for _, c := range st.Clients {
		fmt.Fprintf(a.Stdout, "client            %s: %s\n", inLine(c.Client), inLine(list(c.Roots)))
	}
	return nil
}
