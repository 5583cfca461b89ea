package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/agent"
	"quarry/cmd/internal/cli"
	"quarry/diagnostics"
	"quarry/retrieval/workspace"
)

func (a *app) explainCommand() *cobra.Command {
	var message, source string
	cmd := &cobra.Command{
		Use:   "explain FILE:LINE",
		Short: "Explain a problem at a line, and the smallest safe fix",
		Long: `Explain a problem at a line of a file: what causes it, and the smallest safe fix.

Without --message the problem is what quarry itself sees there, which is syntax
errors; give the words of your compiler or linter for anything else. FILE:LINE:COLUMN,
as tools print it, is taken too.`,
		Example: `  quarry explain main.go:12
  quarry explain --message 'undefined: total' --source compiler main.go:12:7`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.explain(cmd.Context(), args[0], message, source)
		},
	}
	a.WaitFlag(cmd)
	cmd.Flags().StringVar(&message, "message", "", "`TEXT` of the problem, as a tool reports it")
	cmd.Flags().StringVar(&source, "source", "", "`NAME` of the tool that reports it")
	return cmd
}

// explainOutput is the JSON of `quarry explain`.
type explainOutput struct {
	Problem     explainProblem   `json:"problem"`
	Explanation string           `json:"explanation"`
	Confidence  agent.Confidence `json:"confidence"`
	Citations   []askCitation    `json:"citations"`
	Removed     int              `json:"removed"`
	// Backend says what evidence was looked up by.
	Backend []string `json:"backend"`
	// Incomplete is what the index did not know yet; absent if nothing.
	Incomplete *workspace.Missing `json:"incomplete,omitempty"`
	Timings    map[string]float64 `json:"timings_ms"`
}

type explainProblem struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Source  string `json:"source"`
	Message string `json:"message"`
}

// parseLine reads FILE:LINE and FILE:LINE:COLUMN.
func parseLine(arg string) (file string, line int, err error) {
	parts := strings.Split(arg, ":")
	numbers := 0
	for numbers < 2 && numbers < len(parts)-1 {
		if n, err := strconv.Atoi(parts[len(parts)-1-numbers]); err != nil || n < 1 {
			break
		}
		numbers++
	}
	if numbers == 0 {
		return "", 0, fmt.Errorf("%w: %q is not FILE:LINE, as in main.go:12", cli.ErrUsage, arg)
	}
	at := len(parts) - numbers
	line, _ = strconv.Atoi(parts[at]) // was read above
	return strings.Join(parts[:at], ":"), line, nil
}

func (a *app) explain(ctx context.Context, arg, message, source string) (err error) {
	file, line, err := parseLine(arg)
	if err != nil {
		return err
	}
	root, err := a.WorkspaceOf(file)
	if err != nil {
		return err
	}
	c := a.Core(root)
	defer func() { err = errors.Join(err, c.Close()) }()
	at, err := locationIn(ctx, c, file, [2]int{line, line})
	if err != nil {
		return err
	}
	problem, err := problemAt(*at, message, source)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", file, line, err)
	}
	// On a terminal the words are shown as they come, elsewhere when they have
	// been checked.
	live := !a.JSON && cli.OnTerminal(a.Stdout)
	var shown strings.Builder
	begin := time.Now()
	var first time.Duration
	x, err := c.Explain(ctx, problem, func(text string) bool {
		if first == 0 {
			first = time.Since(begin)
		}
		if !live {
			return true
		}
		shown.WriteString(text)
		_, err := fmt.Fprint(a.Stdout, text)
		return err == nil // nobody reads any more
	})
	if shown.Len() > 0 {
		fmt.Fprintln(a.Stdout)
	}
	if err != nil {
		return err
	}
	if x.Confidence == "" && len(x.Citations) == 0 {
		return errors.New(strings.TrimSpace(x.Text)) // no model, and nothing found
	}
	total := time.Since(begin)
	if a.JSON {
		return a.PrintJSON(explainOutput{
			Problem:     explainProblem{c.Name(at.Document.Path), line, problem.Source, problem.Message},
			Explanation: x.Text, Confidence: x.Confidence, Citations: citationsOf(x.Citations), Removed: x.Removed,
			Backend: append([]string{}, x.Backend...), Incomplete: cmp.Or(x.Missing, a.Lacked()),
			Timings: map[string]float64{"first_word": ms(first), "total": ms(total)},
		})
	}
	if strings.TrimSpace(shown.String()) != x.Text {
		if shown.Len() > 0 {
			fmt.Fprintln(a.Stdout, "\nAfter checking its citations:")
		}
		fmt.Fprintln(a.Stdout, x.Text)
	}
	parts := []string{counted(len(x.Citations), "citation")}
	if x.Confidence != "" { // a model's, or an import's
		parts = append([]string{"confidence " + string(x.Confidence)}, parts...)
	}
	if x.Removed > 0 {
		parts = append(parts, counted(x.Removed, "wrong citation")+" removed")
	}
	fmt.Fprintf(a.Stderr, "%s, in %.1f s\n", strings.Join(parts, ", "), total.Seconds())
	return nil
}

// problemAt is the problem of a line: the one told, else the first syntax error on
// it.
func problemAt(at agent.Location, message, source string) (agent.Problem, error) {
	if message = strings.TrimSpace(message); message != "" {
		for at.Start < at.End && strings.ContainsRune(" \t", rune(at.Document.Text[at.Start])) {
			at.Start++
		}
		at.End = at.Start + len(strings.TrimRight(at.Document.Text[at.Start:at.End], " \t\r\n"))
		return agent.Problem{Location: at, Severity: agent.SeverityError, Source: source, Message: message}, nil
	}
	for _, p := range diagnostics.Syntax(at.Document) {
		last := at.Start == len(at.Document.Text)
		if p.End >= at.Start && (p.Start < at.End || last && p.Start == at.End) {
			return p, nil
		}
	}
	return agent.Problem{}, errors.New("quarry sees no syntax error on this line; pass your compiler's message with --message")
}
