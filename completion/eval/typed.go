package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/completion/crossfile"
)

// The two ways in which [FillTyped] has the model fill a hole: as quarry does, and
// with the same window and suffix between the family's tags and nothing else, its
// answer taken as it comes.
const (
	Ours  = "quarry"
	Plain = "plain FIM"
)

// A Filling is a hole and what both ways got for it.
type Filling struct {
	ID       string     `json:"id"`
	Path     string     `json:"path"`
	Language string     `json:"language"`
	Half     Half       `json:"half"`
	Kind     CursorKind `json:"place"`
	Typed    string     `json:"typed"`
	Want     string     `json:"want"`
	Got      string     `json:"got"`
	GotPlain string     `json:"got_plain"`
	Ours     Verdict    `json:"quarry"`
	Plain    Verdict    `json:"plain"`
	// Tokens is the length of quarry's prompt, Snippets how many pieces of other
	// places it has.
	Tokens   int    `json:"prompt_tokens"`
	Snippets int    `json:"snippets"`
	Note     string `json:"note,omitempty"`
}

// String is the hole in one line: what is typed and wanted, and a + or what either
// way got instead.
func (f Filling) String() string {
	show := func(v Verdict, got string) string {
		if v.Line {
			return "+"
		}
		return fmt.Sprintf("%q", got)
	}
	return fmt.Sprintf("%s: %q %q  %s %s  %s %s", f.ID, strings.TrimLeft(f.Typed, " \t"), f.Want, Ours, show(f.Ours, f.Got), Plain, show(f.Plain, f.GotPlain))
}

// A Contrast counts holes that one way got right, by which.
type Contrast struct {
	Holes int `json:"holes"`
	Ours  int `json:"quarry"`
	Plain int `json:"plain"`
	// OnlyOurs and OnlyPlain are those that one alone got right; P is the exact
	// two-sided McNemar probability of a split as uneven.
	OnlyOurs  int     `json:"only_quarry"`
	OnlyPlain int     `json:"only_plain"`
	P         float64 `json:"p"`
	// Interval is the share of holes that each way gets right, 95 % of the time (Wilson's
	// score interval): from and to, of 0 to 1.
	Interval      [2]float64 `json:"interval"`
	IntervalPlain [2]float64 `json:"interval_plain"`
}

// TypedRow is a row of a [TypedReport].
type TypedRow struct {
	Name string   `json:"name"`
	Line Contrast `json:"line"`
	Word Contrast `json:"word"`
	// Similar is the mean edit similarity of the line, Repeats how often what was
	// typed is written again.
	Similar      float64 `json:"similar"`
	SimilarPlain float64 `json:"similar_plain"`
	Shown        int     `json:"shown"`
	Repeats      int     `json:"repeats"`
	RepeatsPlain int     `json:"repeats_plain"`
}

// TypedReport is the outcome of [FillTyped].
type TypedReport struct {
	Model string     `json:"model"`
	Rows  []TypedRow `json:"rows"`
	// PromptTokens is the mean length of quarry's prompts.
	PromptTokens int       `json:"prompt_tokens"`
	Names        []Names   `json:"names"`
	Fillings     []Filling `json:"holes"`
}

// FillTyped has the model fill the holes, as while typing, with opt's budgets.
// Prompts whose answers are not known are left with a.Missing, their holes out of
// the report.
func FillTyped(ctx context.Context, a *Answers, opt completion.Options, trees map[Source]Repository, sources []Source, holes []TypedHole, each func(Filling)) (TypedReport, error) {
	report := TypedReport{Model: a.Model()}
	for _, s := range sources {
		var mine []TypedHole
		for _, h := range holes {
			if h.Source == s {
				mine = append(mine, h)
			}
		}
		if len(mine) == 0 {
			continue
		}
		fillings, err := report.fillTree(ctx, a, opt, trees[s], mine, each)
		if err != nil {
			return report, fmt.Errorf("%s: %w", s.Name, err)
		}
		report.Fillings = append(report.Fillings, fillings...)
	}
	report.sumUp()
	return report, nil
}

