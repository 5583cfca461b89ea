package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"quarry/lsp/settings"
)

// The exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// errUsage marks an error in how the command was called; errSilent one that the
// command has already reported.
var (
	errUsage  = errors.New("usage")
	errSilent = errors.New("reported")
)

// app is what all commands share: the streams and the common flags.
type app struct {
	stdin io.Reader
	// stdout and stderr are for people.
	stdout, stderr *terminal
	// protocol is standard output for what another program reads byte by byte.
	protocol io.Writer

	workspace string
	stateDir  string
	ollama    string
	model     string
	embedding string // model
	logLevel  string
	json      bool

	level   slog.LevelVar
	log     *slog.Logger
	started bool // a command's own code runs
}

// run is main without the process: it answers the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stderr: &terminal{w: stderr}, protocol: stdout}
	a.stdout = &terminal{w: stdout, json: &a.json}
	a.log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: &a.level}))
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errSilent):
		return exitFailed
	case errors.Is(err, errUsage) || !a.started: // cobra's errors before that are about flags and arguments
		fmt.Fprintf(a.stderr, "quarry: %v\nRun `quarry help` for what there is.\n", strings.TrimPrefix(err.Error(), "usage: "))
		return exitUsage
	}
	fmt.Fprintf(a.stderr, "quarry: %v\n", err)
	return exitFailed
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "quarry",
		Short: "A local, private coding assistant: one language server, no code leaves your machine",
		Long: `quarry completes code in your editor, explains and fixes what is reported about
it, and answers questions, with a small model on your own machine. It searches
and completes without one too, and changes no file without asking.

The five commands to know first:
  quarry doctor         find out what is missing, and how to get it
  quarry demo           see ghost text in this terminal, no editor needed
  quarry search WORDS   find code by what it does, with no model at all
  quarry ask QUESTION   answer a question about the repository, with places
  quarry lsp            the language server that editors start`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.NoArgs,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			a.started = true
			return a.setLogLevel(a.logLevel)
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	flags := root.PersistentFlags()
	flags.StringVar(&a.workspace, "workspace", "", "workspace `DIR` (default: the repository around the current folder)")
	flags.StringVar(&a.stateDir, "state-dir", "", "`DIR` for indexes (default: QUARRY_STATE_DIR, else the platform's folder for state)")
	flags.StringVar(&a.ollama, "ollama", "", "`URL` of Ollama (default: OLLAMA_HOST, else http://127.0.0.1:11434)")
	flags.StringVar(&a.model, "model", "", "Ollama `MODEL` that completes code (default: granite4:micro)")
	flags.StringVar(&a.embedding, "embedding-model", "", "Ollama `MODEL` that embeds code (default: granite-embedding:30m)")
	flags.StringVar(&a.logLevel, "log-level", "", "least severe `LEVEL` logged: debug, info, warn, error (default: info for the server, else warn)")
	flags.BoolVar(&a.json, "json", false, "print one JSON document")

	lsp := a.lspCommand()
	root.RunE = lsp.RunE // quarry alone is quarry lsp, which is how editors often start it
	root.Flags().AddFlagSet(lsp.Flags())
	root.AddCommand(lsp, a.completeCommand(), a.searchCommand(), a.askCommand(), a.explainCommand(), a.mcpCommand(), a.indexCommand(), a.statusCommand(), a.demoCommand(), a.doctorCommand(), a.evalCommand(), a.versionCommand())
	return root
}

func (a *app) setLogLevel(name string) error {
	if name == "" {
		a.level.Set(slog.LevelWarn)
		return nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return fmt.Errorf("%w: --log-level %q is none of debug, info, warn, error", errUsage, name)
	}
	a.level.Set(level)
	return nil
}

// settings merges all layers; editor are those a client sent.
func (a *app) settings(editor ...[]byte) (settings.Settings, []settings.Problem) {
	s := settings.Default()
	problems := s.ApplyFile(settings.UserFilePath())
	for _, layer := range editor {
		problems = append(problems, s.Apply(settings.Editor, layer)...)
	}
	problems = append(problems, s.ApplyEnvironment(os.LookupEnv)...)
	if a.ollama != "" {
		s.Ollama.URL = a.ollama
	}
	if a.model != "" {
		s.Model = a.model
	}
	if a.embedding != "" {
		s.Embedding.Model = a.embedding
	}
	if a.logLevel != "" {
		s.LogLevel = a.logLevel
	}
	return s, problems
}

// commandSettings are the settings of a command without an editor, its problems
// already printed.
func (a *app) commandSettings() settings.Settings {
	s, problems := a.settings()
	for _, p := range problems {
		fmt.Fprintf(a.stderr, "quarry: setting not taken: %s\n", p)
	}
	return s
}

// workspaceAround is the workspace folder: --workspace, else the repository around dir,
// else dir.
func (a *app) workspaceAround(dir string) (string, error) {
	if a.workspace != "" {
		info, err := os.Stat(a.workspace)
		if err != nil {
			return "", fmt.Errorf("--workspace %s cannot be opened (%w); name the folder of your code", a.workspace, err)
		}
		if !info.IsDir() {
			return "", fmt.Errorf("--workspace: %s is not a folder", a.workspace)
		}
		return filepath.Abs(a.workspace)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
	}
}

// workspaceOf is the workspace folder for a command about one file, which must be
// there. For a file in no repository it is the current folder: nobody who asks about
// /tmp/x.go wants all of /tmp read.
func (a *app) workspaceOf(file string) (string, error) {
	if _, err := os.Stat(file); err != nil {
		return "", err
	}
	root, err := a.workspaceAround(filepath.Dir(file))
	if err != nil || a.workspace != "" {
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
	if rel, err := filepath.Rel(here, path); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%w: %s is in no repository; say with --workspace DIR what may be read around it", errUsage, file)
	}
	return here, nil
}

// onTerminal reports whether t is a terminal that wants colour.
func onTerminal(t *terminal) bool {
	f, ok := t.w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
