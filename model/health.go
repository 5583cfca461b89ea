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
	// Err is nil when Ready, else says what is wrong and what to do, in words
	// for the user.
	Err error
	// Warning, if not empty, is a sentence about a model that can be asked and does
	// not do well.
	Warning string
	// Full: it is Ready, and the server sends requests away, as Warning says.
	Full bool
	// Version is the server's, if it answered.
	Version string

	own string // Warning, but for that of a full server
}

const (
	// Back-off while the model cannot be asked: a retry follows soon after an
	// outage, and a server that stays away costs a refused connection every
	// quarter of a minute.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 15 * time.Second
	// Where a probe means loading the model to see it fail again, or the model
	// must be replaced, looking often would cost more than it finds.
	slowRetry = 2 * time.Minute
	// Someone who types wants completions: their wait for a server that came
	// back is at most this.
	eagerRetry = 2 * time.Second
	// A ready server is asked for its version this often, so that the status
	// line is true even when nobody types.
	idleCheck = 30 * time.Second
)

// refusedInARow is from how many requests on a full server is a warning: one that is sent away is asked again several times
// before it counts, and a team's server is full for a moment every day.
const refusedInARow = 3

type health struct {
	telling sync.Mutex // held while a change is told, so that changes are told in order
	mu      sync.Mutex // guards all but weights and the channels for waking
	state   State
	changed chan struct{} // closed and replaced on every change
	probed  time.Time     // when the last probe ended
	refused int           // requests in a row that were sent away because the server is full
	full    error         // what the last one was told
	empty   int           // answers in a row without text, to prompts of which each was another than the one before
	nothing string        // the last of these prompts
	taken   error         // another program's request has the model; nil if none is known
	line    int           // how often that was found since the last token
	back    chan struct{} // closed when the model may be asked again, nil if it may be now
	weights string        // of the model that was probed last, "" if not known; the watcher's own

	// wake asks the watcher to probe now; doubt asks it to doubt a Ready state.
	wake  chan struct{}
	doubt chan struct{}
}

func (h *health) init(api API) {
	h.state = State{Phase: Unknown, Err: notAsked(api)}
	h.changed = make(chan struct{})
	h.wake = make(chan struct{}, 1)
	h.doubt = make(chan struct{}, 1)
}

// notAsked is what is so before the first probe.
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

// Ready answers nil when the model can be asked now, else what is missing and
// what to do. It does not ask the server, but asking it is a sign that someone
// wants completions, so the watcher looks again sooner.
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

// WaitReady waits for the watcher's first verdict, which includes loading the
// model, and answers it as Ready does. It needs Start.
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

// noteEnd keeps account of how a request ended, and whether any of an answer came: it makes the watcher doubt a server
// whose request failed for a reason that is not the request's own.
func (rt *Runtime) noteEnd(err error, answered bool) {
	switch {
	case answered || err == nil:
		rt.noteRefusal(nil)
	case errors.Is(err, errTaken): // which is said already
	case errors.Is(err, ErrBusy):
		rt.noteRefusal(err)
	}
	if err == nil || errors.Is(err, errStopped) || errors.Is(err, context.Canceled) ||
		errors.Is(err, ErrTooLong) || errors.Is(err, ErrBusy) || errors.Is(err, ErrNoTools) {
		return
	}
	signal(rt.health.doubt)
}

// noteRefusal counts a request that was sent away because the server is full; nil is one that was answered.
func (rt *Runtime) noteRefusal(err error) {
	h := &rt.health
	h.mu.Lock()
	before := h.refused
	if h.full = err; err == nil {
		h.refused = 0
	} else {
		h.refused++
	}
	now := h.refused
	h.mu.Unlock()
	if (before >= refusedInARow) != (now >= refusedInARow) {
		rt.change(func(st State) State { return st })
	}
}

// emptyInARow is from how many answers without text on, to different prompts, a model is said to answer nothing. Where
// a line or a block is whole, it has nothing to add, and that is right.
const emptyInARow = 6

// noteText keeps account of whether a whole answer had any text.
func (rt *Runtime) noteText(prompt string, text bool) {
	h := &rt.health
	h.mu.Lock()
	before := h.empty
	switch {
	case text:
		h.empty, h.nothing = 0, ""
	case prompt != h.nothing: // and no other sample of the same
		h.empty, h.nothing = h.empty+1, prompt
	}
	now := h.empty
	h.mu.Unlock()
	if (before >= emptyInARow) != (now >= emptyInARow) {
		rt.change(func(st State) State { return st })
	}
}

// answersNothing is what to say of a model whose answers have no text.
func (rt *Runtime) answersNothing(of string) *problem {
	return &problem{
		kind: ErrServer, what: rt.opt.Model + " answers nothing",
		fix: fmt.Sprintf("choose another, such as %s, or restart the server (%s)", otherThan(rt.opt.Model), of),
	}
}

// fullness is the warning of a server that sends requests away or answers another program, "" if it does neither. mu is held.
func (h *health) fullness() string {
	var p *problem
	if errors.As(h.taken, &p) {
		return p.Error() + ". Until then, completions are copied from your open files"
	}
	if h.refused < refusedInARow || !errors.As(h.full, &p) {
		return ""
	}
	return fmt.Sprintf("%s: wait, quarry goes on asking (it sent the last requests away, and until it takes one, completions are copied from your open files)", p.what)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one is pending already
	}
}

