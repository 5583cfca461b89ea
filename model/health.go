package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// Phase is how far the model is from answering.
type Phase string

const (
	Unknown     Phase = "unknown" // not asked yet
	Loading     Phase = "loading"
	Ready       Phase = "ready"
	Unreachable Phase = "unreachable"
	Missing     Phase = "missing" // the server lacks the model
	Unsuitable  Phase = "unsuitable"
	Failing     Phase = "failing" // the server answers with errors
)

// State is what the watcher found out last.
type State struct {
	Phase Phase
	// Err is nil when the model is Ready. Otherwise it tells the user what is wrong and what to
	// do.
	Err error
	// Warning, if not empty, is a sentence about a model that can be asked but does not work
	// well.
	Warning string
	// Full: the model is Ready, but requests get no answer for now, as Warning says. Why says in
	// about three words whether the server is full, busy for another program or failing.
	Full bool
	Why  string
	// Version is the server's, if it answered.
	Version string

	own string // Warning, but for that of a full server
}

const (
	// Back-off while the model cannot be asked: the first retry comes soon after an outage. A
	// server that stays away costs one refused connection every quarter of a minute.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 15 * time.Second
	// If a probe loads the model only to see it fail again, or the user has to choose another
	// model, frequent probes cost more than they find.
	slowRetry = 2 * time.Minute
	// A user who types wants completions. They wait at most this long for a server that is
	// back.
	eagerRetry = 2 * time.Second
	// A ready server is asked for its version this often, so that the status line is right even
	// when nobody types.
	idleCheck = 30 * time.Second
)

// refusedInARow is the number of requests without an answer in a row after which a full or a
// failing server is worth a warning. A request is retried several times before it counts as
// refused, and a team's server is full for a moment every day.
const refusedInARow = 3

// unheard is how long a request must have waited for its first token to count as unanswered
// when it is given up. Requests of users who go on typing are given up sooner, and do not count.
const unheard = 5 * time.Second

type health struct {
	telling sync.Mutex // held while OnChange runs, so that changes come in order
	mu      sync.Mutex // guards all but weights and the channels for waking
	state   State
	changed chan struct{} // closed and replaced on every change
	probed  time.Time     // when the last probe ended
	refused int           // requests in a row that got no answer, not counting faults of their own
	full    error         // the error of the last of them
	empty   int           // empty answers in a row, each to another prompt than the one before
	nothing string        // the last of these prompts
	taken   error         // the problem that the model answers another program; nil if it does not
	line    int           // how often that was found since the last token
	back    chan struct{} // closed when the model may be asked again, nil if it may be now
	weights string        // of the model that was probed last, "" if not known; used by the watcher alone

	// wake asks the watcher to probe now. doubt asks it to stop trusting a Ready state.
	wake  chan struct{}
	doubt chan struct{}
}

func (h *health) init(api API) {
	h.state = State{Phase: Unknown, Err: notAsked(api)}
	h.changed = make(chan struct{})
	h.wake = make(chan struct{}, 1)
	h.doubt = make(chan struct{}, 1)
}

// notAsked is the problem before the first probe.
func notAsked(api API) error {
	if api == OpenAIAPI {
		return &problem{kind: ErrLoading, what: "quarry has not asked the model server yet"}
	}
	return &problem{kind: ErrLoading, what: "quarry has not asked Ollama yet"}
}

// State is the last known state.
func (rt *Runtime) State() State {
	rt.health.mu.Lock()
	defer rt.health.mu.Unlock()
	return rt.health.state
}

// Ready answers nil when the model can be asked now. Otherwise the error says what is wrong
// and what to do. Ready does not ask the server. Because a call means that a user wants
// completions, the watcher probes again sooner.
func (rt *Runtime) Ready() error {
	h := &rt.health
	h.mu.Lock()
	defer h.mu.Unlock()
	away := h.state.Phase == Unreachable || h.state.Phase == Missing
	if away && rt.opt.Clock.Now().Sub(h.probed) >= eagerRetry {
		signal(h.wake)
	}
	return h.state.Err
}

// Look makes the watcher look at the server now.
func (rt *Runtime) Look() { signal(rt.health.wake) }

