package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/retrieval"
)

// SimilarRequest asks for code like a piece of code: Code, or lines of a file.
type SimilarRequest struct {
	Code string
	// Path, absolute, and its 1-based, inclusive lines are where the code is from,
	// which is no answer. Without Code it is read from there.
	Path               string
	StartLine, EndLine int
	Filter             retrieval.Filter
	// Limit is the most results, 10 if 0.
	Limit int
}

// ErrNoCode says that there is nothing to compare.
var ErrNoCode = errors.New("there is no code to compare: give some, or lines of a file that have some")

// maxSimilarCode is how much code is compared, in bytes: what is longer is no piece but
// files.
const maxSimilarCode = 64 << 10

// FindSimilar asks every folder and merges what they answer by score; each chunk of
// code is a result of its own. It fails with ErrNoCode if there is no code, and if
// the file may not be read.
func (w *Workspace) FindSimilar(ctx context.Context, req SimilarRequest) (Answer, error) {
	if req.Code == "" && req.Path != "" {
		if f, _ := w.folderOf(req.Path); f != nil {
			if err := f.wait(ctx); err != nil {
				return Answer{}, err
			}
		}
		text, err := w.Text(req.Path)
		if err != nil {
			return Answer{}, err
		}
		lines := strings.SplitAfter(text, "\n")
		from, to := max(1, req.StartLine), min(len(lines), req.EndLine)
		if from > to {
			return Answer{}, fmt.Errorf("%w; %s has %d lines", ErrNoCode, req.Path, len(lines))
		}
		req.Code = strings.Join(lines[from-1:to], "")
	}
	if len(req.Code) > maxSimilarCode {
		req.Code = strings.ToValidUTF8(req.Code[:maxSimilarCode], "")
	}
	if strings.TrimSpace(req.Code) == "" {
		return Answer{}, ErrNoCode
	}
	var sum Answer
	missing, err := w.whenKnown(ctx, needWords, func() (bool, error) {
		var err error
		sum, err = w.similarNow(ctx, req)
		return err != nil || len(sum.Results) > 0, err
	})
	sum.Missing = missing
	return sum, err
}

// similarNow compares the code with what is known now.
func (w *Workspace) similarNow(ctx context.Context, req SimilarRequest) (Answer, error) {
	owner, rel := (*folder)(nil), ""
	if req.Path != "" {
		owner, rel = w.folderOf(req.Path)
	}
	var sum Answer
	for _, f := range w.snapshot() {
		if _, err := f.ready(); err != nil {
			continue
		}
		own := retrieval.SimilarRequest{Code: req.Code, Filter: req.Filter, Limit: req.Limit}
		if f == owner {
			own.Path, own.StartLine, own.EndLine = rel, req.StartLine, req.EndLine
		}
		a, err := f.warm.FindSimilar(ctx, w.queries, own)
		if err != nil {
			return Answer{}, err
		}
		sum.add(f.dir, f.allowed(a))
	}
	slices.SortStableFunc(sum.Results, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) })
	limit := req.Limit
	if limit <= 0 {
		limit = 10
	}
	sum.Results = sum.Results[:min(limit, len(sum.Results))]
	return sum, nil
}
