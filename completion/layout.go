package completion

import (
	"context"
	"slices"
	"time"
)

// When the code of other places in a prompt is looked up anew. Doing so
// changes the head of the prompt, and all after it is computed again.
const (
	jumpBytes = 2000             // the cursor went elsewhere in the file
	idleAfter = 15 * time.Second // the user paused; nobody waits
	// lookAgain is how soon after finding nothing: the index may not be there yet,
	// but a look-up for each keystroke would cost more than the rest.
	lookAgain = 500 * time.Millisecond
	// contextWait bounds the search for it: ghost text without is better than
	// late ghost text.
	contextWait = 30 * time.Millisecond
)

// doc answers the state of a document, and whether the last request was for
// another one.
func (e *Engine) doc(key string) (d *docState, switched bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switched = e.latest != key
	e.latest = key
	if d = e.docs[key]; d == nil {
		d = &docState{}
		e.docs[key] = d
	}
	return d, switched
}

// builtPrompt is a prompt and what it was made of.
type builtPrompt struct {
	text string
	// raw is the unscaled estimate of its tokens.
	raw    int
	window promptWindow
	// again is when to look for code of other places once more, because none was
	// found; zero if some was.
	again time.Time
}

// prompt renders next, the document's window advanced to the request (nil if
// there is none yet), or a new window where that one no longer fits or its
// context has aged.
func (e *Engine) prompt(ctx context.Context, req Request, d *docState, next *promptWindow, t *Timings) builtPrompt {
	d.mu.Lock()
	last, stale, again := d.window, d.stale, d.again
	d.mu.Unlock()
	factor := e.meter.factor()
	p, ok := builtPrompt{}, false
	if next != nil {
		jumped := last != nil && last.moved(next) > jumpBytes
		if (e.opts.Context == nil || !stale && !jumped) && !next.outdated(req, e.opts.Context) {
			p = e.render(*next)
			p.again = again
			ok = e.fits(p, factor)
		}
	}
	if !ok {
		found := e.lookUp(ctx, req, "", t)
		p = e.buildPrompt(req, next, found, factor)
		if e.opts.Context != nil && len(found) == 0 {
			p.again = e.now().Add(lookAgain)
		}
	}
	return p
}

// lookUp finds code of other places for the request, and for what a draft of
// its answer names.
func (e *Engine) lookUp(ctx context.Context, req Request, draft string, t *Timings) []Snippet {
	if e.opts.Context == nil {
		return nil
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, contextWait)
	defer cancel()
	window := newPromptWindow(req.Text, req.Offset, e.affordable(e.opts.share(e.meter.factor())))
	following := window.following()
	found := e.opts.Context.Context(ctx, ContextQuery{
		Document: req.Document, Offset: req.Offset, Shown: [2]int{window.start, following.end}, Open: req.Open, Draft: draft, Tokens: e.opts.SnippetTokens - rawTokens(req.Text[following.start:following.end]),
	})
	t.Context += time.Since(begin)
	return found
}

// buildPrompt makes a prompt with these snippets, of the document's window next
// where it still fits.
func (e *Engine) buildPrompt(req Request, next *promptWindow, found []Snippet, factor float64) builtPrompt {
	lang, indent := languageFor(req.Language), indentUnit(req.Text, req.Language)
	var before []Snippet
	edits := slices.Clip(e.journal.snippets(req, e.now()))
	if next != nil {
		f := *next
		before = f.snippets
		f.snippets = pick(lang, f.withFollowing(req.Document, append(edits, found...)), before, f.limits.snippets)
		f.freeze(req, indent, e.opts.Context)
		if p := e.render(f); e.fits(p, factor) {
			return p
		}
	}
	for l := e.affordable(e.opts.share(factor)); ; l = l.half() {
		f := newPromptWindow(req.Text, req.Offset, l)
		f.snippets = pick(lang, f.withFollowing(req.Document, append(edits, found...)), before, l.snippets)
		f.freeze(req, indent, e.opts.Context)
		// The shares leave room for what the estimate of the parts misses at
		// their seams; should they not, smaller ones do.
		if p := e.render(f); e.fits(p, factor) || l == (limits{}) {
			return p
		}
	}
}

func (e *Engine) render(f promptWindow) builtPrompt {
	text := f.prompt(e.template(), e.opts.Chat)
	return builtPrompt{text: text, raw: rawTokens(text), window: f}
}

func (e *Engine) fits(p builtPrompt, factor float64) bool {
	return scaled(p.raw, factor)+e.opts.MaxTokens <= e.opts.ContextTokens
}
