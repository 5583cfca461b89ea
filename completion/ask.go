package completion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// ask has the model answer, or serves an earlier answer that still fits.
func (e *Engine) ask(ctx context.Context, req Request) (Result, error) {
	begin := time.Now()
	e.journal.note(req, e.now())
	d, switched := e.doc(req.Key)
	f, newer, err := d.arrive(ctx, req.Text, req.Offset, switched, e.now())
	if err != nil {
		return Result{}, err
	}
	var tried []*modelStream
	waited := req.Manual
	for {
		stream, typed := d.find(f, req, e.opts.Context, tried)
		reused := stream != nil
		var spent Timings
		if stream == nil {
			if !waited {
				waited = true
				if err := e.pause(ctx, d, newer); err != nil {
					return Result{}, err
				}
				continue // the answer may have come in the meantime
			}
			if isClosed(newer) {
				return Result{}, errSuperseded
			}
			p := e.prompt(ctx, req, d, f, &spent)
			spent.Build = time.Since(begin) - spent.Context
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			var err error
			if stream, err = e.launch(d, req, p, e.samples(req), newer); err != nil {
				return Result{}, err
			}
		}
		rival := e.rival(ctx, req, stream, typed) // the model writes in the meantime
		err := stream.wait(ctx, newer, typed)
		if err == errDisagrees || err == errAbandoned && ctx.Err() == nil {
			tried = append(tried, stream)
			continue
		}
		res := e.result(stream, req, typed, reused, spent)
		if err == errSuperseded || ctx.Err() != nil {
			return res, err // the stream may serve another request
		}
		if err != nil {
			d.drop(stream)
			if tooLong := (interface{ PromptTooLong() bool })(nil); errors.As(err, &tooLong) && tooLong.PromptTooLong() {
				e.meter.grow()
			}
			return res, err
		}
		if shown, _ := stream.onScreen(typed); len(res.Items) == 0 && typed != "" && (req.Manual || shown == "" && len(stream.offered(typed)) == 0) {
			tried = append(tried, stream) // none of its answers fits any more
			continue
		}
		if e.wantsSecondRound(req, stream, reused) {
			if stream, res, err = e.secondRound(ctx, req, d, newer, stream, res); err != nil {
				return res, err
			}
		}
		res = compete(res, rival, req.Manual)
		won := len(rival.Items) > 0 && res.Engine == localEngine
		if won {
			stream.showLocal(typed, res.Items[0].Text)
		}
		if others := res.Items; len(others) > 1 {
			if !won { // otherwise the model's answer may yet replace what is shown
				others = others[1:]
			}
			stream.offer(typed, others)
		}
		return res, nil
	}
}

// surer is the reason for showing the model-free engine's text although there is a model.
func surer(model string) string {
	return "the copied text is more likely right than what " + model + " wrote"
}

// rival is what the model-free engine would show in place of the stream's answer. It has no
// items if part of that answer is on the screen already, because what the user sees stays.
func (e *Engine) rival(ctx context.Context, req Request, stream *modelStream, typed string) Result {
	if shown, _ := stream.onScreen(typed); e.opts.Alone || !blank(shown) || len(stream.offered(typed)) > 0 {
		return Result{}
	}
	ctx, cancel := context.WithTimeout(ctx, rivalTime)
	defer cancel()
	req.Manual = false // only what it is sure of, even if the user asked
	return e.answerLocally(ctx, req)
}

// rivalTime is how long one request may read files that the model-free engine has not read
// yet. The next request continues.
const rivalTime = 30 * time.Millisecond

