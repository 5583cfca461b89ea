package eval

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/completion/crossfile"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// Recall is how often the prompt at a call site held the signature of the
// callee, which another file declares.
type Recall struct {
	Sites int `json:"sites"`
	// Unwritten: the call's line was taken out. Written: the call was typed up
	// to its opening bracket.
	Unwritten float64 `json:"recall_unwritten"`
	Written   float64 `json:"recall_written"`
	// Names is the share of the names on the line taken out that the context had.
	Names float64 `json:"names_unwritten"`
	// Tokens is the mean length of the context, estimated.
	Tokens float64 `json:"context_tokens"`
	// P50 and P95 are milliseconds for finding the context.
	P50 float64 `json:"retrieval_p50_ms"`
	P95 float64 `json:"retrieval_p95_ms"`
}

// ContextReport is the outcome of Context.
type ContextReport struct {
	Repositories map[string]Recall `json:"repositories"`
	Languages    map[string]Recall `json:"languages"`
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
// context that reach so far.
func Context(ctx context.Context, repositories []Repository, n, tokens int, seed uint64, reach crossfile.Reach) (ContextReport, error) {
	report := ContextReport{Repositories: map[string]Recall{}, Languages: map[string]Recall{}}
	var all []recalled
	languages := map[string][]recalled{}
	for _, r := range repositories {
		v, err := read(r, reach)
		if err != nil {
			return report, fmt.Errorf("%s: %w", r.Name, err)
		}
		sites := v.callSites()
		// The sample of a repository does not depend on the others.
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
		var here []recalled
		e := completion.New(silent{}, completion.Options{Context: unhurried{v.source}, SnippetTokens: tokens, ContextTokens: 4 * tokens, Debounce: -1})
		for i, s := range sites[:min(n, len(sites))] {
			one, err := recall(ctx, e, s, fmt.Sprint(r.Name, i))
			if err != nil {
				e.Close()
				return report, err
			}
			here = append(here, one)
			languages[s.doc.Language] = append(languages[s.doc.Language], one)
		}
		e.Close()
		if len(here) > 0 {
			report.Repositories[r.Name] = sum(here)
		}
		all = append(all, here...)
	}
	for name, list := range languages {
		report.Languages[name] = sum(list)
	}
	report.Overall = sum(all)
	return report, nil
}

type recalled struct {
	unwritten, written bool
	names              float64
	tokens             int
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
			held = held || strings.Contains(strings.ReplaceAll(sn.Text, "\n", " "), s.signature) // decorators have lines of their own
		}
		if from == s.end {
			r.written = held
		} else {
			r.unwritten = held
			for _, sn := range res.Prompt.Snippets {
				r.tokens += completion.EstimateTokens(sn.Text)
			}
			r.names = namesIn(text[from:min(lineStop, len(text))], res.Prompt.Snippets)
		}
		r.took = append(r.took, res.Timings.Context.Seconds()*1000)
		e.Forget(fmt.Sprint(key, from))
	}
	return r, nil
}

// namesIn is the share of a line's names that stand in snippets.
func namesIn(line string, snippets []completion.Snippet) float64 {
	has := map[string]bool{}
	for _, sn := range snippets {
		for _, t := range lex(sn.Text) {
			has[t.text] = true
		}
	}
	names, found := 0, 0
	for _, t := range lex(line) {
		if len(t.text) > 1 && isLetter(rune(t.text[0])) {
			names++
			if has[t.text] {
				found++
			}
		}
	}
	return float64(found) / float64(max(names, 1))
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
		out.Names += r.names
		out.Tokens += float64(r.tokens)
		took = append(took, r.took...)
	}
	out.Unwritten /= float64(max(len(list), 1))
	out.Written /= float64(max(len(list), 1))
	out.Names /= float64(max(len(list), 1))
	out.Tokens /= float64(max(len(list), 1))
	out.P50, out.P95 = percentile(took, 50), percentile(took, 95)
	return out
}

