package completion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
)

// A flight is one request to the model, running or landed. It belongs to the
// Engine and not to the Request that started it: while the user types what it
// says, later Requests take their answers from it too.
type flight struct {
	at     laidOut
	site   *site
	manual bool
	cancel context.CancelFunc

	mu sync.Mutex
	// All below is guarded by mu.

	// answers holds the answer and, after it, its alternatives.
	answers []answer
	// changed is closed and replaced when answers or done change.
	changed chan struct{}
	done    bool
	err     error
	// shown is the most of the first answer that the user saw, with what they
	// had typed of it: post-processing may have written it in another way.
	shown   string
	waiters int
	// kept is set for a flight that runs ahead of the user, with nobody
	// waiting yet.
	kept bool

	promptTokens         int
	firstToken, generate time.Duration
}

// An answer is what the model wrote, with the log-probability of each piece.
type answer struct {
	text   string
	pieces []scoredPiece
}

type scoredPiece struct {
	end     int // in text
	logprob float64
}

// confidence is the geometric mean of the token probabilities of
// text[from:to], NaN if the backend gave none.
func (a answer) confidence(from, to int) float64 {
	sum, n, start := 0.0, 0, 0
	for _, p := range a.pieces {
		if p.end > from && start < to && !math.IsNaN(p.logprob) {
			sum += p.logprob
			n++
		}
		start = p.end
	}
	if n == 0 {
		return math.NaN()
	}
	return math.Exp(sum / float64(n))
}

// leaveAfter is how long a flight goes on with nobody waiting: an editor
// cancels the old request before it sends the one that can join. It is well
// below the 150 ms after which a cancelled backend must be idle.
const leaveAfter = 40 * time.Millisecond

var (
	errTimeout    = errors.New("it took too long; raise the completion timeout or use a smaller model")
	errSuperseded = errors.New("a newer request took over")
	errClosed     = errors.New("the engine is closed")
	errAbandoned  = errors.New("nobody waits for the answer")
)

// launch starts a flight and ends the document's others: one in flight, the
// latest wins. It fails where newer is closed, or the engine.
func (e *Engine) launch(d *docState, req Request, p laidOut, samples int, newer <-chan struct{}) (*flight, error) {
	ctx, cancel := context.WithCancelCause(e.life)
	ctx, stopTimer := context.WithTimeoutCause(ctx, e.timeout(req), errTimeout)
	fl := &flight{
		at:      p,
		site:    newSite(req.Document, req.Offset, indentUnit(req.Text, req.Language), e.maxLines(req)),
		manual:  req.Manual,
		cancel:  func() { cancel(errAbandoned) },
		changed: make(chan struct{}),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	err := errClosed
	if !e.closed {
		if err = errSuperseded; d.add(fl, newer) {
			err = nil
		}
	}
	if err != nil {
		cancel(nil)
		stopTimer()
		return nil, err
	}
	e.prepareGate(req)
	back := make(chan struct{})
	e.running.Go(func() {
		defer close(back)
		e.fly(ctx, fl, samples)
		e.counters.launched(e.promptTokens(fl))
		fl.land(nil)
	})
	// A Generator may take its time to return; those who wait need not.
	e.running.Go(func() {
		defer stopTimer()
		defer cancel(nil)
		select {
		case <-ctx.Done():
			fl.land(context.Cause(ctx))
		case <-back:
		}
	})
	return fl, nil
}

// fly asks for the answer and its alternatives, one after the other: they
// share their prompt, which the backend then reads once.
func (e *Engine) fly(ctx context.Context, fl *flight, samples int) {
	begin := time.Now()
	if err := e.warm(ctx, fl.at.text); err != nil {
		fl.fail(err)
		return
	}
	for sample := range samples {
		st := stopper{site: fl.site}
		n, err := e.gen.Generate(ctx, fl.at.text, e.opts.MaxTokens, e.template().stops(), sample, func(piece string, logprob float64) bool {
			keep, more := st.feed(piece)
			fl.take(sample, piece, logprob, keep, time.Since(begin))
			return more && ctx.Err() == nil
		})
		e.meter.learn(fl.at.raw, n)
		fl.mu.Lock()
		fl.generate = time.Since(begin)
		fl.promptTokens = max(fl.promptTokens, n)
		fl.mu.Unlock()
		if err != nil {
			if sample == 0 {
				fl.fail(err)
			}
			return
		}
	}
}

// show notes that text was shown behind what was typed of the first answer.
func (fl *flight) show(typed, text string) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if len(fl.shown) < len(typed)+len(text) || !strings.HasPrefix(fl.shown, typed) {
		fl.shown = typed + text
	}
}

