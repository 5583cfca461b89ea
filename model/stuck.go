package model

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Ollama (seen in 0.17.4) can get stuck for good when a client closes the connection while two
// tokens are under way. The request's handler is gone, and the goroutine that reads from the
// model waits for ever to hand over the second token; it keeps the model's only slot. All
// other requests then wait until the model is unloaded. This happens at a moment of bad
// scheduling: on a machine under full load it took 15 to 40 cancelled requests with a model
// that writes a token in 2 ms, and 1,100 with one that needs 20 ms. Users cancel thousands of
// completions a day, so quarry, which cancels them, must also repair the server.

// unloader is a backend that loads the model for a request and can unload it.
type unloader interface {
	unload(ctx context.Context) error
	// elsewhere is whether another machine runs the model, which then is never in the memory
	// that the server tells of.
	elsewhere() bool
}

// loads is whether a backend's server loads the model here when it is asked.
func loads(b backend) bool {
	u, ok := b.(unloader)
	return ok && !u.elsewhere()
}

// canaryPatience is the patience with the first request to a server. That server may have been
// stuck since before quarry started, but more likely it is busy for another client.
const canaryPatience = 30 * time.Second

// patience is how long a request may wait for its first token before the server counts as
// stuck, if it may be stuck. It is twice the time that reading newBytes, the new part of the
// prompt, takes, and a margin in which 200 tokens would come, because the machine does other
// work too. Reloading a model for nothing costs most where tokens are slow, and there a server
// rarely gets stuck. token is the time between two tokens, readByte the time for a new byte of
// a prompt; each is 0 if it is not known. Reading is measured, because a busy processor may
// read far slower than it writes: one that needed 70 s for 900 tokens had its model reloaded
// for nothing three times in 20 completions.
func patience(newBytes int, token, readByte time.Duration) time.Duration {
	margin, perByte := 5*time.Second, time.Second/150 // 50 tokens a second, of three bytes each
	if token > 0 {
		margin = min(max(200*token, 2*time.Second), 10*time.Second)
		perByte = min(perByte, token/3) // reading is faster than writing
	}
	perByte = max(perByte, readByte)
	return margin + 2*perByte*time.Duration(newBytes)
}

// cold is the patience with a request when nothing of it is in the model's cache.
func (rt *Runtime) cold(r request) time.Duration {
	return patience(len(r.prompt), rt.metrics.tokenTime(), rt.metrics.readTime())
}

// A stuck server looks like one that answers somebody else. Neither sends a token, and the
// time at which the model will be unloaded stands still, because Ollama sets it when the last
// request ends. The two differ once quarry has cancelled its own request. If the server is
// stuck, no request is left, since the one that got it stuck counts as ended, and the time is
// set anew. If another program's request runs, the time still stands still. quarry unloads no
// model that another program may be using. It cannot tell a request that waits behind a stuck
// one from a request that is being answered.

// suspicion is the reason why quarry cancelled a request: no token came, and the server may be
// stuck. seen is how the model was in memory then.
type suspicion struct{ seen placement }

func (*suspicion) Error() string { return "the server may be stuck" }

// patiently completes r. If an earlier request was cut off and the server has sent no token
// since, r may wait for limit. If r gets no token in that time, twice, and no other program
// asks the model, patiently reloads the model and asks once more. It tries twice because
// another program's request may end just when r is cancelled. If another program does ask the
// model, patiently fails with errTaken, and goes on failing with it for as long as r had
// waited.
func (rt *Runtime) patiently(ctx context.Context, r request, limit time.Duration, each func(chunk)) error {
	longer, err := rt.taken()
	if err != nil {
		return err
	}
	limit = max(limit, min(limit<<longer, longestLine)) // so that a request that waits gets its turn in the end
	for alone := 0; ; {
		var s *suspicion
		if err := rt.watched(ctx, r, limit, each); !errors.As(err, &s) {
			return err
		}
		now, free, err := rt.leftAlone(ctx, s.seen)
		switch {
		case err != nil:
			return err
		case !free:
			return rt.take(now, limit)
		case !rt.isOurs(now): // it was loaded anew: wait for that
			limit, alone = max(limit, rt.cold(r)), 0
			continue
		}
		if alone++; alone == 2 {
			break
		}
	}
	rt.log.Warn("Ollama is stuck after a cancelled request; reloading the model")
	rt.metrics.unstuck()
	if err := rt.unstick(ctx); err != nil {
		return err
	}
	var s *suspicion
	err = rt.watched(ctx, r, rt.cold(r), each)
	if errors.As(err, &s) {
		err = &problem{kind: ErrServer, what: "Ollama gives no answer", fix: "restart it, since loading " + rt.opt.Model + " anew did not help"}
	}
	return err
}

