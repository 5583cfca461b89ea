package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/completion"
	"quarry/completion/crossfile"
)

// A Trace is a piece of text that was typed into a document.
type Trace struct {
	Document completion.Document // without the text
	Offset   int                 // where it was typed
	Text     string
}

// Traces are the insertions that lead from one version of a repository to
// another: each run of added lines, typed where it stands, with the lines it
// replaced gone. They are typed on a line of their own: Enter was pressed
// before, so the last line break is in the document already.
func Traces(before, after Repository) []Trace {
	old := map[string]string{}
	for _, d := range before.Documents {
		old[d.Path] = d.Text
	}
	var traces []Trace
	for _, d := range after.Documents {
		from, ok := old[d.Path]
		if !ok || from == d.Text {
			continue
		}
		offset := 0
		for _, h := range lineDiff(strings.SplitAfter(from, "\n"), strings.SplitAfter(d.Text, "\n")) {
			added := strings.Join(h.added, "")
			if offset += h.skipped; len(added) >= 20 && len(added) <= 1500 {
				typed := strings.TrimSuffix(added, "\n")
				whole := d.Text
				without := completion.Document{Path: d.Path, Language: d.Language, Text: whole[:offset] + whole[offset+len(typed):]}
				traces = append(traces, Trace{without, offset, typed})
			}
			offset += len(added)
		}
	}
	return traces
}

// hunk is a run of added lines of the new text, skipped bytes of it after the
// last one.
type hunk struct {
	skipped int
	added   []string
}