// survey is a repository as it was read.
type survey struct {
	documents []completion.Document
	files     []*syntax.File // of documents
	source    *crossfile.Source
	index     *retrieval.Index      // what source asks
	texts     inMemory              // where source reads
	functions map[string][]declared // by name
}

type declared struct{ path, signature string }

// write has the source read a document of the survey with another text, as it does
// when the user types.
func (v *survey) write(d completion.Document) error {
	f, err := syntax.Analyze(d.Language, []byte(d.Text))
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	v.texts.texts[v.texts.key(d)] = d.Text
	v.index.Apply([]retrieval.Change{changeOf(d, f)})
	return nil
}

// remove has the source forget a document, until it is written.
func (v *survey) remove(d completion.Document) {
	delete(v.texts.texts, v.texts.key(d))
	v.index.Apply([]retrieval.Change{{Path: d.Path}})
}

func changeOf(d completion.Document, f *syntax.File) retrieval.Change {
	return retrieval.Change{Path: d.Path, Document: &retrieval.Document{Path: d.Path, Language: d.Language, Text: d.Text, Syntax: f}}
}

// read reads a repository into a source that reaches so far.
func read(r Repository, reach crossfile.Reach) (*survey, error) {
	texts := inMemory{index: retrieval.New(retrieval.Options{}), texts: map[string]string{}}
	if len(r.Documents) > 0 {
		texts.root = r.Documents[0].Root
	}
	v := &survey{documents: r.Documents, source: crossfile.New(texts, reach), index: texts.index, texts: texts, functions: map[string][]declared{}}
	var changes []retrieval.Change
	for _, d := range r.Documents {
		f, err := syntax.Analyze(d.Language, []byte(d.Text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Path, err)
		}
		v.files = append(v.files, f)
		texts.texts[texts.key(d)] = d.Text
		changes = append(changes, changeOf(d, f))
		for _, s := range f.Symbols {
			if s.Kind == syntax.KindFunction || s.Kind == syntax.KindMethod || s.Kind == syntax.KindMacro {
				v.functions[s.Name] = append(v.functions[s.Name], declared{d.Path, s.Signature})
			}
		}
	}
	texts.index.Apply(changes)
	return v, nil
}

// callee is what a reference in document i calls, if that is a function declared
// once, in another file; ok is false for what only has the same name.
func (v *survey) callee(i int, ref *syntax.Ref) (callee declared, ok bool) {
	d := &v.documents[i]
	if ref.Kind != syntax.RefCall || len(v.functions[ref.Name]) != 1 {
		return declared{}, false
	}
	callee = v.functions[ref.Name][0]
	end := int(ref.Span.End)
	if callee.path == d.Path || callee.signature == "" || end > len(d.Text) || !strings.HasSuffix(d.Text[:end], ref.Name) {
		return declared{}, false
	}
	line := d.Text[strings.LastIndexByte(d.Text[:ref.Span.Start], '\n')+1 : end]
	if len(ref.Name) < 3 || builtin[d.Language][ref.Name] || isAttribute(d.Language, line) || isTest(callee.path) && !isTest(d.Path) {
		return declared{}, false
	}
	return callee, true
}

// callSites are the calls of functions that are declared once, in another file.
func (v *survey) callSites() []site {
	var sites []site
	for i, d := range v.documents {
		for k := range v.files[i].Refs {
			ref := &v.files[i].Refs[k]
			callee, ok := v.callee(i, ref)
			if !ok {
				continue
			}
			end := int(ref.Span.End)
			// With the bracket, where it follows.
			if strings.HasPrefix(d.Text[end:], "(") {
				end++
			}
			sites = append(sites, site{d, strings.LastIndexByte(d.Text[:ref.Span.Start], '\n') + 1, end, callee.signature})
		}
	}
	return sites
}

// isAttribute: in Rust, all and any of #[cfg(all(…))] look like calls.
func isAttribute(language, line string) bool {
	line = strings.TrimSpace(line)
	return language == "rust" && (strings.HasPrefix(line, "#[") || strings.HasPrefix(line, "#!["))
}

