package usage

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// traceFolder is where the trace is, beside the numbers.
const traceFolder = "trace"

const (
	// maxTraceDay bounds the trace of a day, in bytes: some 2,500 answers. With KeptDays it never
	// takes more than 8 MB.
	maxTraceDay = 256 << 10
	// openedWithin is how long after an answer a file counts as opened because of it.
	openedWithin = 10 * time.Minute
	// typedWithin is how soon after an answer another one to a query that goes on with its words
	// takes its place: somebody is typing.
	typedWithin = 5 * time.Second
	// maxRank is the last place of an answer that is told apart, and maxOpened how many are noted.
	maxRank   = 100
	maxOpened = 10
	// maxWords is how many words of a query are counted.
	maxWords = 9
	// maxUnwritten bounds the answers between two writes.
	maxUnwritten = 500
)

// Asker is who was shown an answer.
type Asker string

// The askers.
const (
	ByEditor Asker = "editor"
	ByAgent  Asker = "agent"
)

// Form is what kind of query was asked.
type Form string

// The forms.
const (
	FormWords  Form = "words"  // several words
	FormName   Form = "name"   // one
	FormExact  Form = "exact"  // text in quotes
	FormRegexp Form = "regexp" // a regular expression
	FormCode   Form = "code"   // what is like a piece of code
)

// TracedAnswer is what came of one answer of a search. It has no text: neither the query's nor
// any of a file or its name.
type TracedAnswer struct {
	By   Asker `json:"by"`
	Form Form  `json:"form"`
	// Words is how many words the query had, at most maxWords; 0 if it had none.
	Words int `json:"words,omitempty"`
	// Shown is how many files were shown; Opened are the ranks, from 1, of those that were opened
	// afterwards, in that order. An answer with none was rejected.
	Shown  int   `json:"shown"`
	Opened []int `json:"opened,omitempty"`
}

// GhostKind is a kind of ghost text.
type GhostKind struct {
	// Size is word, line or lines; Engine is model or local.
	Size   string `json:"size"`
	Engine string `json:"engine"`
}

// The sizes of ghost text, and the engines.
var (
	sizes   = []string{"word", "line", "lines"}
	engines = []string{"model", "local"}
)

// kindOf is the kind of a suggestion. A model's name is the user's own affair.
func kindOf(engine, text string) GhostKind {
	k := GhostKind{"word", "model"}
	if engine == "local" {
		k.Engine = engine
	}
	switch text = strings.TrimSpace(text); {
	case strings.Contains(text, "\n"):
		k.Size = "lines"
	case strings.ContainsAny(text, " \t"):
		k.Size = "line"
	}
	return k
}

// TracedGhost is what became of ghost text of one kind. What was shown and not accepted was
// rejected.
type TracedGhost struct {
	GhostKind
	Shown    int `json:"shown"`
	Accepted int `json:"accepted"`
}

// Traced is a part of the trace: what one process noted in some minutes of a day.
type Traced struct {
	// Date is empty in the files, whose names have it.
	Date    string         `json:"date,omitempty"`
	Answers []TracedAnswer `json:"answers,omitempty"`
	Ghost   []TracedGhost  `json:"ghost,omitempty"`
}

// Trace notes which answers were shown and which of their places were opened, and what kinds of
// ghost text were accepted. Queries and names of files stay in memory, for as long as an answer
// may be looked at. It is safe for concurrent use.
type Trace struct {
	dir    string
	clock  func() time.Time
	failed func(error)

	mu     sync.Mutex
	keep   bool              // guarded by mu
	closed bool              // guarded by mu
	last   map[Asker]*answer // that may be looked at; guarded by mu
	now    Traced            // what is not written yet; guarded by mu
	timer  *time.Timer       // runs while it has something; guarded by mu
}

// answer is one that may be looked at.
type answer struct {
	TracedAnswer
	query string
	paths []string // by rank
	at    time.Time
}

func newTrace(dir string, clock func() time.Time, failed func(error)) *Trace {
	return &Trace{dir: dir, clock: clock, failed: failed, last: map[Asker]*answer{}}
}

// Keep says whether anything is noted from here on. Where nothing is, what was not written yet
// is forgotten.
func (t *Trace) Keep(keep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keep = keep; !keep {
		t.forget()
	}
}

// forget drops what is in memory. mu is held.
func (t *Trace) forget() {
	clear(t.last)
	t.now = Traced{}
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}

// Shown says that somebody was shown the answer to a query: the files at paths, the first of
// which has rank first, from 1. A further page belongs to the answer that it goes on with.
func (t *Trace) Shown(by Asker, form Form, query string, first int, paths []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.keep || t.closed {
		return
	}
	now := t.clock()
	if a := t.last[by]; a != nil {
		since := now.Sub(a.at)
		switch {
		case a.query == query && a.Form == form && first > 1 && since < openedWithin:
			a.paths = slices.Grow(a.paths[:min(first-1, len(a.paths))], len(paths))
			for len(a.paths) < min(first-1, maxRank) {
				a.paths = append(a.paths, "") // of a page that was left out
			}
			a.paths = append(a.paths, paths...)
			a.paths = a.paths[:min(len(a.paths), maxRank)]
			a.Shown, a.at = max(a.Shown, len(a.paths)), now
			return
		case len(a.Opened) == 0 && since < typedWithin && query != "" && a.query != "" && (strings.HasPrefix(query, a.query) || strings.HasPrefix(a.query, query)):
			delete(t.last, by) // nobody has looked at it
		default:
			t.end(by)
		}
	}
	if first != 1 {
		return // its first page is not known
	}
	paths = slices.Clone(paths[:min(len(paths), maxRank)])
	t.last[by] = &answer{TracedAnswer{By: by, Form: form, Words: min(len(strings.Fields(query)), maxWords), Shown: len(paths)}, query, paths, now}
}

