package main

import (
	"context"
	"fmt"
	"os"
	"quarry/retrieval/eval"
	"sort"
	"time"
)

func main() {
	c := eval.Corpus{Repositories: "/work/shared/eval/retrieval/repos.json", Annotations: "/work/shared/eval/retrieval/annotations", Checkouts: "/work/corpus"}
	if len(os.Args) > 1 {
		c.Only = os.Args[1:]
	}
	t := time.Now()
	ls, err := c.Load(context.Background())
	if err != nil {
		panic(err)
	}
	n := 0
	for _, l := range ls {
		n += len(l.Documents)
	}
	fmt.Println("load", time.Since(t), n)
	t = time.Now()
	var all []eval.Outcome
	for i := range ls {
		ix := ls[i].Index()
		o, err := ls[i].Ask(context.Background(), ix)
		if err != nil {
			panic(err)
		}
		all = append(all, o...)
	}
	fmt.Println("index+ask", time.Since(t))
	r := eval.Summarize(all)
	fmt.Printf("overall %.4f hit1 %.3f hit5 %.3f hit10 %.3f span %.3f  lat %+v\n", r.Overall.NDCG, r.Overall.Hit1, r.Overall.Hit5, r.Overall.Hit10, r.Overall.SpanRecall, r.LatencyMS)
	for _, m := range []map[string]eval.Summary{r.Categories, r.Languages, r.Repositories} {
		var ks []string
		for k := range m {
			ks = append(ks, k)
		}
		sort.Strings(ks)
		for _, k := range ks {
			fmt.Printf("%s %.3f  ", k, m[k].NDCG)
		}
		fmt.Println()
	}
	if os.Getenv("MISS") != "" {
		for _, o := range all {
			if o.NDCG < 0.7 {
				fmt.Printf("%.3f %d %s | %s | %s\n", o.NDCG, o.Best, o.Repository, o.Category[:4], o.Query)
			}
		}
	}
}
