package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// asked is the argument of every tool that searches for a query.
type asked struct {
	Query string `json:"query"`
}

func (a asked) parse() (retrieval.Query, error) {
	q := retrieval.Parse(a.Query, time.Now())
	if strings.TrimSpace(a.Query) == "" {
		return q, Failf(InvalidArguments, "query is empty; say in words or names what to look for")
	}
	return q, nil
}

// decodeQuery is decodeArguments for those tools: T embeds asked. An empty query
// is refused.
func decodeQuery[T interface {
	parse() (retrieval.Query, error)
}](raw json.RawMessage) (args T, q retrieval.Query, err error) {
	if args, err = decodeArguments[T](raw); err == nil {
		q, err = args.parse()
	}
	return args, q, err
}

// language is a language as filters have it; "" stays "".
func language(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return ""
	}
	return lang.Canonical(name)
}

type textMatch struct {
	// At is from the first of Lines to the last.
	At string `json:"at"`
	// Lines are "number: text".
	Lines []string `json:"lines"`
}

// maxLinesPerFile is how many lines of one file search_text shows.
const maxLinesPerFile = 3

func (b *Toolbox) searchText(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, q, err := decodeQuery[struct {
		asked
		bounds
		Limit int      `json:"limit"`
		Paths []string `json:"paths"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	for _, p := range args.Paths {
		q.Paths = append(q.Paths, strings.ToLower(p))
	}
	answer, err := b.withText(ctx, q, args.Offset+args.Limit)
	if err != nil {
		return reply{}, err
	}
	b.showed(&q, window{args.Offset, args.Limit}, &answer)
	want := wordsOf(args.Query, &q)
	var list, near []textMatch
	for _, r := range answer.Results {
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		file, text, ok := b.text(r)
		if !ok {
			continue
		}
		if q.Lines != nil {
			list = append(list, textMatch{at(file, r.StartLine, r.EndLine), []string{fmt.Sprintf("%d: %s", r.StartLine, clip(strings.TrimSpace(r.Result.Text), maxLineBytes))}})
			continue
		}
		var m textMatch
		first, last := r.StartLine, r.StartLine
		best := want.best(text, maxLinesPerFile)
		exact := len(best) > 0 && want.has(text[best[0]])
		if !exact {
			best = best[:min(1, len(best))]
		}
		for n, i := range best {
			if last = i + 1; n == 0 {
				first = i + 1
			}
			m.Lines = append(m.Lines, fmt.Sprintf("%d: %s", i+1, clip(strings.TrimSpace(text[i]), maxLineBytes)))
		}
		if m.Lines == nil { // its name matches, or the word in another form
			m.Lines = []string{fmt.Sprintf("%d: %s", r.StartLine, clip(strings.TrimSpace(lineAt(text, r.StartLine)), maxLineBytes))}
		}
		m.At = at(file, first, last)
		if exact {
			list = append(list, m)
		} else {
			near = append(near, m)
		}
	}
	// What has the very text comes first, as grep would find it.
	r := part(append(list, near...), args.Offset, args.Limit, func(list []textMatch) any {
		return struct {
			Matches    []textMatch `json:"matches"`
			TotalFiles int         `json:"total_files"`
		}{list, answer.Total}
	})
	r.truncated = answer.Total > len(answer.Results)
	r.from(answer.Backend, answer.Missing)
	if len(list)+len(near) == 0 {
		err = b.nothing(ctx, &r, answer)
	}
	return r, err
}

// withText finds what a query does, and before it the files that have the query's
// very text: all that grep would find, as far as limit allows.
func (b *Toolbox) withText(ctx context.Context, q retrieval.Query, limit int) (workspace.Answer, error) {
	req := retrieval.Request{Query: q, Limit: limit, At: b.position(nil)}
	answer, err := b.parts.Workspace.Search(ctx, req)
	if err != nil || len(q.Phrases) > 0 || q.Text == "" {
		return answer, err // quoted text restricts the answer already
	}
	req.Query.Phrases = []string{q.Text}
	exact, err := b.parts.Workspace.Search(ctx, req)
	var unready *workspace.NotReady
	if errors.As(err, &unready) && len(answer.Results) > 0 {
		answer.Missing = &unready.Missing // of the very text nobody knows yet
		return answer, nil
	}
	if err != nil {
		return answer, err
	}
	for _, r := range answer.Results {
		same := func(e workspace.Result) bool { return e.Root == r.Root && e.Path == r.Path }
		if len(exact.Results) < limit && !slices.ContainsFunc(exact.Results, same) {
			exact.Results = append(exact.Results, r)
		}
	}
	answer.Results, answer.Total = exact.Results, max(answer.Total, exact.Total)
	return answer, nil
}

// text is the name and lines of a result's file; ok is false if it may not be
// read, whatever the index says.
func (b *Toolbox) text(r workspace.Result) (name string, lines []string, ok bool) {
	file := filepath.Join(r.Root, filepath.FromSlash(r.Path))
	text, err := b.parts.Workspace.Text(file)
	if err != nil {
		return "", nil, false
	}
	return b.parts.Workspace.Name(file), linesOf(text), true
}

func lineAt(lines []string, n int) string {
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}

// searchEntry is one result.
type searchEntry struct {
	At     string      `json:"at"`
	Score  float64     `json:"score"`
	Symbol string      `json:"symbol,omitempty"`
	Kind   syntax.Kind `json:"kind,omitempty"`
	Why    []string    `json:"why,omitempty"`
	Text   string      `json:"text"`
}

// How many lines of a result are shown: a survey shows many results a little, an
// answer few results well.
const (
	surveyLines = 5
	answerLines = 16
)

// rounded is a score in 0..1 with as many digits as a reader has use for.
func rounded(score float64) float64 { return math.Round(100*score) / 100 }

// results are the search results as tools answer them.
func (b *Toolbox) results(ctx context.Context, q retrieval.Query, text string, within window, lines int) (reply, error) {
	answer, err := b.parts.Workspace.Search(ctx, retrieval.Request{Query: q, Limit: within.end(), At: b.position(nil)})
	if err != nil {
		return reply{}, err
	}
	b.showed(&q, within, &answer)
	r, err := b.entries(ctx, answer, wordsOf(text, &q), within, lines)
	if err == nil {
		err = b.nothing(ctx, &r, answer)
	}
	return r, err
}

// window is a part of what a search finds.
type window struct{ offset, limit int }

func (w window) end() int { return w.offset + w.limit }

// entries are results with some lines of each, chosen by what was asked for.
func (b *Toolbox) entries(ctx context.Context, answer workspace.Answer, want words, within window, lines int) (reply, error) {
	var list []searchEntry
	for _, r := range answer.Results {
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		name, file, ok := b.text(r)
		if !ok {
			continue
		}
		start, end, text := want.excerpt(file, r.StartLine, r.EndLine, lines)
		list = append(list, searchEntry{at(name, start, end), rounded(r.Score), r.Symbol, r.Kind, r.Reasons, text})
	}
	out := part(list, within.offset, within.limit, func(list []searchEntry) any {
		return struct {
			Results []searchEntry `json:"results"`
		}{list}
	})
	out.truncated = answer.Total > len(answer.Results)
	out.from(answer.Backend, answer.Missing)
	return out, nil
}

func (b *Toolbox) codebaseSearch(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, q, err := decodeQuery[struct {
		asked
		bounds
		MaxResults int    `json:"max_results"`
		PathGlob   string `json:"path_glob"`
		Lang       string `json:"lang"`
		Kind       string `json:"kind"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	if args.PathGlob != "" {
		q.Paths = append(q.Paths, strings.ToLower(args.PathGlob))
	}
	if l := language(args.Lang); l != "" {
		q.Languages = append(q.Languages, l)
	}
	if kind := strings.ToLower(args.Kind); kind != "" && kind != "any" {
		parsed := retrieval.Parse("kind:"+kind, time.Time{}).Kinds
		if len(parsed) != 1 {
			return reply{}, Failf(InvalidArguments, "kind %q is none; use function, method, class, struct, interface, enum, var, const, type, module, or leave it out", clip(args.Kind, 60))
		}
		q.Kinds = append(q.Kinds, parsed...)
	}
	return b.results(ctx, q, args.Query, window{args.Offset, args.MaxResults}, surveyLines)
}

func (b *Toolbox) searchCode(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, q, err := decodeQuery[struct {
		asked
		bounds
		Language    string `json:"language"`
		MaxResults  int    `json:"max_results"`
		UseReranker bool   `json:"use_reranker"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	q.Mode = retrieval.ModeCode
	if l := language(args.Language); l != "" {
		q.Languages = append(q.Languages, l)
	}
	within := window{args.Offset, args.MaxResults}
	answer, err := b.parts.Workspace.Search(ctx, retrieval.Request{Query: q, Limit: within.end(), At: b.position(nil)})
	if err != nil {
		return reply{}, err
	}
	b.showed(&q, within, &answer)
	r, err := b.entries(ctx, answer, wordsOf(args.Query, &q), within, answerLines)
	if err != nil {
		return reply{}, err
	}
	if err := b.nothing(ctx, &r, answer); err != nil {
		return reply{}, err
	}
	// Whether a model may judge results is for the user to set, not for a model.
	if args.UseReranker && !slices.Contains(answer.Backend, workspace.BackendReranker) {
		r.warn("no reranker judged these; they are in the order of the search")
	}
	return r, nil
}

func (b *Toolbox) searchDocs(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, q, err := decodeQuery[struct {
		asked
		bounds
		MaxResults int `json:"max_results"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	// Not the mode of the query language, which finds comments too.
	q.Types = append(q.Types, retrieval.TypeDoc)
	return b.results(ctx, q, args.Query, window{args.Offset, args.MaxResults}, answerLines)
}

func (b *Toolbox) findSimilar(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		bounds
		Code        string `json:"code"`
		Language    string `json:"language"`
		MaxResults  int    `json:"max_results"`
		ExcludePath string `json:"exclude_path"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	if strings.TrimSpace(args.Code) == "" {
		return reply{}, Failf(InvalidArguments, "code is empty; give the code to compare with")
	}
	exclude := ""
	if args.ExcludePath != "" {
		if exclude, err = b.locate(ctx, args.ExcludePath); err != nil {
			return reply{}, err
		}
	}
	req := workspace.SimilarRequest{Code: args.Code, Path: exclude, StartLine: 1, EndLine: math.MaxInt32, Limit: args.Offset + args.MaxResults}
	if l := language(args.Language); l != "" {
		req.Filter.Languages = []string{l}
	}
	answer, err := b.parts.Workspace.FindSimilar(ctx, req)
	if err != nil {
		return reply{}, err
	}
	within := window{args.Offset, args.MaxResults}
	b.showed(nil, within, &answer)
	return b.entries(ctx, answer, words{}, within, answerLines)
}
