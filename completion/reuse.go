package completion

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// keptStreams is how many answers are kept of each document.
const keptStreams = 16

// docState is what the engine keeps of one document.
type docState struct {
	mu sync.Mutex
	// All below is guarded by mu.

	// window is the layout of the last prompt, nil before the first.
	window *promptWindow
	// stale is set when the code of other places in window should be looked up
	// anew before the next prompt: the user came from another document or
	// paused, or none was found and lookAgain has passed.
	stale bool
	// again is as in builtPrompt.
	again time.Time
	// rhythm is how the user types.
	rhythm rhythm
	// newest is closed when a newer request arrives.
	newest chan struct{}
	// streams are the newest ones, the last the newest of all.
	streams []*modelStream
}

// arrive makes a request the newest of its document; the ones before it learn
// so by the channels they hold. window is the document's, advanced to the
// request, nil before the first prompt. A request that has ended by now, in most cases
// because a newer one came, must not take that one's place: they may get here in any
// order.
func (d *docState) arrive(ctx context.Context, text string, cursor int, switched bool, now time.Time) (window *promptWindow, newer <-chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if d.newest != nil {
		close(d.newest)
	}
	d.newest = make(chan struct{})
	pause := d.rhythm.note(now)
	due := !d.again.IsZero() && !now.Before(d.again)
	return d.next(text, cursor, switched || due || pause > idleAfter), d.newest, nil
}

// peek answers the window of a place nobody asked for yet.
func (d *docState) peek(text string, cursor int, switched bool) *promptWindow {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next(text, cursor, switched)
}

// next advances the window. The caller holds mu.
func (d *docState) next(text string, cursor int, stale bool) *promptWindow {
	d.stale = d.stale || stale
	if d.window == nil {
		return nil
	}
	f := d.window.advance(text, cursor)
	return &f
}

// current is closed when a request newer than all so far arrives.
func (d *docState) current() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.newest == nil {
		d.newest = make(chan struct{})
	}
	return d.newest
}

// drop forgets a stream that failed.
func (d *docState) drop(stream *modelStream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams = slices.DeleteFunc(d.streams, func(f *modelStream) bool { return f == stream })
}

// forget cancels what runs for the document and ends the request that waits.
func (d *docState) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.newest != nil {
		close(d.newest)
		d.newest = nil
	}
	for _, stream := range d.streams {
		stream.cancel()
	}
}

func (d *docState) gap() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rhythm.gap
}

// add makes stream the document's newest stream, its window the document's, and
// cancels the streams that still run. It reports false if newer is closed: a
// request that was slow to make its prompt must not end the one that took over.
func (d *docState) add(stream *modelStream, newer <-chan struct{}) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if isClosed(newer) {
		return false
	}
	d.window, d.stale, d.again = &stream.at.window, false, stream.at.again
	for _, old := range d.streams {
		old.cancel()
	}
	d.streams = append(d.streams, stream)
	if len(d.streams) > keptStreams {
		d.streams = slices.Delete(d.streams, 0, 1)
	}
	return true
}

// find answers the newest stream that serves the place f describes, that was not tried
// yet and that nothing outdated went into, and what was typed since it was asked.
func (d *docState) find(f *promptWindow, req Request, found ContextSource, tried []*modelStream) (stream *modelStream, typed string) {
	if f == nil {
		return nil, ""
	}
	d.mu.Lock()
	streams := slices.Clone(d.streams)
	d.mu.Unlock()
	for _, stream := range slices.Backward(streams) {
		if req.Manual && !stream.manual || slices.Contains(tried, stream) {
			continue
		}
		typed, ok := stream.serves(f)
		if !ok || stream.at.window.outdated(req, found) {
			continue
		}
		stream.mu.Lock()
		// Who asks where only an offer is left wants more than that.
		usable := (stream.says(typed) || !req.Manual && stream.agrees(typed)) && (!stream.done || stream.err == nil)
		stream.mu.Unlock()
		if usable {
			return stream, typed
		}
	}
	return nil, ""
}

// serves reports whether everything the stream's answer depends on (head,
// prefix, suffix: the whole prompt) is as it was, but for text typed at the
// cursor. A bracket or quote that the editor closed by itself is let pass: it
// is what the answer would have closed, and post-processing sees it.
func (stream *modelStream) serves(f *promptWindow) (typed string, ok bool) {
	was := &stream.at.window
	if was.head != f.head || was.limits != f.limits {
		return "", was.text == f.text && was.cursor == f.cursor
	}
	prefix := was.text[was.start:was.cursor]
	typed, ok = strings.CutPrefix(f.text[f.start:f.cursor], prefix)
	if !ok && was.start <= f.cursor { // start may have jumped on while the answer was typed
		typed, ok = strings.CutPrefix(f.text[was.start:f.cursor], prefix)
	}
	if !ok {
		return "", was.text == f.text && was.cursor == f.cursor
	}
	suffix := suffixOf(was.text, was.cursor, was.limits.suffix)
	now := suffixOf(f.text, f.cursor, f.limits.suffix)
	if suffix == now {
		return typed, true
	}
	for n := 1; typed != "" && n <= 3 && n < len(now) && onlyClosers(now[:n]); n++ {
		if strings.HasPrefix(suffix, now[n:]) {
			return typed, true
		}
	}
	return "", false
}
