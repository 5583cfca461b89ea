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
	key        string // of the document, as in Request
	at         time.Time
	before     string
	start, end int
}

// near reports whether a change of [from, to) is one with c.
func (c *change) near(key string, from, to int) bool {
	return c.key == key && c.start <= to+sameEdit && from <= c.end+sameEdit
}

// journal keeps the last changes, as the documents of requests tell of them: what no
// prompt may show, it never sees.
type journal struct {
	mu sync.Mutex
	// seen are the documents of the requests, as they were last, by key. changes are the
	// last ones, the newest last. Guarded by mu.
	seen    map[string]Request
	changes []change
}

// note compares the document of a request with what it was.
func (j *journal) note(req Request, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	was, known := j.seen[req.Key]
	if known && req.Version < was.Version {
		return // overtaken
	}
	if j.seen == nil {
		j.seen = map[string]Request{}
	}
	j.seen[req.Key] = Request{Document: req.Document, Version: req.Version}
	j.changes = slices.DeleteFunc(j.changes, func(c change) bool { return now.Sub(c.at) > editsFor })
	if !known || was.Text == req.Text {
		return
	}
	e := diff(was.Text, req.Text)
	from, to, grown := lineStart(was.Text, e.start), lineEnd(was.Text, e.oldEnd), len(req.Text)-len(was.Text)
	var one []change // with this change, from the top of the document down
	for more := true; more; {
		more = false
		j.changes = slices.DeleteFunc(j.changes, func(c change) bool {
			if !c.near(req.Key, from, to) {
				return false
			}
			from, to, more = min(from, c.start), max(to, c.end), true
			one = append(one, c)
			return true
		})
	}
	slices.SortFunc(one, func(a, b change) int { return a.start - b.start })
	for i := range j.changes {
		if c := &j.changes[i]; c.key == req.Key && c.start >= to {
			c.start, c.end = c.start+grown, c.end+grown
		}
	}
	next := change{key: req.Key, at: now, start: from, end: to + grown}
	for _, c := range one {
		next.before += was.Text[from:c.start] + c.before
		from = c.end
	}
	next.before += was.Text[from:to]
	after := req.Text[next.start:next.end]
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
	delete(j.seen, key)
	j.changes = slices.DeleteFunc(j.changes, func(c change) bool { return c.key == key })
}

// snippets are the last edits that a prompt for req may show, the newest first: of its
// document and the open ones in its folder of the workspace, but for the change under
// way at the cursor.
func (j *journal) snippets(req Request, now time.Time) (list []Snippet) {
	j.mu.Lock()
	defer j.mu.Unlock()
	room := editTokens
	for _, c := range slices.Backward(j.changes) {
		was := j.seen[c.key]
		own := c.key == req.Key
		open := func(d Document) bool { return d.Root == was.Root && d.Path == was.Path && d.Text == was.Text }
		switch {
		case now.Sub(c.at) > editsFor:
			continue
		case own && (was.Text != req.Text || c.near(req.Key, req.Offset, req.Offset)):
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
