package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/agent/loop"
	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/index/lang"
	"quarry/retrieval/workspace"
)

func (a *app) askCommand() *cobra.Command {
	var about string
	var trace bool
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Answer a question about the repository, with checked citations",
		Long: `Answer a question about the repository, a file or some lines of one.

quarry searches first and then asks the model. It checks every citation in the answer,
path:line-line, and shows nothing that has no valid citation. Without a model it lists the
code nearest to the question.`,
		Example: `  quarry ask where are routes grouped
  quarry ask --about router.go what does this do
  quarry ask --about router.go:10-40 'why the lock?'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.ask(cmd.Context(), strings.Join(args, " "), about, trace, limit)
		},
	}
	a.WaitFlag(cmd)
	cmd.Flags().StringVar(&about, "about", "", "`FILE`, FILE:LINE or FILE:FIRST-LAST that the question is about")
	cmd.Flags().BoolVar(&trace, "trace", false, "print every step on standard error")
	cmd.Flags().DurationVar(&limit, "timeout", 2*time.Minute, "how long an answer may take")
	return cmd
}

// askOutput is the JSON of `quarry ask`. Stop is "" and Steps has none where no model was
// asked.
type askOutput struct {
	Answer    string        `json:"answer"`
	Citations []askCitation `json:"citations"`
	Removed   int           `json:"removed"`
	Dropped   int           `json:"dropped"`
	Unfounded bool          `json:"unfounded"`
	Stop      loop.Stop     `json:"stop"`
	Steps     []loop.Step   `json:"steps"`
	Backend   []string      `json:"backend"`
	// Incomplete is what the index did not know yet; absent if nothing.
	Incomplete *workspace.Missing `json:"incomplete,omitempty"`
	Timings    map[string]float64 `json:"timings_ms"`
}

type askCitation struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}

func (a *app) ask(ctx context.Context, text, about string, trace bool, limit time.Duration) (err error) {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("%w: missing question, for example: quarry ask where are routes grouped", cli.ErrUsage)
	}
	file, lines, err := parseAbout(about)
	if err != nil {
		return err
	}
	if about != "" { // before all is indexed for a name that is mistyped
		if _, err := os.Stat(file); err != nil {
			return err
		}
	}
	root, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	c := a.Core(root)
	defer func() { err = errors.Join(err, c.Close()) }()
	q := agent.Question{Text: text}
	if about != "" {
		if q.About, err = locationIn(ctx, c, file, lines); err != nil {
			return err
		}
	}
	shown := false
	var watch ask.Watch
	if !a.JSON {
		watch.Text = func(text string) bool {
			shown = true
			_, err := fmt.Fprint(a.Stdout, text)
			return err == nil // nobody reads any more
		}
	}
	if trace {
		watch.Step = func(s loop.Step) { fmt.Fprintln(a.Stderr, describe(s)) }
	}
	begin := time.Now()
	r, err := c.AskOrSearch(ctx, q, limit, watch)
	switch {
	case shown:
		fmt.Fprintln(a.Stdout)
	case err == nil && !a.JSON:
		fmt.Fprint(a.Stdout, r.Text)
	}
	if err != nil {
		return err
	}
	total := time.Since(begin)
	if a.JSON {
		out := askOutput{
			Answer: r.Text, Citations: citationsOf(r.Citations), Removed: r.Removed, Dropped: r.Dropped, Unfounded: r.Unfounded, Stop: r.Stop,
			Steps: append([]loop.Step{}, r.Steps...), Backend: append([]string{}, r.Backend...), Incomplete: cmp.Or(r.Missing, a.Lacked()),
			Timings: map[string]float64{"first_shown": ms(r.FirstShown), "total": ms(total)},
		}
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	}
	switch {
	case r.Stop == "" && len(r.Citations) == 0:
		return errNothingNear // and the answer says why no model was asked
	case r.Stop != "" && !a.JSON: // a model was asked
		fmt.Fprintln(a.Stderr, askSummary(r, total))
	}
	return nil
}

// errNothingNear is why a question without a model fails.
var errNothingNear = errors.New("no code was found for the question")

// citationsOf are citations as JSON has them, a list even if there are none.
func citationsOf(list []agent.Citation) []askCitation {
	out := []askCitation{}
	for _, c := range list {
		out = append(out, askCitation(c))
	}
	return out
}

// askSummary is one line about how an answer came about.
func askSummary(r ask.Report, total time.Duration) string {
	turns, tools := 0, 0
	for _, s := range r.Steps {
		if s.Tool == "" {
			turns++
		} else {
			tools++
		}
	}
	parts := []string{fmt.Sprintf("%s, %s, %s", counted(len(r.Citations), "citation"), counted(tools, "look-up"), counted(turns, "model turn"))}
	if r.Removed > 0 {
		parts = append(parts, counted(r.Removed, "wrong citation")+" removed")
	}
	if r.Dropped > 0 {
		parts = append(parts, counted(r.Dropped, "point")+" without proof left out")
	}
	return fmt.Sprintf("%s, in %.1f s", strings.Join(parts, ", "), total.Seconds())
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// describe is a step in one line.
func describe(s loop.Step) string {
	if s.Tool == "" {
		return fmt.Sprintf("turn %d: %s, %d tokens of %d, %.0f ms", s.Turn, s.Outcome, s.Tokens, s.PromptTokens, ms(s.Took))
	}
	return fmt.Sprintf("turn %d: %s %s: %s, %d bytes, %.0f ms", s.Turn, s.Tool, s.Arguments, s.Outcome, s.Bytes, ms(s.Took))
}

// parseAbout reads FILE, FILE:LINE and FILE:FIRST-LAST; lines are 0 for a whole
// file.
func parseAbout(arg string) (file string, lines [2]int, err error) {
	i := strings.LastIndexByte(arg, ':')
	if i < 0 || strings.Trim(arg[i+1:], "0123456789-") != "" || arg[i+1:] == "" {
		return arg, lines, nil
	}
	first, last, ranged := strings.Cut(arg[i+1:], "-")
	if !ranged {
		last = first
	}
	start, err1 := strconv.Atoi(first)
	end, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || start < 1 || end < start {
		return "", lines, fmt.Errorf("%w: --about %q is not FILE, FILE:LINE or FILE:FIRST-LAST, as in main.go:10-40", cli.ErrUsage, arg)
	}
	return arg[:i], [2]int{start, end}, nil
}

// locationIn is a file of the workspace, or lines of it. The empty one behind the last
// line break is a line, too: compilers name it for what is missing there.
func locationIn(ctx context.Context, c *engines.Core, file string, lines [2]int) (*agent.Location, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if path, err = c.Locate(ctx, path); err != nil {
		return nil, fmt.Errorf("%s may not be shown to a model: %w", file, err)
	}
	text, err := c.Text(path)
	if err != nil {
		return nil, err
	}
	at := &agent.Location{Document: agent.Document{Path: path, Language: lang.Detect(path, []byte(text)), Text: text}}
	if lines[0] == 0 {
		return at, nil
	}
	offset := 0
	for n := 1; n <= lines[1]; n++ {
		if n == lines[0] {
			at.Start = offset
		}
		rest := text[offset:]
		if rest == "" && n == lines[1] && (text == "" || text[len(text)-1] == '\n') {
			break
		}
		if rest == "" {
			return nil, fmt.Errorf("%s has %d lines; there is no line %d", file, n-1, lines[1])
		}
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			offset += i + 1
		} else {
			offset = len(text)
		}
	}
	at.End = offset
	return at, nil
}
