package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/setup"
	"quarry/index"
)

// setupOptions are the flags of quarry setup.
type setupOptions struct {
	yes, notes, undo, print bool
}

func (a *app) setupCommand() *cobra.Command {
	var opt setupOptions
	cmd := &cobra.Command{
		Use:   "setup [model|EDITOR|AGENT]",
		Short: "Set up the models, or quarry in an editor or an agent",
		Long: `Set up quarry in an editor or an agent: show what would be written into which
file, ask, and write it. What was in the file before is kept in a file beside it. Without
an argument, list the programs that are there.

setup model looks at this machine's memory and processors and at what Ollama has, says
which models suit it and why, and with one yes fetches them, tries them and writes them
into your settings.

The rest of a file stays as it is, comments and order included, and a file that cannot be
read as what it is meant to be is left alone. --undo takes out what setup has written.`,
		Example: `  quarry setup
  quarry setup model
  quarry setup nvim
  quarry setup claude --undo`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "model" {
				return modelCommands{a}.setupModel(cmd.Context(), opt)
			}
			return a.setup(args, opt)
		},
		ValidArgs: []string{"model\tthe models that suit this machine"},
	}
	for _, t := range setup.Targets {
		cmd.ValidArgs = append(cmd.ValidArgs, t.Name+"\t"+t.Title)
	}
	cmd.Flags().BoolVar(&opt.yes, "yes", false, "write without asking")
	cmd.Flags().BoolVar(&opt.notes, "notes", false, "with --yes, also tell the agent about quarry in AGENTS.md or CLAUDE.md of this repository")
	cmd.Flags().BoolVar(&opt.undo, "undo", false, "take out what setup has written")
	cmd.Flags().BoolVar(&opt.print, "print", false, "print what would be changed, and write nothing")
	cmd.MarkFlagsMutuallyExclusive("print", "yes")
	return cmd
}

// setupRun is one run of the command for one target.
type setupRun struct {
	*app
	setupOptions
	setup.Setup
	target setup.Target
	in     *bufio.Reader // answers
}

// setupOn is a run on this machine, of no target yet.
func (a *app) setupOn(opt setupOptions) (r setupRun, err error) {
	r = setupRun{app: a, setupOptions: opt, in: a.answers()}
	if r.Machine, err = setup.ThisMachine(); err != nil {
		return r, err
	}
	if r.Setup.StateDir = a.StateDir; a.StateDir == "" {
		r.Setup.StateDir, err = index.DefaultStateDir()
	}
	return r, err
}

func (a *app) setup(args []string, opt setupOptions) error {
	r, err := a.setupOn(opt)
	if err != nil {
		return err
	}
	around, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(around, ".git")); err == nil {
		r.Repository = around
	}
	if len(args) == 0 {
		return r.list()
	}
	var ok bool
	if r.target, ok = setup.Find(args[0]); !ok {
		names := []string{"model"}
		for _, t := range setup.Targets {
			names = append(names, t.Name)
		}
		return fmt.Errorf("%w: setup knows no %q; it knows %s", cli.ErrUsage, args[0], strings.Join(names, ", "))
	}
	switch {
	case opt.undo:
		return r.takeBack()
	case opt.notes && r.target.Notes == "":
		return fmt.Errorf("%w: --notes: %s has no agent to tell", cli.ErrUsage, r.target.Title)
	case opt.notes && r.Repository == "":
		return fmt.Errorf("%w: --notes: there is no repository here; run this in one", cli.ErrUsage)
	}
	return r.setUp()
}

// The states of a target that is there; another one says why it cannot be set up.
const (
	setUpAlready = "set up"
	setUpOnce    = "to be renewed" // an older quarry, or one at another place, set it up
	notSetUp     = "not set up"
)

// setupState is how a target is.
type setupState struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Found string   `json:"found,omitempty"` // by which program or folder
	State string   `json:"state"`           // "set up", "to be renewed", "not set up", or why it cannot be
	Gets  string   `json:"gets"`
	Files []string `json:"files,omitempty"` // that would be changed
}

// setupListOutput is the JSON of `quarry setup` without a target.
type setupListOutput struct {
	Targets []setupState `json:"targets"`
}

