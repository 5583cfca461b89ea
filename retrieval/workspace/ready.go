package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/index"
	"quarry/retrieval/dense"
)

// No answer says that there is nothing while that cannot be known. An answer waits for
// what it needs, at most Options.WaitLimit after the folder was opened; then a part of
// the index answers, and says so. One that found nothing waits until all that is known
// to have changed is indexed, too, at most Options.WaitLimit after it was asked for, the first
// wait included; then it is the error *NotReady. What has a name is looked for after a fifth
// of the patience already: there, a part of the index is likely to have all of the answer.
// Whoever asks several times for one answer says so by Question.

// Missing is what an answer could not look at, because an index is not whole yet.
type Missing struct {
	// Doing says what goes on: opening, indexing, loading, stopped when the scan was
	// cancelled or failed, unserved when another process writes the index and does not
	// answer, or refused when the folder is not indexed unasked.
	Doing string `json:"doing"`
	// Folder is the folder's path.
	Folder string `json:"folder"`
	// FilesDone of FilesTotal files are indexed; FilesTotal is 0 while they are being
	// counted.
	FilesDone  int `json:"files_done"`
	FilesTotal int `json:"files_total"`
	// Searchable says what can be asked for already, [] if nothing can.
	Searchable []string `json:"searchable"`
	// Reason says why the folder is refused or unserved, or why indexing stopped, and what to
	// do; "" if waiting helps.
	Reason string `json:"reason,omitempty"`
}

// isFinal answers whether waiting changes nothing.
func (m *Missing) isFinal() bool { return m.Doing == doingStopped || m.Reason != "" }

// String says it in words: "reading the files of /src (120 of 9,633 done)".
func (m *Missing) String() string {
	done := ""
	switch {
	case m.FilesTotal > 0:
		done = fmt.Sprintf(" (%d of %d files done)", m.FilesDone, m.FilesTotal)
	case m.FilesDone > 0:
		done = fmt.Sprintf(" (%d files done)", m.FilesDone)
	}
	if m.Reason != "" {
		return m.Reason
	}
	switch m.Doing {
	case doingOpen:
		return "the index of " + m.Folder + " is being opened"
	case doingLoad:
		return "the index of " + m.Folder + " is being loaded" + done
	case doingStopped:
		return "indexing of " + m.Folder + " was stopped before its end" + done
	}
	return "the files of " + m.Folder + " are being indexed" + done
}

// Waits says in a few words what an answer waits for, "" if for nothing.
func (m *Missing) Waits() string {
	switch {
	case m.Doing == "":
		return ""
	case m.FilesTotal > 0:
		return fmt.Sprintf("waiting for the index: %d of %d files", m.FilesDone, m.FilesTotal)
	}
	return "waiting for the index"
}

// What Missing.Doing says.
const (
	doingOpen     = "opening"
	doingIndex    = "indexing"
	doingLoad     = "loading"
	doingStopped  = "stopped"
	doingUnserved = "unserved"
	doingRefused  = "refused"
)

// NotReady is the error of a question whose answer is not known yet.
type NotReady struct{ Missing }

func (e *NotReady) Error() string {
	if e.Reason != "" {
		return e.Reason
	}
	text := "not ready: " + e.String()
	if e.Doing == doingStopped {
		return text + "; rebuild the index, or restart quarry"
	}
	text += "; ask again in a few seconds"
	if len(e.Searchable) > 0 {
		text += "; searchable by now: " + strings.Join(e.Searchable, ", ")
	}
	return text
}

// need is what an answer has to know.
type need int

const (
	needFile    need = iota // what one file declares
	needFiles               // which files there are
	needNames               // what they declare under a name
	needNear                // and under names that are near it, which searches have in memory
	needSymbols             // and all who use it
	needWords               // all that a search ranks by
	needMemory              // what searches have in memory, and not the database
)

// defaultPatience is Options.WaitLimit if that is 0.
const defaultPatience = 5 * time.Second

// progressKey is the key of WithProgress.
type progressKey struct{}

// WithProgress has whoever waits under the context it returns call show, now and then
// while it waits. show must return soon.
func WithProgress(ctx context.Context, show func(Missing)) context.Context {
	return context.WithValue(ctx, progressKey{}, show)
}