func (r *TypedReport) fillTree(ctx context.Context, a *Answers, opt completion.Options, tree Repository, holes []TypedHole, each func(Filling)) ([]Filling, error) {
	v, err := read(tree, crossfile.Similar)
	if err != nil {
		return nil, err
	}
	opt.Repository = &completion.Repository{}
	for _, d := range tree.Documents {
		opt.Repository.Add(d.Root, d.Path, d.Text)
	}
	opt.Debounce, opt.Candidates, opt.MaxTokens = -1, 1, a.tokens
	opt.Context = unhurried{v.source}
	e := completion.New(a, opt)
	defer e.Close()
	var out []Filling
	whole := map[string]completion.Document{}
	for _, d := range tree.Documents {
		whole[d.Path] = d
	}
	for _, h := range holes {
		if err := v.write(h.Document); err != nil {
			return out, err
		}
		f, err := r.fillTyped(ctx, a, e, h)
		if err := v.write(whole[h.Document.Path]); err != nil {
			return out, err
		}
		switch {
		case errors.Is(err, ErrNoAnswer):
			continue
		case err != nil:
			return out, err
		}
		out = append(out, f)
		if each != nil {
			each(f)
		}
	}
	return out, nil
}

func (r *TypedReport) fillTyped(ctx context.Context, a *Answers, e *completion.Engine, h TypedHole) (Filling, error) {
	f := Filling{
		ID: h.ID, Path: h.Document.Path, Language: h.Source.Language, Half: h.Source.Half, Kind: h.Kind, Typed: h.Typed, Want: h.Want,
	}
	req := completion.Request{Key: h.ID, Document: h.Document, Offset: h.Offset}
	res, err := e.Complete(ctx, req)
	e.Forget(req.Key)
	if err != nil {
		return f, err
	}
	// The plain prompt is asked in either case, so that one run tells of all that
	// is missing.
	prompt := a.lastPrompt()
	r.count(prompt, &h)
	raw, plainErr := ask(ctx, a, plainPrompt(prompt, &h))
	if res.Engine != a.Model() {
		return f, ErrNoAnswer
	}
	if plainErr != nil {
		return f, plainErr
	}
	f.Tokens, f.Snippets, f.Note = res.Prompt.Tokens, len(res.Prompt.Snippets), res.Note
	f.Got = h.Closers // with nothing shown, the line ends in what the editor closed
	if len(res.Items) > 0 {
		it := res.Items[0]
		f.Got = it.Text + h.Document.Text[it.End:h.Offset+len(h.Closers)]
		if it.Start != h.Offset {
			return f, fmt.Errorf("an item begins at %d, not at the cursor, %d", it.Start, h.Offset)
		}
	}
	f.Ours = h.Judge(f.Got)
	f.Ours.Shown = len(res.Items) > 0
	f.GotPlain, f.Plain = h.judgePlain(raw)
	return f, nil
}

// judgePlain judges an answer as it came: its first line, for a body its first one
// with text, and whichever is right of with the editor's closers and without.
func (h *TypedHole) judgePlain(raw string) (string, Verdict) {
	if h.Kind != AtBody {
		raw, _, _ = strings.Cut(raw, "\n")
	}
	v := h.Judge(raw)
	if closed := h.Judge(raw + h.Closers); h.Closers != "" && closed.Line {
		return raw + h.Closers, closed
	}
	return raw, v
}

// ask is the whole of an answer.
func ask(ctx context.Context, a *Answers, prompt string) (string, error) {
	var b strings.Builder
	_, err := a.Generate(ctx, prompt, a.tokens, nil, 0, func(piece string, _ float64) bool {
		b.WriteString(piece)
		return !strings.Contains(strings.TrimLeft(b.String(), " \t\r\n"), "\n")
	})
	return b.String(), err
}

// The tags that [FillTyped] takes a prompt apart by.
const prefix, suffix = "<|fim_prefix|>", "<|fim_suffix|>"

