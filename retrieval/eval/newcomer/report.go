package newcomer

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"quarry/retrieval/eval"
)

// Figures are the means over a group of outcomes, in 0..1 but for Asked and Lines.
type Figures struct {
	Asked int `json:"asked"`
	// NDCG is that of the files at eval.Cutoff. The answers of a question are
	// alternatives, so it is 1/log2(1+rank) of the first right file.
	NDCG float64 `json:"file_ndcg10"`
	// File1 and File5: the right file is first, is among the first five.
	File1 float64 `json:"file1"`
	File5 float64 `json:"file5"`
	// Place1 and Place5: the lines shown of the first file, of one of the first five,
	// overlap an answer's.
	Place1 float64 `json:"place1"`
	Place5 float64 `json:"place5"`
	// Also1 and Also5 are the same with the places that are listed under a file.
	Also1 float64 `json:"also1"`
	Also5 float64 `json:"also5"`
	// Within is how often the lines shown are right where the right file is first.
	Within float64 `json:"place1_of_file1"`
	// Lines is how many lines the first result shows.
	Lines float64 `json:"lines"`
}

// add puts the figures of one more outcome, or group, to a sum.
func (f *Figures) add(g Figures) {
	f.Asked += g.Asked
	f.NDCG += g.NDCG
	f.File1 += g.File1
	f.File5 += g.File5
	f.Place1 += g.Place1
	f.Place5 += g.Place5
	f.Also1 += g.Also1
	f.Also5 += g.Also5
	f.Lines += g.Lines
}

// over divides the sums of n by n.
func (f Figures) over(n int) Figures {
	if n == 0 {
		return f
	}
	d := float64(n)
	out := Figures{
		Asked: f.Asked, NDCG: f.NDCG / d, File1: f.File1 / d, File5: f.File5 / d, Place1: f.Place1 / d, Place5: f.Place5 / d,
		Also1: f.Also1 / d, Also5: f.Also5 / d, Lines: f.Lines / d,
	}
	if f.File1 > 0 {
		out.Within = f.Place1 / f.File1 // a right place is in a right file
	}
	return out
}

func figuresOf(o Outcome) Figures {
	within := func(rank, n int) float64 {
		if rank > 0 && rank <= n {
			return 1
		}
		return 0
	}
	f := Figures{
		Asked: 1, File1: within(o.File, 1), File5: within(o.File, 5), Place1: within(o.Place, 1), Place5: within(o.Place, 5),
		Also1: within(o.Also, 1), Also5: within(o.Also, 5), Lines: float64(o.Lines),
	}
	if o.File > 0 {
		f.NDCG = 1 / math.Log2(1+float64(o.File))
	}
	return f
}

// Pair is the figures of questions and those of pasted messages.
type Pair struct {
	Questions Figures `json:"questions"`
	Messages  Figures `json:"messages"`
}

// Report is the result of an evaluation.
type Report struct {
	Half Half `json:"half"`
	// Set is what the whole set holds, Asked what of it was asked.
	Set   Counts `json:"set"`
	Asked Counts `json:"asked"`
	// Overall and Languages are means over the repositories' means, so that none
	// outweighs another; Kinds are means over their questions.
	Overall      Pair             `json:"overall"`
	Kinds        map[Kind]Figures `json:"kinds"`
	Languages    map[string]Pair  `json:"languages"`
	Repositories map[string]Pair  `json:"repositories"`
	// Change is against an earlier run, by the name of the figure; nil without one.
	Change map[string]eval.Interval `json:"change,omitempty"`
	// Outcomes are those of the fit half; what is held back is not looked at.
	Outcomes []Outcome `json:"outcomes,omitempty"`
}

func summarize(set Counts, half Half, outcomes []Outcome) Report {
	r := Report{Half: half, Set: set, Kinds: map[Kind]Figures{}, Languages: map[string]Pair{}, Repositories: map[string]Pair{}}
	if half == Fit {
		r.Outcomes = outcomes
	}
	languages := map[string]map[string]bool{}
	for _, o := range outcomes {
		f := figuresOf(o)
		kind, p := r.Kinds[o.Kind], r.Repositories[o.Repository]
		kind.add(f)
		if o.Kind == Message {
			p.Messages.add(f)
			r.Asked.Messages++
		} else {
			p.Questions.add(f)
			r.Asked.Questions++
		}
		r.Kinds[o.Kind], r.Repositories[o.Repository] = kind, p
		if languages[o.Language] == nil {
			languages[o.Language] = map[string]bool{}
		}
		languages[o.Language][o.Repository] = true
	}
	for k, f := range r.Kinds {
		r.Kinds[k] = f.over(f.Asked)
	}
	for name, p := range r.Repositories {
		r.Repositories[name] = Pair{p.Questions.over(p.Questions.Asked), p.Messages.over(p.Messages.Asked)}
	}
	for language, names := range languages {
		r.Languages[language] = r.mean(slices.Sorted(maps.Keys(names)))
	}
	r.Overall = r.mean(slices.Sorted(maps.Keys(r.Repositories)))
	r.Asked.Repositories = len(r.Repositories)
	return r
}