// onScreen is what was shown behind typed, "" if nothing was.
func (fl *flight) onScreen(typed string) string {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if rest, ok := strings.CutPrefix(fl.shown, typed); ok {
		return rest
	}
	return ""
}

// promptTokens is how long a flight's prompt was: the backend's count, else the
// estimate.
func (e *Engine) promptTokens(fl *flight) int {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.promptTokens > 0 {
		return fl.promptTokens
	}
	return scaled(fl.at.raw, e.meter.factor())
}

// take adds a piece to an answer, of which keep bytes count.
func (fl *flight) take(sample int, piece string, logprob float64, keep int, since time.Duration) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.done {
		return
	}
	if fl.firstToken == 0 {
		fl.firstToken = since
	}
	for len(fl.answers) <= sample {
		fl.answers = append(fl.answers, answer{})
	}
	a := &fl.answers[sample]
	a.text = (a.text + piece)[:keep]
	a.pieces = append(a.pieces, scoredPiece{len(a.text), logprob})
	fl.tell()
}

func (fl *flight) fail(err error) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.err == nil && !fl.done {
		fl.err = err
	}
}

// land ends the flight. cause is why its context ended, if it did: what had
// arrived by the time limit is worth showing.
func (fl *flight) land(cause error) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.done {
		return
	}
	fl.done = true
	if cause != nil {
		fl.err = cause
		if cause == errTimeout && len(fl.answers) > 0 {
			fl.err = nil
		}
	}
	fl.tell()
}

// tell wakes those who wait. The caller holds mu.
func (fl *flight) tell() {
	close(fl.changed)
	fl.changed = make(chan struct{})
}

// wait blocks until the flight is over, the text typed since then leaves the
// answer, a newer request arrives or ctx ends; only the first gives nil.
func (fl *flight) wait(ctx context.Context, newer <-chan struct{}, typed string) error {
	fl.mu.Lock()
	fl.waiters++
	fl.kept = false // from now on it is worth what those who wait are
	fl.mu.Unlock()
	defer fl.leave()
	for {
		fl.mu.Lock()
		done, err, changed := fl.done, fl.err, fl.changed
		agrees := fl.agrees(typed)
		fl.mu.Unlock()
		switch {
		case isClosed(newer): // first, because it may be what ended the flight
			return errSuperseded
		case !agrees:
			return errDisagrees
		case done:
			return err
		}
		select {
		case <-changed:
		case <-newer:
			return errSuperseded
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errDisagrees = errors.New("the typed text left the answer")

// agrees reports whether typed is what the answer says or may yet say. The
// caller holds mu.
func (fl *flight) agrees(typed string) bool {
	if typed == "" {
		return true
	}
	if len(fl.answers) == 0 {
		return !fl.done
	}
	if rest, ok := strings.CutPrefix(fl.shown, typed); ok && !blank(rest) {
		return true
	}
	text := fl.answers[0].text
	if rest, ok := strings.CutPrefix(text, typed); ok {
		return !fl.done || !blank(rest)
	}
	return !fl.done && strings.HasPrefix(typed, text)
}

// keep lets the flight run although nobody waits yet.
func (fl *flight) keep() {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.kept = true
}

// leave cancels a flight that nobody joins soon after its last waiter left.
func (fl *flight) leave() {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.waiters--
	if fl.waiters > 0 || fl.done || fl.kept {
		return
	}
	time.AfterFunc(leaveAfter, func() {
		fl.mu.Lock()
		alone := fl.waiters == 0 && !fl.done
		fl.mu.Unlock()
		if alone {
			fl.cancel()
		}
	})
}

// stopper collects a stream and says when more of it would be cut anyway.
type stopper struct {
	*site
	text strings.Builder
}

// feed takes the next piece and reports whether to go on; if not, keep is how
// much of the text counts. What stands behind that was never finished, and
// must not be shown when the user has typed everything before it.
func (st *stopper) feed(piece string) (keep int, more bool) {
	st.text.WriteString(piece)
	text := st.text.String()
	if kept := cutControl(text); kept != text {
		return len(kept), false
	}
	if !strings.Contains(piece, "\n") {
		return len(text), true
	}
	// Where fences or line endings are taken out, the cut is not one of text.
	plain := stripFences(st.site, unixLines(text))
	if cut, done := st.scope(plain, false); done {
		if plain != text {
			cut = len(text)
		}
		return cut, false
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1] // the last one is not finished
	if n := repeatedFrom(lines); n < len(lines) {
		return len(strings.Join(lines[:n], "")), false
	}
	return len(text), true
}

// failure puts a Generator's error in a sentence.
func (e *Engine) failure(err error) error {
	return fmt.Errorf("%s did not answer: %w", e.gen.Model(), err)
}