// WaitReady waits until the watcher has probed the model once, which includes loading it, and
// answers as Ready does. It needs Start.
func (rt *Runtime) WaitReady(ctx context.Context) error {
	for {
		rt.health.mu.Lock()
		st, changed := rt.health.state, rt.health.changed
		rt.health.mu.Unlock()
		if st.Phase != Unknown && st.Phase != Loading {
			return st.Err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-rt.ctx.Done():
			return rt.ctx.Err()
		}
	}
}

// noteEnd notes how a request ended and whether any part of an answer came. If the request
// failed for a reason that is not its own, the watcher probes the server.
func (rt *Runtime) noteEnd(err error, answered bool) {
	switch {
	case answered || err == nil:
		rt.noteRefusal(nil)
	case errors.Is(err, errTaken): // the status says so already
	case errors.Is(err, ErrBusy):
		rt.noteRefusal(err)
	}
	if err == nil || errors.Is(err, errStopped) || errors.Is(err, context.Canceled) ||
		errors.Is(err, ErrTooLong) || errors.Is(err, ErrBusy) || errors.Is(err, ErrNoTools) {
		return
	}
	if !answered { // the watcher may find nothing wrong with the server
		rt.noteRefusal(err)
	}
	signal(rt.health.doubt)
}

// unansweredIn is the error of a request that was given up after it had waited for its first
// token, nil if the wait was short or behind a conversation: many servers answer one request
// after the other. A model of Ollama's may be stuck or busy instead, which stuck.go finds out.
func (rt *Runtime) unansweredIn(waited time.Duration, behind bool) error {
	if loads(rt.backend) || waited < unheard || behind || rt.converses() {
		return nil
	}
	return &problem{kind: ErrServer, what: rt.endpoint.Host + " gives no answer in time", fix: "wait, choose a smaller model, or restart it if this goes on"}
}

// converses is whether a conversation is being answered.
func (rt *Runtime) converses() bool { return len(rt.talking) > 0 }

// noteRefusal counts requests that got no answer because the server is full or failing. err is
// nil for a request that was answered.
func (rt *Runtime) noteRefusal(err error) {
	h := &rt.health
	h.mu.Lock()
	before := h.refused
	if err == nil || errors.Is(h.full, ErrBusy) != errors.Is(err, ErrBusy) {
		h.refused = 0 // refused and failed requests are counted apart
	}
	if h.full = err; err != nil {
		h.refused++
	}
	now := h.refused
	h.mu.Unlock()
	if (before >= refusedInARow) != (now >= refusedInARow) {
		rt.change(func(st State) State { return st })
	}
}

// emptyInARow is the number of empty answers in a row, to different prompts, after which
// quarry says that the model answers nothing. An empty answer is right where a line or a block
// is already complete.
const emptyInARow = 6

// noteText notes whether a complete answer had any text.
func (rt *Runtime) noteText(prompt string, text bool) {
	h := &rt.health
	h.mu.Lock()
	before := h.empty
	switch {
	case text:
		h.empty, h.nothing = 0, ""
	case prompt != h.nothing: // further samples of one prompt do not count
		h.empty, h.nothing = h.empty+1, prompt
	}
	now := h.empty
	h.mu.Unlock()
	if (before >= emptyInARow) != (now >= emptyInARow) {
		rt.change(func(st State) State { return st })
	}
}

// answersNothing is the problem of a model whose answers have no text.
func (rt *Runtime) answersNothing(of string) *problem {
	return &problem{
		kind: ErrServer, what: rt.opt.Model + " answers nothing",
		fix: fmt.Sprintf("choose another, such as %s, or restart the server (%s)", otherThan(rt.opt.Model), of),
	}
}

// fullness is the warning about a server that refuses requests, answers another program or
// fails, and the reason in a few words. Both are "" if it does none of these. The caller holds mu.
func (h *health) fullness() (warning, why string) {
	var p *problem
	switch {
	case errors.As(h.taken, &p):
		return p.Error() + ". Until then, completions are copied from your open files", "busy for another program"
	case h.refused < refusedInARow || !errors.As(h.full, &p):
		return "", ""
	case p.kind == ErrBusy:
		return fmt.Sprintf("%s: wait, quarry goes on asking (it refused the last requests; until it accepts one, completions are copied from your open files)", p.what), "server full"
	}
	return fmt.Sprintf("%s. It answered none of the last requests; until it does, completions are copied from your open files", p), "no answers"
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // a signal is pending already
	}
}