// watched completes r. It fails with a suspicion if no token came within limit and the server
// may be stuck.
func (rt *Runtime) watched(ctx context.Context, r request, limit time.Duration, each func(chunk)) error {
	if !loads(rt.backend) {
		return rt.complete(ctx, r, each)
	}
	attempt, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive, over := make(chan struct{}), make(chan struct{})
	looking, stop := context.WithCancel(rt.ctx) // so that an answer waits for nobody who looks at the server
	defer stop()
	var watchers sync.WaitGroup
	watchers.Go(func() { rt.tellLoad(looking, alive, over) })
	watchers.Go(func() {
		for {
			seen, silent := rt.silent(looking, alive, over, limit, rt.cold(r))
			if !silent {
				return
			}
			if rt.mayBeStuck.Load() {
				cancel(&suspicion{seen})
				return
			}
		}
	})
	started := false
	err := rt.complete(attempt, r, func(c chunk) {
		if !started {
			started = true
			close(alive)
			rt.mayBeStuck.Store(false)
			rt.giveBack(true)
		}
		each(c)
	})
	close(over)
	stop()
	watchers.Wait()
	var s *suspicion
	switch {
	case err != nil && errors.As(context.Cause(attempt), &s) && ctx.Err() == nil:
		return s
	case err != nil && started && (ctx.Err() != nil || errors.Is(err, errUnfinished)):
		rt.mayBeStuck.Store(true) // cut off in the middle
	}
	return err
}

// errTaken is the cause of the problem that the model is answering another program.
var errTaken = errors.New("another program's request has the model")

const (
	// settling is how long a server needs to notice that a request was cancelled.
	settling   = 200 * time.Millisecond
	mostSettle = 5 // times
	// lineLook is how often quarry looks at a model that answers another program. longestLine
	// is the longest that quarry waits for its turn at once.
	lineLook    = time.Second
	longestLine = 2 * time.Minute
)

// leftAlone answers how the model is in memory after a request to it was cancelled, and
// whether no other program asks it.
func (rt *Runtime) leftAlone(ctx context.Context, before placement) (now placement, free bool, err error) {
	for n := 0; ; n++ {
		if now, free, err = rt.released(before); err != nil || free || n == mostSettle {
			return now, free, err
		}
		select {
		case <-rt.opt.Clock.After(settling):
		case <-ctx.Done():
			return now, false, ctx.Err()
		}
	}
}

// released is whether all requests to the model have ended since it was as in before. If they
// have, the time at which it will be unloaded has changed, and does not move with the clock,
// as it does before the first request has ended.
func (rt *Runtime) released(before placement) (now placement, free bool, err error) {
	if now, err = rt.loaded(rt.ctx); err != nil || !rt.isOurs(now) {
		return now, err == nil, err
	}
	return now, !now.expires.Equal(before.expires) && !rt.isFresh(rt.ctx, now), nil
}

