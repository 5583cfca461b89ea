package model

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// abandonAfter is how long a cancelled request may keep the model before its first token. A
// cold prompt on a slow machine takes a minute. If it takes longer, the server is stuck, and
// quarry can only drop the connection.
const abandonAfter = 2 * time.Minute

// Generate sends prompt to the model verbatim. It calls emit with each piece of the answer and
// the mean log-probability of its tokens (NaN if the server gives none). It ends when the
// model ends, a stop string appears, maxTokens tokens have come (0 means the preset's number),
// emit answers false, ctx is done, or a Generate with another prompt takes its place
// (ErrSuperseded). If sample n is above 0, it asks for the n-th alternative. promptTokens is
// the server's count, which is known only if the answer came to its end.
//
// Generate returns as soon as ctx is done. Ollama cannot stop while it reads a prompt, and
// cancelling a request that makes it load the model would throw the load away. A request that
// is cancelled before its first token is therefore told to stop at that token. Until then the
// model counts as busy. The next requests wait here, where only the newest survives, and not
// in Ollama's queue.
func (rt *Runtime) Generate(ctx context.Context, prompt string, maxTokens int, stop []string, sample int,
	emit func(text string, logprob float64) bool) (promptTokens int, err error) {
	if err := rt.Ready(); err != nil {
		return 0, err
	}
	if _, err := rt.taken(); err != nil {
		return 0, err // without taking the place of a request that waits
	}
	queued := rt.opt.Clock.Now()
	rt.limiter.enter(typing)
	slot, err := rt.scheduler.enter(ctx, prompt)
	if err != nil {
		rt.limiter.leave(typing)
		rt.metrics.notSent()
		return 0, err
	}
	sent := min(len(stop), maxStops)
	here := stopsHere{strings: stop[sent:]}
	c := rt.ask(rt.completion(prompt, maxTokens, stop[:sent], sample), queued, func() {
		rt.scheduler.leave(slot)
		rt.limiter.leave(typing)
	})
	// If no token comes, quarry asks the server whether it is there.
	silent, verdict, writes := rt.opt.Clock.After(silence), make(chan error, 1), false
	for {
		select {
		case <-silent:
			silent = nil
			rt.spawn(func() { verdict <- rt.stillThere() })
		case err := <-verdict:
			switch {
			case writes:
			case err != nil:
				c.stop()   // a token that comes now is dropped
				c.cancel() // no token has come that would end the request
				return 0, err
			default:
				silent = rt.opt.Clock.After(silence)
			}
		case r := <-c.chunks:
			silent, writes = nil, true
			text, stopped := here.feed(r.text)
			if text != "" && !emit(text, r.logprob()) || stopped {
				c.stop()
				return 0, nil
			}
		case <-c.ended:
			if text := here.rest(); text != "" {
				emit(text, math.NaN())
			}
			return c.promptTokens, c.err
		case <-ctx.Done():
			c.stop()
			return 0, ctx.Err()
		case <-slot.lost:
			c.stop()
			return 0, ErrSuperseded
		}
	}
}

// completion is the request that carries prompt. Whatever checks that the model can complete
// uses it too, because a server refuses a field and not a prompt.
func (rt *Runtime) completion(prompt string, maxTokens int, stop []string, sample int) request {
	r := request{Preset: rt.opt.FIM, prompt: prompt, maxTokens: maxTokens, stop: stop}
	if maxTokens <= 0 { // a server may read 0 as "no limit"
		r.maxTokens = r.MaxTokens
	}
	if sample > 0 {
		r.Preset = r.alternative(sample)
	}
	if rt.opt.Seed != 0 {
		r.seed = rt.opt.Seed + sample
	}
	if f := rt.family.Load(); f != nil {
		r.between = f.Between
	}
	return r
}

// call is one HTTP request. It outlives its Generate until the server has let go of the model.
type call struct {
	chunks  chan chunk
	stopped chan struct{} // closed by stop
	ended   chan struct{} // closed when the request is over; what follows may then be read

	promptTokens int
	err          error

	cancel context.CancelFunc
	limit  int        // of tokens
	mu     sync.Mutex // guards all below
	tokens int
	// started: cancelling frees the model from now on, which on Ollama means that tokens flow.
	started, isStopped bool
}

var errStopped = errors.New("nobody waits for the answer")

// ask runs req on a goroutine of its own, and calls over when the server has let go of the
// model.
func (rt *Runtime) ask(req request, queued time.Time, over func()) *call {
	ctx, cancel := context.WithCancel(rt.ctx)
	c := &call{
		limit:  req.maxTokens,
		chunks: make(chan chunk), stopped: make(chan struct{}), ended: make(chan struct{}), cancel: cancel,
		started: rt.interruptible(),
	}
	end := func(promptTokens int, err error) {
		cancel()
		c.promptTokens, c.err = promptTokens, err
		over()
		close(c.ended)
	}
	running := rt.spawn(func() {
		rt.wake()
		sent, behind := rt.opt.Clock.Now(), rt.converses()
		m := rt.metrics.begin(rt.opt.Clock, queued, req.prompt)
		limit := patience(m.timing.PromptBytes-m.timing.SharedBytes, rt.metrics.tokenTime(), rt.metrics.readTime())
		answered, text := false, false
		err := rt.patiently(ctx, req, limit, func(r chunk) {
			answered, text = true, text || r.text != ""
			c.pass(r, m)
		})
		if c.wasStopped() {
			err = errStopped
		}
		m.end(err)
		if unanswered := rt.unansweredIn(rt.opt.Clock.Now().Sub(sent), behind); unanswered != nil && err == errStopped && !answered {
			rt.noteRefusal(unanswered)
		}
		rt.noteEnd(err, answered)
		if err == nil || text {
			rt.noteText(req.prompt, text)
		}
		end(m.timing.PromptTokens, err)
		rt.log.Debug("generate", "queue", m.timing.Queue, "first_token", m.timing.FirstToken, "total", m.timing.Total,
			"prompt_tokens", m.timing.PromptTokens, "tokens", m.timing.Tokens, "error", err)
	})
	if !running {
		end(0, context.Canceled)
		return c
	}
	rt.spawn(func() {
		select {
		case <-c.ended:
			return
		case <-c.stopped:
		}
		select {
		case <-c.ended:
		case <-rt.opt.Clock.After(abandonAfter):
			cancel()
		}
	})
	return c
}

// pass hands a chunk to Generate, or ends the request if nobody waits.
func (c *call) pass(r chunk, m *measurement) {
	m.see(r)
	c.mu.Lock()
	c.started = true
	c.tokens += max(1, len(r.logprobs))
	stopped := c.isStopped
	if stopped {
		c.cut()
	}
	c.mu.Unlock()
	if stopped {
		return
	}
	select {
	case c.chunks <- r:
	case <-c.stopped:
	}
}

// stop tells the server to stop: now if tokens flow, otherwise with the first one.
func (c *call) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isStopped {
		c.isStopped = true
		close(c.stopped)
	}
	if c.started {
		c.cut()
	}
}

// cut ends the request, unless it is about to end by itself. The last token and the end come
// together, and a connection closed between them gets Ollama stuck (stuck.go). The caller
// holds mu.
func (c *call) cut() {
	if c.tokens == 0 || c.tokens < c.limit-1 {
		c.cancel()
	}
}

func (c *call) wasStopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isStopped
}