// watch probes the server until Close: at once, then with back-off until the model is ready,
// and rarely from then on.
func (rt *Runtime) watch() {
	// trusted: the model has answered the canary, and the server has not been away since.
	// Sending the canary again would cost the completion cache.
	trusted := false
	retry := firstRetry
	for doubt := true; ; {
		st := rt.State()
		// Whether a model without the tags has been replaced by one with them can wait until a
		// conversation is over, because the canary would cost the conversation its cache.
		settled := st.Phase == Ready || errors.Is(st.Err, ErrNoFIM) && rt.converses()
		if !doubt && settled {
			was := st.Version
			if st = rt.checkVersion(st); st.Version != was && st.Err == nil {
				rt.log.Info("the model server changed its version", "was", was, "now", st.Version)
				doubt, trusted = true, false // another version may treat the model's tags differently
			}
			if st.Phase == Ready && rt.replaced() {
				rt.log.Info("the model's name means another one now", "model", rt.opt.Model)
				doubt, trusted = true, false
			}
		}
		if doubt || !settled {
			st = rt.probe(trusted)
		}
		if rt.ctx.Err() != nil {
			return
		}
		if st.Phase == Ready {
			trusted = true
		} else if st.Phase != Failing {
			trusted = false
		}
		rt.set(st)
		rt.health.mu.Lock()
		rt.health.probed = rt.opt.Clock.Now()
		rt.health.mu.Unlock()

		var pause time.Duration
		pause, retry = schedule(st.Phase, retry)
		doubt = false
		select {
		case <-rt.opt.Clock.After(pause):
		case <-rt.health.wake:
		case <-rt.health.doubt:
			doubt = true
		case <-rt.ctx.Done():
			return
		}
	}
}

// schedule answers how long to wait after a probe that found phase, and the back-off for the
// wait after that. Up to half of a wait is taken off at random, because many editors may share
// one server.
func schedule(phase Phase, retry time.Duration) (pause, next time.Duration) {
	limit := lastRetry
	switch phase {
	case Ready:
		return idleCheck, firstRetry
	case Unsuitable:
		return slowRetry, firstRetry
	case Failing:
		limit = slowRetry
	}
	return retry - rand.N(retry/2), min(2*retry, limit)
}

// checkVersion asks a ready server for its version, and whether it is there.
func (rt *Runtime) checkVersion(st State) State {
	version, err := rt.version(rt.ctx)
	if errors.Is(err, ErrBusy) {
		return st // the server is there, but full
	}
	if err != nil {
		return State{Phase: phaseOf(err), Err: err}
	}
	st.Version = version
	return st
}

// replaced is whether the name now means another model than the one that was probed last, no
// model, or one of another machine.
func (rt *Runtime) replaced() bool {
	now, err := rt.weights(rt.ctx)
	return err == nil && now != rt.health.weights || errors.Is(err, ErrRefused)
}

// probe takes every step from "is there a server" to "the model can be asked".
func (rt *Runtime) probe(trusted bool) State {
	st, was := State{}, rt.State()
	fail := func(err error) State {
		if trusted && was.Phase == Ready && errors.Is(err, ErrBusy) {
			return was // it is still full, as the requests show
		}
		st.Phase, st.Err = phaseOf(err), err
		return st
	}
	var err error
	if st.Version, err = rt.version(rt.ctx); err != nil {
		return fail(err)
	}
	about, err := rt.inspectCompleter(rt.ctx)
	if err != nil {
		return fail(err)
	}
	// The weights are read before the canary. If the name gets another model in between, the
	// next probe notices.
	if weights, err := rt.weights(rt.ctx); err == nil && weights != rt.health.weights {
		rt.health.weights, trusted = weights, false
	}
	rt.trained.Store(int64(about.context))
	rt.parameters.Store(int64(about.parameters))
	st.own = rt.warning(about)
	if !trusted {
		rt.metrics.forgetPrompt()
	}
	if !trusted && !errors.Is(was.Err, errSilent) && !errors.Is(was.Err, errUnfinished) && !errors.Is(was.Err, ErrBusy) { // these problems stand until the model has answered
		loading := st
		loading.Phase, loading.Err = Loading, rt.isLoading()
		rt.set(loading)
	}
	if err := rt.load(rt.ctx); err != nil {
		return fail(err)
	}
	if !trusted {
		if err := rt.canary(rt.ctx, about); err != nil {
			return fail(err)
		}
	}
	st.Phase = Ready
	return st
}

