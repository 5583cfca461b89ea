package model

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Timing is what one request took. Durations that the server measured are its own.
// PromptTokens, PromptEval and Load are 0 if the answer did not come to its end.
type Timing struct {
	Queue      time.Duration // waiting for its turn in quarry
	FirstToken time.Duration // from sending to the first token
	Total      time.Duration // from sending to the end
	Load       time.Duration // the server's part for having the model in memory
	// PromptTokens counts the whole prompt, cached or not. PromptEval is the time for the
	// tokens that were not cached.
	PromptTokens int
	PromptEval   time.Duration
	Tokens       int // produced
	// PromptBytes is the prompt's length. SharedBytes is how much of its beginning it shares
	// with the prompt before, which the server's cache can reuse.
	PromptBytes, SharedBytes int
}

// Metrics is a snapshot of what the runtime did.
type Metrics struct {
	// Sent counts requests that reached the server. Of these, Failed ended in an error, and
	// Stopped ended because nobody waited any longer. NotSent counts requests that lost their
	// turn or their caller in the queue.
	Sent, Failed, Stopped, NotSent int
	// PromptBytes is the length of all prompts sent. SharedBytes is how much of them was also
	// the beginning of the prompt before.
	PromptBytes, SharedBytes int
	// Unstuck is how often the model was reloaded because the server was stuck.
	Unstuck int
	// Waiting is how many queue in quarry now.
	Waiting int
	Last    Timing
	// Over the last 256 requests with an answer.
	FirstTokenP50, FirstTokenP95 time.Duration
	QueueP50, QueueP95           time.Duration
	TokensPerSecond              float64
}

// Add adds the counts of another runtime, but not its times and what waits in it.
func (m *Metrics) Add(o Metrics) {
	m.Sent += o.Sent
	m.Failed += o.Failed
	m.Stopped += o.Stopped
	m.NotSent += o.NotSent
	m.PromptBytes += o.PromptBytes
	m.SharedBytes += o.SharedBytes
	m.Unstuck += o.Unstuck
}

const window = 256

type metrics struct {
	answered func(Timing) // Options.OnAnswer

	mu         sync.Mutex // guards all below
	sum        Metrics
	recent     []Timing // a ring of window entries
	next       int
	lastPrompt string // what the server's cache holds, as far as known
	// conversation is the prompt that the cache holds, with what was written to it, if that is
	// a conversation.
	conversation string
	readByte     time.Duration // for a byte of a prompt that is new to the server, of late
}

// Metrics answers what the runtime did so far.
func (rt *Runtime) Metrics() Metrics {
	m := &rt.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	snap := m.sum
	snap.Waiting = rt.scheduler.queued()
	var first, queue []time.Duration
	for _, t := range m.recent {
		first, queue = append(first, t.FirstToken), append(queue, t.Queue)
	}
	snap.FirstTokenP50, snap.FirstTokenP95 = percentiles(first)
	snap.QueueP50, snap.QueueP95 = percentiles(queue)
	if tokens, took := m.generating(); took > 0 {
		snap.TokensPerSecond = float64(tokens) / took.Seconds()
	}
	return snap
}

// generating is how many tokens have come lately, without the first of each answer, and how
// long they took. The caller holds mu.
func (m *metrics) generating() (tokens int, took time.Duration) {
	for _, t := range m.recent {
		if t.Tokens > 1 {
			tokens += t.Tokens - 1
			took += t.Total - t.FirstToken
		}
	}
	return tokens, took
}

// tokenTime is the mean time between two recent tokens, 0 if not known.
func (m *metrics) tokenTime() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	tokens, took := m.generating()
	if tokens == 0 {
		return 0
	}
	return took / time.Duration(tokens)
}

// enough is how many bytes must be read for the time to measure reading. slowest is the
// longest that is believed for one byte: if it took longer, the server did something else.
const (
	enough  = 600
	slowest = time.Second / 10
)

// readIn notes how long the first token took after so many new bytes.
func (m *metrics) readIn(newBytes int, took time.Duration) {
	if newBytes < enough {
		return
	}
	each := min(took/time.Duration(newBytes), slowest)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readByte == 0 {
		m.readByte = each
	}
	m.readByte += (each - m.readByte) / 4
}

// readTime is the recent mean of what readIn noted, 0 if nothing.
func (m *metrics) readTime() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readByte
}

// percentiles sorts d and answers its 50th and 95th, by nearest rank.
func percentiles(d []time.Duration) (p50, p95 time.Duration) {
	if len(d) == 0 {
		return 0, 0
	}
	slices.Sort(d)
	rank := func(p int) time.Duration { return d[(len(d)*p+99)/100-1] }
	return rank(50), rank(95)
}

// forgetPrompt says that the server's cache now holds another prompt, or none.
func (m *metrics) forgetPrompt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastPrompt, m.conversation = "", ""
}

// hear notes the text of a conversation that the server has: the last prompt and the answer to
// it.
func (m *metrics) hear(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conversation = text
}

// heard is how many bytes of prompt the server has read in a conversation without reading
// anything else since.
func (m *metrics) heard(prompt string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return common(prompt, m.conversation)
}

// common is the length of the beginning that a and b share.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func (m *metrics) notSent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.NotSent++
}

func (m *metrics) unstuck() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.Unstuck++
}

// measurement is a Timing in the making.
type measurement struct {
	of     *metrics
	clock  Clock
	sent   time.Time
	timing Timing
}

func (m *metrics) begin(clock Clock, queued time.Time, prompt string) *measurement {
	now := clock.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	shared := common(prompt, m.lastPrompt)
	m.lastPrompt, m.conversation = prompt, ""
	m.sum.Sent++
	m.sum.PromptBytes += len(prompt)
	m.sum.SharedBytes += shared
	return &measurement{of: m, clock: clock, sent: now, timing: Timing{
		Queue: now.Sub(queued), PromptBytes: len(prompt), SharedBytes: shared,
	}}
}

func (m *measurement) see(r chunk) {
	t := &m.timing
	if t.FirstToken == 0 {
		t.FirstToken = m.clock.Now().Sub(m.sent)
		m.of.readIn(t.PromptBytes-t.SharedBytes, t.FirstToken)
	}
	if r.done {
		t.Load, t.PromptTokens, t.PromptEval = r.usage.load, r.usage.promptTokens, r.usage.promptEval
		t.Tokens = max(t.Tokens, r.usage.tokens)
	} else {
		t.Tokens += max(1, len(r.logprobs))
	}
}

func (m *measurement) end(err error) {
	m.timing.Total = m.clock.Now().Sub(m.sent)
	if m.of.count(m.timing, err) && m.of.answered != nil {
		m.of.answered(m.timing)
	}
}

// count adds the timing of a request. ok is false if the request has no answer.
func (m *metrics) count(t Timing, err error) (ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case errors.Is(err, errStopped), errors.Is(err, context.Canceled):
		m.sum.Stopped++
	case err != nil:
		m.sum.Failed++
		return false
	}
	if t.Tokens == 0 {
		return false
	}
	m.sum.Last = t
	if len(m.recent) < window {
		m.recent = append(m.recent, t)
	} else {
		m.recent[m.next] = t
		m.next = (m.next + 1) % window
	}
	return true
}