// states are those of all targets.
func (r *setupRun) states() []setupState {
	var states []setupState
	for _, t := range setup.Targets {
		by, found := t.Found(r.Machine)
		s := setupState{Name: t.Name, Title: t.Title, Found: by, Gets: t.Gets, State: "not found"}
		if found {
			s.State = notSetUp
			plan, err := t.Plan(r.Machine)
			var changes []setup.Change
			if err == nil {
				changes, err = r.Changes(t.Name, plan)
			}
			var before bool
			if err == nil {
				before, err = r.Recorded(t.Name)
			}
			switch {
			case err != nil:
				s.State = err.Error()
			case len(changes)+len(plan.Commands) == 0:
				s.State = setUpAlready
			case before:
				s.State = setUpOnce
			}
			for _, c := range changes {
				if !c.Own() {
					s.Files = append(s.Files, c.Path)
				}
			}
		}
		states = append(states, s)
	}
	return states
}

func (r *setupRun) list() error {
	states := r.states()
	if r.JSON {
		return r.PrintJSON(setupListOutput{states})
	}
	look := screen{colour: cli.OnTerminal(r.Stdout)}
	for _, s := range states {
		name := fmt.Sprintf("%-9s", s.Name)
		if s.Found != "" {
			name = look.style(cli.Bold, name)
		}
		state, why := s.State, ""
		if s.Found != "" && state != setUpAlready && state != setUpOnce && state != notSetUp {
			state, why = "cannot be", state
		}
		fmt.Fprintf(r.Stdout, "%s %-13s %s\n", name, state, s.Title+": "+s.Gets)
		if why != "" {
			fmt.Fprintf(r.Stdout, "%23s %s\n", "", strings.ReplaceAll(why, "\n", fmt.Sprintf("\n%24s", "")))
		}
		for _, file := range s.Files {
			fmt.Fprintf(r.Stdout, "%23s would change %s\n", "", file)
		}
	}
	fmt.Fprintln(r.Stdout, "\n`quarry setup NAME` shows the change and asks before it writes; `quarry setup model` sets up models.")
	return nil
}

// setupAnswer is what --json prints of a run.
type setupAnswer struct {
	Target   string        `json:"target"`
	Written  bool          `json:"written"`
	Changes  []setupChange `json:"changes"`
	Commands []string      `json:"commands,omitempty"`
	Backups  []string      `json:"backups,omitempty"`
	Next     []string      `json:"next,omitempty"`
}

type setupChange struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
	Note string `json:"note,omitempty"` // what no diff shows: the file's new mode
}

func (r *setupRun) setUp() error {
	plan, err := r.target.Plan(r.Machine)
	if err != nil {
		return err
	}
	changes, err := r.Changes(r.target.Name, plan)
	if err != nil {
		return err
	}
	commands := plan.Commands
	answer := setupAnswer{Target: r.target.Name, Next: plan.Next}
	if len(changes)+len(commands) == 0 && !r.JSON {
		fmt.Fprintf(r.Stdout, "quarry is set up in %s already.\n", r.target.Title)
	}
	if len(changes)+len(commands) > 0 {
		if ok, err := r.propose(&answer, changes, commands, "Write this?"); err != nil || !ok {
			return r.proposed(answer, err)
		}
		answer.Backups, err = r.Do(r.target.Name, changes)
		if err == nil {
			err = r.runAll(commands, "the files are written, run it by hand")
		}
		if err != nil {
			r.listBackups(answer.Backups)
			return err
		}
		r.showBackups(answer.Backups)
	}
	if err := r.tellAgent(&answer); err != nil {
		return err
	}
	return r.finish(answer)
}

// tellAgent offers the paragraph on quarry in the repository, which takes a yes of its own.
func (r *setupRun) tellAgent(answer *setupAnswer) error {
	if r.target.Notes == "" || r.Repository == "" || r.yes && !r.notes {
		return nil
	}
	changes, err := r.Changes(r.target.Name, r.target.NotesPlan(r.Machine))
	if err != nil || len(changes) == 0 {
		return err
	}
	if !r.JSON && !r.print {
		fmt.Fprintf(r.Stdout, "\n%s can be told about quarry in this repository, too:\n", r.target.Title)
	}
	if ok, err := r.propose(answer, changes, nil, "Write this into the repository?"); errors.Is(err, cli.ErrSilent) || err == nil && !ok {
		return nil // the rest is done
	} else if err != nil {
		return err
	}
	backups, err := r.Do(r.target.Name, changes)
	if err != nil {
		return err
	}
	answer.Backups = append(answer.Backups, backups...)
	r.showBackups(backups)
	return nil
}