// isLoading is the problem until the model has answered for the first time.
func (rt *Runtime) isLoading() error {
	if rt.opt.API == OpenAIAPI {
		return &problem{kind: ErrLoading, what: fmt.Sprintf("%s is loading %s", rt.endpoint.Host, rt.opt.Model)}
	}
	return &problem{kind: ErrLoading, what: "Ollama is loading " + rt.opt.Model}
}

// Small reports whether the model is known to have so few parameters that quarry asks it for
// less at once.
func (rt *Runtime) Small() bool { return few(float64(rt.parameters.Load())) }

// SmallByName is Small for a model of which only the name is known.
func SmallByName(name string) bool { return few(parametersOf(name)) }

func few(parameters float64) bool { return parameters > 0 && parameters <= 4e9 }

func (rt *Runtime) warning(about facts) string {
	if about.hybrid {
		return rt.opt.Model + " is a hybrid model, for which Ollama reads the whole prompt again at every keystroke: " + otherThan(rt.opt.Model) + ", which is dense, answers many times sooner"
	}
	if about.chatless {
		return rt.opt.Model + " has no chat template, and is for ghost text only: for questions and explanations choose another model, such as " + otherThan(rt.opt.Model)
	}
	return ""
}

// otherThan is a model to suggest to a user whose own model does not work.
func otherThan(own string) string {
	switch strings.TrimSuffix(own, ":latest") {
	case "granite4.1", "granite4.1:3b": // the same weights
		return "qwen2.5-coder:1.5b"
	}
	return "granite4.1:3b"
}

func phaseOf(err error) Phase {
	switch {
	case errors.Is(err, ErrUnreachable):
		return Unreachable
	case errors.Is(err, ErrModelMissing):
		return Missing
	case errors.Is(err, ErrNoFIM), errors.Is(err, ErrEmbeds), errors.Is(err, ErrRefused):
		return Unsuitable
	case errors.Is(err, ErrLoading), errors.Is(err, errTaken): // until it has answered once
		return Loading
	}
	return Failing
}

const (
	// silence is how long a request may go without a token before quarry asks whether the
	// server is there at all. Reading a prompt may take long, but a server that reads one still
	// answers other requests.
	silence = 500 * time.Millisecond
	// sign is how long the server may take for this answer.
	sign = 1500 * time.Millisecond
)

// stillThere asks a server that owes an answer whether it is there. If it does not answer, all
// later requests fail at once.
func (rt *Runtime) stillThere() error {
	ctx, cancel := context.WithTimeout(rt.ctx, sign)
	defer cancel()
	_, err := rt.version(ctx)
	if !errors.Is(err, ErrUnreachable) {
		return nil // the request itself will fail with any other problem
	}
	rt.set(State{Phase: Unreachable, Err: err})
	signal(rt.health.doubt)
	return err
}

// set publishes a state, and calls OnChange if it differs from the one before.
func (rt *Runtime) set(st State) { rt.change(func(State) State { return st }) }

// change is set for a state that depends on the current one.
func (rt *Runtime) change(next func(State) State) {
	h := &rt.health
	h.telling.Lock()
	defer h.telling.Unlock()
	h.mu.Lock()
	old := h.state
	st := next(old)
	st.Warning, st.Full, st.Why = st.own, false, ""
	if st.Phase != Ready && st.Phase != old.Phase {
		h.refused, h.full = 0, nil // the state says what is wrong, and no requests are sent
	}
	if full, why := h.fullness(); full != "" && st.Phase == Ready {
		st.Warning, st.Full, st.Why = strings.TrimSuffix(full+". "+st.own, ". "), true, why
	} else if h.empty >= emptyInARow && st.Phase == Ready {
		st.Warning = strings.TrimSuffix(rt.answersNothing("its last answers had no text").Error()+". "+st.own, ". ")
	}
	h.state = st
	isNew := st.Phase != old.Phase || st.Warning != old.Warning || errorText(st.Err) != errorText(old.Err)
	if isNew {
		close(h.changed)
		h.changed = make(chan struct{})
	}
	h.mu.Unlock()
	if !isNew {
		return
	}
	rt.log.Info("model state", "phase", st.Phase, "version", st.Version, "reason", st.Err, "warning", st.Warning)
	if rt.opt.OnChange != nil {
		rt.opt.OnChange(st)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