// inMemory is the crossfile.Workspace of one repository, whose files have one root.
type inMemory struct {
	index *retrieval.Index
	root  string
	texts map[string]string
}

func (inMemory) key(d completion.Document) string {
	return filepath.ToSlash(filepath.Join(d.Root, d.Path))
}

func (m inMemory) Text(path string) (string, error) {
	text, ok := m.texts[filepath.ToSlash(path)]
	if !ok {
		return "", fs.ErrNotExist
	}
	return text, nil
}

// Allows answers true: nothing leaves a file of it out.
func (m inMemory) Allows(_, _ string) bool { return true }

func (m inMemory) Searchable() []*workspace.Searchable {
	return []*workspace.Searchable{{Root: m.root, Snapshot: m.index.Current()}}
}

func (m inMemory) Similar(text, _, except string, k int) []workspace.SimilarChunk {
	var list []workspace.SimilarChunk
	for _, p := range m.index.Current().Similar(text, except, k) {
		list = append(list, workspace.SimilarChunk{Root: m.root, SimilarChunk: p})
	}
	return list
}

// unhurried lets a source finish: with the engine's deadline the recall would
// depend on the machine. How long it takes is measured besides.
type unhurried struct{ completion.ContextSource }

func (p unhurried) Context(ctx context.Context, q completion.ContextQuery) []completion.Snippet {
	return p.ContextSource.Context(context.WithoutCancel(ctx), q)
}

// silent is a model that answers nothing: what is looked at is the prompt.
type silent struct{}

func (silent) Model() string { return "granite4.1:3b" }
func (silent) Ready() error  { return nil }
func (silent) Generate(context.Context, string, int, []string, int, func(string, float64) bool) (int, error) {
	return 0, nil
}

const recallHead = "| call sites | recall, call not yet written | recall, written up to its bracket | names of the line | p50 ms | p95 ms |\n|---|---|---|---|---|---|---|\n"

func (c Recall) row(name string) string {
	return fmt.Sprintf("| %s | %d | %.3f | %.3f | %.3f | %.1f | %.1f |\n", name, c.Sites, c.Unwritten, c.Written, c.Names, c.P50, c.P95)
}

// String is the report as two Markdown tables.
func (r ContextReport) String() string {
	var b strings.Builder
	b.WriteString("| repository " + recallHead)
	for _, name := range slices.Sorted(maps.Keys(r.Repositories)) {
		b.WriteString(r.Repositories[name].row(name))
	}
	b.WriteString(r.Overall.row("all"))
	b.WriteString("\n| language " + recallHead)
	for _, name := range slices.Sorted(maps.Keys(r.Languages)) {
		b.WriteString(r.Languages[name].row(name))
	}
	return b.String()
}

// ContextStep is what a Source recalls that reaches so far and no further.
type ContextStep struct {
	Reach  string `json:"reach"`
	Recall Recall `json:"recall"`
}

var reaches = []struct {
	name  string
	reach crossfile.Reach
}{
	{"the same folder", crossfile.Folder},
	{"and imports", crossfile.Imports},
	{"and the repository", crossfile.Repository},
	{"and similar code", crossfile.Similar},
}

// ContextSteps runs Context with each reach, the nearest first, on the same call
// sites.
func ContextSteps(ctx context.Context, repositories []Repository, n, tokens int, seed uint64) ([]ContextStep, error) {
	var steps []ContextStep
	for _, step := range reaches {
		report, err := Context(ctx, repositories, n, tokens, seed, step.reach)
		if err != nil {
			return nil, err
		}
		steps = append(steps, ContextStep{step.name, report.Overall})
	}
	return steps, nil
}

// WriteContextSteps writes the steps as a Markdown table.
func WriteContextSteps(w io.Writer, steps []ContextStep) error {
	text := "| context from " + recallHead
	for _, s := range steps {
		text += s.Recall.row(s.Reach)
	}
	_, err := io.WriteString(w, text)
	return err
}
