package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ManCommand writes the manual pages of all that root has. Packages and archives are made
// with it.
func (e *Env) ManCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages into a folder",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManPages(root, args[0])
		},
	}
}

// writeManPages writes a page for cmd and for each command below it that help lists.
func writeManPages(cmd *cobra.Command, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, manName(cmd)+".1"), []byte(manPage(cmd)), 0o644); err != nil {
		return err
	}
	for _, below := range cmd.Commands() {
		if !below.IsAvailableCommand() {
			continue
		}
		if err := writeManPages(below, dir); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the page of cmd in the language of man(7): what its help says, laid out as it is
// there. Cobra's own pages read the help as Markdown, which it is not.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	build := ThisBuild()
	fmt.Fprintf(&b, ".TH %s 1 %q %q \"quarry's commands\"\n", strings.ToUpper(roff(manName(cmd))), build.Date, "quarry "+build.Version)
	section := func(name, text string) {
		fmt.Fprintf(&b, ".SH %s\n%s\n", name, text)
	}
	section("NAME", fmt.Sprintf(`%s \- %s`, roff(manName(cmd)), roff(cmd.Short)))
	synopsis := roff(cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		synopsis += "\n.br\n" + roff(cmd.CommandPath()+" COMMAND")
	}
	section("SYNOPSIS", synopsis)
	if cmd.Long != "" {
		section("DESCRIPTION", asItStands(cmd.Long))
	}
	if cmd.HasAvailableSubCommands() {
		var list strings.Builder
		for _, below := range cmd.Commands() {
			if below.IsAvailableCommand() {
				fmt.Fprintf(&list, ".TP\n\\fB%s\\fP(1)\n%s\n", roff(manName(below)), roff(below.Short))
			}
		}
		section("COMMANDS", strings.TrimSuffix(list.String(), "\n"))
	}
	if own := manFlags(cmd.NonInheritedFlags()); own != "" {
		section("OPTIONS", own)
	}
	if common := manFlags(cmd.InheritedFlags()); common != "" {
		section("OPTIONS OF ALL COMMANDS", common)
	}
	if cmd.Example != "" {
		section("EXAMPLES", asItStands(cmd.Example))
	}
	section("EXIT STATUS", `0 if it did what it was asked for, 1 if it could not, 2 if it was called incorrectly.`)
	if parent := cmd.Parent(); parent != nil {
		section("SEE ALSO", `\fB`+roff(manName(parent))+`\fP(1)`)
	}
	return b.String()
}

// manFlags lists flags with what they say of themselves.
func manFlags(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fP", roff(name))
		if value != "" {
			fmt.Fprintf(&b, " \\fI%s\\fP", roff(value))
		}
		fmt.Fprintf(&b, "\n%s\n", roff(usage))
	})
	return strings.TrimSuffix(b.String(), "\n")
}

// asItStands keeps the lines of help, whose lists are laid out by blanks.
func asItStands(text string) string {
	return ".nf\n" + roff(strings.Trim(text, "\n")) + "\n.fi"
}

// roff writes text so that man shows it as it is: backslashes, hyphens that are minus signs,
// quotes that are no accents, and lines that begin like a request.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