// KnowsTags reports whether [FillTyped] can take the prompts of a family apart, whose
// tags for prefix, suffix and middle are given.
func KnowsTags(tags []string) bool { return tags[0] == prefix && tags[1] == suffix }

// parts are what a prompt shows of a hole.
type parts struct{ head, lead, window, suffix string }

// promptParts takes a prompt of a hole apart. The head stands before the prefix tag, or
// behind it and ends with the style header.
func promptParts(prompt string, h *TypedHole) parts {
	outside, _, _ := strings.Cut(prompt, prefix)
	begin, end := len(outside)+len(prefix), strings.Index(prompt, suffix)
	shown, before := prompt[begin:end], h.Document.Text[:h.Offset]
	n := 0
	for n < min(len(shown), len(before)) && shown[len(shown)-1-n] == before[len(before)-1-n] {
		n++
	}
	p := parts{window: shown[len(shown)-n:], suffix: prompt[end:]}
	p.head, p.lead = outside, shown[:len(shown)-n]
	if at := styleHeader.FindStringIndex(p.lead); at != nil {
		p.head, p.lead = outside+p.lead[:at[1]], p.lead[at[1]:]
	}
	return p
}

var styleHeader = regexp.MustCompile(`(?m)^.*, indent (?:tabs|\d+ spaces).*\n`)

// plainPrompt leaves of quarry's prompt the window of the document and the suffix.
func plainPrompt(prompt string, h *TypedHole) string {
	p := promptParts(prompt, h)
	return prefix + p.window + p.suffix
}

func (r *TypedReport) sumUp() {
	groups := map[string][]Filling{}
	for _, f := range r.Fillings {
		for _, name := range []string{"all, " + string(f.Half), string(f.Kind) + ", " + string(f.Half), f.Language + ", " + string(f.Half)} {
			groups[name] = append(groups[name], f)
		}
		r.PromptTokens += f.Tokens
	}
	r.PromptTokens /= max(len(r.Fillings), 1)
	var names []string
	for _, half := range []Half{Held, Fit} {
		names = append(names, "all, "+string(half))
		for _, p := range CursorKinds {
			names = append(names, string(p)+", "+string(half))
		}
		var languages []string
		for _, f := range r.Fillings {
			if name := f.Language + ", " + string(half); f.Half == half && !slices.Contains(languages, name) {
				languages = append(languages, name)
			}
		}
		slices.SortFunc(languages, cmp.Compare)
		names = append(names, languages...)
	}
	for _, name := range names {
		if len(groups[name]) > 0 {
			r.Rows = append(r.Rows, rowOf(name, groups[name]))
		}
	}
}

func rowOf(name string, fillings []Filling) TypedRow {
	row := TypedRow{Name: name}
	for _, f := range fillings {
		row.Line.count(f.Ours.Line, f.Plain.Line)
		row.Word.count(f.Ours.Word, f.Plain.Word)
		row.Similar += f.Ours.Similar / float64(len(fillings))
		row.SimilarPlain += f.Plain.Similar / float64(len(fillings))
		if f.Ours.Shown {
			row.Shown++
		}
		if f.Ours.Repeats {
			row.Repeats++
		}
		if f.Plain.Repeats {
			row.RepeatsPlain++
		}
	}
	for _, c := range []*Contrast{&row.Line, &row.Word} {
		c.P = mcNemar(c.OnlyOurs, c.OnlyPlain)
		c.Interval, c.IntervalPlain = Wilson(c.Ours, c.Holes), Wilson(c.Plain, c.Holes)
	}
	return row
}

// intervals are both in per cent: 52-74 : 47-69.
func (c Contrast) intervals() string {
	return fmt.Sprintf("%.0f-%.0f : %.0f-%.0f", 100*c.Interval[0], 100*c.Interval[1], 100*c.IntervalPlain[0], 100*c.IntervalPlain[1])
}

