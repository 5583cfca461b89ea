package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/completion/crossfile"
	"quarry/index/syntax"
)

// RoundsReport is what two-round mode puts into prompts at function bodies: the
// share of the callees, each declared in one other file, whose signature is there.
type RoundsReport struct {
	Bodies  int `json:"bodies"`
	Callees int `json:"callees"`
	// One is the share after one round, Two after the second with drafts of
	// several makes, in their order.
	One float64      `json:"recall_one_round"`
	Two []DraftScore `json:"recall_two_rounds"`
}

// DraftScore is the share with drafts of one make.
type DraftScore struct {
	Draft  string  `json:"draft"`
	Recall float64 `json:"recall"`
	// Answered is the share of bodies for which there was a draft.
	Answered float64 `json:"answered"`
}

// corruptions are the shares of a true body's names that are other names in a
// draft.
var corruptions = []float64{0, 0.25, 0.5, 0.75, 1}

// body is a function body taken out of its document.
type body struct {
	doc     completion.Document // without it
	offset  int
	want    string
	callees []string // signatures
}

// Rounds takes up to n function bodies out of each repository and has them asked
// for once and twice, within tokens of context. The first answer is not a
// model's: it is the true body with some of its names replaced by others of the
// repository, or what the model-free engine says, which stand for good and bad
// models.
func Rounds(ctx context.Context, repositories []Repository, n, tokens int, seed uint64) (RoundsReport, error) {
	report := RoundsReport{}
	found := make([]int, len(corruptions)+2) // one round, each corruption, model-free
	answered := make([]int, len(found))
	for _, r := range repositories {
		v, err := read(r, crossfile.Similar)
		if err != nil {
			return report, fmt.Errorf("%s: %w", r.Name, err)
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		bodies, names := v.bodies(), v.names()
		rng.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
		repo := &completion.Repository{}
		for _, d := range r.Documents {
			repo.Add(d.Root, d.Path, d.Text)
		}
		for _, b := range bodies[:min(n, len(bodies))] {
			report.Bodies++
			report.Callees += len(b.callees)
			drafts := []string{""}
			for _, c := range corruptions {
				drafts = append(drafts, corrupt(b.want, c, names, rng))
			}
			local, err := localDraft(ctx, repo, b)
			if err != nil {
				return report, err
			}
			for i, draft := range append(drafts, local) {
				if strings.TrimSpace(draft) != "" {
					answered[i]++
				}
				held, err := b.ask(ctx, v.source, draft, tokens)
				if err != nil {
					return report, err
				}
				found[i] += held
			}
		}
	}
	share := func(count, of int) float64 { return float64(count) / float64(max(of, 1)) }
	report.One = share(found[0], report.Callees)
	for i := range found[1:] {
		name := "the model-free engine's"
		if i < len(corruptions) {
			name = fmt.Sprintf("the body, %.0f %% of its names replaced", 100*corruptions[i])
		}
		report.Two = append(report.Two, DraftScore{name, share(found[i+1], report.Callees), share(answered[i+1], report.Bodies)})
	}
	return report, nil
}

// ask completes the body with a model that answers draft, and counts the callees
// in the last prompt.
func (b *body) ask(ctx context.Context, source *crossfile.Source, draft string, tokens int) (held int, err error) {
	e := completion.New(&prophet{answer: draft}, completion.Options{
		Context: unhurried{source}, SnippetTokens: tokens, ContextTokens: 4 * tokens, MaxTokens: 1000, Debounce: -1, TwoRounds: draft != "",
	})
	defer e.Close()
	res, err := e.Complete(ctx, completion.Request{Key: b.doc.Path, Document: b.doc, Offset: b.offset, Manual: true})
	for _, signature := range b.callees {
		if slices.ContainsFunc(res.Prompt.Snippets, func(sn completion.Snippet) bool { return strings.Contains(sn.Text, signature) }) {
			held++
		}
	}
	return held, err
}

func localDraft(ctx context.Context, repo *completion.Repository, b body) (string, error) {
	e := completion.New(nil, completion.Options{Repository: repo})
	defer e.Close()
	res, err := e.Complete(ctx, completion.Request{Key: b.doc.Path, Document: b.doc, Offset: b.offset, Manual: true})
	if err != nil || len(res.Items) == 0 {
		return "", err
	}
	return res.Items[0].Text, nil
}

// Bodies of so many lines are taken.
const minBodyLines, maxBodyLines = 3, 40

// bodies are those of functions that call one declared in another file.
func (v *survey) bodies() []body {
	var list []body
	for i, d := range v.documents {
		f := v.files[i]
		for s := range f.Symbols {
			sym := &f.Symbols[s]
			if sym.Kind != syntax.KindFunction && sym.Kind != syntax.KindMethod {
				continue
			}
			start, end, ok := bodySpan(d.Text, int(sym.NameSpan.End), min(int(sym.Span.End), len(d.Text)))
			if !ok {
				continue
			}
			b := body{doc: d, want: strings.TrimSpace(d.Text[start:end])}
			for k := range f.Refs {
				ref := &f.Refs[k]
				if int(ref.Span.Start) < start || int(ref.Span.End) > end {
					continue
				}
				if callee, ok := v.callee(i, ref); ok && !slices.Contains(b.callees, callee.signature) {
					b.callees = append(b.callees, callee.signature)
				}
			}
			if len(b.callees) == 0 {
				continue
			}
			indent := d.Text[start : start+len(d.Text[start:end])-len(strings.TrimLeft(d.Text[start:end], " \t"))]
			b.doc.Text = d.Text[:start] + indent + "\n" + d.Text[end:]
			b.offset = start + len(indent)
			list = append(list, b)
		}
	}
	return list
}

// bodySpan are the whole lines of a body whose head ends in a brace or a colon.
func bodySpan(text string, name, end int) (from, to int, ok bool) {
	if name >= end {
		return 0, 0, false
	}
	at := strings.IndexByte(text[name:end], '\n')
	for at >= 0 {
		head := strings.TrimRight(text[name:name+at], " \t\r")
		if strings.HasSuffix(head, "{") || strings.HasSuffix(head, ":") {
			break
		}
		next := strings.IndexByte(text[name+at+1:end], '\n')
		if next < 0 {
			return 0, 0, false
		}
		at += 1 + next
	}
	if at < 0 {
		return 0, 0, false
	}
	from, to = name+at+1, end
	if last := strings.LastIndexByte(text[:end], '\n') + 1; strings.HasPrefix(strings.TrimSpace(text[last:end]), "}") {
		to = last
	}
	if from >= to {
		return 0, 0, false
	}
	lines := strings.Count(strings.TrimRight(text[from:to], "\n"), "\n") + 1
	return from, to, lines >= minBodyLines && lines <= maxBodyLines
}

// names are those the repository's functions have, in order.
func (v *survey) names() []string {
	list := make([]string, 0, len(v.functions))
	for name := range v.functions {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// corrupt replaces a share of the names in a text by others.
func corrupt(text string, share float64, names []string, rng *rand.Rand) string {
	var b strings.Builder
	last := 0
	for _, t := range lex(text) {
		if len(t.text) > 2 && isLetter(rune(t.text[0])) && rng.Float64() < share {
			b.WriteString(text[last:t.start])
			b.WriteString(names[rng.IntN(len(names))])
			last = t.start + len(t.text)
		}
	}
	b.WriteString(text[last:])
	return b.String()
}

// String is the report as a Markdown table.
func (r RoundsReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d bodies, %d callees\n\n| first answer | there for | recall |\n|---|---|---|\n| one round | | %.3f |\n", r.Bodies, r.Callees, r.One)
	for _, d := range r.Two {
		fmt.Fprintf(&b, "| %s | %.0f %% | %.3f |\n", d.Draft, 100*d.Answered, d.Recall)
	}
	return b.String()
}
