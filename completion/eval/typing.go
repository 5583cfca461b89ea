package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"quarry/completion"
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
}

// Type replays the traces keystroke by keystroke against a model that writes
// what will be typed next with probability right, and otherwise something
// else. Each keystroke waits for its answer: the worst case, no request is
// saved by waiting.
func Type(ctx context.Context, traces []Trace, right float64, seed uint64) (TypingReport, error) {
	report := TypingReport{Traces: len(traces)}
	var reused []float64
	var length, again, sliding, within mean
	rng := rand.New(rand.NewPCG(seed, 0))
	model := &prophet{}
	e := completion.New(model, completion.Options{Debounce: -1, SuffixTokens: suffixTokens})
	defer e.Close()
	for n, tr := range traces {
		shown, last, lastNaive, lastAt := "", "", "", 0
		key := fmt.Sprint(n)
		text := tr.Document.Text
		for i, size := range runes(tr.Text) {
			at := tr.Offset + i + size
			typed := tr.Text[:i+size]
			whatWasShown := shown != "" && strings.HasPrefix(shown, tr.Text[i:i+size])
			d := tr.Document
			d.Text = text[:tr.Offset] + typed + text[tr.Offset:]
			model.prepare(tr.Text[i+size:], rng.Float64() < right)
			begin := time.Now()
			res, err := e.Complete(ctx, completion.Request{Key: key, Document: d, Offset: at, Version: int32(i)})
			took := time.Since(begin)
			if err != nil {
				return report, err
			}
			report.Keystrokes++
			sent := model.taken()
			report.Requests += len(sent)
			if res.Reused {
				report.Reused++
				reused = append(reused, took.Seconds()*1000)
			} else if whatWasShown && len(shown) > size {
				report.ShownRequests++
			}
			for _, prompt := range sent {
				if last != "" {
					n := reread(last, prompt)
					length.add(float64(completion.EstimateTokens(prompt)))
					again.add(float64(n))
					within.count(n <= completion.EstimateTokens(d.Text[lastAt:at])+suffixTokens+16)
				}
				last, lastAt = prompt, at
			}
			if len(sent) > 0 {
				prompt := slidingPrompt(d.Text, at)
				if lastNaive != "" {
					sliding.add(float64(reread(lastNaive, prompt)))
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
		e.Forget(key)
	}
	report.Prompt, report.Reread, report.RereadSliding, report.Within = length.value(), again.value(), sliding.value(), within.value()
	report.P50, report.P99 = percentile(reused, 50), percentile(reused, 99)
	return report, nil
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

func (p *prophet) Model() string { return "granite4:micro" }
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
