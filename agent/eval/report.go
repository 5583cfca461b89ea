package eval

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Figures are what a script needed for some tasks.
type Figures struct {
	// Found and Aimed are how many were found within Limit and within Aim.
	Found int `json:"found"`
	Aimed int `json:"aimed"`
	// Named is how many were named within Aim, of the kinds that want one place.
	Named int `json:"named,omitempty"`
	// Tokens and Calls are medians; what was not found counts as Limit tokens.
	Tokens int `json:"tokens"`
	Calls  int `json:"calls"`
	// Precision is how many of the listed lines were meant, of the kinds that want all.
	Precision float64 `json:"precision,omitempty"`
}

// Row compares both scripts on some tasks.
type Row struct {
	Name    string  `json:"name"`
	Tasks   int     `json:"tasks"`
	Ripgrep Figures `json:"ripgrep"`
	Quarry  Figures `json:"quarry"`
}

// Report is the comparison, by kind and by half, and each task.
type Report struct {
	Rows []Row `json:"rows"`
	// Model is the same where a model called the tools, empty if none did.
	Model []Row  `json:"model,omitempty"`
	Pairs []Pair `json:"pairs"`
}

func sum(pairs []Pair) Report {
	r := Report{Pairs: pairs, Rows: rowsOf(pairs)}
	var model []Pair
	for _, p := range pairs {
		if p.ModelQuarry != nil {
			model = append(model, Pair{Ripgrep: *p.ModelRipgrep, Quarry: *p.ModelQuarry})
		}
	}
	if len(model) > 0 {
		r.Model = rowsOf(model)
	}
	return r
}

// rowsOf are the rows by kind, by half and of all.
func rowsOf(pairs []Pair) (rows []Row) {
	add := func(name string, want func(Pair) bool) {
		var by, with []Outcome
		for _, p := range pairs {
			if want(p) {
				by, with = append(by, p.Ripgrep), append(with, p.Quarry)
			}
		}
		if len(by) > 0 {
			rows = append(rows, Row{name, len(by), figures(by), figures(with)})
		}
	}
	for _, k := range Kinds {
		add(string(k), func(p Pair) bool { return p.Quarry.Kind == k })
	}
	for _, half := range []string{"fit", "held"} {
		add(half+" half", func(p Pair) bool { return p.Quarry.Half == half })
	}
	add("all", func(Pair) bool { return true })
	return rows
}

func figures(list []Outcome) (f Figures) {
	var tokens, calls []int
	shown, right := 0, 0
	for _, o := range list {
		cost := Limit
		if o.Found {
			f.Found++
			cost = o.Tokens
			if o.Tokens <= Aim {
				f.Aimed++
			}
		}
		if o.Named > 0 && o.Named <= Aim {
			f.Named++
		}
		tokens, calls = append(tokens, cost), append(calls, o.Calls)
		shown, right = shown+o.Shown, right+o.Right
	}
	f.Tokens, f.Calls = median(tokens), median(calls)
	if shown > 0 {
		f.Precision = float64(right) / float64(shown)
	}
	return f
}

// better says which script did a task for less, 1 for quarry, -1 for ripgrep, 0 where they
// needed the same or neither did it.
func (p Pair) better() int {
	switch {
	case p.Quarry.Found && (!p.Ripgrep.Found || p.Quarry.Tokens < p.Ripgrep.Tokens):
		return 1
	case p.Ripgrep.Found && (!p.Quarry.Found || p.Ripgrep.Tokens < p.Quarry.Tokens):
		return -1
	}
	return 0
}

// Write writes the comparison as Markdown: the table, then who needed less for which task.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	writeRows(&b, r.Rows)
	r.writeNeeds(&b)
	if len(r.Model) > 0 {
		b.WriteString("\nThe model, with the tools of either:\n\n")
		writeRows(&b, r.Model)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRows(b *strings.Builder, rows []Row) {
	fmt.Fprintf(b, "| tasks | | found: ripgrep | quarry | within %d tokens: ripgrep | quarry | tokens: ripgrep | quarry | calls: ripgrep | quarry | named / precision: ripgrep | quarry |\n", Aim)
	b.WriteString("|" + strings.Repeat(" --- |", 12) + "\n")
	for _, row := range rows {
		share := func(n int) string { return fmt.Sprintf("%.2f", float64(n)/float64(row.Tasks)) }
		last := func(f Figures) string {
			switch k := Kind(row.Name); {
			case !slices.Contains(Kinds, k):
				return ""
			case k.wantsAll():
				return fmt.Sprintf("%.2f", f.Precision)
			}
			return share(f.Named)
		}
		by, with := row.Ripgrep, row.Quarry
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s | %d | %d | %d | %d | %s | %s |\n", row.Name, row.Tasks, share(by.Found), share(with.Found),
			share(by.Aimed), share(with.Aimed), by.Tokens, with.Tokens, by.Calls, with.Calls, last(by), last(with))
	}
}

// writeNeeds says which tasks were done for less with which tools.
func (r Report) writeNeeds(b *strings.Builder) {
	for _, part := range []struct {
		title string
		sign  int
	}{{"quarry needed less", 1}, {"ripgrep needed less", -1}, {"neither", 0}} {
		var names []string
		for _, p := range r.Pairs {
			if p.better() == part.sign {
				names = append(names, fmt.Sprintf("%s (%s : %s)", p.Quarry.Task, needed(p.Quarry), needed(p.Ripgrep)))
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(b, "\n%s, %d tasks (tokens of quarry : of ripgrep): %s\n", part.title, len(names), strings.Join(names, ", "))
		}
	}
}

func needed(o Outcome) string {
	if !o.Found {
		return "not found"
	}
	return fmt.Sprint(o.Tokens)
}

// WriteSteps writes the calls of each task of the fit half.
func (r Report) WriteSteps(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range r.Pairs {
		if p.Quarry.Half != "fit" {
			continue
		}
		fmt.Fprintf(out, "\n%s\t%s\n", p.Quarry.Task, p.Question)
		type by struct {
			name string
			*Outcome
		}
		for _, o := range []by{{"ripgrep", &p.Ripgrep}, {"quarry", &p.Quarry}, {"model, ripgrep", p.ModelRipgrep}, {"model, quarry", p.ModelQuarry}} {
			if o.Outcome == nil {
				continue
			}
			fmt.Fprintf(out, "%s\t%s, %d of %d places, %d listed, %d calls: %s\n", o.name, needed(*o.Outcome), o.Right, o.Places, o.Shown, o.Calls, strings.Join(slices.Clip(o.Steps), " | "))
		}
	}
	return out.Flush()
}
