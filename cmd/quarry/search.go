package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/index/token"
	"quarry/index/walk"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// searchSymbols is the value of --mode that the signals do not have.
const searchSymbols = "symbols"

// searches are those of quarry search.
type searches struct{ *app }

func (a searches) searchCommand() *cobra.Command {
	var mode, similar, format, at string
	var k, offset int
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find the code that answers a question, names a symbol or contains a text",
		Long: `Find the code that answers a question, names a symbol or contains a text.

A query is free text with optional filters:
  "exact text"  path:internal  path:*_test.go  lang:go  symbol:Parse  kind:function
  type:code|test|doc|config|markup  since:3d  mode:code|docs|symbols|recent  -path:vendor

re:func \w+Error (up to the next filter), or /func \w+Error/ alone, finds the lines of
indexed files that match a regular expression (RE2), and says what was not searched;
/error/i takes letters in any case. In quotes from its beginning to its end, re:" a", an
expression may have blanks there and what looks like a filter; re:"error":\s*\d+ is taken
as it stands.
lines:all shows every line that matches, or has the text, instead of one a file.

Within the workspace, what is below the current folder is ranked higher; path:
leaves out the rest.

Filters alone list what they leave: since:1d, kind:class path:server. A query that
begins with a minus follows --: quarry search -- -path:vendor retry.

With --similar the question is a piece of code, and the query may only filter.

--format writes places for other programs: vimgrep as rg --vimgrep does, quickfix with
what each place is and why it is shown (Vim's errorformat, compilation-mode of Emacs),
sarif as SARIF 2.1.0. What is no place goes to standard error.

A search answers within --wait. Where what searches begin with is missing or damaged,
symbol: finds declarations at once all the same; a search answers from what there is by
then, and goes on behind its answer until the next one can begin at once: 10 to 20
seconds for 10,000 files. It says so on standard error, and Ctrl-C ends it.`,
		Example: `  quarry search how are routes grouped
  quarry search RouterGroup
  quarry search '"context deadline exceeded" type:test'
  quarry search --json -k 5 'retry with backoff lang:go'
  quarry search 're:func \w+Error path:internal'
  quarry search 'lines:all "TODO" -type:test' --offset 100
  vim -q <(quarry search --format quickfix how are routes grouped)
  quarry search --similar internal/queue/retry.go:20-48 -- -path:internal/queue`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "" && !slices.Contains(formats, format) {
				return fmt.Errorf("%w: --format %q must be one of %s", cli.ErrUsage, format, strings.Join(formats, ", "))
			}
			if format != "" && a.JSON {
				return fmt.Errorf("%w: --json and --format each write a document of their own; give one", cli.ErrUsage)
			}
			a.JSON = a.JSON || format == formatSARIF // which is JSON, too
			if similar != "" {
				if at != "" {
					return fmt.Errorf("%w: --similar looks at a file of this machine; leave out --at", cli.ErrUsage)
				}
				if offset > 0 {
					return fmt.Errorf("%w: --offset does not go with --similar; -k shows more", cli.ErrUsage)
				}
				return a.searchSimilar(cmd.Context(), similar, strings.Join(args, " "), format, k)
			}
			if !cmd.Flags().Changed("results") {
				k = 0
			} else if k < 1 {
				return fmt.Errorf("%w: -k %d: ask for at least one result", cli.ErrUsage, k)
			}
			query := strings.Join(args, " ")
			if at != "" {
				if format != "" || a.Workspace != "" {
					return fmt.Errorf("%w: --at searches on another machine, and --format and --workspace on this one", cli.ErrUsage)
				}
				if strings.TrimSpace(query) == "" {
					return errNothingAsked
				}
				return userService{a.app}.searchAt(cmd.Context(), at, query, mode, cmp.Or(k, fileResults), offset)
			}
			return a.search(cmd.Context(), query, mode, format, k, offset)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w; put -- before a query that begins with a minus", cli.ErrUsage, err)
	})
	cmd.Flags().StringVar(&mode, "mode", string(retrieval.SignalsAll), "what ranks: hybrid, lexical, semantic or symbols")
	cmd.Flags().StringVar(&similar, "similar", "", "find code like `FILE:START-END`, lines of a file")
	cmd.Flags().StringVar(&at, "at", "", "search in the `service` on another machine that quarry serve join has named")
	cmd.Flags().StringVar(&format, "format", "", "write places for other programs: "+strings.Join(formats, ", "))
	a.WaitFlag(cmd)
	modes := []string{string(retrieval.SignalsAll), string(retrieval.SignalsLexical), string(retrieval.SignalsSemantic), searchSymbols}
	for name, values := range map[string]func() []string{
		"mode": func() []string { return modes }, "format": func() []string { return formats }, "at": userService{a.app}.joinedNames,
	} {
		cli.CompleteFlag(cmd, name, values)
	}
	cmd.Flags().IntVarP(&k, "results", "k", fileResults, fmt.Sprintf("how many files are shown; of lines:all, how many lines, %d if left out", lineResults))
	cmd.Flags().IntVar(&offset, "offset", 0, "how many of the first results are left out")
	return cmd
}