// Waited tells whoever WithProgress has shown a wait that it is over, by a Missing that does
// nothing.
func Waited(ctx context.Context) {
	if show, _ := ctx.Value(progressKey{}).(func(Missing)); show != nil {
		show(Missing{})
	}
}

// askedKey is the key of Question.
type askedKey struct{}

// Question has all that is asked under the context it returns share one patience, which
// counts from now, or from when ctx became one: an answer that is put together of several
// looks waits once.
func Question(ctx context.Context) context.Context {
	return context.WithValue(ctx, askedKey{}, asked(ctx))
}

// asked is when what ctx is of was asked, now if it is no part of a Question.
func asked(ctx context.Context) time.Time {
	if at, ok := ctx.Value(askedKey{}).(time.Time); ok {
		return at
	}
	return time.Now()
}

// whenKnown calls ask when enough is known, and again if it found nothing and more
// became known. missing is what the answer could not look at, nil if nothing. An error
// that comes with found says that more knowledge would not help.
func (w *Workspace) whenKnown(ctx context.Context, n need, ask func() (found bool, err error)) (missing *Missing, err error) {
	w.refresh()
	if err := w.firstLook(ctx, n); err != nil {
		return nil, err
	}
	for i, look := range w.looks(n, asked(ctx)) {
		if i > 0 && missing == nil && !look.current {
			continue // the look before knew as much
		}
		if missing, err = w.await(ctx, n, look); err != nil {
			return nil, err
		}
		part, failed := w.behind(ctx, n) // asked first: what is known by then is what is looked at
		if failed != nil {
			return nil, failed
		}
		// What was indexed after one look may be in the next.
		var found bool
		if found, err = ask(); found || ctx.Err() != nil {
			return cmp.Or(missing, part), err
		}
	}
	if missing != nil {
		err = &NotReady{*missing}
	}
	return missing, err
}

// wait says how long to wait before a look, and for what.
type wait struct {
	asked    time.Time
	current  bool // what was on disk when it was asked counts, too
	patience time.Duration
}

// looks are the waits of a question, one behind the other.
func (w *Workspace) looks(n need, asked time.Time) []wait {
	all := []wait{{asked, false, w.opts.WaitLimit}, {asked, true, w.opts.WaitLimit}}
	if n == needNames || n == needNear {
		all = slices.Insert(all, 0, wait{asked, false, w.opts.WaitLimit / 5})
	}
	return all
}

// end is until when to wait for a folder that was opened then. What need not be current is
// waited for by the first questions alone, and where there is only one question
// (Options.Brief) all of it counts from the opening.
func (how wait) end(opened time.Time, brief bool) time.Time {
	if how.current && !brief {
		return how.asked.Add(how.patience)
	}
	return opened.Add(how.patience)
}

// Await waits until the folders are indexed as they are at the call and searches know of
// it, for at most Options.WaitLimit, and for as long as opening them takes: before that nothing
// is known at all. It is for commands that ask once. missing is what is not known then, nil
// if nothing.
func (w *Workspace) Await(ctx context.Context) (missing *Missing, err error) {
	for _, f := range w.snapshot() {
		if err := f.wait(ctx); err != nil {
			return nil, err
		}
	}
	return w.await(ctx, needWords, wait{asked(ctx), true, w.opts.WaitLimit})
}

// OnceQueryTimeout is Options.QueryTimeout of commands that ask once: the model may have to be
// loaded first.
const OnceQueryTimeout = 30 * time.Second

// AskedOnce has a search under the context it returns wait for its query to be embedded as long
// as a command's that asks once.
func AskedOnce(ctx context.Context) context.Context {
	return dense.WithPatience(ctx, OnceQueryTimeout)
}

// Current is Await for who asks a process that goes on, and then waits for the graph of files,
// too: what is answered now, a command would answer that begins now.
func (w *Workspace) Current(ctx context.Context) (missing *Missing, err error) {
	if missing, err = w.Await(ctx); missing != nil || err != nil {
		return missing, err
	}
	within, cancel := context.WithTimeout(ctx, w.opts.WaitLimit)
	defer cancel()
	w.Link(within)
	return nil, ctx.Err()
}

