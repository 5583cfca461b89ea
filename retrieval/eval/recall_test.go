package eval

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"

	"quarry/retrieval/vector"
)

var (
	recallRepos       = flag.String("repos", "", "repos.json of a corpus")
	recallAnnotations = flag.String("annotations", "", "folder of its questions")
	recallCorpus      = flag.String("corpus", "", "folder of its checkouts")
	recallVectors     = flag.String("vectors", "", "file of vectors that quarry-eval retrieval --vectors made of it")
)

// TestRecallOfCodes prints which share of the nearest chunks a search by codes finds,
// over the chunks of all repositories together, as the table of bench/vectors.md, and
// fails below 99 of 100 of the nearest ten.
func TestRecallOfCodes(t *testing.T) {
	if *recallCorpus == "" || *recallVectors == "" {
		t.Skip("no -corpus and -vectors: go test ./retrieval/eval -run TestRecallOfCodes -v -vectors FILE -corpus DIR -repos FILE -annotations DIR")
	}
	ctx := context.Background()
	repos, err := Corpus{Repositories: *recallRepos, Annotations: *recallAnnotations, Checkouts: *recallCorpus}.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v, err := OpenVectors(*recallVectors, "", nil, func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var questions [][]float32
	var all vector.Rows
	for i := range repos {
		if err := v.Embed(ctx, &repos[i]); err != nil {
			t.Fatal(err)
		}
		for _, q := range repos[i].Questions {
			m := repos[i].embeddedQueries[q.Query].(embeddedQuery)
			questions = append(questions, m.query)
			if q.Query == repos[i].Questions[0].Query {
				all.Dim, all.Stride = m.rows.Dim, m.rows.Stride
				all.Data = append(all.Data, m.rows.Data...)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(all.Len(), func(i, j int) {
		a, b := all.At(i), all.At(j)
		for d := range a {
			a[d], b[d] = b[d], a[d]
		}
	})
	var chunks [][]float32
	for i := range 500 {
		chunks = append(chunks, all.At(i*all.Len()/500))
	}
	t.Log("| vectors | queries | recall@10 | recall@100 |")
	for _, n := range []int{15_000, all.Len()} {
		rows := all
		rows.Data = all.Data[:min(n, all.Len())*all.Stride]
		codes := (*vector.Codes)(nil).Extend(rows)
		for name, queries := range map[string][][]float32{"questions": questions, "chunks": chunks} {
			ten, hundred := recall(rows, codes, queries, 10), recall(rows, codes, queries, 100)
			t.Logf("| %d | %d %s | %.4f | %.4f |", rows.Len(), len(queries), name, ten, hundred)
			if ten < .99 {
				t.Errorf("recall@10 is %.4f", ten)
			}
		}
	}
}

// recall is the share of the k nearest that signs find.
func recall(rows vector.Rows, codes *vector.Codes, queries [][]float32, k int) float64 {
	found := 0
	for _, q := range queries {
		exact := map[int]bool{}
		for _, h := range vector.Nearest(rows, nil, q, k) {
			exact[h.Row] = true
		}
		for _, h := range vector.Nearest(rows, codes, q, k) {
			if exact[h.Row] {
				found++
			}
		}
	}
	return float64(found) / float64(k*len(queries))
}