// How many results are shown where nobody says.
const (
	fileResults = 10
	lineResults = 100
)

var errNothingAsked = fmt.Errorf("%w: missing query; give a question, a name or a text", cli.ErrUsage)

// searchOutput is the JSON of `quarry search`.
type searchOutput struct {
	Results []retrieval.Result `json:"results"`
	Backend []string           `json:"backend"`
	// Incomplete is what the index did not know yet; absent if nothing.
	Incomplete *workspace.Missing `json:"incomplete,omitempty"`
	// Updated is how many files were read to bring the index up to date; absent if none.
	Updated int                `json:"updated,omitempty"`
	Timings map[string]float64 `json:"timings_ms"`
	// Notes say which words look like filters and are none.
	Notes []string `json:"notes,omitempty"`
	// NotSearched counts what is not indexed, by why, where lines were asked for or nothing
	// was found; and what could not be parsed where a declaration was asked for.
	NotSearched map[string]int `json:"not_searched,omitempty"`
}

// search answers a query; k is 0 if the user did not say how many results.
func (a searches) search(ctx context.Context, raw, mode, format string, k, offset int) (err error) {
	if offset < 0 {
		return fmt.Errorf("%w: --offset %d: leave out none or more", cli.ErrUsage, offset)
	}
	req := retrieval.Request{Query: retrieval.Parse(raw, time.Now()), Limit: k, Offset: offset, Declarations: true}
	if req.Query.Text == "" && req.Query.Lines == nil && !req.Query.Narrows() {
		return errNothingAsked
	}
	if k == 0 {
		req.Limit = fileResults
		if req.Query.AllLines {
			req.Limit = lineResults
		}
	}
	switch s := retrieval.Signals(mode); {
	case s == retrieval.SignalsAll || s == retrieval.SignalsLexical || s == retrieval.SignalsSemantic:
		req.Signals = s
	case mode == searchSymbols:
		req.Query.Mode = retrieval.ModeSymbols
	default:
		return fmt.Errorf("%w: --mode %q must be hybrid, lexical, semantic or symbols", cli.ErrUsage, mode)
	}
	root, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	if here := folderWithin(root); here != "" {
		req.At = &retrieval.Position{Folder: filepath.Join(root, here)}
	}
	a.CommandSettings() // prints what is wrong with them: index.exclude may be what is ignored
	start := time.Now()
	from, err := a.openSearch(ctx, root, raw, req.WantsSemantic(), req.OnlyDeclared())
	if err != nil {
		return err
	}
	loaded := time.Since(start)
	answer, err := from.Search(ctx, req)
	var unready *workspace.NotReady
	if err != nil && req.Signals == retrieval.SignalsSemantic && !errors.As(err, &unready) {
		return fmt.Errorf("semantic search is not available: %w; use --mode hybrid, which uses every signal there is", err)
	}
	return a.showAnswer(from, format, &req, answer, err, loaded)
}

