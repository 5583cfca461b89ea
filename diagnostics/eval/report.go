package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/completion/eval"
)

// Report is the score of a run.
type Report struct {
	Explain bool `json:"explain,omitempty"`
	// Scores are those of "all", of the halves and of the languages.
	Scores map[string]Score `json:"scores"`
	// Rules counts the changes that needed each rule of package patch to be placed.
	Rules    map[string]int `json:"rules"`
	Outcomes []Outcome      `json:"outcomes"`
}

// Score is the sum over some breakages.
type Score struct {
	Breakages int `json:"breakages"`
	Proposed  int `json:"proposed"`
	Applies   int `json:"applies"`
	Parses    int `json:"parses"`
	Right     int `json:"right"`
	Kept      int `json:"kept"`
	Fixed     int `json:"fixed"`
	Explained int `json:"explained"`
	Named     int `json:"named"`
	Failed    int `json:"failed"`
	// Interval is the share of breakages fixed, or of causes named, 95 % of the time.
	Interval [2]float64 `json:"interval"`
	Usage
}

func (s *Score) add(o Outcome) {
	for _, c := range []struct {
		n  *int
		is bool
	}{
		{&s.Breakages, true}, {&s.Proposed, o.Proposed}, {&s.Applies, o.Applies}, {&s.Parses, o.Parses}, {&s.Right, o.Right}, {&s.Kept, o.Kept}, {&s.Fixed, o.Fixed},
		{&s.Explained, o.Explained}, {&s.Named, o.Named}, {&s.Failed, o.Failed != ""},
	} {
		if c.is {
			*c.n++
		}
	}
	s.PromptTokens += o.PromptTokens
	s.Tokens += o.Tokens
	s.Seconds += o.Seconds
	s.Turns += o.Turns
}

// Sum makes the report of outcomes.
func Sum(outcomes []Outcome, explain bool) Report {
	r := Report{Explain: explain, Scores: map[string]Score{}, Rules: map[string]int{}, Outcomes: outcomes}
	for _, o := range outcomes {
		for _, row := range []string{"all", o.Half, o.Language} {
			s := r.Scores[row]
			s.add(o)
			r.Scores[row] = s
		}
		for _, rule := range o.Rules {
			r.Rules[rule]++
		}
	}
	for row, s := range r.Scores {
		got := s.Fixed
		if explain {
			got = s.Named
		}
		s.Interval = eval.Wilson(got, s.Breakages)
		r.Scores[row] = s
	}
	return r
}

// String is the report as a table.
func (r Report) String() string {
	var b strings.Builder
	languages := slices.DeleteFunc(slices.Sorted(maps.Keys(r.Scores)), func(row string) bool { return slices.Contains(heads, row) })
	if r.Explain {
		fmt.Fprintf(&b, "%-12s %9s %9s %6s %12s %7s %8s %7s %8s\n", "", "problems", "explained", "named", "95 % of", "failed", "read", "wrote", "seconds")
	} else {
		fmt.Fprintf(&b, "%-12s %9s %9s %8s %7s %6s %5s %6s %12s %7s %8s %7s %8s\n", "", "problems", "proposed", "applies", "parses", "right", "kept", "fixed", "95 % of", "failed", "read", "wrote", "seconds")
	}
	for _, row := range slices.Concat(heads, languages) {
		s, ok := r.Scores[row]
		if !ok {
			continue
		}
		interval := fmt.Sprintf("%.0f-%.0f", 100*s.Interval[0], 100*s.Interval[1])
		if r.Explain {
			fmt.Fprintf(&b, "%-12s %9d %9d %6d %12s %7d %8d %7d %8.0f\n", row, s.Breakages, s.Explained, s.Named, interval, s.Failed, s.PromptTokens, s.Tokens, s.Seconds)
		} else {
			fmt.Fprintf(&b, "%-12s %9d %9d %8d %7d %6d %5d %6d %12s %7d %8d %7d %8.0f\n", row, s.Breakages, s.Proposed, s.Applies, s.Parses, s.Right, s.Kept, s.Fixed, interval, s.Failed, s.PromptTokens, s.Tokens, s.Seconds)
		}
	}
	if len(r.Rules) > 0 {
		b.WriteString("\nrules that placed a change:\n")
		for _, rule := range slices.SortedFunc(maps.Keys(r.Rules), func(x, y string) int {
			if r.Rules[x] != r.Rules[y] {
				return r.Rules[y] - r.Rules[x]
			}
			return strings.Compare(x, y)
		}) {
			fmt.Fprintf(&b, "%5d  %s\n", r.Rules[rule], rule)
		}
	}
	return b.String()
}

// heads are the rows above the languages.
var heads = []string{"all", "fit", "held"}
