// Package usage keeps numbers about quarry's own work for a month, on this machine alone:
// how much ghost text was shown and accepted by language and engine, how long answers took,
// how much memory it needed, and what went wrong. No code is in them, and no names of files.
//
// Each process has a Recorder, which adds a line now and then to the file of the day; Read
// adds the lines of a month up. A line that cannot be read costs itself only.
package usage

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// KeptDays is how many days are kept, today included.
const KeptDays = 30

// every is how often a process that has something to tell writes it down.
const every = 5 * time.Minute

// mostEvents bounds those of one line.
const mostEvents = 50

// Ghost is what became of ghost text of one engine in one language.
type Ghost struct {
	Language string `json:"language"`
	// Engine is the model's name, or "local" for the model-free engine.
	Engine   string `json:"engine"`
	Shown    int    `json:"shown"`
	Accepted int    `json:"accepted"`
}

// Event is something that made quarry do less, or all again.
type Event struct {
	At time.Time `json:"at"`
	// Kind is "memory", "model" or "battery".
	Kind string `json:"kind"`
	What string `json:"what"`
	// Less says that less was done from then on, else all of it was again.
	Less bool `json:"less,omitempty"`
}

// Numbers are those of some time.
type Numbers struct {
	Ghost []Ghost `json:"ghost,omitempty"`
	// Of answers of the model: from sending to the first token, waiting in quarry, and a
	// token.
	FirstToken Times `json:"first_token,omitempty"`
	Queue      Times `json:"queue,omitempty"`
	Token      Times `json:"token,omitempty"`
	// Retrieval is looking for code of other places for a prompt, Index a scan of a folder.
	Retrieval Times `json:"retrieval,omitempty"`
	Index     Times `json:"index,omitempty"`
	// PromptBytes is the length of all prompts, ReusedBytes what of them stood in the prompt
	// before.
	PromptBytes int64 `json:"prompt_bytes,omitempty"`
	ReusedBytes int64 `json:"reused_bytes,omitempty"`
	Tokens      int64 `json:"tokens,omitempty"`
	// Resident and Models are the most that quarry and its models had of memory, in bytes.
	Resident int64   `json:"resident_bytes,omitempty"`
	Models   int64   `json:"model_bytes,omitempty"`
	Events   []Event `json:"events,omitempty"`
}

// Answer is what one answer of the model took.
type Answer struct {
	FirstToken, Queue, Total time.Duration
	Tokens                   int
	PromptBytes, ReusedBytes int
}

// add adds what happened at another time.
func (n *Numbers) add(m *Numbers) {
	for _, g := range m.Ghost {
		at := n.ghost(g.Language, g.Engine)
		at.Shown += g.Shown
		at.Accepted += g.Accepted
	}
	for _, t := range []struct{ into, from *Times }{
		{&n.FirstToken, &m.FirstToken}, {&n.Queue, &m.Queue}, {&n.Token, &m.Token}, {&n.Retrieval, &m.Retrieval}, {&n.Index, &m.Index},
	} {
		t.into.merge(*t.from)
	}
	n.PromptBytes += m.PromptBytes
	n.ReusedBytes += m.ReusedBytes
	n.Tokens += m.Tokens
	n.Resident, n.Models = max(n.Resident, m.Resident), max(n.Models, m.Models)
	n.Events = append(n.Events, m.Events...)
}

// ghost is the entry of a language and an engine, made if there is none.
func (n *Numbers) ghost(language, engine string) *Ghost { return ghostIn(&n.Ghost, language, engine) }

func ghostIn(list *[]Ghost, language, engine string) *Ghost {
	at := slices.IndexFunc(*list, func(g Ghost) bool { return g.Language == language && g.Engine == engine })
	if at < 0 {
		at = len(*list)
		*list = append(*list, Ghost{Language: language, Engine: engine})
	}
	return &(*list)[at]
}

// ShownAndAccepted are those of all languages and engines.
func (n *Numbers) ShownAndAccepted() (shown, accepted int) {
	for _, g := range n.Ghost {
		shown += g.Shown
		accepted += g.Accepted
	}
	return shown, accepted
}