func (c *Contrast) count(ours, plain bool) {
	c.Holes++
	if ours {
		c.Ours++
	}
	if plain {
		c.Plain++
	}
	switch {
	case ours && !plain:
		c.OnlyOurs++
	case plain && !ours:
		c.OnlyPlain++
	}
}

// mcNemar is the exact two-sided probability that of a + b fair coins so uneven a
// split falls.
func mcNemar(a, b int) float64 {
	n, few := a+b, min(a, b)
	sum, term := 0.0, math.Pow(0.5, float64(n))
	for k := 0; k <= few; k++ {
		sum += term
		term *= float64(n-k) / float64(k+1)
	}
	return min(1, 2*sum)
}

// Wilson is the 95 % score interval of a share of which n samples have k.
func Wilson(k, n int) [2]float64 {
	const z = 1.959964
	if n == 0 {
		return [2]float64{0, 1}
	}
	share, size := float64(k)/float64(n), float64(n)
	middle := (share + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return [2]float64{max(0, middle-half), min(1, middle+half)}
}

// enoughHeld is how many held-out holes have to be answered before [TypedReport.Worse]
// says that quarry is not worse: of fewer nothing is known.
const enoughHeld = 32

// Worse says at which kinds of place on the held-out holes quarry is worse than
// plain FIM, and of what was typed it writes again; "" if nowhere.
func (r *TypedReport) Worse() string {
	var worse []string
	held := 0
	for _, f := range r.Fillings {
		if f.Half == Held {
			held++
		}
	}
	if held < enoughHeld {
		worse = append(worse, fmt.Sprintf("only %d of them are answered, and %d are the least that tell", held, enoughHeld))
	}
	for _, row := range r.Rows {
		if !strings.HasSuffix(row.Name, ", "+string(Held)) {
			continue
		}
		kind, _, _ := strings.Cut(row.Name, ", ")
		if kind != "all" && !slices.Contains(CursorKinds, CursorKind(kind)) {
			continue
		}
		if row.Line.Ours < row.Line.Plain {
			worse = append(worse, fmt.Sprintf("%s: %d lines, plain FIM has %d", kind, row.Line.Ours, row.Line.Plain))
		}
		if row.Word.Ours < row.Word.Plain {
			worse = append(worse, fmt.Sprintf("%s: %d first words, plain FIM has %d", kind, row.Word.Ours, row.Word.Plain))
		}
		if kind == "all" && row.Repeats > 0 {
			worse = append(worse, fmt.Sprintf("%d times what was typed is written again", row.Repeats))
		}
	}
	return strings.Join(worse, "; ")
}

// String is the report as Markdown.
func (r TypedReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, prompts of %d tokens in the mean; quarry's figure before plain FIM's.\n\n", r.Model, r.PromptTokens)
	b.WriteString("| holes | n | lines | 95 % of the time, % | only one | p | first words | 95 % of the time, % | only one | p | edit similarity | typed text repeated | shown |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		l, w := row.Line, row.Word
		fmt.Fprintf(&b, "| %s | %d | %d : %d | %s | %d : %d | %.2g | %d : %d | %s | %d : %d | %.2g | %.3f : %.3f | %d : %d | %d |\n", row.Name, l.Holes,
			l.Ours, l.Plain, l.intervals(), l.OnlyOurs, l.OnlyPlain, l.P, w.Ours, w.Plain, w.intervals(), w.OnlyOurs, w.OnlyPlain, w.P,
			row.Similar, row.SimilarPlain, row.Repeats, row.RepeatsPlain, row.Shown)
	}
	b.WriteString("\n| holes | names taken out | in the window | in its lead | in the head | nowhere | bytes of heads | of lines repeated |\n|---|---|---|---|---|---|---|---|\n")
	for _, n := range r.Names {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", n.Holes, n.Wanted, n.Window, n.Lead, n.Head, n.Wanted-n.Window-n.Lead-n.Head, n.HeadBytes, n.Repeated)
	}
	return b.String()
}
