package model

import (
	"context"
	"errors"
	"time"
)

// Ollama (seen in 0.17.4) can get stuck for good when a client closes the
// connection while two tokens are under way: its handler is gone, and the one
// that reads from the model waits for ever to hand the second token over, with
// the model's only place taken. Everyone's requests then wait, until the model
// is unloaded. It takes a moment of bad scheduling: on a machine under full load
// it happened after 15 to 40 cancelled requests of a model that writes a token
// in 2 ms, and after 1,100 of one that needs 20 ms. People cancel thousands of
// completions a day, so whoever cancels must also repair.

// unloader is a backend whose model comes into memory for a request and can be
// dropped from it.
type unloader interface {
	unload(ctx context.Context) error
}

// canaryPatience is that for the first request to a server, which may be stuck
// since before quarry was there, but is more likely busy for someone else.
const canaryPatience = 30 * time.Second

// patience is how long a request may wait for its first token before the server
// counts as stuck, if it may be: a margin in which 200 tokens would come, for what
// else the machine does, and twice what reading the newBytes that are new in its
// prompt takes. Loading a model anew for nothing costs most where tokens are
// slow, and there a server hardly gets stuck. token is the time between two
// tokens, readByte that for a new byte of a prompt, each 0 if not known. Reading is
// measured, since a busy processor may read far slower than it writes: one that
// needed 70 s for 900 tokens had its model loaded anew, for nothing, three times in
// 20 completions.
func patience(newBytes int, token, readByte time.Duration) time.Duration {
	margin, perByte := 5*time.Second, time.Second/150 // 50 tokens a second, of three bytes each
	if token > 0 {
		margin = min(max(200*token, 2*time.Second), 10*time.Second)
		perByte = min(perByte, token/3) // reading is faster than writing
	}
	perByte = max(perByte, readByte)
	return margin + 2*perByte*time.Duration(newBytes)
}

// cold is the patience with a request to a model that has nothing in its cache.
func (rt *Runtime) cold(r request) time.Duration {
	return patience(len(r.prompt), rt.metrics.tokenTime(), rt.metrics.readTime())
}

// What a stuck server shows is what one shows that answers somebody else: no token,
// and a model whose time to leave memory stands still, since Ollama sets that when
// nobody asks the model any more. The two differ once quarry has taken its own request
// back. Then nobody asks a stuck model, since the request that got it stuck counts as
// ended, and its time is set anew; under another program's request it goes on standing
// still. Nothing is dropped from memory that another may be using: one that waits
// behind a stuck request cannot be told from one that is answered.

// suspicion is why a request was taken back: it got no token from a server that may be
// stuck, with the model in memory as was seen.
type suspicion struct{ seen placement }

func (*suspicion) Error() string { return "the server may be stuck" }

// patiently completes r. If a request was cut off since the server last gave a token,
// and this one gets none within limit, twice, from a model that nobody else asks, it
// has the model loaded anew and asks once more. Twice, because another's request may
// end just when this one is taken back. Where another does ask it, it fails with
// errTaken, as it then does for as long as it had waited.
func (rt *Runtime) patiently(ctx context.Context, r request, limit time.Duration, each func(chunk)) error {
	longer, err := rt.taken()
	if err != nil {
		return err
	}
	limit = max(limit, min(limit<<longer, longestLine)) // who waits in line gets a turn in the end
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
		case !rt.isOurs(now): // it is loaded again, and that is waited for
			limit, alone = max(limit, rt.cold(r)), 0
			continue
		}
		if alone++; alone == 2 {
			break
		}
	}
	rt.log.Warn("Ollama is stuck after a cancelled request; loading the model anew")
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

// watched completes r, and fails with a suspicion if the server may be stuck when
// limit is over and no token has come.
func (rt *Runtime) watched(ctx context.Context, r request, limit time.Duration, each func(chunk)) error {
	if _, ok := rt.backend.(unloader); !ok {
		return rt.complete(ctx, r, each)
	}
	attempt, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive, over := make(chan struct{}), make(chan struct{})
	watcher := make(chan struct{})
	go func() {
		defer close(watcher)
		for {
			seen, silent := rt.silent(alive, over, limit, rt.cold(r))
			if !silent {
				return
			}
			if rt.mayBeStuck.Load() {
				cancel(&suspicion{seen})
				return
			}
		}
	}()
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
	<-watcher
	var s *suspicion
	switch {
	case err != nil && errors.As(context.Cause(attempt), &s) && ctx.Err() == nil:
		return s
	case err != nil && started && (ctx.Err() != nil || errors.Is(err, errUnfinished)):
		rt.mayBeStuck.Store(true) // cut off in the middle
	}
	return err
}

// errTaken is the cause of the problem that the model answers another program.
var errTaken = errors.New("another program's request has the model")

