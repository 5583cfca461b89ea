package newcomer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry/index"
	"quarry/index/walk"
	"quarry/retrieval"
	"quarry/retrieval/dense"
	"quarry/retrieval/eval"
	"quarry/retrieval/live"
	"quarry/retrieval/scan"
)

// Options say what of a set is asked.
type Options struct {
	// Corpus is the folder with one checkout a repository, by name.
	Corpus string
	Half   Half
	// Only restricts the repositories to these names; nil takes all.
	Only []string
	// Vectors, if not nil, rank the chunks by meaning, too; Way is how.
	Vectors *eval.Vectors
	Way     eval.Way
	// Expand, if not nil, adds words to the questions that are no pasted messages.
	Expand Expand
	// Done, if not nil, is called after each repository.
	Done func(Repository)
}

// Expand answers words that a question about a repository is searched with, too.
type Expand func(ctx context.Context, r Repository, question string) (words string, err error)

// Shown is a place of an answer: the first of a file, or one listed below it.
type Shown struct {
	eval.Span
	Symbol string `json:"symbol,omitempty"`
}

// Outcome is one question and where what it asks for came. Ranks count files from 1; 0
// is not among the first eval.Cutoff.
type Outcome struct {
	Repository string `json:"repository"`
	Language   string `json:"language"`
	Kind       Kind   `json:"kind"`
	ID         string `json:"id"`
	Question   string `json:"question"`
	// File is the rank of the first file that an answer stands in, Place of the first
	// whose lines overlap an answer's, Also of the first that has such lines or lists
	// them under it.
	File  int `json:"file"`
	Place int `json:"place"`
	Also  int `json:"also"`
	// Lines is how many lines the first result shows: a result that shows all of a file
	// overlaps every answer in it.
	Lines int `json:"lines"`
	// Answers are those of the question, Results the first lines of each result.
	Answers []eval.Span `json:"answers"`
	Results []Shown     `json:"results"`
}

// Run indexes each repository in a folder of its own, which is removed again, and asks
// its questions as `quarry search` does where there is no model.
func (s Set) Run(ctx context.Context, opt Options) (Report, error) {
	var all []Outcome
	for _, r := range s.Repositories {
		if HalfOf(r.Name) != opt.Half || len(opt.Only) > 0 && !slices.Contains(opt.Only, r.Name) {
			continue
		}
		dir := filepath.Join(opt.Corpus, r.Name)
		embedded, err := embed(ctx, opt.Vectors, dir, r, s.Questions[r.Name])
		if err != nil {
			return Report{}, fmt.Errorf("%s: %w", r.Name, err)
		}
		got, err := ask(ctx, dir, r, s.Questions[r.Name], opt, embedded)
		if err != nil {
			return Report{}, fmt.Errorf("%s: %w", r.Name, err)
		}
		all = append(all, got...)
		if opt.Done != nil {
			opt.Done(r)
		}
	}
	if len(all) == 0 {
		return Report{}, fmt.Errorf("no question was chosen of the %d repositories in the %s half", len(s.Repositories), opt.Half)
	}
	return summarize(s.Counts(), opt.Half, all), nil
}

// checkCommit compares the checkout in dir with the commit that the spans are of.
func checkCommit(dir string, r Repository) error {
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("it is not checked out: testdata/newcomer/fetch.sh %s brings it", filepath.Dir(dir))
	}
	head := walk.Head(dir)
	if len(head) == 0 {
		return nil // the files of a commit without its history
	}
	at, err := os.ReadFile(head[0])
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(at)); got != r.Commit {
		return fmt.Errorf("%s is at %s and the questions are of %s: testdata/newcomer/fetch.sh %s brings it", dir, got, r.Commit, filepath.Dir(dir))
	}
	return nil
}

// embed gives the chunks of a repository and its questions vectors; nothing if there are none.
func embed(ctx context.Context, by *eval.Vectors, dir string, r Repository, questions []Question) (l eval.Loaded, err error) {
	if by == nil {
		return l, nil
	}
	if err := checkCommit(dir, r); err != nil {
		return l, err
	}
	l.Repository.Name = r.Name
	for _, q := range questions {
		l.Questions = append(l.Questions, eval.Question{Query: q.Text})
	}
	if l.Documents, err = scan.Folder(ctx, dir, ""); err != nil {
		return l, err
	}
	return l, by.Embed(ctx, &l)
}

func ask(ctx context.Context, dir string, r Repository, questions []Question, opt Options, embedded eval.Loaded) (out []Outcome, err error) {
	if err := checkCommit(dir, r); err != nil {
		return nil, err
	}
	state, err := os.MkdirTemp("", "quarry-newcomer-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	x, err := index.Open(index.Config{Dir: dir, StateDir: state, Brief: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	w := live.Follow(x, filepath.Base(dir), nil)
	defer w.Close()
	if err := errors.Join(x.Settle(ctx), w.CatchUp(ctx)); err != nil {
		return nil, err
	}
	memory := dense.NewMemory(time.Minute)
	for _, q := range questions {
		text := q.Text
		if opt.Expand != nil && q.Kind != Message {
			words, err := opt.Expand(ctx, r, q.Text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.ID, err)
			}
			text += " " + words
		}
		answer, err := w.Find(ctx, memory, retrieval.Request{
			Query: retrieval.Parse(text, time.Now()), Limit: eval.Cutoff, Signals: opt.Way.Signals, Fusion: opt.Way.Fusion, Semantic: embedded.Embedded(q.Text),
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.ID, err)
		}
		o := judge(q, answer.Results)
		o.Repository, o.Language = r.Name, r.Language
		out = append(out, o)
	}
	return out, nil
}

// judge says where in the results the answers of a question are.
func judge(q Question, results []retrieval.Result) Outcome {
	o := Outcome{Kind: q.Kind, ID: q.ID, Question: q.Text, Answers: q.Answers, Results: []Shown{}}
	first := func(rank *int, i int, found bool) {
		if *rank == 0 && found {
			*rank = i + 1
		}
	}
	for i, r := range results {
		main := Shown{eval.Span{Path: r.Path, StartLine: r.StartLine, EndLine: r.EndLine}, r.Symbol}
		o.Results = append(o.Results, main)
		answers := func(start, end int) bool {
			return slices.ContainsFunc(q.Answers, func(a eval.Span) bool {
				return a.Path == r.Path && a.StartLine <= end && start <= a.EndLine
			})
		}
		first(&o.File, i, slices.ContainsFunc(q.Answers, func(a eval.Span) bool { return a.Path == r.Path }))
		first(&o.Place, i, answers(r.StartLine, r.EndLine))
		first(&o.Also, i, answers(r.StartLine, r.EndLine) ||
			slices.ContainsFunc(r.More, func(p retrieval.Location) bool { return answers(p.StartLine, p.EndLine) }))
	}
	if len(results) > 0 {
		o.Lines = results[0].EndLine - results[0].StartLine + 1
	}
	return o
}
