package eval

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/completion/crossfile"
	"quarry/index/syntax"
)

// Recall is how often the prompt at a call site held the signature of the
// callee, which another file declares.
type Recall struct {
	Sites int `json:"sites"`
	// Unwritten: the call's line was taken out. Written: the call was typed up
	// to its opening bracket.
	Unwritten float64 `json:"recall_unwritten"`
	Written   float64 `json:"recall_written"`
	// P50 and P95 are milliseconds for finding the context.
	P50 float64 `json:"retrieval_p50_ms"`
	P95 float64 `json:"retrieval_p95_ms"`
}

// ContextReport is the outcome of Context.
type ContextReport struct {
	Repositories map[string]Recall `json:"repositories"`
	Overall      Recall            `json:"overall"`
}

// site is a call in one file of a function that exactly one other file declares.
type site struct {
	doc       completion.Document
	line      int // start of the call's line
	end       int // after the name called
	signature string
}

// Context samples up to n call sites of each repository and looks for the
// callee's signature in what the prompt shows of other files, within tokens of
// context.
func Context(ctx context.Context, repositories []Repository, n, tokens int, seed uint64) (ContextReport, error) {
	report := ContextReport{Repositories: map[string]Recall{}}
	rng := rand.New(rand.NewPCG(seed, 0))
	var all []recalled
	for _, r := range repositories {
		source := crossfile.New()
		sites, err := callSites(r, source)
		if err != nil {
			return report, fmt.Errorf("%s: %w", r.Name, err)
		}
		rng.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
		var here []recalled
		e := completion.New(silent{}, completion.Options{Context: source, SnippetTokens: tokens, ContextTokens: 4 * tokens, Debounce: -1})
		for i, s := range sites[:min(n, len(sites))] {
			one, err := recall(ctx, e, s, fmt.Sprint(r.Name, i))
			if err != nil {
				e.Close()
				return report, err
			}
			here = append(here, one)
		}
		e.Close()
		if len(here) > 0 {
			report.Repositories[r.Name] = sum(here)
		}
		all = append(all, here...)
	}
	report.Overall = sum(all)
	return report, nil
}

type recalled struct {
	unwritten, written bool
	took               []float64
}

func recall(ctx context.Context, e *completion.Engine, s site, key string) (recalled, error) {
	var r recalled
	text := s.doc.Text
	lineStop := s.end + strings.IndexByte(text[s.end:]+"\n", '\n')
	indent := s.line
	for indent < s.end && (text[indent] == ' ' || text[indent] == '\t') {
		indent++
	}
	for _, from := range []int{indent, s.end} {
		d := s.doc
		d.Text = text[:from] + text[min(lineStop, len(text)):]
		res, err := e.Complete(ctx, completion.Request{Key: fmt.Sprint(key, from), Document: d, Offset: from})
		if err != nil {
			return r, err
		}
		held := false
		for _, sn := range res.Prompt.Snippets {
			held = held || strings.Contains(sn.Text, s.signature)
		}
		if from == s.end {
			r.written = held
		} else {
			r.unwritten = held
		}
		r.took = append(r.took, res.Timings.Context.Seconds()*1000)
		e.Forget(fmt.Sprint(key, from))
	}
	return r, nil
}

func sum(list []recalled) Recall {
	out := Recall{Sites: len(list)}
	var took []float64
	for _, r := range list {
		if r.unwritten {
			out.Unwritten++
		}
		if r.written {
			out.Written++
		}
		took = append(took, r.took...)
	}
	out.Unwritten /= float64(max(len(list), 1))
	out.Written /= float64(max(len(list), 1))
	out.P50, out.P95 = percentile(took, 50), percentile(took, 95)
	return out
}

// callSites reads a repository into source and finds its calls of functions
// that are declared once, in another file.
func callSites(r Repository, source *crossfile.Source) ([]site, error) {
	type declared struct{ path, signature string }
	functions := map[string][]declared{}
	read := make([]*syntax.File, len(r.Documents))
	for i, d := range r.Documents {
		f, err := syntax.Analyze(d.Language, []byte(d.Text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Path, err)
		}
		read[i] = f
		source.Put(d.Path, f)
		for _, s := range f.Symbols {
			if s.Kind == syntax.KindFunction || s.Kind == syntax.KindMethod || s.Kind == syntax.KindMacro {
				functions[s.Name] = append(functions[s.Name], declared{d.Path, s.Signature})
			}
		}
	}
	var sites []site
	for i, d := range r.Documents {
		for _, ref := range read[i].Refs {
			if ref.Kind != syntax.RefCall || len(functions[ref.Name]) != 1 {
				continue
			}
			callee := functions[ref.Name][0]
			if callee.path == d.Path || callee.signature == "" {
				continue
			}
			end := int(ref.Span.End)
			if end > len(d.Text) || !strings.HasSuffix(d.Text[:end], ref.Name) {
				continue
			}
			// With the bracket, where it follows.
			if strings.HasPrefix(d.Text[end:], "(") {
				end++
			}
			sites = append(sites, site{d, strings.LastIndexByte(d.Text[:ref.Span.Start], '\n') + 1, end, callee.signature})
		}
	}
	return sites, nil
}

// silent is a model that answers nothing: what is looked at is the prompt.
type silent struct{}

func (silent) Model() string { return "granite4:micro" }
func (silent) Ready() error  { return nil }
func (silent) Generate(context.Context, string, int, []string, int, func(string, float64) bool) (int, error) {
	return 0, nil
}

// String is the report as a Markdown table.
func (r ContextReport) String() string {
	var b strings.Builder
	b.WriteString("| repository | call sites | recall, call not yet written | recall, written up to its bracket | p50 ms | p95 ms |\n|---|---|---|---|---|---|\n")
	row := func(name string, c Recall) {
		fmt.Fprintf(&b, "| %s | %d | %.3f | %.3f | %.1f | %.1f |\n", name, c.Sites, c.Unwritten, c.Written, c.P50, c.P95)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Repositories)) {
		row(name, r.Repositories[name])
	}
	row("all", r.Overall)
	return b.String()
}
