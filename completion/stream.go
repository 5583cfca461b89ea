package completion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// A modelStream is one request to the model, running or finished. It belongs to the
// Engine and not to the Request that started it: while the user types what it
// says, later Requests take their answers from it too.
type modelStream struct {
	at     builtPrompt
	cursor *cursorContext
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
	shown string
	// local: shown is the model-free engine's, which was surer.
	local bool
	// offers is what else the user could choose, whoever's it was.
	offers  []offer
	waiters int
	// kept is set for a stream that runs ahead of the user, with nobody
	// waiting yet.
	kept bool

	promptTokens         int
	firstToken, generate time.Duration
}

// An offer is a candidate that stood beside the first of a request.
type offer struct {
	// text is it from where the stream began, with what was typed of it by then.
	text, engine string
	confidence   float64 // Item.Confidence
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
	sum, n := a.logprob(from, to)
	return math.Exp(sum / float64(n)) // 0/0 is NaN
}

// logprob is the sum over the n tokens of text[from:to] of which the backend said it.
func (a answer) logprob(from, to int) (sum float64, n int) {
	start := 0
	for _, p := range a.pieces {
		if p.end > from && start < to && !math.IsNaN(p.logprob) {
			sum += p.logprob
			n++
		}
		start = p.end
	}
	return sum, n
}

// The probability that a line of a model is right, by that of its tokens: a logistic
// regression over 317 answers of Qwen2.5-Coder 1.5B, judged on 317 others (bench/completion.md).
// Where the backend tells no probabilities, the model is taken for as sure as that it is
// right in four of five such lines: on the same answers the least by which little is lost.
const (
	lineBase    = 2.63
	lineLogprob = 1.41
	lineUnknown = 0.8
)

// lineConfidence is the probability that the first line with text is right of what is shown
// of text[from:].
func (a answer) lineConfidence(from int, shown string) float64 {
	text := a.text[min(from, len(a.text)):]
	begin := from + len(text) - len(strings.TrimLeft(text, "\n"))
	sum, n := a.logprob(begin, begin+len(firstLine(strings.TrimLeft(shown, "\n"))))
	if n == 0 {
		return lineUnknown
	}
	return 1 / (1 + math.Exp(-lineBase-lineLogprob*sum))
}

// leaveAfter is how long a stream goes on with nobody waiting: an editor
// cancels the old request before it sends the one that can join. It is well
// below the 150 ms after which a cancelled backend must be idle.
const leaveAfter = 40 * time.Millisecond

var (
	errTimeout    = errors.New("it took too long; raise the completion timeout or use a smaller model")
	errSuperseded = errors.New("a newer request took over")
	errClosed     = errors.New("the engine is closed")
	errAbandoned  = errors.New("nobody waits for the answer")
)

// launch starts a stream and ends the document's others: one under way, the
// latest wins. It fails where newer is closed, or the engine.
func (e *Engine) launch(d *docState, req Request, p builtPrompt, samples int, newer <-chan struct{}) (*modelStream, error) {
	ctx, cancel := context.WithCancelCause(e.life)
	ctx, stopTimer := context.WithTimeoutCause(ctx, e.timeout(req), errTimeout)
	stream := &modelStream{
		at:      p,
		cursor:  e.cursorContext(req),
		manual:  req.Manual,
		cancel:  func() { cancel(errAbandoned) },
		changed: make(chan struct{}),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	err := errClosed
	if !e.closed {
		if err = errSuperseded; d.add(stream, newer) {
			err = nil
		}
	}
	if err != nil {
		cancel(nil)
		stopTimer()
		return nil, err
	}
	e.prepareSyntaxCheck(req)
	back := make(chan struct{})
	e.running.Go(func() {
		defer close(back)
		e.generate(ctx, stream, samples)
		e.counters.launched(e.promptTokens(stream))
		stream.finish(nil)
	})
	// A Generator may take its time to return; those who wait need not.
	e.running.Go(func() {
		defer stopTimer()
		defer cancel(nil)
		select {
		case <-ctx.Done():
			stream.finish(context.Cause(ctx))
		case <-back:
		}
	})
	return stream, nil
}

// fly asks for the answer and its alternatives, one after the other: they
// share their prompt, which the backend then reads once.
func (e *Engine) generate(ctx context.Context, stream *modelStream, samples int) {
	begin := time.Now()
	if err := e.warm(ctx, stream.at.text); err != nil {
		stream.fail(err)
		return
	}
	for sample := range samples {
		st := stopper{cursorContext: stream.cursor}
		n, err := e.gen.Generate(ctx, stream.at.text, e.opts.MaxTokens, e.template().stops(), sample, func(piece string, logprob float64) bool {
			keep, more := st.feed(piece)
			stream.take(sample, piece, logprob, keep, time.Since(begin))
			return more && ctx.Err() == nil
		})
		e.meter.learn(stream.at.raw, n)
		stream.mu.Lock()
		stream.generate = time.Since(begin)
		stream.promptTokens = max(stream.promptTokens, n)
		stream.mu.Unlock()
		if err != nil {
			if sample == 0 {
				stream.fail(err)
			}
			return
		}
	}
}

// show notes that text was shown behind what was typed of the first answer.
func (stream *modelStream) show(typed, text string) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if len(stream.shown) < len(typed)+len(text) || !strings.HasPrefix(stream.shown, typed) {
		stream.shown, stream.local = typed+text, stream.local && strings.HasPrefix(stream.shown, typed)
	}
}