// folderWithin is the current folder as a path in root, with slashes; "" if it is
// root or not in it.
func folderWithin(root string) string {
	here, err := filepath.Abs(".")
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, here)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// showAnswer prints what a search led to. One that found nothing while that cannot be known
// fails, after what it could say of it.
func (a searches) showAnswer(from *searched, format string, req *retrieval.Request, answer workspace.Answer, failure error, loaded time.Duration) error {
	q := &req.Query
	missing := answer.Missing
	var unready *workspace.NotReady
	switch {
	case errors.As(failure, &unready):
		missing = &unready.Missing
		if missing.Reason != "" {
			failure = unready
			break
		}
		failure = fmt.Errorf("not ready: %s; `quarry index` reads the rest, --wait 5m waits for it", missing)
	case failure != nil:
		return failure
	}
	if a.JSON && format == "" {
		results := make([]retrieval.Result, len(answer.Results))
		for i := range results {
			results[i] = answer.Results[i].Result
		}
		return errors.Join(failure, a.PrintLine(searchOutput{
			Results:    results,
			Backend:    answer.Backend,
			Incomplete: missing,
			Updated:    from.updated,
			Timings: map[string]float64{
				"load": ms(loaded), "lexical": ms(answer.Timings.Lexical), "meaning": ms(answer.Timings.Semantic), "signals": ms(answer.Timings.Signals),
				"literal": ms(answer.Timings.Literal), "search": ms(answer.Timings.Total),
			},
			Notes: q.Notes, NotSearched: answer.NotSearched,
		}))
	}
	for _, note := range q.Notes {
		fmt.Fprintln(a.Stderr, note)
	}
	if failure != nil {
		return failure
	}
	if missing != nil {
		a.Incomplete(missing)
	}
	if format != "" {
		return a.printFormat(from.root, format, req, answer)
	}
	if q.Lines != nil {
		a.printLines(req, answer)
	} else {
		a.printResults(from, req, answer)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// printResults writes results for a user: the place, why it is there, and the
// lines of it that say most about the query.
func (a searches) printResults(in *searched, req *retrieval.Request, answer workspace.Answer) {
	q := &req.Query
	s := screen{colour: cli.OnTerminal(a.Stdout)}
	h := highlighter{screen: s, terms: q.Terms()}
	browsing := len(h.terms) == 0
	if len(answer.Results) == 0 {
		switch {
		case answer.Total > 0:
			fmt.Fprintf(a.Stdout, "No results after the first %d: the search found %d files.\n", req.Offset, answer.Total)
		case answer.NothingLeft:
			fmt.Fprintln(a.Stdout, "Nothing found: the filters leave out every file.")
		case q.Narrows():
			fmt.Fprintln(a.Stdout, "Nothing found. Fewer or other words, or fewer filters, may find it.")
		default:
			fmt.Fprintln(a.Stdout, "Nothing found. Fewer or other words may find it.")
		}
		for _, said := range gaps(answer) {
			fmt.Fprintln(a.Stdout, said)
		}
		return
	}
	files, err := walk.Open(in.root, a.limits())
	if err != nil { // it went away since it was searched: places are left
		files = nil
	} else {
		defer files.Close()
	}
	for i, r := range answer.Results {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		if browsing {
			h.terms = (&retrieval.Query{Text: r.Symbol}).Terms()
		}
		from, lines := h.excerpt(files, r.Path, r.StartLine, r.EndLine)
		location := s.style(cli.Bold, fmt.Sprintf("%s:%d", inLine(r.Path), from))
		if r.Symbol != "" {
			location += "  " + string(r.Kind) + " " + r.Symbol
		}
		fmt.Fprintln(a.Stdout, location)
		if len(r.Reasons) > 0 {
			fmt.Fprintln(a.Stdout, "  "+s.style(cli.Dim, strings.Join(r.Reasons, " · ")))
		}
		for i, line := range lines {
			fmt.Fprintf(a.Stdout, "%s %s\n", s.style(cli.Dim, fmt.Sprintf("%6d │", from+i)), h.mark(strings.ReplaceAll(line, "\t", "    ")))
		}
		if len(r.More) > 0 {
			var more []string
			for _, m := range r.More {
				more = append(more, strings.TrimSpace(fmt.Sprintf("%d-%d %s", m.StartLine, m.EndLine, m.Symbol)))
			}
			fmt.Fprintln(a.Stdout, "  "+s.style(cli.Dim, "also "+strings.Join(more, ", ")))
		}
		if r.Declared > 1 {
			fmt.Fprintln(a.Stdout, "  "+s.style(cli.Dim, "declares "+declaredBy(r.Result)))
		}
	}
	next := ""
	switch end := req.Offset + len(answer.Results); {
	case end >= answer.Total:
	case in.similar:
		next = "; use -k for more"
	default:
		next = fmt.Sprintf("; use --offset %d for more", end)
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", s.style(cli.Dim, fmt.Sprintf("%d of %d files in %.1f ms by %s%s", len(answer.Results), answer.Total,
		ms(answer.Timings.Total), strings.Join(answer.Backend, ", "), next)))
}

// gaps say what an answer did not look at.
func gaps(answer workspace.Answer) (list []string) {
	if said := workspace.OnlyIndexed(answer.NotSearched); said != "" {
		list = append(list, said+"; `quarry status` gives examples")
	}
	if n := answer.NotSearched[workspace.Unparsed]; n > 0 {
		list = append(list, workspace.NotParsed(n, "`quarry status` says which"))
	}
	return list
}

