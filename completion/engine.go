package completion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// An Engine answers Requests. New makes one, Close ends it.
type Engine struct {
	gen   Generator // nil when there is no model
	opts  Options
	tmpl  *Template
	meter meter
	local local
	now   func() time.Time

	// life ends with Close; running counts the goroutines Close waits for.
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// docs is what is kept of each document between requests, by key; latest
	// is the document asked for last. Guarded by mu.
	docs   map[string]*docState
	latest string
}

// docState is what the engine keeps of one document.
type docState struct {
	mu sync.Mutex
	// frame is the layout of the last prompt, nil before the first, and asked
	// when that was. Guarded by mu.
	frame *frame
	asked time.Time
}

// New starts an Engine on gen, which may be nil: then every answer is the
// model-free engine's.
func New(gen Generator, opts Options) *Engine {
	e := &Engine{gen: gen, opts: opts.withDefaults(), docs: map[string]*docState{}, now: time.Now}
	e.life, e.end = context.WithCancel(context.Background())
	model := ""
	if gen != nil {
		model = gen.Model()
	}
	e.tmpl = templateFor(opts.Template, model)
	return e
}

// Close stops what runs and waits for it. No call may follow it.
func (e *Engine) Close() {
	e.end()
	e.running.Wait()
}

// Forget drops what is kept of a document that was closed.
func (e *Engine) Forget(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.docs, key)
}

// Complete answers req. A model that fails is no error: the model-free engine
// answers and Result.Note says why. The only error is ctx.Err(), returned
// promptly whatever the Generator does.
func (e *Engine) Complete(ctx context.Context, req Request) (Result, error) {
	begin := time.Now()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if reason := e.opts.Off.Reason(req.Document); reason != "" {
		return Result{Note: reason}, nil
	}
	req.Offset = runeStart(req.Text, min(max(req.Offset, 0), len(req.Text)))
	place, ok := withSelected(req)
	if !ok {
		return Result{Note: "the selected entry does not stand at the cursor"}, nil
	}
	res, err := e.answer(ctx, place.Request)
	if err != nil {
		return Result{}, err
	}
	for i := range res.Items {
		res.Items[i] = place.restore(res.Items[i])
	}
	res.Timings.Total = time.Since(begin)
	return res, nil
}

// answer asks the model, and the model-free engine where the model cannot.
func (e *Engine) answer(ctx context.Context, req Request) (Result, error) {
	note := "no model is configured"
	var res Result
	if e.gen != nil {
		err := e.gen.Ready()
		if err == nil {
			if res, err = e.ask(ctx, req); err == nil {
				return res, nil
			}
		}
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		note = err.Error()
	}
	local := e.answerLocally(req)
	local.Note = note
	local.Prompt = res.Prompt
	return local, nil
}

// localEngine is Item.Engine of the model-free engine.
const localEngine = "local"

func (e *Engine) answerLocally(req Request) Result {
	begin := time.Now()
	s := newSite(req.Document, req.Offset, indentUnit(req.Text, req.Language), e.maxLines(req))
	text := e.local.complete(req)
	spent := time.Since(begin)
	items := e.items(s, req, text, localEngine)
	return Result{
		Items: items, Engine: localEngine,
		Timings: Timings{Local: spent, Post: time.Since(begin) - spent},
	}
}

func (e *Engine) items(s *site, req Request, text, engine string) []Item {
	insert, covers := finish(s, text)
	if insert == "" {
		return nil
	}
	return []Item{{Text: insert, Start: req.Offset, End: req.Offset + covers, Engine: engine}}
}

func (e *Engine) maxLines(req Request) int {
	if req.Manual {
		return 3 * e.opts.MaxLines
	}
	return e.opts.MaxLines
}

// ask has the model answer.
func (e *Engine) ask(ctx context.Context, req Request) (Result, error) {
	var res Result
	begin := time.Now()
	p := e.prompt(ctx, req, &res.Timings)
	res.Prompt = Prompt{Text: p.text, Tokens: scaled(p.raw, e.meter.factor()), Snippets: p.frame.snippets}
	s := newSite(req.Document, req.Offset, indentUnit(req.Text, req.Language), e.maxLines(req))
	res.Timings.Build = time.Since(begin) - res.Timings.Context

	out, err := e.stream(ctx, s, p.text, e.timeout(req))
	res.Timings.FirstToken, res.Timings.Generate = out.firstToken, out.generate
	if out.promptTokens > 0 {
		res.Prompt.Tokens = out.promptTokens
		e.meter.learn(p.raw, out.promptTokens)
	}
	if err != nil {
		if tooLong := (interface{ PromptTooLong() bool })(nil); errors.As(err, &tooLong) && tooLong.PromptTooLong() {
			e.meter.grow()
		}
		return res, err
	}
	begin = time.Now()
	res.Engine = e.gen.Model()
	res.Items = e.items(s, req, out.text, res.Engine)
	res.Timings.Post = time.Since(begin)
	return res, nil
}

func (e *Engine) timeout(req Request) time.Duration {
	if req.Manual {
		return 3 * e.opts.Timeout
	}
	return e.opts.Timeout
}

// output is what one generation gave.
type output struct {
	text                 string
	promptTokens         int
	firstToken, generate time.Duration
}

// stream runs one generation under the stop rules. It returns when ctx ends,
// even if the Generator takes longer to; the Engine waits for that in Close.
func (e *Engine) stream(ctx context.Context, s *site, prompt string, timeout time.Duration) (output, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	stopAtClose := context.AfterFunc(e.life, cancel)
	defer stopAtClose()
	begin := time.Now()
	type ended struct {
		out output
		err error
	}
	done := make(chan ended, 1)
	e.running.Go(func() {
		st := stopper{site: s}
		var out output
		n, err := e.gen.Generate(ctx, prompt, e.opts.MaxTokens, e.tmpl.stops(), 0, func(piece string, _ float64) bool {
			if out.firstToken == 0 {
				out.firstToken = time.Since(begin)
			}
			return st.feed(piece)
		})
		out.text, out.promptTokens, out.generate = st.text.String(), n, time.Since(begin)
		done <- ended{out, err}
	})
	select {
	case r := <-done:
		if r.err != nil && context.Cause(ctx) == errTimeout && r.out.text != "" {
			r.err = nil // what came in time is worth showing
		}
		if r.err != nil {
			return r.out, fmt.Errorf("%s did not answer: %w", e.gen.Model(), r.err)
		}
		return r.out, nil
	case <-ctx.Done():
		return output{}, context.Cause(ctx)
	}
}

var errTimeout = errors.New("the model took too long; raise the completion timeout or use a smaller model")

// stopper collects a stream and says when more of it would be cut anyway.
type stopper struct {
	*site
	text strings.Builder
}

// feed takes the next piece and reports whether to go on.
func (st *stopper) feed(piece string) bool {
	st.text.WriteString(piece)
	text := st.text.String()
	if strings.Contains(piece, "\n") {
		if _, done := st.scope(stripFences(st.site, unixLines(text)), false); done {
			return false
		}
		if lines := strings.Split(text, "\n"); repeatedFrom(lines[:len(lines)-1]) < len(lines)-1 {
			return false
		}
	}
	return cutControl(text) == text
}
