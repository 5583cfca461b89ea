package golden

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report is the score of a suite. A share is of what it can be said of: places of
// those shown, changes of those proposed.
type Report struct {
	Kinds map[Kind]Score `json:"kinds"`
	All   Score          `json:"all"`
	// Questions are the tasks of the kind Where.
	Questions Questions `json:"questions"`
	// Rules counts the changes that needed each rule of package patch to be placed.
	Rules map[string]int `json:"rules,omitempty"`
	// Outcomes are the tasks' own.
	Outcomes []Outcome `json:"outcomes"`
}

// Score is the sum over some tasks.
type Score struct {
	Tasks  int `json:"tasks"`
	Shown  int `json:"shown"`
	Right  int `json:"right"`
	Failed int `json:"failed"`
	// Changes were proposed; Applied fit their file, Parsed add no syntax error.
	Changes int `json:"changes"`
	Applied int `json:"applied"`
	Parsed  int `json:"parsed"`
	// Citations were shown; Invalid of them do not stand. Removed were taken out
	// before: Citations of Citations+Removed is how well the model cites.
	Citations int `json:"citations"`
	Invalid   int `json:"invalid"`
	Removed   int `json:"removed"`
	// Hallucinated is how many showed what nothing proves.
	Hallucinated int     `json:"hallucinated"`
	Seconds      float64 `json:"seconds"`
}

func (s *Score) add(o Outcome) {
	s.Tasks++
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	count(&s.Shown, o.Shown)
	count(&s.Right, o.Right)
	count(&s.Failed, o.Failed != "")
	count(&s.Changes, o.Changed)
	count(&s.Applied, o.Applies)
	count(&s.Parsed, o.Parses)
	count(&s.Hallucinated, o.Hallucinated)
	s.Citations += o.Citations
	s.Invalid += o.Invalid
	s.Removed += o.Removed
	s.Seconds += o.Seconds
}

// Questions says what came of questions: of each that has an answer, and of the others.
type Questions struct {
	Answerable int `json:"answerable"`
	Right      int `json:"right"`
	Withheld   int `json:"withheld"`
	Elsewhere  int `json:"elsewhere"` // another place was shown
	// Offered is how many were asked with a place that answers among what the model was
	// shown to choose from: what is not there it cannot choose.
	Offered      int `json:"offered"`
	Unanswerable int `json:"unanswerable"`
	Refused      int `json:"refused"`
}

func (q *Questions) add(o Outcome) {
	switch {
	case o.Unanswerable && o.Right:
		q.Refused++
		fallthrough
	case o.Unanswerable:
		q.Unanswerable++
		return
	case o.Right:
		q.Right++
	case o.Shown:
		q.Elsewhere++
	default:
		q.Withheld++
	}
	q.Answerable++
	if o.Offered {
		q.Offered++
	}
}

// Answered are the outcomes of tasks to which all answers were there.
func Answered(outcomes []Outcome) []Outcome {
	return slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool { return o.Unanswered })
}

// Sum makes the report of outcomes.
func Sum(outcomes []Outcome) Report {
	r := Report{Kinds: map[Kind]Score{}, Rules: map[string]int{}, Outcomes: outcomes}
	for _, o := range outcomes {
		s := r.Kinds[o.Kind]
		s.add(o)
		r.Kinds[o.Kind] = s
		r.All.add(o)
		if o.Kind == Where {
			r.Questions.add(o)
		}
		for _, rule := range o.Rules {
			r.Rules[rule]++
		}
	}
	return r
}

// Table is the report for a user, without times.
func (r Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %5s %5s %5s %6s  %7s %7s %6s  %6s %7s %7s  %s\n",
		"", "tasks", "shown", "right", "failed", "changes", "applied", "parsed", "places", "invalid", "removed", "hallucinated")
	row := func(name string, s Score) {
		fmt.Fprintf(&b, "%-10s %5d %5d %5d %6d  %7d %7d %6d  %6d %7d %7d  %d\n",
			name, s.Tasks, s.Shown, s.Right, s.Failed, s.Changes, s.Applied, s.Parsed, s.Citations, s.Invalid, s.Removed, s.Hallucinated)
	}
	for _, k := range []Kind{Where, Explain, Fix, Complete} {
		if s, ok := r.Kinds[k]; ok {
			row(string(k), s)
		}
	}
	row("all", r.All)
	if q := r.Questions; q.Answerable+q.Unanswerable > 0 {
		fmt.Fprintf(&b, "questions: %d of %d answerable right, %d withheld, %d another place", q.Right, q.Answerable, q.Withheld, q.Elsewhere)
		if q.Offered > 0 {
			fmt.Fprintf(&b, " (the place was among what the model was shown in %d)", q.Offered)
		}
		fmt.Fprintf(&b, "; %d of %d unanswerable refused\n", q.Refused, q.Unanswerable)
	}
	for _, rule := range slices.Sorted(maps.Keys(r.Rules)) {
		fmt.Fprintf(&b, "placed by %s: %d\n", rule, r.Rules[rule])
	}
	return b.String()
}
