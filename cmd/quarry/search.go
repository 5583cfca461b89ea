package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/index"
	"quarry/retrieval"
	"quarry/retrieval/live"
	"quarry/retrieval/scan"
)

// The values of --mode.
const (
	searchHybrid   = "hybrid"
	searchLexical  = "lexical"
	searchSemantic = "semantic"
	searchSymbols  = "symbols"
)

func (a *app) searchCommand() *cobra.Command {
	var mode string
	var k int
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find the code that answers a question, names a symbol or contains a text",
		Long: `Find the code that answers a question, names a symbol or contains a text.

A query is free text with optional filters:
  "exact text"  path:internal  path:*_test.go  lang:go  symbol:Parse  kind:function
  type:code|test|doc|config  since:3d  mode:code|docs|symbols|recent  -path:vendor`,
		Example: `  quarry search how are routes grouped
  quarry search RouterGroup
  quarry search '"context deadline exceeded" type:test'
  quarry search --json -k 5 'retry with backoff lang:go'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.search(cmd.Context(), strings.Join(args, " "), mode, k)
		},
	}
	cmd.Flags().StringVar(&mode, "mode", searchHybrid, "what ranks: hybrid, lexical, semantic or symbols")
	cmd.Flags().IntVarP(&k, "results", "k", 10, "how many files are shown")
	return cmd
}

// searchOutput is the JSON of `quarry search`.
type searchOutput struct {
	Results []retrieval.Result `json:"results"`
	Backend []string           `json:"backend"`
	Timings map[string]float64 `json:"timings_ms"`
}

func (a *app) search(ctx context.Context, raw, mode string, k int) (err error) {
	if k < 1 {
		return fmt.Errorf("%w: -k %d: ask for at least one result", errUsage, k)
	}
	query := retrieval.Parse(raw, time.Now())
	switch mode {
	case searchHybrid, searchLexical:
	case searchSymbols:
		query.Mode = retrieval.ModeSymbols
	case searchSemantic:
		return fmt.Errorf("semantic search needs embeddings and there are none for this workspace: use --mode hybrid, which ranks by everything there is")
	default:
		return fmt.Errorf("%w: --mode %q is none of hybrid, lexical, semantic, symbols", errUsage, mode)
	}
	root, err := a.workspaceAround(".")
	if err != nil {
		return err
	}
	start := time.Now()
	warm, closed, err := a.openSearch(ctx, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed()) }()
	loaded := time.Since(start)
	answer, err := warm.Search(ctx, retrieval.Request{Query: query, Limit: k})
	if err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.stdout).Encode(searchOutput{
			Results: answer.Results,
			Backend: answer.Backend,
			Timings: map[string]float64{
				"load": ms(loaded), "lexical": ms(answer.Timings.Lexical), "signals": ms(answer.Timings.Signals),
				"literal": ms(answer.Timings.Literal), "search": ms(answer.Timings.Total),
			},
		})
	}
	a.printResults(root, answer)
	return nil
}

// openSearch brings the workspace's index up to date and reads it into memory.
// Without an index, because this build has no full-text search or its folder is
// unusable, it reads the workspace itself.
func (a *app) openSearch(ctx context.Context, root string) (warm *retrieval.Index, closed func() error, err error) {
	bar := &progressBar{app: a, terminal: onTerminal(a.stderr), start: time.Now()}
	x, err := index.Open(index.Config{
		Dir: root, StateDir: a.stateDir, Log: a.log, Progress: bar.show,
		Tell: func(message string) { fmt.Fprintln(a.stderr, "quarry:", message) },
	})
	if err != nil {
		fmt.Fprintf(a.stderr, "quarry: searching without an index: %v\n", err)
		warm, err = scanned(ctx, root)
		return warm, func() error { return nil }, err
	}
	err = x.Settle(ctx)
	bar.end()
	if err != nil {
		return nil, nil, errors.Join(err, x.Close())
	}
	w := live.Follow(x, filepath.Base(root), nil)
	closed = func() error {
		w.Close()
		return x.Close()
	}
	if err := w.Ready(ctx); err != nil {
		return nil, nil, errors.Join(err, closed())
	}
	return w.Search, closed, nil
}

// scanned is a search index of a folder as it is now.
func scanned(ctx context.Context, root string) (*retrieval.Index, error) {
	docs, err := scan.Folder(ctx, root, "")
	if err != nil {
		return nil, err
	}
	ix := retrieval.New(retrieval.Options{Project: filepath.Base(root)})
	changes := make([]retrieval.Change, len(docs))
	for i := range docs {
		changes[i] = retrieval.Change{Path: docs[i].Path, Document: &docs[i]}
	}
	ix.Apply(changes)
	return ix, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// printResults writes results for a person: the place, why it is there, and the
// first lines of it.
func (a *app) printResults(root string, answer retrieval.Answer) {
	s := screen{colour: onTerminal(a.stdout)}
	if len(answer.Results) == 0 {
		fmt.Fprintln(a.stdout, "Nothing found. Fewer or other words, or no filters, may find it.")
		return
	}
	for i, r := range answer.Results {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		place := s.style(sgrBold, fmt.Sprintf("%s:%d", r.Path, r.StartLine))
		if r.Symbol != "" {
			place += "  " + string(r.Kind) + " " + r.Symbol
		}
		fmt.Fprintln(a.stdout, place)
		fmt.Fprintln(a.stdout, "  "+s.style(sgrDim, strings.Join(r.Reasons, " · ")))
		printLines(a.stdout, s, filepath.Join(root, filepath.FromSlash(r.Path)), r.StartLine, min(r.EndLine, r.StartLine+snippetLines-1))
		if len(r.More) > 0 {
			var more []string
			for _, m := range r.More {
				more = append(more, strings.TrimSpace(fmt.Sprintf("%d-%d %s", m.StartLine, m.EndLine, m.Symbol)))
			}
			fmt.Fprintln(a.stdout, "  "+s.style(sgrDim, "also "+strings.Join(more, ", ")))
		}
	}
	fmt.Fprintf(a.stdout, "\n%s\n", s.style(sgrDim, fmt.Sprintf("%d of %d files in %.1f ms by %s", len(answer.Results), answer.Total,
		ms(answer.Timings.Total), strings.Join(answer.Backend, ", "))))
}

// snippetLines is how many lines of a place are shown.
const snippetLines = 4

// printLines writes lines of a file, numbered. A file that changed or went away
// since it was searched is left out.
func printLines(w io.Writer, s screen, path string, from, to int) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if n++; n < from {
			continue
		} else if n > to {
			return
		}
		fmt.Fprintf(w, "%s %s\n", s.style(sgrDim, fmt.Sprintf("%6d │", n)), strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
	}
}