// AwaitDeclared is Await for a request that is OnlyDeclared. Where searches begin with nothing it
// does not wait until they know the index: the database answers.
func (w *Workspace) AwaitDeclared(ctx context.Context) (missing *Missing, err error) {
	n := needWords
	for _, f := range w.snapshot() {
		if err := f.wait(ctx); err != nil {
			return nil, err
		}
		if _, err := f.ready(); err != nil {
			continue // that it cannot be asked is said as what is missing
		}
		if err := f.warm.Begun(ctx); err != nil {
			return nil, err
		}
		if !f.warm.IsReady() {
			n = needSymbols
		}
	}
	return w.await(ctx, n, wait{asked(ctx), true, w.opts.WaitLimit})
}

// mostIdle is how many times Options.WaitLimit may pass in which no file becomes done before Whole
// gives up: loading a large index shows no files for a while.
const mostIdle = 12

// Whole waits, as Await does, for as long as the indexing goes on, if WithProgress shows that to
// somebody who can end it, and not at all elsewhere. whole is false if something is missing then.
func (w *Workspace) Whole(ctx context.Context) (whole bool, err error) {
	if show, _ := ctx.Value(progressKey{}).(func(Missing)); show == nil {
		return false, nil
	}
	begin := time.Now()
	var last Missing
	for idle := 0; idle < mostIdle; idle++ {
		m, err := w.await(ctx, needWords, wait{begin, true, time.Since(begin) + w.opts.WaitLimit})
		if m == nil || err != nil || m.isFinal() {
			return m == nil && err == nil, err
		}
		if m.FilesDone != last.FilesDone || m.Doing != last.Doing {
			idle, last = 0, *m
		}
	}
	return false, nil
}

// Learned waits, as the first questions do, until Searchable has all of the folders. missing
// is what it lacks then, nil if nothing.
func (w *Workspace) Learned(ctx context.Context) (missing *Missing, err error) {
	if missing, err = w.await(ctx, needMemory, wait{asked(ctx), false, w.opts.WaitLimit}); missing != nil || err != nil {
		return missing, err
	}
	return w.behind(ctx, needMemory)
}

// lookAgain is how often a wait looks again without having been told to, to show how
// far things are.
const lookAgain = 250 * time.Millisecond

// await waits until nothing is missing, or how ends. The answer is what is missing still.
func (w *Workspace) await(ctx context.Context, n need, how wait) (*Missing, error) {
	show, _ := ctx.Value(progressKey{}).(func(Missing))
	for {
		m, err := w.missing(ctx, n, how)
		if m == nil || err != nil {
			return nil, err
		}
		left := time.Until(how.end(m.since, w.opts.Brief))
		ended := left <= 0 || m.isFinal()
		if ended || show != nil {
			if err := m.count(ctx); err != nil {
				return nil, err
			}
		}
		if ended {
			return &m.Missing, nil
		}
		if show != nil {
			show(m.Missing)
		}
		timer := time.NewTimer(min(left, lookAgain))
		select {
		case <-m.indexed:
		case <-m.loaded:
		case <-timer.C:
		case <-ctx.Done():
			err = ctx.Err()
		}
		timer.Stop()
		if err != nil {
			return nil, err
		}
	}
}

// lack is what a folder does not know yet.
type lack struct {
	Missing
	index *index.Index // nil before it is open
	since time.Time    // when the folder was opened
	// indexed and loaded are closed when more may be known.
	indexed, loaded <-chan struct{}
}

// missing is what the first folder lacks that lacks something, nil if none does. What can
// be waited for goes first.
func (w *Workspace) missing(ctx context.Context, n need, how wait) (final *lack, err error) {
	for _, f := range w.snapshot() {
		switch m, err := f.missing(ctx, n, how); {
		case err != nil, m != nil && !m.isFinal():
			return m, err
		case final == nil:
			final = m
		}
	}
	return final, nil
}

