package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/completion/idioms"
)

// IdiomScore is how the shipped idioms did on the lines of one language.
type IdiomScore struct {
	Lines int `json:"lines"`
	// Shown is in how many lines something was offered while they were typed, Right
	// how often the first that was offered was the rest of the line.
	Shown int `json:"shown"`
	Right int `json:"right"`
	// Letters is how many letters of code there are, Saved how many of them the right
	// offers would have written.
	Letters int `json:"letters"`
	Saved   int `json:"saved"`
}

// IdiomReport has a score for each language.
type IdiomReport map[string]*IdiomScore

// Idioms types every line of the corpus, as if its file began with the line above it,
// until the shipped table of its language offers something.
func Idioms(corpus func(yield func(Repository) error) error) (IdiomReport, error) {
	report := IdiomReport{}
	err := corpus(func(r Repository) error {
		for _, d := range r.Documents {
			table := idioms.Of(d.Language)
			if table == nil {
				continue
			}
			s := report[d.Language]
			if s == nil {
				s = &IdiomScore{}
				report[d.Language] = s
			}
			above := ""
			for line := range strings.Lines(d.Text) {
				line = strings.TrimSpace(line)
				if line != "" && !isComment(line) && len(line) <= 200 {
					s.add(table, above, line)
				}
				above = line
			}
		}
		return nil
	})
	return report, err
}

func (s *IdiomScore) add(table *idioms.Table, above, line string) {
	s.Lines++
	s.Letters += len(line)
	for at := range line {
		rest, _ := table.Rest(above, line[:at], nil)
		if rest == "" {
			continue
		}
		s.Shown++
		if same(rest, line[at:]) {
			s.Right++
			s.Saved += len(rest)
		}
		return
	}
}

func (r IdiomReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %8s %8s %10s %8s\n", "language", "lines", "shown", "precision", "saved")
	all := &IdiomScore{}
	row := func(name string, s *IdiomScore) {
		fmt.Fprintf(&b, "%-16s %8d %7.1f%% %10.3f %7.1f%%\n", name, s.Lines, 100*ratio(s.Shown, s.Lines), ratio(s.Right, s.Shown), 100*ratio(s.Saved, s.Letters))
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		s := r[name]
		all.Lines, all.Shown, all.Right = all.Lines+s.Lines, all.Shown+s.Shown, all.Right+s.Right
		all.Letters, all.Saved = all.Letters+s.Letters, all.Saved+s.Saved
		row(name, s)
	}
	row("all", all)
	return b.String()
}

func ratio(a, b int) float64 { return float64(a) / float64(max(b, 1)) }
