package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Meant are the commands that do what a name says which is none of theirs.
var Meant = map[string][]string{
	"info": {"status", "version"}, "health": {"doctor"}, "check": {"doctor"},
	"find": {"search"}, "grep": {"search"}, "query": {"search", "ask"}, "symbols": {"search"}, "lookup": {"search"},
	"install": {"setup"}, "init": {"setup", "index"}, "config": {"setup", "model"}, "configure": {"setup"},
	"build": {"index"}, "reindex": {"index"}, "update": {"index"}, "scan": {"index"},
	"server": {"lsp", "mcp", "serve"}, "daemon": {"serve"}, "start": {"lsp"}, "stdio": {"lsp"},
	"chat": {"ask"}, "fix": {"explain"}, "why": {"explain"}, "pull": {"model"}, "models": {"model"}, "ollama": {"model", "doctor"},
}

// unknownCommand is the usage error for a name that no command below cmd has, with those
// that are near.
func unknownCommand(cmd *cobra.Command, name string) error {
	near := cmd.SuggestionsFor(name)
	if len(near) == 0 && !cmd.HasParent() {
		near = slices.Clone(Meant[strings.ToLower(name)])
	}
	if len(near) == 0 {
		return fmt.Errorf("%w: unknown command %q", ErrUsage, name)
	}
	for i, n := range near {
		near[i] = "`" + cmd.CommandPath() + " " + n + "`"
	}
	return fmt.Errorf("%w: unknown command %q; did you mean %s?", ErrUsage, name, strings.Join(near, " or "))
}

// refuseUnknown makes an unknown command an error wherever one can be named: alone, before
// --help, and after help, where cobra would show the help of what it knows and succeed.
func (e *Env) refuseUnknown(root *cobra.Command) {
	for _, group := range append(root.Commands(), root) {
		if group.HasSubCommands() {
			group.SuggestionsMinimumDistance = 2
			group.Args = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return unknownCommand(cmd, args[0])
				}
				return nil
			}
		}
	}
	sayArguments(root)
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if named := cmd.Flags().Args(); cmd.HasSubCommands() && len(named) > 0 {
			e.unknown = unknownCommand(cmd, named[0])
			return
		}
		show(cmd, args)
	})
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does and takes",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd := root
			for _, name := range args {
				below, rest, err := cmd.Find([]string{name})
				if err != nil || below == cmd || len(rest) > 0 {
					return unknownCommand(cmd, name)
				}
				cmd = below
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	})
}

// sayArguments has the commands below cmd say which arguments they take where others were given:
// cobra says how many.
func sayArguments(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		sayArguments(below)
	}
	check := cmd.Args
	if check == nil || cmd.HasSubCommands() {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil || errors.Is(err, ErrUsage) {
			return err
		}
		takes := strings.TrimSpace(strings.TrimPrefix(cmd.Use, cmd.Name()))
		if takes == "" {
			takes = "no arguments"
		}
		got := ""
		if len(args) > 0 {
			got = "; it got"
		}
		for _, arg := range args {
			got += fmt.Sprintf(" %q", arg)
		}
		return fmt.Errorf("%w: `%s` takes %s%s", ErrUsage, cmd.CommandPath(), takes, got)
	}
}
