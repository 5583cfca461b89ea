package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Figures are what a trace says.
type Figures struct {
	// From and To are its first and last day.
	From     string            `json:"from"`
	To       string            `json:"to"`
	Searches []SearchesFigures `json:"searches"`
	Ghost    []GhostFigures    `json:"ghost"`
}

// SearchesFigures are those of the answers of one asker to queries of one form.
type SearchesFigures struct {
	By   Asker `json:"by"`
	Form Form  `json:"form"`
	// Answers were shown; Empty had no place, and of Opened at least one was opened.
	Answers int `json:"answers"`
	Empty   int `json:"empty"`
	Opened  int `json:"opened"`
	// First counts the answers by the rank that was opened first.
	First Ranks `json:"first"`
	// MRR is the mean of one divided by the first opened rank, over the answers with an opened
	// place; MRRShown over all that had a place, where a rejected one counts as 0.
	MRR      float64 `json:"mrr"`
	MRRShown float64 `json:"mrr_shown"`
}

// Ranks counts by rank.
type Ranks map[int]int

// GhostFigures are those of one kind of ghost text.
type GhostFigures struct {
	TracedGhost
	Rejected int `json:"rejected"`
	// Share is that of the accepted among the shown.
	Share float64 `json:"share"`
}

// FiguresOf adds a trace up.
func FiguresOf(list []Traced) Figures {
	f := Figures{Searches: []SearchesFigures{}, Ghost: []GhostFigures{}}
	var ghost []TracedGhost
	for i := range list {
		p := &list[i]
		if f.From == "" || p.Date < f.From {
			f.From = p.Date
		}
		f.To = max(f.To, p.Date)
		for j := range p.Answers {
			f.add(&p.Answers[j])
		}
		for _, g := range p.Ghost {
			at := ghostOf(&ghost, g.GhostKind)
			at.Shown += g.Shown
			at.Accepted += g.Accepted
		}
	}
	for i := range f.Searches {
		s := &f.Searches[i]
		sum := s.MRR
		s.MRR, s.MRRShown = quotient(sum, s.Opened), quotient(sum, s.Answers-s.Empty)
	}
	slices.SortFunc(f.Searches, func(a, b SearchesFigures) int { return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Form, b.Form)) })
	for _, g := range ghost {
		// One may be accepted on the day after it was shown.
		f.Ghost = append(f.Ghost, GhostFigures{g, max(0, g.Shown-g.Accepted), quotient(float64(g.Accepted), g.Shown)})
	}
	slices.SortFunc(f.Ghost, func(a, b GhostFigures) int {
		return cmp.Or(cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Size, b.Size))
	})
	return f
}

// add counts an answer; MRR is the sum until all are.
func (f *Figures) add(a *TracedAnswer) {
	i := slices.IndexFunc(f.Searches, func(s SearchesFigures) bool { return s.By == a.By && s.Form == a.Form })
	if i < 0 {
		i = len(f.Searches)
		f.Searches = append(f.Searches, SearchesFigures{By: a.By, Form: a.Form, First: Ranks{}})
	}
	s := &f.Searches[i]
	s.Answers++
	if a.Shown == 0 {
		s.Empty++
	}
	if len(a.Opened) > 0 {
		s.Opened++
		s.First[a.Opened[0]]++
		s.MRR += 1 / float64(a.Opened[0])
	}
}

func quotient(sum float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// SearchRows are a table of the searches, its head first.
func (f *Figures) SearchRows() [][]string {
	rows := [][]string{{"SEARCHES OF", "BY", "ANSWERS", "EMPTY", "OPENED", "FIRST AT 1", "2-3", "4-10", "LATER", "MRR", "MRR OF ALL"}}
	for _, s := range f.Searches {
		var at [4]int
		for rank, n := range s.First {
			switch {
			case rank == 1:
				at[0] += n
			case rank <= 3:
				at[1] += n
			case rank <= 10:
				at[2] += n
			default:
				at[3] += n
			}
		}
		row := []string{string(s.Form), string(s.By), fmt.Sprint(s.Answers), fmt.Sprint(s.Empty), fmt.Sprint(s.Opened)}
		for _, n := range at {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.3f", s.MRR), fmt.Sprintf("%.3f", s.MRRShown)))
	}
	return rows
}

// String is all of it as tables.
func (f Figures) String() string {
	if len(f.Searches)+len(f.Ghost) == 0 {
		return "The trace has nothing yet.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s to %s\n", f.From, f.To)
	table := func(rows [][]string) {
		if len(rows) < 2 {
			return
		}
		b.WriteByte('\n')
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, row := range rows {
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		_ = w.Flush() // a Builder takes all
	}
	table(f.SearchRows())
	rows := [][]string{{"GHOST TEXT OF", "BY", "SHOWN", "ACCEPTED", "REJECTED", "SHARE"}}
	for _, g := range f.Ghost {
		rows = append(rows, []string{g.Size, g.Engine, fmt.Sprint(g.Shown), fmt.Sprint(g.Accepted), fmt.Sprint(g.Rejected), fmt.Sprintf("%.3f", g.Share)})
	}
	table(rows)
	return b.String()
}
