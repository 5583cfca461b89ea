package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
)

// abandonAfter is how long a cancelled request may still hold the model before
// its first token. A cold prompt on a slow machine takes a minute; past that the
// server is stuck, and dropping the connection is all that is left.
const abandonAfter = 2 * time.Minute

// Generate sends prompt to the model verbatim and calls emit with each piece of
// the answer and its tokens' mean log-probability (NaN if the server gives
// none), until the model ends, a stop string appears, maxTokens tokens were
// produced (0: the preset's number), emit answers false, ctx is done, or a
// Generate with another prompt takes its place (ErrSuperseded). sample n > 0
// asks for the n-th alternative. promptTokens is the server's count, known only
// when the answer came to its end.
//
// Generate returns as soon as ctx is done. Ollama cannot stop while it reads a
// prompt, and cancelling a request that makes it load the model would throw the
// load away; so a request cancelled before its first token is told to stop with
// that token, and until then the model counts as busy: what is asked next waits
// here, where only the newest survives, and not in Ollama's queue.
func (o *Ollama) Generate(ctx context.Context, prompt string, maxTokens int, stop []string, sample int,
	emit func(text string, logprob float64) bool) (promptTokens int, err error) {
	if err := o.Ready(); err != nil {
		return 0, err
	}
	queued := o.opt.Clock.Now()
	o.gate.enter()
	turn, err := o.lane.enter(ctx, prompt)
	if err != nil {
		o.gate.leave()
		o.metrics.notSent()
		return 0, err
	}
	c := o.ask(o.completion(prompt, maxTokens, stop, sample), queued, func() {
		o.lane.leave(turn)
		o.gate.leave()
	})
	for {
		select {
		case r := <-c.chunks:
			if r.Response != "" && !emit(r.Response, logprob(r)) {
				c.stop()
				return 0, nil
			}
		case <-c.ended:
			return c.promptTokens, c.err
		case <-ctx.Done():
			c.stop()
			return 0, ctx.Err()
		case <-turn.lost:
			c.stop()
			return 0, ErrSuperseded
		}
	}
}

func (o *Ollama) completion(prompt string, maxTokens int, stop []string, sample int) *api.GenerateRequest {
	p := o.opt.FIM
	if maxTokens <= 0 { // Ollama takes 0 as "without end"
		maxTokens = p.MaxTokens
	}
	if sample > 0 {
		p = p.alternative(sample)
	}
	options := map[string]any{
		"num_predict": maxTokens, "temperature": p.Temperature, "top_p": p.TopP, "repeat_penalty": p.RepeatPenalty,
	}
	if len(stop) > 0 {
		options["stop"] = stop
	}
	if o.opt.Seed != 0 {
		options["seed"] = o.opt.Seed + sample
	}
	req := o.request(prompt, options)
	req.Logprobs = true
	return req
}

// call is one HTTP request. It outlives its Generate until the server let go.
type call struct {
	chunks  chan api.GenerateResponse
	stopped chan struct{} // closed by stop
	ended   chan struct{} // closed when the request is over; what follows may then be read

	promptTokens int
	err          error

	cancel context.CancelFunc
	mu     sync.Mutex // guards started and isStopped
	// started says that tokens flow: from then on cancelling frees the model.
	started, isStopped bool
}

var errStopped = errors.New("nobody waits for the answer")

// ask runs req on a goroutine of its own, and calls over when the server has let
// go of it.
func (o *Ollama) ask(req *api.GenerateRequest, queued time.Time, over func()) *call {
	ctx, cancel := context.WithCancel(o.ctx)
	c := &call{
		chunks: make(chan api.GenerateResponse), stopped: make(chan struct{}), ended: make(chan struct{}), cancel: cancel,
	}
	end := func(promptTokens int, err error) {
		cancel()
		c.promptTokens, c.err = promptTokens, err
		over()
		close(c.ended)
	}
	running := o.spawn(func() {
		m := o.metrics.begin(o.opt.Clock, queued, req.Prompt)
		err := o.finish(ctx, req, func(r api.GenerateResponse) { c.pass(r, m) })
		if c.wasStopped() {
			err = errStopped
		}
		m.end(err)
		o.judge(err)
		end(m.timing.PromptTokens, err)
		o.log.Debug("generate", "queue", m.timing.Queue, "first_token", m.timing.FirstToken, "total", m.timing.Total,
			"prompt_tokens", m.timing.PromptTokens, "tokens", m.timing.Tokens, "error", err)
	})
	if !running {
		end(0, context.Canceled)
		return c
	}
	o.spawn(func() {
		select {
		case <-c.ended:
			return
		case <-c.stopped:
		}
		select {
		case <-c.ended:
		case <-o.opt.Clock.After(abandonAfter):
			cancel()
		}
	})
	return c
}

// pass hands a chunk to Generate, or ends the request if nobody waits.
func (c *call) pass(r api.GenerateResponse, m *measurement) {
	m.see(r)
	c.mu.Lock()
	c.started = true
	stopped := c.isStopped
	c.mu.Unlock()
	if stopped {
		c.cancel()
		return
	}
	select {
	case c.chunks <- r:
	case <-c.stopped:
	}
}

// stop tells the server to stop: now if tokens flow, else with the first one.
func (c *call) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isStopped {
		c.isStopped = true
		close(c.stopped)
	}
	if c.started {
		c.cancel()
	}
}

func (c *call) wasStopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isStopped
}
