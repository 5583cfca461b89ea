package completion

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"quarry/completion/habits"
	"quarry/completion/idioms"
)

// An Engine answers Requests. New makes one, Close ends it.
type Engine struct {
	gen      Generator // nil when there is no model
	opts     Options
	model    string // its name, "" if there is none
	meter    meter
	local    local
	counters counters
	journal  journal
	// now and after are the clock.
	now   func() time.Time
	after func(time.Duration) <-chan time.Time

	// life ends with Close; running counts the goroutines Close waits for.
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// docs is what is kept of each document between requests, by key; latest
	// is the document asked for last. Guarded by mu.
	docs   map[string]*docState
	latest string
	// read is the prompt the backend read last, firstToken about how long its
	// first tokens take. Guarded by mu.
	read       string
	firstToken time.Duration
	// readRate is how many raw tokens of a prompt the backend reads a second, 0
	// while unknown. Guarded by mu.
	readRate float64
	// shown is what the model-free engine showed last, while the model could not be asked;
	// nil if it was asked since. Guarded by mu.
	shown *shownText
	// closed is set by Close; no goroutine starts after. Guarded by mu.
	closed bool
}

// New starts an Engine on gen, which may be nil: then every answer is the
// model-free engine's.
func New(gen Generator, opts Options) *Engine {
	e := &Engine{gen: gen, opts: opts.withDefaults(), docs: map[string]*docState{}, now: time.Now, after: time.After}
	e.life, e.end = context.WithCancel(context.Background())
	if e.local.repo = opts.Repository; e.local.repo == nil {
		e.local.repo = &Repository{}
	}
	if gen != nil {
		e.model = gen.Model()
	}
	return e
}

// template is that of the model's family as far as it is known by now.
func (e *Engine) template() *Template {
	family := ""
	if e.opts.Family != nil {
		family = e.opts.Family()
	}
	return e.opts.Template.template(e.model, family)
}

// Close stops what runs and waits for it. What is asked afterwards, or still
// waits, is answered as if there were no model.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end()
	e.running.Wait()
}

// Forget drops what is kept of a document that was closed.
func (e *Engine) Forget(key string) {
	e.mu.Lock()
	d := e.docs[key]
	delete(e.docs, key)
	e.mu.Unlock()
	if d != nil {
		d.forget()
	}
	e.journal.forget(key)
	if e.opts.Syntax != nil {
		e.opts.Syntax.Forget(key)
	}
}

// Add and Remove are those of the Engine's Repository.
func (e *Engine) Add(root, path, text string) { e.local.repo.Add(root, path, text) }

// Remove is called for a file that is gone.
func (e *Engine) Remove(root, path string) { e.local.repo.Remove(root, path) }

// Complete answers req. A model that fails is no error: the model-free engine
// answers and Result.Note says why. The only error is ctx.Err(), returned
// promptly whatever the Generator does.
func (e *Engine) Complete(ctx context.Context, req Request) (res Result, err error) {
	begin := time.Now()
	defer func() {
		res.Timings.Total = time.Since(begin)
		e.counters.answered(res, err)
	}()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if reason := e.opts.Off.Reason(req.Document); reason != "" {
		return Result{Note: reason}, nil
	}
	req.Offset = runeStart(req.Text, min(max(req.Offset, 0), len(req.Text)))
	imagined, ok := withSelected(req)
	if !ok {
		return Result{Note: "the selected entry does not match the text at the cursor"}, nil
	}
	if res, err = e.answer(ctx, imagined.Request); err != nil {
		return Result{}, err
	}
	for i := range res.Items {
		res.Items[i] = imagined.restore(res.Items[i])
	}
	return res, nil
}

// answer asks the model, and the model-free engine where the model cannot.
func (e *Engine) answer(ctx context.Context, req Request) (Result, error) {
	note := "no model is configured"
	var res Result
	if e.gen != nil {
		err := e.gen.Ready()
		if err == nil {
			if kept, ok := e.typedThrough(req); ok {
				return kept, nil
			}
			if res, err = e.ask(ctx, req); err == nil {
				return res, nil
			}
			if ctx.Err() == nil {
				if errors.Is(err, context.Canceled) || errors.Is(err, errSuperseded) {
					return Result{Note: errSuperseded.Error()}, nil
				}
				err = e.failure(err)
			}
		}
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		note = err.Error()
	}
	local := e.answerLocally(ctx, req)
	local.Note = note
	e.keepShown(req, local)
	if local.Prompt = res.Prompt; e.gen != nil && req.Manual && local.Prompt.Text == "" {
		local.Prompt = e.wouldSend(ctx, req)
	}
	return local, nil
}

// shownText is an item that was shown at a place of a text.
type shownText struct {
	key, text string
	offset    int
	item      Item
}

// keepShown notes what the user sees of a result that is the model-free engine's.
func (e *Engine) keepShown(req Request, res Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shown = nil; len(res.Items) > 0 {
		e.shown = &shownText{req.Key, req.Text, req.Offset, res.Items[0]}
	}
}

