package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/completion/eval"
)

// ImportReport is the score of missing imports.
type ImportReport struct {
	// Scores are those of "all", of the halves, of the languages and of each half of them.
	Scores map[string]ImportScore `json:"scores"`
	Trials []ImportTrial          `json:"trials,omitempty"`
}

// ImportScore is the sum over some trials.
type ImportScore struct {
	Statements int `json:"statements"`
	// Written counts the statements that are written as they were, Exact those that stand where they
	// stood besides: the text is the original.
	Written int `json:"written"`
	Exact   int `json:"exact"`
	// Names are those asked for; First and Three say where the right import was offered, Offered
	// that there was an offer at all.
	Names   int `json:"names"`
	Offered int `json:"offered"`
	First   int `json:"first"`
	Three   int `json:"three"`
	// WrongOffers of AllOffers are not the import that was there.
	AllOffers   int `json:"all_offers"`
	WrongOffers int `json:"wrong_offers"`
	Certain     int `json:"certain"`
	CertainLess int `json:"certain_wrong"`
	// Declarations are the names that no import gives, with an offer and with a certain one.
	Declarations       int        `json:"declarations"`
	DeclarationOffers  int        `json:"declaration_offers"`
	DeclarationCertain int        `json:"declaration_certain"`
	Interval           [2]float64 `json:"interval"`
	Median             float64    `json:"median_ms"`
	Slowest            float64    `json:"p95_ms"`
	seconds            []float64
}

func (s *ImportScore) add(t ImportTrial) {
	for _, n := range t.Names {
		s.seconds = append(s.seconds, n.Seconds)
		if t.Declaration {
			s.Declarations++
			if len(n.Offers) > 0 {
				s.DeclarationOffers++
			}
			if n.Certain {
				s.DeclarationCertain++
			}
			continue
		}
		s.Names++
		s.AllOffers += len(n.Offers)
		s.WrongOffers += len(n.Offers)
		if len(n.Offers) > 0 {
			s.Offered++
		}
		if n.Rank == 1 {
			s.First++
		}
		if n.Rank > 0 {
			s.Three++
			s.WrongOffers--
		}
		if n.Certain {
			s.Certain++
			if n.Rank != 1 {
				s.CertainLess++
			}
		}
	}
	if !t.Declaration {
		s.Statements++
		if t.Written {
			s.Written++
		}
		if t.Exact {
			s.Exact++
		}
	}
}

// SumImports makes the report of trials.
func SumImports(trials []ImportTrial) ImportReport {
	r := ImportReport{Scores: map[string]ImportScore{}, Trials: trials}
	for _, t := range trials {
		for _, row := range []string{"all", t.Half, t.Language, t.Language + " " + t.Half} {
			s := r.Scores[row]
			s.add(t)
			r.Scores[row] = s
		}
	}
	for row, s := range r.Scores {
		s.Interval = eval.Wilson(s.First, s.Names)
		slices.Sort(s.seconds)
		if n := len(s.seconds); n > 0 {
			s.Median, s.Slowest = 1000*s.seconds[n/2], 1000*s.seconds[n*95/100]
		}
		r.Scores[row] = s
	}
	return r
}

// String is the report as a table.
func (r ImportReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %6s %8s %6s %9s %6s %6s %7s %6s %8s %8s %8s %6s %8s %8s %7s %7s\n", "", "names", "offered", "first", "95 % of", "three", "texts", "written", "exact", "wrong", "certain", "wrong", "none", "offered", "certain", "ms p50", "p95")
	rows := slices.SortedFunc(maps.Keys(r.Scores), func(x, y string) int {
		return cmp.Or(cmp.Compare(slices.Index(heads, y), slices.Index(heads, x)), strings.Compare(x, y))
	})
	slices.SortStableFunc(rows, func(x, y string) int {
		rank := func(row string) int {
			if i := slices.Index(heads, row); i >= 0 {
				return i
			}
			return len(heads)
		}
		return rank(x) - rank(y)
	})
	for _, row := range rows {
		s := r.Scores[row]
		fmt.Fprintf(&b, "%-16s %6d %8d %6d %9s %6d %6d %7d %6d %8s %8d %8d %6d %8d %8d %7.1f %7.1f\n", row, s.Names, s.Offered, s.First, fmt.Sprintf("%.0f-%.0f", 100*s.Interval[0], 100*s.Interval[1]), s.Three, s.Statements, s.Written, s.Exact,
			fmt.Sprintf("%d/%d", s.WrongOffers, s.AllOffers), s.Certain, s.CertainLess, s.Declarations, s.DeclarationOffers, s.DeclarationCertain, s.Median, s.Slowest)
	}
	return b.String()
}