// missing is what the folder lacks, nil if nothing.
func (f *folder) missing(ctx context.Context, n need, how wait) (*lack, error) {
	m := &lack{Missing: Missing{Folder: f.dir, Doing: doingOpen, Searchable: []string{}}, since: f.since, indexed: f.opened}
	x, err := f.ready()
	var refused *NotReady
	switch {
	case errors.Is(err, errNotOpen):
		return m, nil
	case errors.Is(err, errCovered): // since the folders were listed
		return nil, nil
	case errors.As(f.refusal(err), &refused):
		m.Missing = refused.Missing
		return m, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be indexed: %w", f.dir, err)
	}
	m.index, m.indexed, m.loaded = x, x.Changed(), f.warm.Changed() // before looking
	current, since := how.current, time.Time{}
	if current {
		since = how.asked
	}
	c, err := x.Coverage(ctx, since)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Short != nil:
		m.Doing, m.Reason = doingStopped, c.Short.Error()
	case c.Unserved != nil:
		m.Doing, m.Reason = doingUnserved, c.Unserved.Error()
	case c.Stopped, !c.Whole && c.Current:
		m.Doing = doingStopped
	case !c.Whole, current && !c.Current:
		m.Doing = doingIndex
	case f.asksMemory(n, current) && f.warm.Behind(ctx):
		m.Doing = doingLoad
	default:
		if n == needWords || n == needMemory {
			f.loaded.Store(true)
		}
		return nil, nil
	}
	return m, nil
}

// asksMemory answers whether searches have to know all of the index for an answer.
func (f *folder) asksMemory(n need, current bool) bool {
	switch n {
	case needWords:
		return current || !f.loaded.Load()
	case needMemory:
		return current || !f.loaded.Load() || !f.warm.IsReady()
	case needNear: // on disk, only exact names are found beside others
		return current || !f.warm.IsReady()
	}
	return current && n == needNames
}

// behind is what a whole index may miss that fell behind, as after another commit was checked
// out: of the first folder that may miss something, nil if none does. What is found meanwhile
// is answered at once, and said to be a part.
func (w *Workspace) behind(ctx context.Context, n need) (*Missing, error) {
	if n == needFile {
		return nil, nil // more files change nothing
	}
	for _, f := range w.snapshot() {
		x, err := f.ready()
		if err != nil {
			continue // that is said as what is missing
		}
		lag, err := x.Lag(ctx)
		if err != nil {
			return nil, err
		}
		m := &lack{Missing: Missing{Folder: f.dir, Searchable: []string{}}, index: x}
		switch searched := n == needWords || n == needNames || n == needNear || n == needMemory; {
		case lag.Behind, lag.Unlooked && !w.opts.Brief:
			m.Doing = doingIndex
		case searched && x.IsCurrent(lag.CaughtUp) && !f.warm.Knows().Includes(lag.CaughtUp):
			m.Doing = doingLoad
		default:
			continue
		}
		return &m.Missing, m.count(ctx)
	}
	return nil, nil
}

// firstLook waits, a fifth of the patience after a folder was opened, until this process has
// once looked at all of its files: what changed while no quarry ran is not known before. Who
// asks only once compares by himself.
func (w *Workspace) firstLook(ctx context.Context, n need) error {
	if n == needFile || w.opts.Brief {
		return nil
	}
	for _, f := range w.snapshot() {
		for {
			left := time.Until(f.since.Add(w.opts.WaitLimit / 5))
			x, err := f.ready()
			var changed <-chan struct{} = f.opened
			if err == nil {
				changed = x.Changed() // before looking
				lag, failed := x.Lag(ctx)
				if failed != nil {
					return failed
				}
				if !lag.Unlooked {
					break
				}
			}
			if left <= 0 || err != nil && !errors.Is(err, errNotOpen) {
				break // that it cannot be asked is said as what is missing
			}
			timer := time.NewTimer(left)
			select {
			case <-changed:
			case <-timer.C:
			case <-ctx.Done():
				err = ctx.Err()
			}
			timer.Stop()
			if ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// refusal is *NotReady if err, which opening the folder failed with, says that it is not
// indexed unasked, else err.
func (f *folder) refusal(err error) error {
	var wide *index.Wide
	if errors.As(err, &wide) || errors.Is(err, errOff) {
		return &NotReady{Missing{Doing: doingRefused, Folder: f.dir, Reason: err.Error(), Searchable: []string{}}}
	}
	return err
}

// count says how far the folder is, which takes a look at all files where nobody counts
// them.
func (m *lack) count(ctx context.Context) (err error) {
	if m.index == nil {
		return nil
	}
	m.FilesDone, m.FilesTotal, err = m.index.Progress(ctx)
	if m.Doing == doingLoad && m.FilesTotal == 0 { // all are indexed, and searches are being made of them
		m.FilesTotal = m.FilesDone
	}
	if m.FilesDone > 0 {
		m.Searchable = append(m.Searchable, "text and symbols of the files that are done")
	}
	return err
}