// take notes that the model answers another program, and has the status say so. quarry then
// asks nothing until that request has ended, or until as much time has passed as it had
// waited. Another quarry that suspects the same thing then finds that nobody else asks the
// model.
func (rt *Runtime) take(seen placement, waited time.Duration) error {
	h := &rt.health
	h.mu.Lock()
	h.taken = &problem{
		kind: ErrBusy, cause: errTaken, what: rt.opt.Model + " is busy for another program",
		fix: "wait until it is done there (if no other program asks it, restart Ollama)",
	}
	h.line++
	err, line, back := h.taken, h.line, make(chan struct{})
	h.back = back
	h.mu.Unlock()
	rt.log.Info("the model is busy for another program", "waited", waited)
	rt.change(func(st State) State { return st })
	rt.spawn(func() {
		// A request that waits for its turn learns from its answer that the model is free. This
		// loop finds out when no request waits.
		for away, ended, isOver := lineLook, false, false; !ended; away += lineLook {
			select {
			case <-rt.opt.Clock.After(lineLook):
			case <-rt.ctx.Done():
				return
			}
			_, ended, _ = rt.released(seen) // the watcher finds out what is wrong with the server
			h.mu.Lock()
			isOld := h.taken == nil || h.line != line
			if !isOver && (ended || isOld || away >= waited) {
				isOver = true
				if h.back == back {
					h.back = nil
				}
				close(back)
				signal(h.wake)
			}
			h.mu.Unlock()
			if isOld {
				return
			}
		}
		rt.giveBack(false)
		signal(h.wake)
	})
	return err
}

// taken fails while quarry leaves the model to another program. Otherwise longer is how often
// it has done so since the last token.
func (rt *Runtime) taken() (longer int, err error) {
	h := &rt.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.back != nil {
		return 0, h.taken
	}
	return min(h.line, 10), nil
}

// giveBack notes that no other program uses the model any more. answered says that quarry has
// had a token since.
func (rt *Runtime) giveBack(answered bool) {
	h := &rt.health
	h.mu.Lock()
	had := h.taken != nil
	if h.taken = nil; answered {
		h.line = 0
	}
	h.mu.Unlock()
	if had {
		rt.change(func(st State) State { return st })
	}
}

