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

// A modelStream is one request to the model, running or finished. It belongs to the Engine and
// not to the Request that started it: if the user types what it says, later Requests are
// answered from it, too.
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
	// shown is the longest part of the first answer that the user saw, with what they had typed
	// of it. Post-processing may have changed it.
	shown string
	// local: shown comes from the model-free engine, which was surer.
	local bool
	// offers are the other candidates that the user could choose, from either engine.
	offers  []offer
	waiters int
	// kept: the stream runs ahead of the user, and no request waits for it yet.
	kept bool

	promptTokens         int
	firstToken, generate time.Duration
}

// An offer is a candidate that was shown beside the first one of a request.
type offer struct {
	// text begins where the stream began, with what was typed of it by then.
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

// logprob is the sum over the n tokens of text[from:to] for which the backend gave one.
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

// The probability that a line of a model is right, by the probability of its tokens. It is a
// logistic regression over 317 answers of Qwen2.5-Coder 1.5B, judged on 317 others
// (bench/completion.md). If the backend gives no probabilities, the model counts as sure as it
// is where four of five such lines are right; on the same answers that is the lowest value at
// which little is lost.
const (
	lineBase    = 2.63
	lineLogprob = 1.41
	lineUnknown = 0.8
)

// lineConfidence is the probability that the first line with text in what is shown of
// text[from:] is right.
func (a answer) lineConfidence(from int, shown string) float64 {
	text := a.text[min(from, len(a.text)):]
	begin := from + len(text) - len(strings.TrimLeft(text, "\n"))
	sum, n := a.logprob(begin, begin+len(firstLine(strings.TrimLeft(shown, "\n"))))
	if n == 0 {
		return lineUnknown
	}
	return 1 / (1 + math.Exp(-lineBase-lineLogprob*sum))
}

// leaveAfter is how long a stream goes on while no request waits: an editor cancels the old
// request before it sends the one that can join. It is well below the 150 ms after which a
// cancelled backend must be idle.
const leaveAfter = 40 * time.Millisecond

var (
	errTimeout    = errors.New("it took too long; raise the completion timeout or use a smaller model")
	errSuperseded = errors.New("a newer request took over")
	errClosed     = errors.New("the engine is closed")
	errAbandoned  = errors.New("no request waits for the answer any more")
)

// launch starts a stream and ends the document's others, so that only the latest runs. It
// fails if newer or the engine is closed.
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
	// A Generator may take its time to return; the requests need not wait for that.
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

// generate asks for the answer and its alternatives, one after the other. They share their
// prompt, which the backend then reads once.
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

// show notes the text that was shown after what was typed of the first answer.
func (stream *modelStream) show(typed, text string) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if len(stream.shown) < len(typed)+len(text) || !strings.HasPrefix(stream.shown, typed) {
		stream.shown, stream.local = typed+text, stream.local && strings.HasPrefix(stream.shown, typed)
	}
}

// showLocal notes that the model-free engine's text was shown instead of the answer.
func (stream *modelStream) showLocal(typed, text string) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	stream.shown, stream.local = typed+text, true
}

// onScreen is what was shown after typed, "" if nothing was, and whether it came from the
// model-free engine.
func (stream *modelStream) onScreen(typed string) (rest string, local bool) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if rest, ok := strings.CutPrefix(stream.shown, typed); ok {
		return rest, stream.local
	}
	return "", false
}

// offer notes the items, other than the first, that a request offered when typed had been
// typed.
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

// offered is what is left of the offers that begin with typed.
func (stream *modelStream) offered(typed string) []offer {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	return stream.chosen(typed)
}

// chosen is offered; the caller holds mu.
func (stream *modelStream) chosen(typed string) (left []offer) {
	for _, o := range stream.offers {
		if rest, ok := strings.CutPrefix(o.text, typed); ok && !blank(rest) {
			left = append(left, offer{rest, o.engine, o.confidence})
		}
	}
	return left
}

// promptTokens is the length of a stream's prompt: the backend's count, else the estimate.
func (e *Engine) promptTokens(stream *modelStream) int {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if stream.promptTokens > 0 {
		return stream.promptTokens
	}
	return scaled(stream.at.raw, e.meter.factor())
}

// take adds a piece to an answer; keep of its bytes count.
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

// finish ends the stream. cause is why its context ended, if it did. What had come within the
// time limit is worth showing.
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

// wait blocks until the stream has ended, the text typed since then leaves the answer, a newer
// request arrives, or ctx ends. Only the first gives nil.
func (stream *modelStream) wait(ctx context.Context, newer <-chan struct{}, typed string) error {
	stream.mu.Lock()
	stream.waiters++
	stream.kept = false // from now on it lives as long as a request waits
	stream.mu.Unlock()
	defer stream.leave()
	for {
		stream.mu.Lock()
		done, err, changed := stream.done, stream.err, stream.changed
		agrees := stream.agrees(typed)
		stream.mu.Unlock()
		switch {
		case isClosed(newer): // first, because a newer request may have ended the stream
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

// agrees reports whether typed is what the answer says or may yet say, or what an offer says.
// The caller holds mu.
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

// keep lets the stream run although no request waits yet.
func (stream *modelStream) keep() {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	stream.kept = true
}

// leave cancels a stream soon after its last request has left, unless another joins.
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

// stopper collects a stream and says when the rest of it would be cut off anyway.
type stopper struct {
	*cursorContext
	text strings.Builder
}

// feed takes the next piece. more is whether to go on; if not, keep is how much of the text
// counts. The text after that was never finished, and must not be shown when the user has
// typed everything before it.
func (st *stopper) feed(piece string) (keep int, more bool) {
	st.text.WriteString(piece)
	text := st.text.String()
	if kept := cutControl(text); kept != text {
		return len(kept), false
	}
	if !strings.Contains(piece, "\n") {
		return len(text), true
	}
	// If something before it is taken out, the position is not one in text.
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