// Recorder takes the numbers of a process. It is safe for concurrent use.
type Recorder struct {
	dir   string
	clock func() time.Time

	mu     sync.Mutex
	keep   bool                  // guarded by mu
	all    []Ghost               // since the process began; guarded by mu
	now    Numbers               // what is not written yet; guarded by mu
	some   bool                  // now has something; guarded by mu
	timer  *time.Timer           // runs while it has; guarded by mu
	closed bool                  // guarded by mu
	last   map[string]suggestion // what was shown last, by document; guarded by mu

	trace  *Trace
	failed func(error)
}

// suggestion is ghost text that was shown, the kind that it had at first.
type suggestion struct {
	engine, text string
	kind         GhostKind
	end          int // where the document would be behind it, which typing through it does not change
}

// New makes a Recorder that writes into dir, which is made when there is something to
// write, once Keep says so. failed is told when that cannot be done.
func New(dir string, failed func(error)) *Recorder {
	return &Recorder{dir: dir, clock: time.Now, last: map[string]suggestion{}, failed: failed, trace: newTrace(filepath.Join(dir, traceFolder), time.Now, failed)}
}

// Trace is what is kept of answers and ghost text one by one.
func (r *Recorder) Trace() *Trace { return r.trace }

// Keep says whether numbers are written down from here on.
func (r *Recorder) Keep(keep bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep = keep
}

// Ghost is what became of ghost text since the process began, most shown first.
func (r *Recorder) Ghost() []Ghost {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.all)
	SortByShown(list)
	return list
}

// SortByShown puts what was shown most first.
func SortByShown(list []Ghost) {
	slices.SortStableFunc(list, func(x, y Ghost) int { return cmp.Compare(y.Shown, x.Shown) })
}

// note changes the numbers.
func (r *Recorder) note(change func(n *Numbers)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.now)
	if r.closed || !r.keep {
		r.now = Numbers{}
		return
	}
	r.some = true
	if r.timer == nil {
		r.timer = time.AfterFunc(every, r.Flush)
	}
}

// Shown says that ghost text is on the screen of a document, from a byte offset of it on. What only goes on while the user
// types through it counts once; the same text at another place is another.
func (r *Recorder) Shown(document, language, engine, text string, at int) {
	r.note(func(n *Numbers) {
		before, end := r.last[document], at+len(text)
		if before.engine == engine && before.end == end && (strings.HasSuffix(before.text, text) || strings.HasSuffix(text, before.text)) {
			r.last[document] = suggestion{engine, text, before.kind, end}
			return
		}
		kind := kindOf(engine, text)
		r.last[document] = suggestion{engine, text, kind, end}
		r.trace.ghost(kind, false)
		n.ghost(language, engine).Shown++
		ghostIn(&r.all, language, engine).Shown++
	})
}

// Accepted says that the user took what was shown last in a document.
func (r *Recorder) Accepted(document, language string) {
	r.note(func(n *Numbers) {
		if shown, ok := r.last[document]; ok {
			n.ghost(language, shown.engine).Accepted++
			ghostIn(&r.all, language, shown.engine).Accepted++
			r.trace.ghost(shown.kind, true)
			delete(r.last, document)
		}
	})
}

// Closed says that a document was closed.
func (r *Recorder) Closed(document string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, document)
}

// Answered notes an answer of the model.
func (r *Recorder) Answered(a Answer) {
	r.note(func(n *Numbers) {
		n.FirstToken.put(a.FirstToken)
		n.Queue.put(a.Queue)
		if a.Tokens > 1 && a.Total > a.FirstToken {
			n.Token.put((a.Total - a.FirstToken) / time.Duration(a.Tokens-1))
		}
		n.Tokens += int64(a.Tokens)
		n.PromptBytes += int64(a.PromptBytes)
		n.ReusedBytes += int64(a.ReusedBytes)
	})
}

// Retrieved notes how long looking for code of other places took.
func (r *Recorder) Retrieved(took time.Duration) {
	r.note(func(n *Numbers) { n.Retrieval.put(took) })
}

// Indexed notes how long a scan of a folder took.
func (r *Recorder) Indexed(took time.Duration) {
	r.note(func(n *Numbers) { n.Index.put(took) })
}

