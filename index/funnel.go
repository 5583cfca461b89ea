package index

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"quarry/index/mask"
	"quarry/index/walk"
)

// How long a changed path waits for more of the same.
const (
	bufferDelay = 300 * time.Millisecond
	// bufferDelayMost: whoever types without a pause is indexed now and then too.
	bufferDelayMost = 3 * time.Second
	diskDelay       = 50 * time.Millisecond
)

// manyChanges is how many paths are cheaper to find by a scan than one by one.
const manyChanges = 200

// event is what can happen to a path.
type event uint8

const (
	opened  event = iota // in an editor, with its text
	edited               // in an editor, with its text
	flushed              // saved by the editor: buffer and disk agree
	closed               // in the editor: the disk is the truth again
	touched              // on disk, by anybody; perhaps gone
)

// buffer is an open document.
type buffer struct {
	text  string
	since time.Time // of the first edit that is not indexed yet; zero if all are
}

// DidOpen tells that an editor shows a document; name is its absolute path.
func (x *Index) DidOpen(name, text string) { x.happened(opened, name, text) }

// DidChange tells that the text in the editor changed.
func (x *Index) DidChange(name, text string) { x.happened(edited, name, text) }

// DidSave tells that the editor wrote the document to disk.
func (x *Index) DidSave(name string) { x.happened(flushed, name, "") }

// DidClose tells that the editor closed the document, saved or not.
func (x *Index) DidClose(name string) { x.happened(closed, name, "") }

// FilesChanged tells that files or folders were created, changed or deleted on
// disk, by whoever; names are absolute paths.
func (x *Index) FilesChanged(names []string) {
	for _, name := range names {
		x.happened(touched, name, "")
	}
}

// happened is the funnel: every event of every source comes through here. It
// notes what to look at and when; looking is the coordinator's work.
func (x *Index) happened(e event, name, text string) {
	rel, ok := x.root.Rel(name)
	if !ok {
		return // not in this root
	}
	text = mask.Text(text)
	x.request(func() {
		now := x.cfg.Clock.Now()
		b := x.buffers[rel]
		switch e {
		case opened, edited:
			if b == nil {
				b = &buffer{}
				x.buffers[rel] = b
			}
			b.text = text
			if b.since.IsZero() {
				b.since = now
			}
			at := now.Add(bufferDelay)
			if most := b.since.Add(bufferDelayMost); at.After(most) {
				at = most
			}
			if e == opened {
				at = now
			}
			x.due[rel] = at
		case flushed:
			x.due[rel] = now
		case closed:
			delete(x.buffers, rel)
			x.due[rel] = now
		case touched:
			switch {
			case rel == ".":
				x.scans[""] = true
			case walk.IsRule(rel):
				// What is left out changes for all below.
				x.scans[parentOf(strings.TrimPrefix(rel, ".git/info/"))] = true
				x.due[rel] = now
			case b == nil: // else the buffer is the truth
				// A file that is being written is looked at when it rests, but a log
				// that is written without end is not put off for ever.
				if _, waiting := x.due[rel]; !waiting {
					x.due[rel] = now.Add(diskDelay)
				}
			}
		}
		if len(x.due) > manyChanges {
			x.mergeDue()
		}
	})
}

// mergeDue replaces many changed files by a scan. mu is held.
func (x *Index) mergeDue() {
	for rel := range x.due {
		if x.buffers[rel] == nil {
			delete(x.due, rel)
			x.scans[""] = true
			x.fallBehind()
		}
	}
}

// take removes and answers the paths that are due, and when the next one is.
func (x *Index) take(now time.Time) (paths []string, next time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for rel, at := range x.due {
		if at.After(now) {
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		paths = append(paths, rel)
		delete(x.due, rel)
	}
	return paths, next
}

// bufferOf answers the text of an open document and notes that it is being
// indexed.
func (x *Index) bufferOf(rel string) (text string, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b := x.buffers[rel]
	if b == nil {
		return "", false
	}
	b.since = time.Time{}
	return b.text, true
}

func (x *Index) isOpen(rel string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buffers[rel] != nil
}

// openPaths are the open documents.
func (x *Index) openPaths() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.buffers))
}

func parentOf(rel string) string {
	if up := path.Dir(rel); up != "." {
		return up
	}
	return ""
}