const (
	// A server needs a moment to see that a request was taken back.
	settling   = 200 * time.Millisecond
	mostSettle = 5 // times
	// lineLook is how often a model that answers another is looked at, longestLine the
	// longest that quarry waits for its turn in one go.
	lineLook    = time.Second
	longestLine = 2 * time.Minute
)

// leftAlone answers how the model is in memory after a request to it was taken back, and
// whether nobody else asks it.
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

// released is whether requests to the model have all ended since it was as before: its time
// to leave memory is another, and does not move with the clock, as it does before any ended.
func (rt *Runtime) released(before placement) (now placement, free bool, err error) {
	if now, err = rt.loaded(rt.ctx); err != nil || !rt.isOurs(now) {
		return now, err == nil, err
	}
	return now, !now.expires.Equal(before.expires) && !rt.isFresh(now), nil
}

// take notes that another program's request has the model, which the status says. Until
// that has ended, or quarry has stayed away for as long as it had waited, nothing is asked: a
// request of another quarry, which suspects the same, then finds the model alone.
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
		// Whoever waits in line is heard of by the answer; of who does not, this is.
		for away, ended, isOver := lineLook, false, false; !ended; away += lineLook {
			select {
			case <-rt.opt.Clock.After(lineLook):
			case <-rt.ctx.Done():
				return
			}
			_, ended, _ = rt.released(seen) // what is wrong with the server is found elsewhere
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

// taken fails while quarry leaves the model to another program; else longer is how often it
// did since the last token.
func (rt *Runtime) taken() (longer int, err error) {
	h := &rt.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.back != nil {
		return 0, h.taken
	}
	return min(h.line, 10), nil
}

// giveBack says that no other program has the model any more; answered, that it gave quarry a
// token since.
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

// inLine is patiently for who waits until another program has its answer.
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

// silent waits until no token has come for limit from a model that was there all
// the time, and answers how it was, or false when one of the channels is closed. A request waits
// as long for a model that another program had unloaded, and unloading that once
// more would only double the wait. A model that has ended no request yet may be on
// its way into memory or stuck with its first: the watcher has it loaded, which a
// model in memory answers at once, and from then on it has cold, the time that
// the whole prompt takes.
func (rt *Runtime) silent(alive, over <-chan struct{}, limit, cold time.Duration) (placement, bool) {
	fresh := false // has ended no request, as far as was seen
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
			if seen[i], err = rt.loaded(rt.ctx); err != nil {
				break // whatever is wrong, the request itself will tell
			}
		}
		if err != nil {
			continue
		}
		ours := rt.isOurs(seen[0]) && rt.isOurs(seen[1])
		if ours && seen[1].expires.Equal(seen[0].expires) {
			return seen[1], true
		}
		fresh = ours && rt.isFresh(seen[1])
		if fresh && isLoaded {
			return seen[1], true
		}
		rt.reloading()
	}
}

// afterLoading waits until the watcher knows more than that the model is being loaded;
// waits is false if one of the channels is closed before.
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

// isFresh is whether the model that was seen has ended no request since it was loaded:
// until then Ollama counts from the time of asking when it will drop it.
func (rt *Runtime) isFresh(seen placement) bool {
	again, err := rt.loaded(rt.ctx)
	return err == nil && rt.isOurs(again) && !again.expires.Equal(seen.expires)
}

// isOurs: the model is in memory as quarry asks for it, not for another program
// that gives it another context length.
func (rt *Runtime) isOurs(p placement) bool {
	return !p.expires.IsZero() && (p.numCtx == 0 || p.numCtx == contextFor(rt.opt.NumCtx, int(rt.trained.Load())))
}

// reloading says that the model is being loaded while a request waits for it;
// the watcher finds out when it is there.
func (rt *Runtime) reloading() {
	st := rt.State()
	if st.Phase != Ready {
		return
	}
	rt.metrics.forgetPrompt()
	st.Phase, st.Err = Loading, &problem{
		kind: ErrLoading, what: "wait, Ollama loads " + rt.opt.Model + " again, which it had dropped",
		fix: "if another program makes it do that, give both the same context length, or `ollama serve` a higher OLLAMA_MAX_LOADED_MODELS",
	}
	rt.set(st)
	signal(rt.health.doubt)
}

// wake is called before a request is sent. After a pause in which the server
// dropped the model from memory nothing is in its cache, and nothing stuck.
func (rt *Runtime) wake() {
	now := rt.opt.Clock.Now().UnixNano()
	before := rt.lastAsked.Swap(now)
	if keep := rt.opt.KeepAlive; keep > 0 && before > 0 && time.Duration(now-before) > keep {
		rt.mayBeStuck.Store(false)
		rt.metrics.forgetPrompt()
	}
}

// unstick drops the model and loads it again. The load is everybody's, so it
// goes on when ctx ends.
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