// declaredBy are the declarations of a result's file, each with its line.
func declaredBy(r retrieval.Result) string {
	var list []string
	for _, d := range r.Declares {
		list = append(list, fmt.Sprintf("%d %s", d.Line, d.Symbol))
	}
	if more := r.Declared - len(r.Declares); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// printLines writes lines as grep does, those of a file nested under its first if only that was
// asked for, and what was not searched.
func (a searches) printLines(req *retrieval.Request, answer workspace.Answer) {
	s := screen{colour: cli.OnTerminal(a.Stdout)}
	for _, r := range answer.Results {
		fmt.Fprintf(a.Stdout, "%s %s\n", s.style(cli.Bold, fmt.Sprintf("%s:%d:", inLine(r.Path), r.StartLine)), strings.ReplaceAll(strings.TrimSpace(r.Text), "\t", " "))
		if len(r.More) > 0 {
			var more []string
			for _, m := range r.More {
				more = append(more, fmt.Sprint(m.StartLine))
			}
			fmt.Fprintln(a.Stdout, "  "+s.style(cli.Dim, "also "+strings.Join(append(more, r.Reasons...), ", ")))
		}
	}
	what := "file"
	if req.Query.AllLines {
		what = "line"
	}
	said := counted(len(answer.Results), what)
	switch end := req.Offset + len(answer.Results); {
	case answer.NothingLeft:
		said = "Nothing found: the filters leave out every file."
	case len(answer.Results) == 0 && req.Offset > 0:
		said = fmt.Sprintf("No results after the first %d.", req.Offset)
	case len(answer.Results) == 0:
		said = "No line of an indexed file matches."
	case answer.Total > end:
		said += fmt.Sprintf("; use --offset %d for more", end)
	}
	said = strings.Join(append([]string{said}, gaps(answer)...), "\n")
	if len(answer.Results) > 0 {
		said = "\n" + s.style(cli.Dim, said)
	}
	fmt.Fprintln(a.Stdout, said)
}

// snippetLines is how many lines of a place are shown.
const snippetLines = 4

// highlighter finds the words of a query in lines of code.
type highlighter struct {
	screen   screen
	terms    []string
	analyzer token.Analyzer
}

// excerpt returns the lines between from and to, at most snippetLines of them,
// that hold most of the query's terms, and the number of the first. A file that
// changed or went away since it was searched yields none; nor does one that has become
// a link, a pipe or a secret meanwhile. Tokens are masked, as in the index.
func (h *highlighter) excerpt(files *walk.Root, path string, from, to int) (first int, lines []string) {
	if files == nil || files.Check(path) != "" {
		return from, nil
	}
	text, _, reason, err := files.Read(path)
	if reason != "" || err != nil {
		return from, nil
	}
	all := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	from, to = max(from, 1), min(to, len(all))
	if from > to {
		return from, nil
	}
	best, at := -1, from
	for i := from; i <= to; i++ {
		if n := h.count(all[i-1 : min(to, i+snippetLines-1)]); n > best {
			best, at = n, i
		}
	}
	return at, all[at-1 : min(to, at+snippetLines-1)]
}

// count is how many of the terms lines hold; a term in the first line counts
// double, so that a window starts where there is something to see.
func (h *highlighter) count(lines []string) int {
	seen := make([]int, len(h.terms))
	for i, line := range lines {
		h.analyzer.Terms(line, func(term []byte) {
			if k := slices.Index(h.terms, string(term)); k >= 0 {
				worth := 1
				if i == 0 {
					worth = 2
				}
				seen[k] = max(seen[k], worth)
			}
		})
	}
	sum := 0
	for _, n := range seen {
		sum += n
	}
	return sum
}

// mark makes the words of the query bold.
func (h *highlighter) mark(line string) string {
	if !h.screen.colour {
		return line
	}
	var out strings.Builder
	done := 0
	token.Runs(line, func(run string) {
		found := false
		h.analyzer.Terms(run, func(term []byte) { found = found || slices.Contains(h.terms, string(term)) })
		if !found {
			return
		}
		at := done + strings.Index(line[done:], run)
		out.WriteString(line[done:at])
		out.WriteString(h.screen.style(cli.Bold, run))
		done = at + len(run)
	})
	return out.String() + line[done:]
}
