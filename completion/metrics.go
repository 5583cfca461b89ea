package completion

import (
	"slices"
	"sync"
	"time"
)

// Metrics is what an Engine did since it began. Every Request counts once, under
// Model, Reused, Local, Overtaken or Unanswered.
type Metrics struct {
	// Requests made, by those that ended.
	Requests int
	// Model and Reused were answered by the model: by a request to it, or by what
	// an earlier one said. Local were answered by the model-free engine, which there was
	// no model beside, or which was surer.
	Model, Reused, Local int
	// Overtaken lost to a newer request of their document, or were cancelled.
	Overtaken int
	// Unanswered are those made where completion is off or impossible.
	Unanswered int
	// Shown had something to show; Accepted is how often the editor said that one
	// was taken.
	Shown, Accepted int
	// Launched counts requests to the model, those made ahead of the user
	// included, and PromptTokens the tokens of their prompts: the backend's count,
	// else the estimate.
	Launched, PromptTokens int
	// Over the last 256: looking for code of other places, and whole answers.
	ContextP50, ContextP95 time.Duration
	AnswerP50, AnswerP95   time.Duration
}

// Add adds the counts of another Engine, not its times.
func (m *Metrics) Add(o Metrics) {
	m.Requests += o.Requests
	m.Model += o.Model
	m.Reused += o.Reused
	m.Local += o.Local
	m.Overtaken += o.Overtaken
	m.Unanswered += o.Unanswered
	m.Shown += o.Shown
	m.Accepted += o.Accepted
	m.Launched += o.Launched
	m.PromptTokens += o.PromptTokens
}

// recentTimes is how many times the percentiles are of.
const recentTimes = 256

// counters is a Metrics in the making.
type counters struct {
	mu sync.Mutex
	// All below is guarded by mu; the last two are rings.
	sum             Metrics
	context, answer ring
}

type ring struct {
	times [recentTimes]time.Duration
	n     int // ever put in
}

func (r *ring) add(t time.Duration) {
	r.times[r.n%recentTimes] = t
	r.n++
}

// percentiles are the 50th and 95th, by nearest rank.
func (r *ring) percentiles() (p50, p95 time.Duration) {
	n := min(r.n, recentTimes)
	if n == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(r.times[:n]))
	return sorted[(n*50+99)/100-1], sorted[(n*95+99)/100-1]
}

// Metrics answers what the Engine did so far.
func (e *Engine) Metrics() Metrics {
	c := &e.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.sum
	m.ContextP50, m.ContextP95 = c.context.percentiles()
	m.AnswerP50, m.AnswerP95 = c.answer.percentiles()
	return m
}

// answered counts a Request that ended.
func (c *counters) answered(res Result, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Requests++
	switch {
	case err != nil || res.Note == errSuperseded.Error():
		c.sum.Overtaken++
		return
	case res.Engine == localEngine:
		c.sum.Local++
	case res.Reused:
		c.sum.Reused++
	case res.Engine != "":
		c.sum.Model++
	default:
		c.sum.Unanswered++
		return
	}
	if len(res.Items) > 0 {
		c.sum.Shown++
	}
	c.answer.add(res.Timings.Total)
	if res.Timings.Context > 0 {
		c.context.add(res.Timings.Context)
	}
}

func (c *counters) accepted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Accepted++
}

// launched counts a request to the model that ended.
func (c *counters) launched(promptTokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Launched++
	c.sum.PromptTokens += promptTokens
}