// watch probes until Close: at once, then with back-off until the model is
// ready, and from then on rarely.
func (rt *Runtime) watch() {
	// trusted says that the model answered the canary on a server that has not
	// been away since. Asking it again would cost the completion cache.
	trusted := false
	retry := firstRetry
	for doubt := true; ; {
		st := rt.State()
		// Whether a model without the tags was replaced by one with them can wait
		// until a conversation is over: the canary would cost it its cache.
		settled := st.Phase == Ready || errors.Is(st.Err, ErrNoFIM) && len(rt.talking) > 0
		if !doubt && settled {
			was := st.Version
			if st = rt.checkVersion(st); st.Version != was && st.Err == nil {
				rt.log.Info("the model server changed its version", "was", was, "now", st.Version)
				doubt, trusted = true, false // it may do otherwise with the model's tags
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

// schedule answers how long to wait after a probe that found phase, and the
// back-off to wait after the next. A wait is shortened by up to half at random:
// many editors may share one server.
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
		return st // it is there, and full
	}
	if err != nil {
		return State{Phase: phaseOf(err), Err: err}
	}
	st.Version = version
	return st
}

// replaced is whether the name means another model than the one that was probed last, or none.
func (rt *Runtime) replaced() bool {
	now, err := rt.weights(rt.ctx)
	return err == nil && now != rt.health.weights
}

// probe takes every step from "is there a server" to "the model can be asked".
func (rt *Runtime) probe(trusted bool) State {
	st, was := State{}, rt.State()
	fail := func(err error) State {
		if trusted && was.Phase == Ready && errors.Is(err, ErrBusy) {
			return was // whether it was doubted or not, it is full, which requests tell
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
	// Before the canary, so that what gets the name meanwhile is found later.
	if weights, err := rt.weights(rt.ctx); err == nil && weights != rt.health.weights {
		rt.health.weights, trusted = weights, false
	}
	rt.trained.Store(int64(about.context))
	rt.parameters.Store(int64(about.parameters))
	st.own = rt.warning(about)
	if !trusted {
		rt.metrics.forgetPrompt()
	}
	if !trusted && !errors.Is(was.Err, errSilent) && !errors.Is(was.Err, errUnfinished) && !errors.Is(was.Err, errTaken) { // of such a one nothing better is known until it has answered
		loading := st
		loading.Phase, loading.Err = Loading, rt.isLoading()
		rt.set(loading)
	}
	if err := rt.load(rt.ctx); err != nil {
		return fail(err)
	}
	if !trusted {
		if err := rt.canary(rt.ctx); err != nil {
			return fail(err)
		}
	}
	st.Phase = Ready
	return st
}

// isLoading is what is so before the model has answered first.
func (rt *Runtime) isLoading() error {
	if rt.opt.API == OpenAIAPI {
		return &problem{kind: ErrLoading, what: fmt.Sprintf("%s is loading %s", rt.endpoint.Host, rt.opt.Model)}
	}
	return &problem{kind: ErrLoading, what: "Ollama is loading " + rt.opt.Model}
}

// Small reports whether the model is known to have so few parameters that it is asked
// for less at once.
func (rt *Runtime) Small() bool {
	const small = 4e9
	n := rt.parameters.Load()
	return n > 0 && n <= small
}

func (rt *Runtime) warning(about facts) string {
	if about.hybrid {
		return rt.opt.Model + " is a hybrid model, for which Ollama reads the whole prompt again at every keystroke: " + otherThan(rt.opt.Model) + ", which is dense, answers many times sooner"
	}
	if about.chatless {
		return rt.opt.Model + " has no chat template, and is for ghost text only: questions and explanations want another model, such as " + otherThan(rt.opt.Model)
	}
	return ""
}

// otherThan is a model to name as an example to somebody whose own is at fault.
func otherThan(own string) string {
	switch strings.TrimSuffix(own, ":latest") {
	case "granite4", "granite4:micro": // the same weights
		return "qwen2.5-coder:1.5b"
	}
	return "granite4:micro"
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
	// silence is how long a request may go without a token before the server is
	// asked whether it is there at all: reading a prompt may take long, but a
	// server that reads one still answers other questions.
	silence = 500 * time.Millisecond
	// sign is how long it may take to give a sign of life.
	sign = 1500 * time.Millisecond
)

// stillThere asks a server that owes an answer for a sign of life. If none comes
// all who ask next learn so at once.
func (rt *Runtime) stillThere() error {
	ctx, cancel := context.WithTimeout(rt.ctx, sign)
	defer cancel()
	_, err := rt.version(ctx)
	if !errors.Is(err, ErrUnreachable) {
		return nil // whatever else is wrong, the request itself will tell
	}
	rt.set(State{Phase: Unreachable, Err: err})
	signal(rt.health.doubt)
	return err
}

// set publishes a state, and tells OnChange if it says anything new.
func (rt *Runtime) set(st State) { rt.change(func(State) State { return st }) }

// change is set for a state that depends on the one before.
func (rt *Runtime) change(next func(State) State) {
	h := &rt.health
	h.telling.Lock()
	defer h.telling.Unlock()
	h.mu.Lock()
	old := h.state
	st := next(old)
	st.Warning, st.Full = st.own, false
	if full := h.fullness(); full != "" && st.Phase == Ready {
		st.Warning, st.Full = strings.TrimSuffix(full+". "+st.own, ". "), true
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