// Memory notes what quarry and its models have now, in bytes. That alone is not worth a
// line, nor a disk that has to wake up.
func (r *Recorder) Memory(resident, models int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Resident, r.now.Models = max(r.now.Resident, resident), max(r.now.Models, models)
}

// Event notes that quarry does less, or more again, and why.
func (r *Recorder) Event(kind, what string, less bool) {
	r.note(func(n *Numbers) {
		if len(n.Events) < mostEvents {
			n.Events = append(n.Events, Event{r.clock().UTC().Truncate(time.Second), kind, what, less})
		}
	})
}

// Flush writes down what was noted.
func (r *Recorder) Flush() {
	r.mu.Lock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	n, some := r.now, r.some
	r.now, r.some = Numbers{}, false
	r.mu.Unlock()
	if !some {
		return
	}
	if err := appendTo(r.dir, r.clock(), &n, 0); err != nil { // nobody who notes something waits for the disk
		r.failed(err)
	}
}

// Close flushes; nothing is noted any more.
func (r *Recorder) Close() {
	r.Flush()
	r.trace.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// dateForm names the file of a day.
const dateForm = "2006-01-02"

const extension = ".jsonl"

// appendTo appends v as a line to the file of today in dir, unless that has as many bytes as it
// may have, 0 for any number, and removes those that are too old.
func appendTo(dir string, today time.Time, v any, most int64) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// One write, so that lines of several processes do not mix.
	f, err := os.OpenFile(filepath.Join(dir, today.Format(dateForm)+extension), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if info, statErr := f.Stat(); statErr != nil || most == 0 || info.Size()+int64(len(line)) <= most {
		_, err = f.Write(line)
	}
	return errors.Join(err, f.Close(), prune(dir, today))
}

// Prune removes what is older than KeptDays, of the trace too. Who writes and who reads does so anyway; it is for those who
// may do neither: what was kept before the user switched that off grows old, too.
func Prune(dir string, today time.Time) error {
	return errors.Join(prune(dir, today), prune(filepath.Join(dir, traceFolder), today))
}

// prune removes what is older than KeptDays.
func prune(dir string, today time.Time) error {
	days, err := files(dir)
	if err != nil {
		return err
	}
	oldest := today.AddDate(0, 0, 1-KeptDays).Format(dateForm)
	var errs []error
	for _, day := range days {
		if day < oldest {
			errs = append(errs, os.Remove(filepath.Join(dir, day+extension)))
		}
	}
	return errors.Join(errs...)
}

// files are the days that have one, in order.
func files(dir string) (days []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		day, ok := strings.CutSuffix(e.Name(), extension)
		if _, bad := time.Parse(dateForm, day); ok && bad == nil && e.Type().IsRegular() {
			days = append(days, day)
		}
	}
	return days, err
}

// Day is what happened on one.
type Day struct {
	Date string `json:"date"`
	Numbers
}

// maxLine is the longest line that is read.
const maxLine = 1 << 20

// Read is the last KeptDays days, the oldest first, each with what happened, and removes what is
// older.
func Read(dir string, today time.Time) ([]Day, error) {
	if err := prune(dir, today); err != nil {
		return nil, err
	}
	list := make([]Day, KeptDays)
	for i := range list {
		d := &list[i]
		d.Date = today.AddDate(0, 0, i+1-KeptDays).Format(dateForm)
		err := eachLine(filepath.Join(dir, d.Date+extension), func(line []byte) {
			var n Numbers
			if json.Unmarshal(line, &n) == nil {
				d.add(&n)
			}
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return list, nil
}

// eachLine reads a file as far as its lines are no longer than maxLine.
func eachLine(path string, do func(line []byte)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		do(lines.Bytes())
	}
	return f.Close()
}

// Clear removes all that was kept, the trace too.
func Clear(dir string) error {
	var errs []error
	for _, dir := range []string{dir, filepath.Join(dir, traceFolder)} {
		days, err := files(dir)
		errs = append(errs, err)
		for _, day := range days {
			errs = append(errs, os.Remove(filepath.Join(dir, day+extension)))
		}
	}
	return errors.Join(errs...)
}

// Total is what happened on all of them.
func Total(days []Day) (n Numbers) {
	for i := range days {
		n.add(&days[i].Numbers)
	}
	return n
}
