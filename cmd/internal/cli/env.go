package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/engines"
	"quarry/index"
	"quarry/index/addresses"
	"quarry/lsp/settings"
	"quarry/retrieval/workspace"
)

// The exit codes of every command.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	// ExitStopped is a shell's code of what Ctrl-C ended.
	ExitStopped = 130
)

// ErrUsage marks an error in how the command was called; ErrSilent one that the
// command has already reported.
var (
	ErrUsage  = errors.New("usage")
	ErrSilent = errors.New("reported")
)

// Env is what all commands share: the streams and the common flags.
type Env struct {
	Stdin io.Reader
	// Stdout and Stderr are for people.
	Stdout, Stderr *Terminal
	// Protocol is standard output for what another program reads byte by byte.
	Protocol io.Writer

	Workspace string // folder
	StateDir  string
	LogLevel  string
	JSON      bool // print one JSON document
	file      settings.LastFile
	// Wait is how long a command that asks once waits for the index to be as the files
	// are, before a part of it answers.
	Wait time.Duration
	Log  *slog.Logger

	ollama    string // address
	model     string
	embedding string // model

	// Ending is called when a server was told to end, with the exit code it will have.
	// The process ends soon after that, whatever is still at work; in tests it waits for
	// all of it.
	Ending func(code int)
	ends   atomic.Pointer[int] // the exit code of a server that is told to end, nil for a command
	said   sync.Map            // what was said once

	held    []byte // the JSON document, which is printed at the end
	behind  []func()
	level   slog.LevelVar
	lacked  atomic.Pointer[workspace.Missing]
	started bool  // a command's own code runs
	unknown error // help was asked for of a command that does not exist
}

// Run is main without the process: it runs the commands that root makes with args and
// returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, root func(*Env) *cobra.Command) int {
	addresses.Save()
	e := &Env{Stdin: stdin, Protocol: stdout, Wait: DefaultWait}
	e.Stdout, e.Stderr = &Terminal{w: stdout, json: &e.JSON}, &Terminal{w: stderr}
	e.LogTo(e.Stderr)
	cmd := root(e)
	e.share(cmd)
	cmd.SetArgs(args)
	defer context.AfterFunc(ctx, e.stop)()
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		err = e.unknown
	}
	code := ExitOK
	if err != nil {
		code = e.fail(cmd, args, err)
	}
	if err := e.flush(); err != nil {
		fmt.Fprintf(e.Stderr, "%s: %v\n", cmd.Name(), err)
		code = max(code, ExitFailed)
	}
	for _, work := range e.behind {
		work()
	}
	return code
}

// stop ends a process that was told to end and does not.
func (e *Env) stop() {
	if e.Ending == nil {
		return
	}
	code := ExitStopped
	if served := e.ends.Load(); served != nil {
		code = *served
	}
	e.Ending(code)
}

// Serves says that this process is a server, and the exit code it has when it is told to end.
func (e *Env) Serves(code int) { e.ends.Store(&code) }

// share gives root the common flags and streams.
func (e *Env) share(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions = cobra.CompletionOptions{HiddenDefaultCmd: true}
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		e.started = true
		return e.SetLogLevel(e.LogLevel)
	}
	e.refuseUnknown(root)
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	flags := root.PersistentFlags()
	flags.StringVar(&e.Workspace, "workspace", "", "workspace `DIR` (default: the repository around the current folder)")
	flags.StringVar(&e.StateDir, "state-dir", "", "`DIR` for indexes (default: QUARRY_STATE_DIR, else the platform's folder for state)")
	flags.StringVar(&e.ollama, "ollama", "", "`URL` of Ollama (default: OLLAMA_HOST, else http://127.0.0.1:11434)")
	flags.StringVar(&e.model, "model", "", "Ollama `MODEL` that completes code (default: granite4.1:3b)")
	flags.StringVar(&e.embedding, "embedding-model", "", "Ollama `MODEL` that embeds code (default: granite-embedding:30m)")
	flags.StringVar(&e.LogLevel, "log-level", "", "least severe `LEVEL` logged: debug, info, warn, error (default: info for the server, else warn)")
	flags.BoolVar(&e.JSON, "json", false, "print one JSON document")
	CompleteFlag(root, "log-level", func() []string { return []string{"debug", "info", "warn", "error"} })
}

// CompleteFlag has shells complete the values of a command's flag, which are no files.
func CompleteFlag(cmd *cobra.Command, flag string, values func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// DefaultWait is Wait unless the user says otherwise.
const DefaultWait = 5 * time.Second

// WaitFlag gives a command that asks once the flag that sets Wait.
func (e *Env) WaitFlag(cmd *cobra.Command) {
	e.Wait = DefaultWait
	cmd.Flags().Var((*wait)(&e.Wait), "wait", "how long to wait for the index, `TIME` as in 30s or 5m; then a part of it answers")
}

// wait is a flag's time, which is not negative.
type wait time.Duration

func (w *wait) String() string { return time.Duration(*w).String() }
func (w *wait) Type() string   { return "duration" }

func (w *wait) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	if d < 0 {
		return errors.New("it is negative; 0s does not wait")
	}
	*w = wait(d)
	return nil
}

