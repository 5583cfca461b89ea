package eval

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Outcome is one question asked of one repository.
type Outcome struct {
	Repository string        `json:"repository"`
	Language   string        `json:"language"`
	Category   string        `json:"category"`
	Query      string        `json:"query"`
	Held       bool          `json:"held,omitempty"`
	NDCG       float64       `json:"ndcg10"`
	Best       int           `json:"best_rank"`
	Spans      int           `json:"-"`
	SpansFound int           `json:"-"`
	Took       time.Duration `json:"-"`
}

// Summary is the mean over a group of outcomes.
type Summary struct {
	Questions int     `json:"questions"`
	NDCG      float64 `json:"ndcg10"`
	Hit1      float64 `json:"hit1"`
	Hit5      float64 `json:"hit5"`
	Hit10     float64 `json:"hit10"`
	// SpanRecall is the share of targets with lines that were found, 0 when the
	// group has none.
	Spans      int     `json:"spans"`
	SpanRecall float64 `json:"span_recall"`
}

// Latency holds percentiles of the time of one question, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// Report is an evaluation's result.
type Report struct {
	// Overall is the mean of the repositories' means.
	Overall      Summary            `json:"overall"`
	Categories   map[string]Summary `json:"categories"`
	Languages    map[string]Summary `json:"languages"`
	Repositories map[string]Summary `json:"repositories"`
	// Halves has "open" and "held", the questions that may be tuned on and those
	// kept back; nil when none are kept back.
	Halves    map[string]Summary `json:"halves,omitempty"`
	LatencyMS Latency            `json:"latency_ms"`
	Outcomes  []Outcome          `json:"outcomes,omitempty"`
}

// Summarize groups outcomes. Categories and languages are means over questions
// and over their repositories' means respectively.
func Summarize(outcomes []Outcome) Report {
	r := Report{
		Repositories: groupMeans(outcomes, func(o Outcome) string { return o.Repository }),
		Categories:   groupMeans(outcomes, func(o Outcome) string { return o.Category }),
		Languages:    map[string]Summary{},
		Outcomes:     outcomes,
	}
	byLanguage := map[string]map[string]Summary{}
	for _, o := range outcomes {
		if byLanguage[o.Language] == nil {
			byLanguage[o.Language] = map[string]Summary{}
		}
		byLanguage[o.Language][o.Repository] = r.Repositories[o.Repository]
	}
	for lang, repos := range byLanguage {
		r.Languages[lang] = meanOfMeans(repos)
	}
	if slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Held }) {
		r.Halves = groupMeans(outcomes, func(o Outcome) string {
			if o.Held {
				return "held"
			}
			return "open"
		})
	}
	r.Overall = meanOfMeans(r.Repositories)
	r.LatencyMS = percentiles(outcomes)
	return r
}

func groupMeans(outcomes []Outcome, key func(Outcome) string) map[string]Summary {
	sums := map[string]Summary{}
	found := map[string]int{}
	for _, o := range outcomes {
		k := key(o)
		s := sums[k]
		s.Questions++
		s.NDCG += o.NDCG
		s.Hit1 += hit(o.Best, 1)
		s.Hit5 += hit(o.Best, 5)
		s.Hit10 += hit(o.Best, Cutoff)
		s.Spans += o.Spans
		found[k] += o.SpansFound
		sums[k] = s
	}
	for k, s := range sums {
		n := float64(s.Questions)
		s.NDCG, s.Hit1, s.Hit5, s.Hit10 = s.NDCG/n, s.Hit1/n, s.Hit5/n, s.Hit10/n
		if s.Spans > 0 {
			s.SpanRecall = float64(found[k]) / float64(s.Spans)
		}
		sums[k] = s
	}
	return sums
}

func hit(best, within int) float64 {
	if best > 0 && best <= within {
		return 1
	}
	return 0
}

// meanOfMeans averages in the order of the names: sums of floats depend on it.
func meanOfMeans(groups map[string]Summary) Summary {
	var m Summary
	found := 0.0
	for _, k := range sortedKeys(groups) {
		s := groups[k]
		m.Questions += s.Questions
		m.Spans += s.Spans
		found += s.SpanRecall * float64(s.Spans)
		m.NDCG += s.NDCG
		m.Hit1 += s.Hit1
		m.Hit5 += s.Hit5
		m.Hit10 += s.Hit10
	}
	if n := float64(len(groups)); n > 0 {
		m.NDCG, m.Hit1, m.Hit5, m.Hit10 = m.NDCG/n, m.Hit1/n, m.Hit5/n, m.Hit10/n
	}
	if m.Spans > 0 {
		m.SpanRecall = found / float64(m.Spans)
	}
	return m
}

func sortedKeys(m map[string]Summary) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func percentiles(outcomes []Outcome) Latency {
	if len(outcomes) == 0 {
		return Latency{}
	}
	took := make([]time.Duration, len(outcomes))
	for i, o := range outcomes {
		took[i] = o.Took
	}
	slices.Sort(took)
	at := func(p float64) float64 {
		return float64(took[int(p*float64(len(took)-1))]) / float64(time.Millisecond)
	}
	return Latency{P50: at(.50), P95: at(.95), P99: at(.99)}
}

// Interval is a difference of two runs' headline figures with its 95 % paired
// bootstrap interval over repositories.
type Interval struct {
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

// Compare answers after minus before over the repositories both have.
func Compare(before, after Report) Interval {
	var diffs []float64
	for _, name := range sortedKeys(after.Repositories) {
		if b, ok := before.Repositories[name]; ok {
			diffs = append(diffs, after.Repositories[name].NDCG-b.NDCG)
		}
	}
	return PairedInterval(diffs)
}

// PairedInterval is the mean of the repositories' differences with its interval by
// 10,000 resamples of repositories (Efron 1979, percentile interval). The random source
// is seeded: the same differences give the same interval.
func PairedInterval(diffs []float64) Interval {
	if len(diffs) == 0 {
		return Interval{}
	}
	const resamples = 10000
	random := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range diffs {
			sum += diffs[random.IntN(len(diffs))]
		}
		means[i] = sum / float64(len(diffs))
	}
	slices.Sort(means)
	total := 0.0
	for _, d := range diffs {
		total += d
	}
	return Interval{
		Difference: total / float64(len(diffs)),
		Low:        means[int(.025*resamples)],
		High:       means[int(.975*resamples)-1],
	}
}
