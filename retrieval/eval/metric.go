// Package eval measures retrieval: NDCG@10 and hit rates over annotated
// questions, as the public semble benchmark defines them, and paired bootstrap
// intervals between two runs. It reads annotations and scores ranked spans; it
// does not search.
//
// The metric. A target is a file or a span of lines; relevant and secondary
// targets gain 1 alike. A result matches a target when their paths are equal or
// one is a suffix of the other at a slash, and, for a span, when any line
// overlaps. A target's rank is that of its first matching result. Two targets on
// one rank count once:
//
//	DCG  = sum over distinct ranks r <= 10 of 1/log2(r+1)
//	IDCG = the same with min(10, number of targets) ranks from 1 on
//	NDCG = DCG/IDCG
//
// The headline is the mean over repositories of each repository's mean, so that
// a repository with many questions does not outweigh the others.
package eval

import (
	"math"
	"strings"
)

// Cutoff is how many results count.
const Cutoff = 10

// Span is a place in a file. Lines are 1-based and inclusive; both 0 means the
// whole file.
type Span struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
}

// Whole answers whether s is a file without lines.
func (s Span) Whole() bool { return s.StartLine == 0 && s.EndLine == 0 }

// Matches answers whether a result answers a target.
func (s Span) Matches(result Span) bool {
	if !samePath(s.Path, result.Path) {
		return false
	}
	return s.Whole() || result.Whole() || s.StartLine <= result.EndLine && result.StartLine <= s.EndLine
}

func samePath(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasSuffix(a, "/"+b)
}

// Score is what one question's ranking is worth.
type Score struct {
	NDCG float64
	// Best is the 1-based rank of the first matching result within Cutoff, 0
	// for none.
	Best int
	// Spans and SpansFound count the targets with lines and those matched within
	// Cutoff.
	Spans, SpansFound int
}

// Rank scores results, best first, against targets. Results past Cutoff are
// ignored. It answers the zero Score when there is no target.
func Rank(targets, results []Span) Score {
	var s Score
	if len(targets) == 0 {
		return s
	}
	if len(results) > Cutoff {
		results = results[:Cutoff]
	}
	var taken [Cutoff]bool
	for _, t := range targets {
		found := 0
		for i, r := range results {
			if t.Matches(r) {
				found = i + 1
				break
			}
		}
		if !t.Whole() {
			s.Spans++
			if found > 0 {
				s.SpansFound++
			}
		}
		if found > 0 {
			taken[found-1] = true
			if s.Best == 0 || found < s.Best {
				s.Best = found
			}
		}
	}
	dcg, ideal := 0.0, 0.0
	for i := range Cutoff {
		gain := 1 / math.Log2(float64(i)+2)
		if taken[i] {
			dcg += gain
		}
		if i < len(targets) {
			ideal += gain
		}
	}
	s.NDCG = dcg / ideal
	return s
}