// showLocal notes that the model-free engine's text was shown in place of the answer's.
func (stream *modelStream) showLocal(typed, text string) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	stream.shown, stream.local = typed+text, true
}

// onScreen is what was shown behind typed, "" if nothing was, and whether it was the
// model-free engine's.
func (stream *modelStream) onScreen(typed string) (rest string, local bool) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if rest, ok := strings.CutPrefix(stream.shown, typed); ok {
		return rest, stream.local
	}
	return "", false
}

// offer notes what a request that typed was typed before offers besides its first item.
func (stream *modelStream) offer(typed string, items []Item) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	for _, it := range items {
		text := typed + it.Text
		if !slices.ContainsFunc(stream.offers, func(o offer) bool { return o.text == text }) {
			stream.offers = append(stream.offers, offer{text, it.Engine, it.Confidence})
		}
	}
}

// offered is what is left behind typed of the offers that it is the beginning of.
func (stream *modelStream) offered(typed string) []offer {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	return stream.chosen(typed)
}

// chosen is offered. The caller holds mu.
func (stream *modelStream) chosen(typed string) (left []offer) {
	for _, o := range stream.offers {
		if rest, ok := strings.CutPrefix(o.text, typed); ok && !blank(rest) {
			left = append(left, offer{rest, o.engine, o.confidence})
		}
	}
	return left
}

// promptTokens is how long a stream's prompt was: the backend's count, else the
// estimate.
func (e *Engine) promptTokens(stream *modelStream) int {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if stream.promptTokens > 0 {
		return stream.promptTokens
	}
	return scaled(stream.at.raw, e.meter.factor())
}

// take adds a piece to an answer, of which keep bytes count.
func (stream *modelStream) take(sample int, piece string, logprob float64, keep int, since time.Duration) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if stream.done {
		return
	}
	if stream.firstToken == 0 {
		stream.firstToken = since
	}
	for len(stream.answers) <= sample {
		stream.answers = append(stream.answers, answer{})
	}
	a := &stream.answers[sample]
	a.text = (a.text + piece)[:keep]
	a.pieces = append(a.pieces, scoredPiece{len(a.text), logprob})
	stream.wake()
}

func (stream *modelStream) fail(err error) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if stream.err == nil && !stream.done {
		stream.err = err
	}
}

// finish ends the stream. cause is why its context ended, if it did: what had
// arrived by the time limit is worth showing.
func (stream *modelStream) finish(cause error) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if stream.done {
		return
	}
	stream.done = true
	if cause != nil {
		stream.err = cause
		if cause == errTimeout && len(stream.answers) > 0 {
			stream.err = nil
		}
	}
	stream.wake()
}

// wake wakes those who wait. The caller holds mu.
func (stream *modelStream) wake() {
	close(stream.changed)
	stream.changed = make(chan struct{})
}

// wait blocks until the stream is over, the text typed since then leaves the
// answer, a newer request arrives or ctx ends; only the first gives nil.
func (stream *modelStream) wait(ctx context.Context, newer <-chan struct{}, typed string) error {
	stream.mu.Lock()
	stream.waiters++
	stream.kept = false // from now on it is worth what those who wait are
	stream.mu.Unlock()
	defer stream.leave()
	for {
		stream.mu.Lock()
		done, err, changed := stream.done, stream.err, stream.changed
		agrees := stream.agrees(typed)
		stream.mu.Unlock()
		switch {
		case isClosed(newer): // first, because it may be what ended the stream
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

// agrees reports whether typed is what the answer says or may yet say, or what an
// offer says. The caller holds mu.
func (stream *modelStream) agrees(typed string) bool {
	return stream.says(typed) || len(stream.chosen(typed)) > 0
}

// says reports whether typed is what the answer says or may yet say. The caller
// holds mu.
func (stream *modelStream) says(typed string) bool {
	if typed == "" {
		return true
	}
	if len(stream.answers) == 0 {
		return !stream.done
	}
	if rest, ok := strings.CutPrefix(stream.shown, typed); ok && !blank(rest) {
		return true
	}
	text := stream.answers[0].text
	if rest, ok := strings.CutPrefix(text, typed); ok {
		return !stream.done || !blank(rest)
	}
	return !stream.done && strings.HasPrefix(typed, text)
}

// keep lets the stream run although nobody waits yet.
func (stream *modelStream) keep() {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	stream.kept = true
}

// leave cancels a stream that nobody joins soon after its last waiter left.
func (stream *modelStream) leave() {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	stream.waiters--
	if stream.waiters > 0 || stream.done || stream.kept {
		return
	}
	time.AfterFunc(leaveAfter, func() {
		stream.mu.Lock()
		alone := stream.waiters == 0 && !stream.done
		stream.mu.Unlock()
		if alone {
			stream.cancel()
		}
	})
}

// stopper collects a stream and says when more of it would be cut anyway.
type stopper struct {
	*cursorContext
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
	// Where something in front is taken out, the cut is not one of text.
	plain := st.joined(text)
	part := func(n int) int {
		if plain != text {
			return len(text)
		}
		return n
	}
	if cut, done := st.scope(plain, false); done {
		return part(cut), false
	}
	lines := strings.SplitAfter(plain, "\n")
	lines = lines[:len(lines)-1] // the last one is not finished
	if n := repeatedFrom(lines); n < len(lines) {
		return part(len(strings.Join(lines[:n], ""))), false
	}
	return len(text), true
}

// failure puts a Generator's error in a sentence.
func (e *Engine) failure(err error) error {
	return fmt.Errorf("%s did not answer: %w", e.gen.Model(), err)
}