func (r *setupRun) takeBack() error {
	changes, commands, err := r.Undone(r.target.Name)
	if err != nil {
		return err
	}
	answer := setupAnswer{Target: r.target.Name}
	if len(changes)+len(commands) == 0 {
		if !r.JSON {
			fmt.Fprintf(r.Stdout, "There is nothing to take back: `quarry setup %s` has written nothing.\n", r.target.Name)
			return nil
		}
		return r.PrintJSON(answer)
	}
	if ok, err := r.propose(&answer, changes, commands, "Take this back?"); err != nil || !ok {
		return r.proposed(answer, err)
	}
	if answer.Backups, err = r.Undo(r.target.Name, changes); err != nil {
		return err
	}
	err = r.runAll(commands, "run it by hand, or `quarry setup "+r.target.Name+" --undo` again")
	if err == nil {
		err = r.Forget(r.target.Name)
	}
	if err != nil {
		r.listBackups(answer.Backups)
		return err
	}
	r.showBackups(answer.Backups)
	return r.finish(answer)
}

// propose shows changes and answers whether to make them.
func (r *setupRun) propose(answer *setupAnswer, changes []setup.Change, commands []setup.Command, question string) (bool, error) {
	for _, c := range changes {
		answer.Changes = append(answer.Changes, setupChange{c.Path, c.Diff(), c.Note()})
	}
	for _, c := range commands {
		answer.Commands = append(answer.Commands, strings.Join(c.Do, " "))
	}
	if !r.JSON {
		r.show(changes, commands)
	}
	switch {
	case r.yes:
		return true, nil
	case r.JSON || r.print: // whoever asks prints the document, of which there is one
		return false, nil
	}
	if !isTerminal(r.Stdin) {
		return false, fmt.Errorf("%w: nothing was done, since there is no terminal to ask at; add --yes to go on without being asked", cli.ErrUsage)
	}
	ok, err := r.confirm(r.in, false, question)
	if err == nil && !ok {
		err = cli.ErrSilent
	}
	return ok, err
}

// proposed ends a run whose changes were shown and not made.
func (r *setupRun) proposed(answer setupAnswer, err error) error {
	if err != nil || !r.JSON {
		return err
	}
	return r.finish(answer)
}

// show prints changes: those of the user's files as diffs, and of quarry's own, unless all
// is to be printed, their names.
func (r *setupRun) show(changes []setup.Change, commands []setup.Command) {
	look := screen{colour: cli.OnTerminal(r.Stdout)}
	const short = 12 // lines of a file of quarry's own that is shown whole
	for _, c := range changes {
		if c.Own() && !r.print && bytes.Count(c.After, []byte("\n"))+bytes.Count(c.Before, []byte("\n")) > short {
			verb := "new file"
			if c.After == nil {
				verb = "remove"
			} else if c.Before != nil {
				verb = "new text"
			}
			fmt.Fprintf(r.Stdout, "%s %s (quarry's own)\n", verb, c.Path)
			continue
		}
		for line := range strings.Lines(c.Diff()) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") + "\n" // of a file with CRLF
			switch {
			case strings.HasPrefix(line, "+"):
				line = look.style(cli.Green, strings.TrimSuffix(line, "\n")) + "\n"
			case strings.HasPrefix(line, "-"):
				line = look.style(cli.Red, strings.TrimSuffix(line, "\n")) + "\n"
			}
			fmt.Fprint(r.Stdout, line)
		}
		if note := c.Note(); note != "" {
			fmt.Fprintln(r.Stdout, note)
		}
	}
	for _, c := range commands {
		fmt.Fprintf(r.Stdout, "run: %s\n", strings.Join(c.Do, " "))
	}
}

func (r *setupRun) runAll(commands []setup.Command, otherwise string) error {
	for _, c := range commands {
		cmd := exec.Command(c.Do[0], c.Do[1:]...)
		cmd.Stdout, cmd.Stderr = r.Stderr, r.Stderr
		if err := r.Run(r.target.Name, c, cmd.Run); err != nil {
			return fmt.Errorf("%s: %w; %s", strings.Join(c.Do, " "), err, otherwise)
		}
	}
	return nil
}

func (r *setupRun) showBackups(backups []string) {
	if r.JSON {
		return
	}
	fmt.Fprintln(r.Stdout, "Done.")
	r.listBackups(backups)
}

// listBackups says where what was there before is kept, also where not everything went well.
func (r *setupRun) listBackups(backups []string) {
	if r.JSON {
		return
	}
	for _, b := range backups {
		fmt.Fprintf(r.Stdout, "What was there before is in %s\n", b)
	}
}

func (r *setupRun) finish(answer setupAnswer) error {
	if r.JSON {
		answer.Written = r.yes
		return r.PrintJSON(answer)
	}
	for i, n := range answer.Next {
		if i == 0 {
			fmt.Fprintln(r.Stdout, "\nNext:")
		}
		fmt.Fprintf(r.Stdout, "  - %s\n", n)
	}
	return nil
}