// inLine is patiently for a caller that waits until the other program has its answer.
func (rt *Runtime) inLine(ctx context.Context, r request, limit time.Duration, each func(chunk)) error {
	for {
		err := rt.patiently(ctx, r, limit, each)
		if !errors.Is(err, errTaken) {
			return err
		}
		rt.health.mu.Lock()
		back := rt.health.back
		rt.health.mu.Unlock()
		if back == nil {
			continue
		}
		select {
		case <-back:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// silent waits until the model has sent no token for limit, although it was in memory all that
// time, and answers how it was in memory. The bool is false if one of the channels is closed
// first. A request waits as long again if another program had unloaded the model, because
// unloading it once more would only double the wait. A model that has ended no request yet may
// still be loading, or may be stuck with its first request. In that case the watcher asks for
// it to be loaded, which a model in memory answers at once, and the request has cold from then
// on, the time that the whole prompt takes.
func (rt *Runtime) silent(ctx context.Context, alive, over <-chan struct{}, limit, cold time.Duration) (placement, bool) {
	fresh := false // as far as was seen, it has ended no request
	for {
		isLoaded := false
		if fresh {
			st, waits := rt.afterLoading(alive, over)
			if !waits {
				return placement{}, false
			}
			isLoaded, limit = st.Phase == Ready, max(limit, cold)
		}
		var seen [2]placement
		var err error
		for i := range seen {
			select {
			case <-alive:
				return placement{}, false
			case <-over:
				return placement{}, false
			case <-rt.opt.Clock.After(limit / 2):
			}
			if seen[i], err = rt.loaded(ctx); err != nil {
				break // the request itself will fail with what is wrong
			}
		}
		if err != nil {
			continue
		}
		ours := rt.isOurs(seen[0]) && rt.isOurs(seen[1])
		if ours && seen[1].expires.Equal(seen[0].expires) {
			return seen[1], true
		}
		fresh = ours && rt.isFresh(ctx, seen[1])
		if fresh && isLoaded {
			return seen[1], true
		}
		rt.reloading(alive, over)
	}
}

// loadLook is how long a request waits for its first token before quarry looks whether the model
// is being loaded for it. Most models on an SSD are in memory by then.
const loadLook = 2 * time.Second

// tellLoad has the status say that the model is loading if a request has had no token for
// loadLook and the model was not in memory, or came there for that request. It returns early
// if one of the channels is closed. silent finds out the same, but only when it has lost its
// patience, which is after a quarter of a minute where tokens are slow.
func (rt *Runtime) tellLoad(ctx context.Context, alive, over <-chan struct{}) {
	select {
	case <-alive:
		return
	case <-over:
		return
	case <-rt.opt.Clock.After(loadLook):
	}
	if seen, err := rt.loaded(ctx); err == nil && (!rt.isOurs(seen) || rt.isFresh(ctx, seen)) {
		rt.reloading(alive, over)
	}
}

// afterLoading waits until the watcher knows more than that the model is loading. waits is
// false if one of the channels is closed first.
func (rt *Runtime) afterLoading(alive, over <-chan struct{}) (st State, waits bool) {
	for {
		rt.health.mu.Lock()
		st, changed := rt.health.state, rt.health.changed
		rt.health.mu.Unlock()
		if st.Phase != Loading {
			return st, true
		}
		select {
		case <-changed:
		case <-alive:
			return st, false
		case <-over:
			return st, false
		}
	}
}

// isFresh is whether the model has ended no request since it was loaded. Until it has, Ollama
// counts the time until it unloads the model from whenever it is asked.
func (rt *Runtime) isFresh(ctx context.Context, seen placement) bool {
	again, err := rt.loaded(ctx)
	return err == nil && rt.isOurs(again) && !again.expires.Equal(seen.expires)
}

// isOurs is whether the model is in memory with quarry's context length, and not with that of
// another program.
func (rt *Runtime) isOurs(p placement) bool {
	return !p.expires.IsZero() && (p.numCtx == 0 || p.numCtx == contextFor(rt.opt.NumCtx, int(rt.trained.Load())))
}

// reloading publishes that the model is loading while a request waits for it. The watcher
// finds out when it is loaded. If one of the channels is closed, the request has its answer, so
// that what was seen before is over.
func (rt *Runtime) reloading(alive, over <-chan struct{}) {
	select {
	case <-alive:
		return
	case <-over:
		return
	default:
	}
	st := rt.State()
	if st.Phase != Ready {
		return
	}
	rt.metrics.forgetPrompt()
	st.Phase, st.Err = Loading, &problem{
		kind: ErrLoading, what: "wait, Ollama is reloading " + rt.opt.Model + ", which was unloaded",
		fix: "if another program unloads it, give both the same context length, or raise OLLAMA_MAX_LOADED_MODELS of `ollama serve`",
	}
	rt.set(st)
	signal(rt.health.doubt)
}

// wake is called before a request is sent. If the server has unloaded the model since the last
// request, its cache is empty and nothing is stuck.
func (rt *Runtime) wake() {
	now := rt.opt.Clock.Now().UnixNano()
	before := rt.lastAsked.Swap(now)
	if keep := rt.opt.KeepAlive; keep > 0 && before > 0 && time.Duration(now-before) > keep {
		rt.mayBeStuck.Store(false)
		rt.metrics.forgetPrompt()
	}
}

// unstick unloads the model and loads it again. All requests need that load, so it goes on
// when ctx ends.
func (rt *Runtime) unstick(ctx context.Context) error {
	done := make(chan error, 1)
	if !rt.spawn(func() {
		err := rt.backend.(unloader).unload(rt.ctx)
		if err == nil {
			err = rt.load(rt.ctx)
		}
		if err == nil {
			rt.mayBeStuck.Store(false)
			rt.metrics.forgetPrompt()
		}
		done <- err
	}) {
		return context.Canceled
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
