package eval

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"quarry/retrieval"
	"quarry/retrieval/scan"
)

// Corpus is where an evaluation finds its repositories and questions.
type Corpus struct {
	// Repositories is the path of repos.json, Annotations the folder of the
	// questions, Checkouts the folder with one checkout a repository by name.
	Repositories, Annotations, Checkouts string
	// Only restricts the repositories to these names; nil takes all.
	Only []string
}

// Loaded is an indexed repository with its questions.
type Loaded struct {
	Repository Repository
	Questions  []Question
	Documents  []retrieval.Document
	// meanings are the questions as an embedding model reads them, nil without one.
	embeddedQueries map[string]retrieval.SemanticQuery
}

// Way is how questions are asked.
type Way struct {
	Fusion  retrieval.Fusion
	Signals retrieval.Signals
}

// textOf is the text of a question without its filters.
func textOf(query string) string {
	q := retrieval.Parse(query, time.Time{})
	return q.Text
}

// Load reads and analyses every repository of the corpus, in the order of
// repos.json. A missing checkout is an error that says where it belongs.
func (c Corpus) Load(ctx context.Context) ([]Loaded, error) {
	repos, err := ReadRepositories(c.Repositories)
	if err != nil {
		return nil, err
	}
	var out []Loaded
	for _, r := range repos {
		if len(c.Only) > 0 && !slices.Contains(c.Only, r.Name) {
			continue
		}
		qs, err := ReadQuestions(c.Annotations, r.Name)
		if err != nil {
			return nil, err
		}
		base := filepath.Join(c.Checkouts, r.Name)
		if _, err := os.Stat(base); err != nil {
			return nil, fmt.Errorf("%s is not checked out: put %s at revision %s in %s", r.Name, r.URL, r.Revision, base)
		}
		docs, err := scan.Folder(ctx, base, r.Root)
		if err != nil {
			return nil, err
		}
		if len(docs) == 0 {
			return nil, fmt.Errorf("%s has nothing to search in %s: is it empty, or inside a repository whose ignore rules leave it out?", r.Name, filepath.Join(base, r.Root))
		}
		out = append(out, Loaded{Repository: r, Questions: qs, Documents: docs})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no repository of %s was chosen", c.Repositories)
	}
	return out, nil
}

// Run asks every question of the corpus, semantically too if v is not nil.
func (c Corpus) Run(ctx context.Context, v *Vectors, way Way) (Report, error) {
	repos, err := c.Load(ctx)
	if err != nil {
		return Report{}, err
	}
	var all []Outcome
	for i := range repos {
		if v != nil {
			if err := v.Embed(ctx, &repos[i]); err != nil {
				return Report{}, err
			}
		}
		outcomes, err := repos[i].Ask(ctx, repos[i].Index(), way)
		if err != nil {
			return Report{}, err
		}
		all = append(all, outcomes...)
	}
	return Summarize(all), nil
}

// Index builds the in-memory index of a repository.
func (l *Loaded) Index() *retrieval.Index {
	ix := retrieval.New(retrieval.Options{Project: l.Repository.Name})
	changes := make([]retrieval.Change, len(l.Documents))
	for i := range l.Documents {
		changes[i] = retrieval.Change{Path: l.Documents[i].Path, Document: &l.Documents[i]}
	}
	ix.Apply(changes)
	return ix
}

// Ask runs the questions of a repository against its index.
func (l *Loaded) Ask(ctx context.Context, ix *retrieval.Index, way Way) ([]Outcome, error) {
	var out []Outcome
	for _, q := range l.Questions {
		start := time.Now()
		answer, err := ix.Search(ctx, retrieval.Request{
			Query: retrieval.Parse(q.Query, start), Limit: Cutoff, Fusion: way.Fusion, Signals: way.Signals, Semantic: l.embeddedQueries[q.Query],
		})
		if err != nil {
			return nil, err
		}
		took := time.Since(start)
		s := Rank(q.Targets, spansOf(answer.Results))
		out = append(out, Outcome{
			Repository: l.Repository.Name, Language: l.Repository.Language, Category: q.Category, Query: q.Query, Held: q.Held,
			NDCG: s.NDCG, Best: s.Best, Spans: s.Spans, SpansFound: s.SpansFound, Took: took,
		})
	}
	return out, nil
}

func spansOf(results []retrieval.Result) []Span {
	out := make([]Span, len(results))
	for i, r := range results {
		out[i] = Span{Path: r.Path, StartLine: r.StartLine, EndLine: r.EndLine}
	}
	return out
}
