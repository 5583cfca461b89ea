package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
	"quarry/model/catalogue"
)

func (a *app) statsCommand() *cobra.Command {
	var forget, yes bool
	var export string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what quarry did in the last 30 days, kept on this machine alone",
		Long: `stats shows how much ghost text was shown and accepted, by language and by what wrote
it, how long answers took, how much memory quarry and its models had, and when they did
less than they could. The numbers are of all editors on this machine; they are kept for
30 days, hold no code and no names of files, and are sent nowhere. stats.keep in the
settings switches that off.

A trace beside them has which place of a search's answer was opened and which kinds of
ghost text were accepted, as numbers alone: no query, no code, no names. stats.trace
switches that off. --export writes it into a file, for quarry-eval trace; nothing else
ever takes it from this machine.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := engines.StatsDir(a.StateDir)
			if err != nil {
				return err
			}
			if forget {
				if ok, err := a.confirm(a.answers(), yes, "Delete what is kept in "+dir+"?"); err != nil || !ok {
					return err
				}
				if err := usage.Clear(dir); err != nil || !a.JSON {
					return err
				}
				return a.PrintJSON(forgetOutput{dir})
			}
			if export != "" {
				return a.exportTrace(dir, export, time.Now())
			}
			return a.stats(dir, time.Now())
		},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "delete what was kept")
	cmd.Flags().StringVar(&export, "export", "", "write the trace into `FILE` (- for standard output), a line of JSON for each part")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with --forget: do it without asking")
	return cmd
}

// statsOutput is the JSON of `quarry stats`.
type statsOutput struct {
	Folder string        `json:"folder"`
	Kept   bool          `json:"kept"`
	Total  usage.Numbers `json:"total"`
	Days   []usage.Day   `json:"days"`
	// Traced says whether the trace is kept, Trace what it says.
	Traced bool          `json:"traced"`
	Trace  usage.Figures `json:"trace"`
}

// forgetOutput is the JSON of `quarry stats --forget`.
type forgetOutput struct {
	Forgotten string `json:"forgotten"` // folder
}

// exportOutput is the JSON of `quarry stats --export`.
type exportOutput struct {
	File  string `json:"file"`
	Lines int    `json:"lines"`
}

// exportTrace writes the trace into a file.
func (a *app) exportTrace(dir, file string, today time.Time) error {
	list, err := usage.ReadTrace(dir, today)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := usage.Export(&text, list); err != nil {
		return err
	}
	if file == "-" {
		if a.JSON {
			return fmt.Errorf("%w: leave --json out, what --export - writes are lines of JSON", cli.ErrUsage)
		}
		_, err := a.Stdout.Write(text.Bytes())
		return err
	}
	if err := a.WriteOutput(file, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("--export: %w", err)
	}
	if a.JSON {
		return a.PrintJSON(exportOutput{file, len(list)})
	}
	fmt.Fprintf(a.Stdout, "%s has the trace, %s: look at it before you give it to anybody.\n", file, counted(len(list), "line"))
	return nil
}

func (a *app) stats(dir string, today time.Time) error {
	days, err := usage.Read(dir, today)
	if err != nil {
		return err
	}
	kept := a.CommandSettings().Stats
	n := usage.Total(days)
	traced, err := usage.ReadTrace(dir, today)
	if err != nil {
		return err
	}
	figures := usage.FiguresOf(traced)
	if a.JSON {
		return a.PrintJSON(statsOutput{dir, kept.Keep, n, days, kept.Keep && kept.Trace, figures})
	}
	shown, accepted := n.ShownAndAccepted()
	fmt.Fprintf(a.Stdout, "%s to %s, kept in %s%c on this machine alone\n", days[0].Date, days[len(days)-1].Date, dir, filepath.Separator)
	if !kept.Keep {
		fmt.Fprintln(a.Stdout, "Nothing more is kept: stats.keep is false.")
	}
	if shown == 0 && n.FirstToken.Count() == 0 && n.Index.Count() == 0 && len(n.Events) == 0 && n.Resident == 0 && len(figures.Searches) == 0 {
		fmt.Fprintln(a.Stdout, "\nThere is nothing yet: an editor writes it down every few minutes, and when it ends.")
		return nil
	}
	fmt.Fprintf(a.Stdout, "\nghost text shown     %s  %s\n", sparkline(days, func(d *usage.Day) float64 { shown, _ := d.ShownAndAccepted(); return float64(shown) }), grouped(int64(shown)))
	fmt.Fprintf(a.Stdout, "         accepted    %s  %s%s\n", sparkline(days, func(d *usage.Day) float64 { _, accepted := d.ShownAndAccepted(); return float64(accepted) }), grouped(int64(accepted)), share(accepted, shown))
	if len(n.Ghost) > 0 {
		fmt.Fprintln(a.Stdout)
		a.table(ghostRows(n.Ghost))
	}
	if len(figures.Searches) > 0 {
		fmt.Fprintln(a.Stdout)
		a.table(figures.SearchRows())
	}
	rows := [][]string{{"TIME", "COUNT", "P50", "P95", "P50 BY DAY"}}
	for _, t := range []struct {
		what string
		of   func(*usage.Numbers) usage.Times
	}{
		{"to the first token", func(n *usage.Numbers) usage.Times { return n.FirstToken }},
		{"waiting for the model", func(n *usage.Numbers) usage.Times { return n.Queue }},
		{"for a token", func(n *usage.Numbers) usage.Times { return n.Token }},
		{"looking for context", func(n *usage.Numbers) usage.Times { return n.Retrieval }},
		{"indexing a folder", func(n *usage.Numbers) usage.Times { return n.Index }},
	} {
		if times := t.of(&n); times.Count() > 0 {
			line := sparkline(days, func(d *usage.Day) float64 { return t.of(&d.Numbers).Percentile(50).Seconds() })
			rows = append(rows, []string{t.what, grouped(int64(times.Count())), briefly(times.Percentile(50)), briefly(times.Percentile(95)), line})
		}
	}
	if len(rows) > 1 {
		fmt.Fprintln(a.Stdout)
		a.table(rows)
	}
	fmt.Fprintln(a.Stdout)
	if token := n.Token.Percentile(50); token > 0 {
		fmt.Fprintf(a.Stdout, "tokens a second  %.0f\n", 1/token.Seconds())
	}
	if n.PromptBytes > 0 {
		fmt.Fprintf(a.Stdout, "prompts reused   %.0f %%\n", 100*float64(n.ReusedBytes)/float64(n.PromptBytes))
	}
	for _, m := range []struct {
		who string
		of  func(*usage.Numbers) int64
	}{
		{"memory, quarry ", func(n *usage.Numbers) int64 { return n.Resident }},
		{"memory, models ", func(n *usage.Numbers) int64 { return n.Models }},
	} {
		if most := m.of(&n); most > 0 {
			fmt.Fprintf(a.Stdout, "%s  %s  at most %s\n", m.who, sparkline(days, func(d *usage.Day) float64 { return float64(m.of(&d.Numbers)) }), catalogue.Gigabytes(most))
		}
	}
	a.printEvents(n.Events)
	return nil
}

// lastEvents is how many events of each kind are shown: a model that comes and goes hides no others.
const lastEvents = 5

func (a *app) printEvents(events []usage.Event) {
	if len(events) == 0 {
		return
	}
	slices.SortStableFunc(events, func(x, y usage.Event) int { return x.At.Compare(y.At) })
	count := map[string]int{}
	var last []usage.Event
	for _, e := range slices.Backward(events) {
		if count[e.Kind]++; count[e.Kind] <= lastEvents {
			last = append(last, e)
		}
	}
	var of []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		of = append(of, fmt.Sprintf("%s %d", kind, count[kind]))
	}
	fmt.Fprintf(a.Stdout, "\n%d events (%s), when quarry did less, or more again, or code left this machine; the last of each:\n", len(events), strings.Join(of, ", "))
	for _, e := range slices.Backward(last) {
		fmt.Fprintf(a.Stdout, "%s  %-7s  %s\n", e.At.Local().Format(time.DateTime), e.Kind, e.What)
	}
}

// ghostRows are a table of ghost text, most shown first.
func ghostRows(list []usage.Ghost) [][]string {
	usage.SortByShown(list)
	rows := [][]string{{"LANGUAGE", "BY", "SHOWN", "ACCEPTED", "SHARE"}}
	for _, g := range list {
		by := g.Engine
		if by == "local" {
			by = "your own code"
		}
		rows = append(rows, []string{cmp.Or(g.Language, "plain text"), by, grouped(int64(g.Shown)), grouped(int64(g.Accepted)), strings.Trim(share(g.Accepted, g.Shown), " ()")})
	}
	return rows
}

// share is how many of how many in words, nothing of none.
func share(part, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.0f %%)", 100*float64(part)/float64(of))
}

// briefly writes a duration with the digits that matter.
func briefly(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// sparkline draws a number for each day, as a part of the greatest; a day of nothing is a
// blank.
func sparkline(days []usage.Day, of func(*usage.Day) float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	most := 0.0
	for i := range days {
		most = max(most, of(&days[i]))
	}
	line := make([]rune, len(days))
	for i := range days {
		line[i] = ' '
		if v := of(&days[i]); v > 0 {
			line[i] = bars[min(int(v/most*float64(len(bars))), len(bars)-1)]
		}
	}
	return string(line)
}