// lineDiff finds the lines of b that are not in a, in order, by a longest
// common subsequence over what is left between the common ends.
func lineDiff(a, b []string) []hunk {
	var hunks []hunk
	skipped := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		skipped += len(b[0])
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	length := make([][]int, len(a)+1) // of the common subsequence of a[i:] and b[j:]
	for i := len(a); i >= 0; i-- {
		length[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0 && i < len(a); j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var added []string
	for i, j := 0, 0; j <= len(b); {
		switch {
		case j < len(b) && (i == len(a) || a[i] != b[j] && length[i][j+1] >= length[i+1][j]):
			added = append(added, b[j])
			j++
			continue
		case i < len(a) && (j == len(b) || a[i] != b[j]):
			i++
			if j < len(b) || i < len(a) {
				continue
			}
		}
		if len(added) > 0 {
			hunks = append(hunks, hunk{skipped, added})
			skipped, added = 0, nil
		}
		if j == len(b) {
			break
		}
		skipped += len(b[j])
		i, j = i+1, j+1
	}
	return hunks
}

// TypingReport says what typing the traces cost.
type TypingReport struct {
	Traces     int `json:"traces"`
	Keystrokes int `json:"keystrokes"`
	// Requests went to the model; Reused answers needed none.
	Requests int `json:"requests"`
	Reused   int `json:"reused"`
	// ShownRequests went to the model at keystrokes that typed what was shown:
	// it should be 0.
	ShownRequests int `json:"requests_while_typing_what_was_shown"`
	// Prompt is the mean length of a prompt and Reread how much of it differs
	// from the one before, which a backend that keeps the common beginning reads
	// again; RereadSliding is the same for a window that slides with the cursor.
	// All in estimated tokens.
	Prompt        float64 `json:"prompt_tokens"`
	Reread        float64 `json:"reread_tokens"`
	RereadSliding float64 `json:"reread_tokens_sliding"`
	// Within is the share of requests that read again what was typed since the
	// last one, the suffix and 16 tokens at most; the window moved on in the rest.
	Within float64 `json:"reread_within"`
	// P50 and P99 are milliseconds for an answer that was reused, the whole
	// Complete call.
	P50 float64 `json:"reused_p50_ms"`
	P99 float64 `json:"reused_p99_ms"`
	// Prompts has all prompts by what they followed, those that the figures above leave
	// out too.
	Prompts []PromptRow `json:"prompts"`
}

// What a prompt follows: its insertion's beginning, a look into another document, a head
// that was found anew, or none of these.
const (
	atFirst   = "the first of an insertion"
	cameBack  = "back from another document"
	lookedUp  = "the head looked up anew"
	typedOn   = "typed on"
	allOfThem = "all"
)

// PromptRow counts prompts of one kind. Reread is what differs from the last prompt that
// the model was sent, whatever it was for, Within how many of them read again at most what
// was typed, the suffix and 16 tokens.
type PromptRow struct {
	Kind   string  `json:"after"`
	N      int     `json:"prompts"`
	Prompt float64 `json:"prompt_tokens"`
	Reread float64 `json:"reread_tokens"`
	Within int     `json:"reread_within"`
}

func (r *TypingReport) count(kind string, tokens, again int, within bool) {
	for _, name := range []string{kind, allOfThem} {
		at := slices.IndexFunc(r.Prompts, func(row PromptRow) bool { return row.Kind == name })
		if at < 0 {
			at = len(r.Prompts)
			r.Prompts = append(r.Prompts, PromptRow{Kind: name})
		}
		row := &r.Prompts[at]
		row.Prompt = (row.Prompt*float64(row.N) + float64(tokens)) / float64(row.N+1)
		row.Reread = (row.Reread*float64(row.N) + float64(again)) / float64(row.N+1)
		row.N++
		if within {
			row.Within++
		}
	}
}

// An Edited is a repository and what was typed into it.
type Edited struct {
	Before Repository
	Traces []Trace
}

// awayAfter is after how many keystrokes of [TypeInto] the user asks for something in
// another document and comes back: the head is looked up anew then.
const awayAfter = 100

// Type replays the traces keystroke by keystroke against a model that writes
// what will be typed next with probability right, and otherwise something
// else. Each keystroke waits for its answer: the worst case, no request is
// saved by waiting. There is no code of other places in the prompts.
func Type(ctx context.Context, traces []Trace, right float64, seed uint64) (TypingReport, error) {
	return TypeInto(ctx, []Edited{{Traces: traces}}, right, seed, false)
}

// TypeInto is Type in repositories, whose code stands in the prompts of a server if inside
// is set; the user then looks into another document now and then.
func TypeInto(ctx context.Context, edited []Edited, right float64, seed uint64, inside bool) (TypingReport, error) {
	report := TypingReport{}
	t := typist{report: &report, right: right, rng: rand.New(rand.NewPCG(seed, 0)), model: &prophet{}}
	for _, ed := range edited {
		opt := completion.Options{Debounce: -1, SuffixTokens: suffixTokens}
		t.others = nil
		if inside {
			v, err := read(ed.Before, crossfile.Similar)
			if err != nil {
				return report, fmt.Errorf("%s: %w", ed.Before.Name, err)
			}
			opt.Context = unhurried{v.source}
			t.others = ed.Before.Documents
		}
		e := completion.New(t.model, opt)
		for _, tr := range ed.Traces {
			if err := t.write(ctx, e, tr); err != nil {
				e.Close()
				return report, err
			}
		}
		e.Close()
	}
	report.Prompt, report.Reread, report.RereadSliding, report.Within = t.length.value(), t.again.value(), t.sliding.value(), t.within.value()
	report.P50, report.P99 = percentile(t.reused, 50), percentile(t.reused, 99)
	slices.SortStableFunc(report.Prompts, func(a, b PromptRow) int {
		order := []string{atFirst, cameBack, lookedUp, typedOn, allOfThem}
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
	return report, nil
}

// typist types traces and keeps account.
type typist struct {
	report *TypingReport
	right  float64
	rng    *rand.Rand
	model  *prophet
	// others are the documents to look into, none for never.
	others []completion.Document
	// sent is the last prompt of all, keys how many were pressed since the last look.
	sent string
	keys int

	reused                         []float64
	length, again, sliding, within mean
}

func (t *typist) write(ctx context.Context, e *completion.Engine, tr Trace) error {
	shown, last, lastNaive, lastAt := "", "", "", 0
	key := fmt.Sprint(t.report.Traces)
	t.report.Traces++
	defer e.Forget(key)
	text := tr.Document.Text
	back := false
	for i, size := range runes(tr.Text) {
		at := tr.Offset + i + size
		typed := tr.Text[:i+size]
		whatWasShown := shown != "" && strings.HasPrefix(shown, tr.Text[i:i+size])
		d := tr.Document
		d.Text = text[:tr.Offset] + typed + text[tr.Offset:]
		if t.keys++; t.keys > awayAfter && last != "" {
			looked, err := t.lookAway(ctx, e, d)
			if err != nil {
				return err
			}
			back = back || looked
		}
		t.model.prepare(tr.Text[i+size:], t.rng.Float64() < t.right)
		begin := time.Now()
		res, err := e.Complete(ctx, completion.Request{Key: key, Document: d, Offset: at, Version: int32(i)})
		took := time.Since(begin)
		if err != nil {
			return err
		}
		t.report.Keystrokes++
		sent := t.model.taken()
		t.report.Requests += len(sent)
		if res.Reused {
			t.report.Reused++
			t.reused = append(t.reused, took.Seconds()*1000)
		} else if whatWasShown && len(shown) > size {
			t.report.ShownRequests++
		}
		for _, prompt := range sent {
			tokens := completion.EstimateTokens(prompt)
			n, most := reread(t.sent, prompt), suffixTokens+16
			kind := atFirst
			if last != "" {
				most += completion.EstimateTokens(d.Text[min(lastAt, at):at])
				switch {
				case back:
					kind = cameBack
				case headOf(last) != headOf(prompt):
					kind = lookedUp
				default:
					kind = typedOn
				}
				own := reread(last, prompt)
				t.length.add(float64(tokens))
				t.again.add(float64(own))
				t.within.count(own <= most)
			}
			t.report.count(kind, tokens, n, n <= most)
			last, lastAt, t.sent, back = prompt, at, prompt, false
		}
		if len(sent) > 0 {
			prompt := slidingPrompt(d.Text, at)
			if lastNaive != "" {
				t.sliding.add(float64(reread(lastNaive, prompt)))
			}
			lastNaive = prompt
		}
		shown = strings.TrimPrefix(shown, tr.Text[i:i+size])
		if !whatWasShown {
			shown = ""
		}
		if len(res.Items) > 0 {
			shown = res.Items[0].Text
		}
	}
	return nil
}

// lookAway asks for something at the end of another document than d.
func (t *typist) lookAway(ctx context.Context, e *completion.Engine, d completion.Document) (looked bool, err error) {
	if len(t.others) < 2 {
		return false, nil
	}
	other := t.others[t.rng.IntN(len(t.others))]
	for other.Path == d.Path {
		other = t.others[t.rng.IntN(len(t.others))]
	}
	t.keys = 0
	t.model.prepare("", true)
	if _, err := e.Complete(ctx, completion.Request{Key: "looked into", Document: other, Offset: len(other.Text)}); err != nil {
		return false, err
	}
	e.Forget("looked into")
	for _, prompt := range t.model.taken() {
		t.sent = prompt
	}
	return true, nil
}

// headOf is what stands in a prompt before the document, up to the style header.
func headOf(prompt string) string {
	if at := styleHeader.FindStringIndex(prompt); at != nil {
		return prompt[:at[1]]
	}
	return ""
}

// suffixTokens is the budget of the suffix in [Type].
const suffixTokens = 96

// reread is how many tokens of prompt stand behind what it has in common with the
// last one.
func reread(last, prompt string) int {
	return completion.EstimateTokens(prompt[commonPrefix(last, prompt):])
}

// slidingPrompt is what most clients send: up to 4,000 bytes before the cursor
// and 1,000 after it.
func slidingPrompt(text string, at int) string {
	return "<|fim_prefix|>" + text[max(0, at-4000):at] + "<|fim_suffix|>" + text[at:min(len(text), at+1000)] + "<|fim_middle|>"
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// runes yields the offset and size of each rune of s.
func runes(s string) func(func(int, int) bool) {
	return func(yield func(int, int) bool) {
		for i, r := range s {
			if !yield(i, len(string(r))) {
				return
			}
		}
	}
}

type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }
func (m *mean) count(yes bool) {
	m.n++
	if yes {
		m.sum++
	}
}
func (m *mean) value() float64 { return m.sum / float64(max(m.n, 1)) }

// prophet is a model that knows what will be typed.
type prophet struct {
	mu sync.Mutex
	// answer and sent are guarded by mu.
	answer string
	sent   []string
}

// prepare sets the next answer: rest, or something else to write there.
func (p *prophet) prepare(rest string, right bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = rest
	if !right {
		p.answer = "somethingElse(entirely)\n"
	}
}

func (p *prophet) taken() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = nil
	return sent
}

func (p *prophet) Model() string { return "granite4.1:3b" }
func (p *prophet) Ready() error  { return nil }

func (p *prophet) Generate(_ context.Context, prompt string, maxTokens int, _ []string, _ int, emit func(string, float64) bool) (int, error) {
	p.mu.Lock()
	answer := p.answer
	if maxTokens > 1 { // else it only warms the backend
		p.sent = append(p.sent, prompt)
	}
	p.mu.Unlock()
	for n := 0; n < maxTokens && answer != ""; n++ {
		size := min(4, len(answer))
		if !emit(answer[:size], 0) {
			break
		}
		answer = answer[size:]
	}
	return completion.EstimateTokens(prompt), nil
}

// String is the report in lines and, by what each prompt followed, as a Markdown table.
func (r TypingReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d insertions, %d keystrokes: %d requests to the model, %d answers reused\n"+
		"requests while typing what was shown: %d\nof a prompt of %.0f tokens, %.0f are read again (a window that slides: %.0f); "+
		"what was typed, the suffix and 16 at most in %.1f %%\nreused answer: p50 %.3f ms, p99 %.3f ms\n",
		r.Traces, r.Keystrokes, r.Requests, r.Reused, r.ShownRequests, r.Prompt, r.Reread, r.RereadSliding, 100*r.Within, r.P50, r.P99)
	b.WriteString("\n| prompt | n | tokens | read again, of the last prompt of all | within typed + suffix + 16 |\n|---|---|---|---|---|\n")
	for _, row := range r.Prompts {
		fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f | %.1f %% |\n", row.Kind, row.N, row.Prompt, row.Reread, 100*float64(row.Within)/float64(row.N))
	}
	return b.String()
}
