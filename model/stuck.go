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

var errStuck = errors.New("the server is stuck")

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

// patiently completes r. If a request was cut off since the server last gave a
// token, and this one gets none within limit, it has the model loaded anew and
// asks once more.
func (rt *Runtime) patiently(ctx context.Context, r request, limit time.Duration, each func(chunk)) error {
	err := rt.watched(ctx, r, limit, each)
	if err != errStuck {
		return err
	}
	rt.log.Warn("Ollama is stuck after a cancelled request; loading the model anew")
	rt.metrics.unstuck()
	if err := rt.unstick(ctx); err != nil {
		return err
	}
	if err = rt.watched(ctx, r, rt.cold(r), each); err == errStuck {
		err = &problem{kind: ErrServer, what: "Ollama gives no answer", fix: "restart it, since loading " + rt.opt.Model + " anew did not help"}
	}
	return err
}

// watched completes r, and fails with errStuck if the server may be stuck when
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
		for rt.silent(alive, over, limit, rt.cold(r)) {
			if rt.mayBeStuck.Load() {
				cancel(errStuck)
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
		}
		each(c)
	})
	close(over)
	<-watcher
	switch {
	case err != nil && context.Cause(attempt) == errStuck && ctx.Err() == nil:
		return errStuck
	case err != nil && started && (ctx.Err() != nil || errors.Is(err, errUnfinished)):
		rt.mayBeStuck.Store(true) // cut off in the middle
	}
	return err
}

// silent waits until no token has come for limit from a model that was there all
// the time, or answers false when one of the channels is closed. A request waits
// as long for a model that another program had unloaded, and unloading that once
// more would only double the wait. A model that has ended no request yet may be on
// its way into memory or stuck with its first: the watcher has it loaded, which a
// model in memory answers at once, and from then on it has cold, the time that
// the whole prompt takes.
func (rt *Runtime) silent(alive, over <-chan struct{}, limit, cold time.Duration) bool {
	fresh := false // has ended no request, as far as was seen
	for {
		isLoaded := false
		if fresh {
			st, waits := rt.afterLoading(alive, over)
			if !waits {
				return false
			}
			isLoaded, limit = st.Phase == Ready, max(limit, cold)
		}
		var seen [2]placement
		var err error
		for i := range seen {
			select {
			case <-alive:
				return false
			case <-over:
				return false
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
			return true
		}
		fresh = ours && rt.isFresh(seen[1])
		if fresh && isLoaded {
			return true
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