// typedThrough is what is left of the text that was shown while the model could not be
// asked, if the user is typing it: what is on the screen stays, though the model could say
// something else by now. Who asks gets the model's.
func (e *Engine) typedThrough(req Request) (Result, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.shown
	if s == nil {
		return Result{}, false
	}
	n := req.Offset - s.offset
	typed := n > 0 && n < len(s.item.Text) && s.key == req.Key && s.item.Start == s.offset &&
		req.Text[:s.offset] == s.text[:s.offset] && req.Text[s.offset:req.Offset] == s.item.Text[:n] && req.Text[req.Offset:] == s.text[s.offset:]
	if !typed || req.Manual {
		e.shown = nil
		return Result{}, false
	}
	it := s.item
	it.Text, it.Start, it.End = it.Text[n:], req.Offset, it.End+n
	return Result{Items: []Item{it}, Engine: localEngine, Reused: true, Note: "what was shown before the model could be asked is being typed"}, true
}

// wouldSend is the prompt of a request that no model was asked, for a user who
// wants to see it.
func (e *Engine) wouldSend(ctx context.Context, req Request) Prompt {
	d, switched := e.doc(req.Key)
	p := e.prompt(ctx, req, d, d.peek(req.Text, req.Offset, switched), &Timings{})
	return Prompt{Text: p.text, Tokens: scaled(p.raw, e.meter.factor()), Snippets: p.window.snippets}
}

// localEngine is Item.Engine of the model-free engine.
const localEngine = "local"

// answerLocally copies from the user's code, or ends the line as everybody does or as lines
// above it end. While they type it is silent where nothing is sure.
func (e *Engine) answerLocally(ctx context.Context, req Request) Result {
	begin := time.Now()
	s := e.cursorContext(req)
	p, ok := e.local.complete(ctx, req)
	text, confidence := p.text, p.confidence()
	if !req.Manual && p.alone() {
		text, _, _ = strings.Cut(text, "\n")
	}
	if !ok || !p.sure() || !req.Manual && s.stands(s.line+firstLine(text)) {
		if usual := usualRest(s); usual != "" {
			text, confidence = usual, 0
		} else if !ok || !req.Manual {
			text, confidence = habitualRest(s), 0
		}
	}
	spent := time.Since(begin)
	res := Result{Engine: localEngine}
	if text == "" {
		res.Timings = Timings{Local: spent}
		return res
	}
	if it, ok := e.item(req, s, text, localEngine, ""); ok {
		it.Confidence = confidence
		res.Items = []Item{it}
	}
	res.Timings = Timings{Local: spent, Post: time.Since(begin) - spent}
	return res
}

// usualRest is how a line that begins like the cursor's usually goes on in its language.
func usualRest(s *cursorContext) string {
	if !s.writesCode() {
		return ""
	}
	above := strings.TrimSuffix(s.above, "\n")
	rest, _ := idioms.Of(s.lang.ID).Rest(above[strings.LastIndexByte(above, '\n')+1:], s.line, s.stands)
	return rest
}

// habitualRest is how the cursor's line goes on if it goes on as others of its text do.
func habitualRest(s *cursorContext) string {
	if !s.writesCode() {
		return ""
	}
	words := idioms.WordsOf(s.lang.ID)
	if rest := habits.Line(s.above, s.line, words); rest != "" && !s.stands(s.line+rest) {
		return rest
	}
	if endsInString(s.lang.ID, s.line) {
		return ""
	}
	return habits.Word(s.above, s.line, words)
}

// writesCode: what is typed is no comment, unless it names the interpreter of a script, and
// goes on to the end of its line.
func (s *cursorContext) writesCode() bool {
	return s.mode != fillLine && (!s.lang.Comment.Starts(strings.TrimLeft(s.line, " \t")) || s.above == "" && strings.HasPrefix(s.line, "#!"))
}

// stands: the line is not indented and stands above already, as an import that nobody writes
// twice; what is but a word, or a bracket, may well come again.
func (s *cursorContext) stands(line string) bool {
	return leadingSpace(s.line) == "" && wordCount(line) > 1 && strings.Contains("\n"+s.above, "\n"+line+"\n")
}

// item makes of an engine's text what can be shown, if anything. onScreen is what
// the user sees already: it has passed the syntax check, and neither shrinks nor
// vanishes while they type it.
func (e *Engine) item(req Request, s *cursorContext, text, engine, onScreen string) (Item, bool) {
	insert, covers := finish(s, text)
	if !strings.HasPrefix(insert, onScreen) {
		insert, covers = onScreen, coveredRest(s, unixLines(onScreen))
	}
	if insert == "" || insert == s.rest[:covers] {
		return Item{}, false
	}
	it := Item{Text: insert, Start: req.Offset, End: req.Offset + covers, Engine: engine}
	if insert == onScreen || e.opts.Syntax == nil {
		return it, true
	}
	passes := func(end int, text string) string { return checkSyntax(e.opts.Syntax, req, it.Start, end, text) }
	passing := passes(it.End, insert)
	if inside := s.insideClosers(insert); inside != "" {
		// What goes past the brackets that the editor closed is wrong; inside of them it
		// may be right.
		if passing == "" {
			passing = passes(it.Start, inside)
		}
	} else if closed := s.closeBlocks(insert, text); passing != insert && closed != "" && passes(it.End, closed) == closed {
		it.Text = closed
		return it, true
	}
	switch {
	case passing == insert, s.likeNeighbour(insert), engine == localEngine && s.isBegun(insert, func(text string) bool { return passes(it.End, text) == text }):
	case passing != "":
		it.Text, covers = finish(s, passing) // with fewer lines, less of the rest is covered
		it.End = req.Offset + covers
	case !req.Manual: // who asks gets the best there is
		return it, false
	}
	return it, it.Text != ""
}

func (e *Engine) maxLines(req Request) int {
	if req.Manual {
		return 3 * e.opts.MaxLines
	}
	return e.opts.MaxLines
}