// compete compares the model's answer with that of the model-free engine. The one that is
// surer of its first line is shown. A user who asked explicitly gets the other one, too.
func compete(res, rival Result, manual bool) Result {
	res.Timings.Local = rival.Timings.Local
	if len(rival.Items) == 0 || res.Engine == localEngine {
		return res
	}
	it := rival.Items[0]
	switch {
	case len(res.Items) == 0 && it.Confidence >= sureAlone, len(res.Items) > 0 && it.Confidence > res.Items[0].Confidence && !it.same(res.Items[0]):
		res.Note = surer(res.Engine)
		if res.Items = slices.DeleteFunc(res.Items, it.same); !manual {
			res.Items = nil
		}
		res.Items, res.Engine = slices.Insert(res.Items, 0, it), localEngine
	case manual && it.Confidence > 0 && !res.has(it):
		res.Items = append(res.Items, it)
	}
	return res
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// wantsSecondRound: the user asked for a body, and the first round is new.
func (e *Engine) wantsSecondRound(req Request, first *modelStream, reused bool) bool {
	return e.twoRounds(req) && !reused && first.cursor.mode != fillLine
}

func (e *Engine) twoRounds(req Request) bool {
	return e.opts.TwoRounds && req.Manual && e.opts.Context != nil
}

// samples is how many answers one request to the model gives. A first round needs only one.
func (e *Engine) samples(req Request) int {
	if req.Manual && !e.twoRounds(req) {
		return e.opts.Candidates
	}
	return 1
}

// secondRound looks up what the first answer names and asks again with that, after Zhang et
// al., "RepoCoder" (EMNLP 2023): the draft shows better than the unfinished code what the
// finished code needs. If it finds nothing new, or the model fails, the first answer stands.
// It also answers the stream that serves.
func (e *Engine) secondRound(ctx context.Context, req Request, d *docState, newer <-chan struct{}, first *modelStream, res Result) (*modelStream, Result, error) {
	first.mu.Lock()
	draft := ""
	if len(first.answers) > 0 {
		draft = first.answers[0].text
	}
	first.mu.Unlock()
	if blank(draft) {
		return first, res, nil
	}
	var spent Timings
	begin := time.Now()
	found := e.lookUp(ctx, req, draft, &spent)
	p := e.buildPrompt(req, &first.at.window, found, e.meter.factor())
	spent.Build = time.Since(begin) - spent.Context
	known := first.at.window.snippets
	if !slices.ContainsFunc(p.window.snippets, func(s Snippet) bool { return !slices.Contains(known, s) }) {
		return first, res, nil
	}
	stream, err := e.launch(d, req, p, e.opts.Candidates, newer)
	if err != nil {
		return first, Result{}, err
	}
	switch err := stream.wait(ctx, newer, ""); {
	case ctx.Err() != nil, err == errSuperseded:
		return first, Result{}, err
	case err != nil:
		d.drop(stream)
		return first, res, nil
	}
	second := e.result(stream, req, "", false, spent)
	if len(second.Items) == 0 {
		return first, res, nil
	}
	second.Timings.add(res.Timings)
	return stream, second, nil
}

// Prefetch starts to answer req before a request comes, and returns at once. Call it when a
// suggestion was accepted, with the document as it is then. The next Request finds the answer
// there or on its way.
func (e *Engine) Prefetch(req Request) {
	e.counters.accepted()
	if e.gen == nil || e.gen.Ready() != nil || e.opts.Off.Reason(req.Document) != "" {
		return
	}
	req.Offset = runeStart(req.Text, min(max(req.Offset, 0), len(req.Text)))
	d, switched := e.doc(req.Key)
	newer := d.current()
	f := d.peek(req.Text, req.Offset, switched)
	if stream, _ := d.find(f, req, e.opts.Context, nil); stream != nil {
		return
	}
	var spent Timings
	p := e.prompt(e.life, req, d, f, &spent)
	if stream, err := e.launch(d, req, p, e.samples(req), newer); err == nil {
		stream.keep()
	}
}

// pause waits for as long as the user's typing suggests.
func (e *Engine) pause(ctx context.Context, d *docState, newer <-chan struct{}) error {
	wait := debounce(d.gap(), e.latency(), e.opts.Debounce)
	if wait <= 0 {
		return nil
	}
	select {
	case <-e.after(wait):
		return nil
	case <-newer:
		return errSuperseded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// result turns what is left of a stream's answers, after typed has been typed, into the answer
// to req.
func (e *Engine) result(stream *modelStream, req Request, typed string, reused bool, spent Timings) Result {
	stream.mu.Lock()
	answers := slices.Clone(stream.answers)
	if !reused {
		spent.FirstToken, spent.Generate = stream.firstToken, stream.generate
	}
	stream.mu.Unlock()
	tokens := e.promptTokens(stream)
	onScreen, local := stream.onScreen(typed)
	offers := stream.offered(typed)
	if spent.FirstToken > 0 {
		e.tookLatency(spent.FirstToken)
	}
	res := Result{
		Engine:  e.gen.Model(),
		Prompt:  Prompt{Text: stream.at.text, Tokens: tokens, Snippets: stream.at.window.snippets},
		Reused:  reused,
		Timings: spent,
	}
	begin := time.Now()
	s := e.cursorContext(req)
	if stream.cursor.mode == fillBlock && strings.TrimSpace(s.rest) == "" {
		s.mode = fillBlock // a block that is shown does not shrink to a line while the user types it
	}
	for i, a := range answers {
		text, ok := strings.CutPrefix(a.text, typed)
		seen := ""
		if i == 0 && !blank(onScreen) {
			if !ok {
				text, ok = onScreen, true // post-processing had changed what the model wrote
			}
			if s.rest == stream.cursor.rest {
				seen = onScreen // otherwise the editor closed a bracket
			}
		}
		if !ok {
			continue
		}
		it, ok := e.item(req, s, text, e.gen.Model(), seen)
		if !ok || res.has(it) || i > 0 && slices.ContainsFunc(offers, func(o offer) bool { return strings.HasPrefix(o.text, it.Text) }) {
			continue
		}
		if i == 0 && local && it.Text == onScreen {
			it.Engine, res.Engine, res.Note = localEngine, localEngine, surer(e.gen.Model())
			res.Items = append(res.Items, it)
			continue
		}
		it.Confidence = a.lineConfidence(len(typed), it.Text)
		// NaN, if the backend gives no probabilities, passes.
		if !req.Manual && a.confidence(len(typed), len(typed)+len(it.Text)) < e.opts.MinConfidence {
			res.Note = "the model was not sure enough"
			continue
		}
		res.Items = append(res.Items, it)
		if i == 0 {
			stream.show(typed, it.Text)
		}
	}
	for _, o := range offers { // the user may see any of them
		seen := ""
		if s.rest == stream.cursor.rest {
			seen = o.text
		}
		it, ok := e.item(req, s, o.text, o.engine, seen)
		if !ok || res.has(it) {
			continue
		}
		it.Confidence = o.confidence
		if res.Items = append(res.Items, it); len(res.Items) == 1 && o.engine == localEngine {
			res.Engine, res.Note = localEngine, "the copied text is typed, not what "+e.gen.Model()+" wrote"
		}
	}
	res.Timings.Post = time.Since(begin)
	return res
}

func (e *Engine) timeout(req Request) time.Duration {
	if req.Manual {
		return 3 * e.opts.Timeout
	}
	return e.opts.Timeout
}

// latency is about how long the model takes until its first token.
func (e *Engine) latency() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.firstToken
}

func (e *Engine) tookLatency(t time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.firstToken == 0 {
		e.firstToken = t
	}
	e.firstToken += (t - e.firstToken) / 4
}
