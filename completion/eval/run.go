package eval

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"quarry/completion"
)

// Score is how one engine did on a set of holes. Right means that the line
// then has the tokens it had.
type Score struct {
	Engine string `json:"engine"`
	Holes  int    `json:"holes"`
	Shown  int    `json:"shown"`
	Right  int    `json:"right"`
	// ExactMatch is Right/Holes, Precision is Right/Shown.
	ExactMatch float64 `json:"exact_match"`
	Precision  float64 `json:"precision"`
	// EditSimilarity is 1 - edit distance / length of the tokens with one blank
	// between, the mean over what is shown.
	EditSimilarity float64 `json:"edit_similarity"`
	// P50 and P95 are milliseconds for one answer, documents read anew.
	P50 float64 `json:"p50_ms,omitempty"`
	P95 float64 `json:"p95_ms,omitempty"`
}

// Report is the outcome of Run.
type Report struct {
	Repositories map[string][]Score `json:"repositories"`
	Overall      []Score            `json:"overall"`
	// Further is about suggestions of several lines while typing.
	Further Further `json:"further_lines"`
}

// outcome is one answer to one hole.
type outcome struct {
	engine  string
	shown   bool
	right   bool
	similar float64
	score   float64
	took    time.Duration
}

// Names of the engines in a Report.
const (
	Typing       = "quarry, while typing"
	Asked        = "quarry, asked"
	NGram        = "4-gram"
	NGramGated   = "4-gram, as many shown"
	CopyLast     = "copy last match"
	CopyLastGate = "copy last match, as many shown"
)

// Run cuts n holes into every repository and has complete, the copier and the
// n-gram model fill them. The baselines answer whenever they can; they are
// also reported with only their surest answers shown, as many as complete
// showed while typing. learn is called with each repository's files before its
// holes, unlearn after.
func Run(ctx context.Context, e *completion.Engine, repositories []Repository, n int, seed uint64) (Report, error) {
	report := Report{Repositories: map[string][]Score{}}
	var all []outcome
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, r := range repositories {
		for _, d := range r.Documents {
			e.Add(d.Root, d.Path, d.Text)
		}
		base := newBaselines(r.Documents)
		var here []outcome
		for _, h := range Holes(r, n, rng) {
			for _, manual := range []bool{false, true} {
				o, err := fill(ctx, e, h, manual)
				if err != nil {
					return report, fmt.Errorf("%s: %w", r.Name, err)
				}
				here = append(here, o)
			}
			for name, predict := range map[string]func(Hole) (string, float64){NGram: base.ngram, CopyLast: base.copyLast} {
				text, score := predict(h)
				o := judge(h, text, score > 0)
				o.engine, o.score = name, score
				here = append(here, o)
			}
		}
		more, err := further(ctx, e, r, n, rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			return report, fmt.Errorf("%s: %w", r.Name, err)
		}
		report.Further.Holes += more.Holes
		report.Further.Shown += more.Shown
		report.Further.Right += more.Right
		for _, d := range r.Documents {
			e.Remove(d.Root, d.Path)
		}
		report.Repositories[r.Name] = scores(here)
		all = append(all, here...)
	}
	report.Overall = scores(all)
	return report, nil
}

func fill(ctx context.Context, e *completion.Engine, h Hole, manual bool) (outcome, error) {
	req := h.Request
	req.Manual = manual
	begin := time.Now()
	res, err := e.Complete(ctx, req)
	if err != nil {
		return outcome{}, err
	}
	took := time.Since(begin)
	e.Forget(req.Key)
	o := judge(h, "", false)
	if len(res.Items) > 0 {
		o = judge(h, lineOf(req, res.Items[0]), true)
	}
	o.took, o.engine = took, Typing
	if manual {
		o.engine = Asked
	}
	return o, nil
}

func judge(h Hole, text string, shown bool) outcome {
	if !shown {
		return outcome{}
	}
	return outcome{shown: true, right: same(text, h.Want), similar: similarity(spaced(text), spaced(h.Want))}
}

func scores(outcomes []outcome) []Score {
	byEngine := map[string][]outcome{}
	for _, o := range outcomes {
		byEngine[o.engine] = append(byEngine[o.engine], o)
	}
	shown := 0
	for _, o := range byEngine[Typing] {
		if o.shown {
			shown++
		}
	}
	byEngine[NGramGated] = surest(byEngine[NGram], shown)
	byEngine[CopyLastGate] = surest(byEngine[CopyLast], shown)
	var out []Score
	for _, name := range []string{Typing, Asked, CopyLastGate, NGramGated, CopyLast, NGram} {
		out = append(out, score(name, byEngine[name]))
	}
	return out
}

// surest leaves only the n answers of the best score shown.
func surest(outcomes []outcome, n int) []outcome {
	out := slices.Clone(outcomes)
	slices.SortStableFunc(out, func(a, b outcome) int { return cmp.Compare(b.score, a.score) })
	for i := min(n, len(out)); i < len(out); i++ {
		out[i] = outcome{}
	}
	return out
}

func score(name string, outcomes []outcome) Score {
	s := Score{Engine: name, Holes: len(outcomes)}
	var took []float64
	for _, o := range outcomes {
		took = append(took, o.took.Seconds()*1000)
		if o.shown {
			s.Shown++
			s.EditSimilarity += o.similar
		}
		if o.right {
			s.Right++
		}
	}
	if s.Holes == 0 {
		return s
	}
	s.ExactMatch = float64(s.Right) / float64(s.Holes)
	if s.Shown > 0 {
		s.Precision = float64(s.Right) / float64(s.Shown)
		s.EditSimilarity /= float64(s.Shown)
	}
	s.P50, s.P95 = percentile(took, 50), percentile(took, 95)
	return s
}

// spaced is line with one blank between its tokens.
func spaced(line string) string {
	var tokens []string
	for _, t := range lex(line) {
		tokens = append(tokens, t.text)
	}
	return strings.Join(tokens, " ")
}

// percentile sorts values; it is 0 for none.
func percentile(values []float64, p int) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)-1)*p/100]
}

// similarity is 1 - Levenshtein distance / length of the longer, over bytes.
func similarity(a, b string) float64 {
	if a == b {
		return 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return 1 - float64(row[len(b)])/float64(max(len(a), len(b)))
}

// String is the report as a Markdown table.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString("| engine | holes | shown | exact match | precision | edit similarity | p50 ms | p95 ms |\n|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Overall {
		fmt.Fprintf(&b, "| %s | %d | %.1f %% | %.3f | %.3f | %.3f | %s | %s |\n", s.Engine, s.Holes,
			100*float64(s.Shown)/float64(max(s.Holes, 1)), s.ExactMatch, s.Precision, s.EditSimilarity, milliseconds(s.P50), milliseconds(s.P95))
	}
	fmt.Fprintf(&b, "\nIn %d holes of several lines, after lines that were right, %d further lines were shown, %d of them right (%.1f %%).\n",
		r.Further.Holes, r.Further.Shown, r.Further.Right, 100*float64(r.Further.Right)/float64(max(r.Further.Shown, 1)))
	return b.String()
}

func milliseconds(ms float64) string {
	if ms == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", ms)
}
