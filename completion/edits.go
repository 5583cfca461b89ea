package completion

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// What the user changed last tells what they change next: a parameter that was added
// is added elsewhere too, a name that was changed is changed again. The lines that the
// last few such changes left stand in the head of a prompt. They are written anew when
// the head is, and not while the user types. What stood there before is never shown: what
// is known for a secret by now may not have been when it was replaced.

const (
	// editTokens is how much of a head's budget the last edits may take, keptEdits how
	// many of them are kept.
	editTokens, keptEdits = 96, 6
	// largestEdit is the largest change, in bytes of both sides, that is one of the
	// user's: more is a file that was formatted, reloaded or pasted.
	largestEdit = 1200
	// editsFor is how long a change is one of the last.
	editsFor = 10 * time.Minute
	// sameEdit is how far, in bytes, two changes are apart that are one.
	sameEdit = 80
)

// lastEdit says why such lines stand there.
const lastEdit = "changed last"

// A change is of whole lines: what stood there before, and where what stands there now
// is in the document.
type change struct {
	name       string // of the document
	at         time.Time
	before     string
	start, end int
}

// near reports whether a change of [from, to) is one with c.
func (c *change) near(name string, from, to int) bool {
	return c.name == name && c.start <= to+sameEdit && from <= c.end+sameEdit
}

// journal keeps the last changes, as requests tell of them, those of the other open
// documents as well: what no prompt may show, it never sees.
type journal struct {
	mu sync.Mutex
	// seen are the documents of the requests, as they were last, by name. changes are the
	// last ones, the newest last. Guarded by mu.
	seen    map[string]Request
	changes []change
}

// name tells the document of a request from all others.
func (r Request) name() string {
	if r.Root == "" {
		return r.Key
	}
	return r.Root + "\x00" + r.Path
}

// note compares the documents of a request with what they were: at the first request of
// one, with what the editor opened.
func (j *journal) note(req Request, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.seen == nil {
		j.seen = map[string]Request{}
	}
	j.changes = slices.DeleteFunc(j.changes, func(c change) bool { return now.Sub(c.at) > editsFor })
	for _, d := range slices.Backward(req.Open) { // the most recent last
		other := Request{Document: d}
		if was, known := j.seen[other.name()]; known {
			other.Key, other.Version = was.Key, was.Version
		}
		if d.Root != "" {
			j.compare(other, now)
		}
	}
	j.compare(req, now)
	// What no request was for is known while it is open beside one that is.
	for name, was := range j.seen {
		open := func(d Document) bool { return Request{Document: d}.name() == name }
		if was.Key == "" && was.Root == req.Root && name != req.name() && !slices.ContainsFunc(req.Open, open) {
			j.drop(name)
		}
	}
}

// compare takes a document for what it is now, and what it was for changed. The caller
// holds mu.
func (j *journal) compare(req Request, now time.Time) {
	was, known := j.seen[req.name()]
	if known && req.Version < was.Version {
		return // overtaken
	}
	j.seen[req.name()] = Request{Key: req.Key, Document: req.Document, Version: req.Version}
	if !known {
		was.Text, known = req.Opened, req.Opened != ""
	}
	if !known || was.Text == req.Text {
		return
	}
	for _, text := range versions(was.Text, req.Text) {
		j.change(req.name(), was.Text, text, now)
		was.Text = text
	}
}

// versions are the texts between was and is, and is, where the lines that differ stand in
// some places of as many lines: a name that was changed everywhere.
func versions(was, is string) (texts []string) {
	e := diff(was, is)
	from, to, grown := lineStart(was, e.start), lineEnd(was, e.oldEnd), len(is)-len(was)
	old, next := strings.Split(was[from:to], "\n"), strings.Split(is[from:to+grown], "\n")
	if len(old) != len(next) || len(old) == 1 {
		return []string{is}
	}
	for i := range old {
		if old[i] == next[i] {
			continue
		}
		old[i] = next[i]
		if i+1 == len(old) || old[i+1] == next[i+1] {
			texts = append(texts, was[:from]+strings.Join(old, "\n")+was[to:])
		}
		if len(texts) > keptEdits {
			return []string{is} // all of it was formatted
		}
	}
	return texts
}

// change notes that the document of a name became another text. The caller holds mu.
func (j *journal) change(name, was, is string, now time.Time) {
	e := diff(was, is)
	from, to, grown := lineStart(was, e.start), lineEnd(was, e.oldEnd), len(is)-len(was)
	var one []change // with this change, from the top of the document down
	for more := true; more; {
		more = false
		j.changes = slices.DeleteFunc(j.changes, func(c change) bool {
			if !c.near(name, from, to) {
				return false
			}
			from, to, more = min(from, c.start), max(to, c.end), true
			one = append(one, c)
			return true
		})
	}
	slices.SortFunc(one, func(a, b change) int { return a.start - b.start })
	for i := range j.changes {
		if c := &j.changes[i]; c.name == name && c.start >= to {
			c.start, c.end = c.start+grown, c.end+grown
		}
	}
	next := change{name: name, at: now, start: from, end: to + grown}
	for _, c := range one {
		next.before += was[from:c.start] + c.before
		from = c.end
	}
	next.before += was[from:to]
	after := is[next.start:next.end]
	if next.before == after || len(next.before)+len(after) > largestEdit {
		return
	}
	j.changes = append(j.changes, next)
	j.changes = j.changes[max(len(j.changes)-keptEdits, 0):]
}

// forget drops what is kept of a document that was closed.
func (j *journal) forget(key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, was := range j.seen {
		if was.Key == key {
			j.drop(name)
		}
	}
}

// drop forgets a document by name. The caller holds mu.
func (j *journal) drop(name string) {
	delete(j.seen, name)
	j.changes = slices.DeleteFunc(j.changes, func(c change) bool { return c.name == name })
}

// snippets are the last edits that a prompt for req may show, the newest first: of its
// document and the open ones in its folder of the workspace, but for the change under
// way at the cursor.
func (j *journal) snippets(req Request, now time.Time) (list []Snippet) {
	j.mu.Lock()
	defer j.mu.Unlock()
	room := editTokens
	for _, c := range slices.Backward(j.changes) {
		was := j.seen[c.name]
		own := c.name == req.name()
		open := func(d Document) bool { return d.Root == was.Root && d.Path == was.Path && d.Text == was.Text }
		switch {
		case now.Sub(c.at) > editsFor:
			continue
		case own && (was.Text != req.Text || c.near(req.name(), req.Offset, req.Offset)):
			continue
		case !own && (was.Root != req.Root || !slices.ContainsFunc(req.Open, open)):
			continue
		}
		sn := Snippet{Root: was.Root, Path: was.Path, Why: lastEdit, Text: changedLines(c.before, was.Text[c.start:c.end])}
		cost := rawTokens(sn.Text)
		if sn.Text == "" || cost > room {
			continue
		}
		room -= cost
		sn.StartLine = 1 + strings.Count(was.Text[:c.start], "\n")
		sn.EndLine = sn.StartLine + strings.Count(was.Text[c.start:c.end], "\n")
		list = append(list, sn)
	}
	return list
}

// changedLines are the lines of after between those that it has in common with before, at
// its ends.
func changedLines(before, after string) string {
	was, is := strings.Split(unixLines(before), "\n"), strings.Split(unixLines(after), "\n")
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	return strings.Join(slices.DeleteFunc(is, blank), "\n")
}