// mean is that of the repositories' means; one that has no message has no part in that
// of messages.
func (r Report) mean(names []string) Pair {
	var sum Pair
	questions, messages := 0, 0
	for _, name := range names { // in an order: sums of floats depend on it
		p := r.Repositories[name]
		sum.Questions.add(p.Questions)
		sum.Messages.add(p.Messages)
		questions += min(p.Questions.Asked, 1)
		messages += min(p.Messages.Asked, 1)
	}
	return Pair{sum.Questions.over(questions), sum.Messages.over(messages)}
}

// compared are the figures that two runs are compared by.
var compared = []struct {
	name string
	of   func(Pair) (value float64, asked int)
}{
	{"file NDCG@10", func(p Pair) (float64, int) { return p.Questions.NDCG, p.Questions.Asked }},
	{"file first", func(p Pair) (float64, int) { return p.Questions.File1, p.Questions.Asked }},
	{"file in five", func(p Pair) (float64, int) { return p.Questions.File5, p.Questions.Asked }},
	{"place first", func(p Pair) (float64, int) { return p.Questions.Place1, p.Questions.Asked }},
	{"place in five", func(p Pair) (float64, int) { return p.Questions.Place5, p.Questions.Asked }},
	{"place in five, also", func(p Pair) (float64, int) { return p.Questions.Also5, p.Questions.Asked }},
	{"message's file first", func(p Pair) (float64, int) { return p.Messages.File1, p.Messages.Asked }},
	{"message's place first", func(p Pair) (float64, int) { return p.Messages.Place1, p.Messages.Asked }},
}

// Compare fills in what changed against an earlier run of the same half, over the
// repositories that both have.
func (r *Report) Compare(before Report) error {
	if before.Half != r.Half {
		return fmt.Errorf("the earlier run is of the half %q, this one of %q", before.Half, r.Half)
	}
	r.Change = map[string]eval.Interval{}
	for _, c := range compared {
		var differences []float64
		for _, name := range slices.Sorted(maps.Keys(r.Repositories)) {
			was, wasAsked := c.of(before.Repositories[name])
			is, asked := c.of(r.Repositories[name])
			if wasAsked > 0 && asked > 0 {
				differences = append(differences, is-was)
			}
		}
		r.Change[c.name] = eval.PairedInterval(differences)
	}
	return nil
}

// Write prints the report as tables.
func (r Report) Write(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s half: %d repositories, %d questions, %d messages. The whole set: %d, %d, %d%s.\n\n", r.Half,
		r.Asked.Repositories, r.Asked.Questions, r.Asked.Messages, r.Set.Repositories, r.Set.Questions, r.Set.Messages, r.Set.missing())
	fmt.Fprintf(&b, "%-22s %5s  %7s %6s %6s %7s %7s %7s %7s %6s %5s\n", "", "asked", "NDCG@10", "file@1", "file@5", "place@1", "place@5", "+also@1", "+also@5", "within", "lines")
	row := func(name string, f Figures) {
		if f.Asked > 0 {
			fmt.Fprintf(&b, "%-22s %5d  %7.3f %6.3f %6.3f %7.3f %7.3f %7.3f %7.3f %6.3f %5.0f\n", name, f.Asked, f.NDCG, f.File1, f.File5,
				f.Place1, f.Place5, f.Also1, f.Also5, f.Within, f.Lines)
		}
	}
	row("questions", r.Overall.Questions)
	row("messages", r.Overall.Messages)
	b.WriteByte('\n')
	for _, k := range Kinds {
		row(string(k), r.Kinds[k])
	}
	for _, group := range []map[string]Pair{r.Languages, r.Repositories} {
		b.WriteByte('\n')
		for _, name := range slices.Sorted(maps.Keys(group)) {
			row(name, group[name].Questions)
			row("  messages", group[name].Messages)
		}
	}
	if r.Change != nil {
		b.WriteString("\nChange against the earlier run, with its 95% interval over repositories:\n")
		for _, c := range compared {
			i := r.Change[c.name]
			fmt.Fprintf(&b, "%-22s %+.3f (%+.3f to %+.3f)\n", c.name, i.Difference, i.Low, i.High)
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// missing says what a set lacks of what it is to hold, "" if nothing.
func (c Counts) missing() string {
	if c.Repositories >= WantRepositories && c.Questions >= WantQuestions && c.Messages >= WantMessages {
		return ""
	}
	return fmt.Sprintf(" (wanted: %d, %d, %d)", WantRepositories, WantQuestions, WantMessages)
}

// WriteMisses prints the questions whose right place is not first, with what came
// before it.
func (r Report) WriteMisses(to io.Writer) error {
	var b strings.Builder
	for _, o := range r.Outcomes {
		if o.Place == 1 {
			continue
		}
		fmt.Fprintf(&b, "\n%s (%s): file %s, place %s, also %s\n  %s\n", o.ID, o.Kind, rank(o.File), rank(o.Place), rank(o.Also),
			strings.ReplaceAll(strings.TrimSpace(o.Question), "\n", "\n  "))
		for _, a := range o.Answers {
			fmt.Fprintf(&b, "  = %s:%d-%d\n", a.Path, a.StartLine, a.EndLine)
		}
		for i, s := range o.Results[:min(5, len(o.Results))] {
			fmt.Fprintf(&b, "  %d %s:%d-%d %s\n", i+1, s.Path, s.StartLine, s.EndLine, s.Symbol)
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func rank(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