// Opened says that somebody opened a file.
func (t *Trace) Opened(by Asker, path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.last[by]
	if a == nil || path == "" {
		return
	}
	if t.clock().Sub(a.at) >= openedWithin {
		t.end(by)
		return
	}
	rank := 1 + slices.Index(a.paths, path)
	if rank > 0 && !slices.Contains(a.Opened, rank) && len(a.Opened) < maxOpened {
		a.Opened = append(a.Opened, rank)
	}
}

// end writes an answer down: what comes is because of another one. mu is held.
func (t *Trace) end(by Asker) {
	if a := t.last[by]; a != nil && len(t.now.Answers) < maxUnwritten {
		t.now.Answers = append(t.now.Answers, a.TracedAnswer)
		t.soon()
	}
	delete(t.last, by)
}

// ghost notes ghost text that was shown, or accepted.
func (t *Trace) ghost(kind GhostKind, accepted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.keep || t.closed {
		return
	}
	g := ghostOf(&t.now.Ghost, kind)
	if accepted {
		g.Accepted++
	} else {
		g.Shown++
	}
	t.soon()
}

func ghostOf(list *[]TracedGhost, kind GhostKind) *TracedGhost {
	i := slices.IndexFunc(*list, func(g TracedGhost) bool { return g.GhostKind == kind })
	if i < 0 {
		i = len(*list)
		*list = append(*list, TracedGhost{GhostKind: kind})
	}
	return &(*list)[i]
}

// soon has what was noted written in some minutes. mu is held.
func (t *Trace) soon() {
	if t.timer == nil {
		t.timer = time.AfterFunc(every, t.flush)
	}
}

// flush writes down what was noted.
func (t *Trace) flush() {
	t.mu.Lock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	part := t.now
	t.now = Traced{}
	t.mu.Unlock()
	if len(part.Answers)+len(part.Ghost) == 0 {
		return
	}
	if err := appendTo(t.dir, t.clock(), &part, maxTraceDay); err != nil {
		t.failed(err)
	}
}

// close ends the answers and writes them down; nothing is noted any more.
func (t *Trace) close() {
	t.mu.Lock()
	for by := range t.last {
		t.end(by)
	}
	t.closed = true
	t.mu.Unlock()
	t.flush()
}

// ReadTrace is the trace of the last KeptDays days beside the numbers in dir, the oldest first.
// What is older is removed.
func ReadTrace(dir string, today time.Time) (list []Traced, err error) {
	dir = filepath.Join(dir, traceFolder)
	if err := prune(dir, today); err != nil {
		return nil, err
	}
	for i := range KeptDays {
		date := today.AddDate(0, 0, i+1-KeptDays).Format(dateForm)
		err := eachLine(filepath.Join(dir, date+extension), func(line []byte) { list = appendTraced(list, line, date) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return list, nil
}

// ReadExport reads what Export wrote.
func ReadExport(path string) (list []Traced, err error) {
	err = eachLine(path, func(line []byte) { list = appendTraced(list, line, "") })
	return list, err
}

// appendTraced appends what a line has that can be part of a trace. Whatever else stands there,
// in a line that somebody else has written too, is left out.
func appendTraced(list []Traced, line []byte, date string) []Traced {
	var p Traced
	if json.Unmarshal(line, &p) != nil {
		return list
	}
	if date == "" {
		if _, err := time.Parse(dateForm, p.Date); err == nil {
			date = p.Date
		}
	}
	p.Date = date
	p.Answers = slices.DeleteFunc(p.Answers, func(a TracedAnswer) bool { return !a.valid() })
	p.Ghost = slices.DeleteFunc(p.Ghost, func(g TracedGhost) bool {
		return !slices.Contains(sizes, g.Size) || !slices.Contains(engines, g.Engine) || g.Shown < 0 || g.Accepted < 0
	})
	if len(p.Answers)+len(p.Ghost) == 0 {
		return list
	}
	return append(list, p)
}

// valid answers whether an answer can have been traced.
func (a *TracedAnswer) valid() bool {
	for i, rank := range a.Opened {
		if rank < 1 || rank > maxRank || slices.Contains(a.Opened[:i], rank) {
			return false
		}
	}
	return (a.By == ByEditor || a.By == ByAgent) && slices.Contains([]Form{FormWords, FormName, FormExact, FormRegexp, FormCode}, a.Form) &&
		a.Words >= 0 && a.Words <= maxWords && a.Shown >= 0 && a.Shown <= maxRank && len(a.Opened) <= min(maxOpened, a.Shown)
}

// Export writes a trace as lines of JSON.
func Export(w io.Writer, list []Traced) error {
	enc := json.NewEncoder(w)
	for i := range list {
		if err := enc.Encode(&list[i]); err != nil {
			return err
		}
	}
	return nil
}