// WaitLimit is Wait as what waits has it: 0 is their default there.
func (e *Env) WaitLimit() time.Duration { return max(e.Wait, 1) }

// Incomplete says what an answer could not look at.
func (e *Env) Incomplete(m *workspace.Missing) {
	if m.Reason != "" {
		fmt.Fprintf(e.Stderr, "quarry: incomplete: %s\n", m)
		return
	}
	fmt.Fprintf(e.Stderr, "quarry: incomplete: %s; `quarry index` reads the rest, --wait 5m waits for it\n", m)
}

// Lacks notes what the index lacked when a command began to answer, and says so unless the user
// was told already.
func (e *Env) Lacks(m *workspace.Missing) {
	e.lacked.Store(m)
	if m.Reason == "" {
		e.Incomplete(m)
	}
}

// Lacked is what Lacks noted last, nil if nothing.
func (e *Env) Lacked() *workspace.Missing { return e.lacked.Load() }

// LogTo writes the log to w from now on. What libraries write to Go's own log, such as net/http on
// what a server sends unasked, becomes lines of it that only the level debug shows.
func (e *Env) LogTo(w io.Writer) {
	e.Log = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: &e.level}))
	log.SetFlags(0)
	log.SetOutput(slog.NewLogLogger(e.Log.Handler(), slog.LevelDebug).Writer())
}

// SetLogLevel sets the least severe message logged; no name is a command's default.
func (e *Env) SetLogLevel(name string) error {
	if name == "" {
		e.level.Set(slog.LevelWarn)
		return nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return fmt.Errorf("%w: --log-level %q must be debug, info, warn or error", ErrUsage, name)
	}
	e.level.Set(level)
	return nil
}

// Settings merges all layers; editor are those a client sent.
func (e *Env) Settings(editor ...[]byte) (settings.Settings, []settings.Problem) {
	s, problems := settings.Merge(func(s *settings.Settings) []settings.Problem {
		problems := e.file.Apply(s, settings.UserFilePath())
		problems = append(problems, s.ApplyEditor(editor...)...)
		return append(problems, s.ApplyEnvironment(os.LookupEnv)...)
	})
	if e.ollama != "" {
		s.Ollama.URL = e.ollama
	}
	if e.model != "" {
		s.Model = e.model
	}
	if e.embedding != "" {
		s.Embedding.Model = e.embedding
	}
	if e.LogLevel != "" {
		s.LogLevel = e.LogLevel
	}
	return s, problems
}

// Scope is what the user's settings say of what is indexed.
func (e *Env) Scope() workspace.Scope {
	s, _ := e.Settings()
	return engines.Scope(s)
}

// Allowed are the wide folders that the user's settings allow to be indexed.
func (e *Env) Allowed() index.Allowed { return e.Scope().Allowed }

// CommandSettings are the settings of a command without an editor, its problems
// already printed.
func (e *Env) CommandSettings() settings.Settings {
	s, problems := e.Settings()
	for _, p := range problems {
		said := fmt.Sprintf("quarry: ignored setting: %s\n", p)
		if _, before := e.said.LoadOrStore(said, true); !before {
			fmt.Fprint(e.Stderr, said)
		}
	}
	return s
}

// WorkspaceAround is the workspace folder: --workspace, else the repository around dir,
// else dir. Whoever keeps their home folder in a repository works in a folder of it.
func (e *Env) WorkspaceAround(dir string) (string, error) {
	if e.Workspace != "" {
		info, err := os.Stat(e.Workspace)
		if err != nil {
			return "", fmt.Errorf("--workspace %s cannot be opened (%w); name the folder of your code", e.Workspace, err)
		}
		if !info.IsDir() {
			return "", fmt.Errorf("--workspace: %s is not a folder", e.Workspace)
		}
		return filepath.Abs(e.Workspace)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if around := e.repositoriesAround(dir); len(around) > 0 {
		return around[0], nil
	}
	return dir, nil
}

// repositoriesAround are the repositories around a folder whose path is absolute, the innermost first.
func (e *Env) repositoriesAround(dir string) (list []string) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil && (at == dir || e.Allowed().Refuses(at) == nil) {
			list = append(list, at)
		}
		if at == filepath.Dir(at) {
			return list
		}
	}
}

// WorkspaceOf is the workspace folder for a command about one file, which must be
// there. For a file in no repository it is the current folder: nobody who asks about
// /tmp/x.go wants all of /tmp read.
func (e *Env) WorkspaceOf(file string) (string, error) {
	if _, err := os.Stat(file); err != nil {
		return "", err
	}
	root, err := e.WorkspaceAround(filepath.Dir(file))
	if err != nil || e.Workspace != "" {
		return root, err
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
		return root, nil
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	if !holds(here, path) {
		return "", fmt.Errorf("%w: %s is not inside a repository; pass --workspace DIR to say which folder quarry may read", ErrUsage, file)
	}
	return here, nil
}

// OnTerminal reports whether t is a terminal that wants colour.
func OnTerminal(t *Terminal) bool {
	f, ok := t.w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return escapes(f)
}

// Columns is how many characters a line of the terminal behind t has, 0 where there is none.
func Columns(t *Terminal) int {
	if f, ok := t.w.(*os.File); ok {
		return columns(f)
	}
	return 0
}
