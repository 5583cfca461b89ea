package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry/index/lang"
	"quarry/index/walk"
	"quarry/retrieval"
	"quarry/retrieval/pattern"
)

// BackendLines is what the Backend of an Answer of lines has.
const BackendLines = "lines"

// searchLines answers a query for lines from the present texts of the files that the index
// has. It stops one line, or file, behind those that are asked for, so that Total only says
// whether there are more.
func (w *Workspace) searchLines(ctx context.Context, req retrieval.Request) (Answer, error) {
	folders := w.snapshot()
	keeps, kept := req.Query.KeepsLines(), 0
	keep := func(file File) bool {
		f, rel := innermost(folders, file.Path)
		language := lang.Detect(rel, nil)
		if f != nil {
			if _, err := f.ready(); err == nil {
				known := f.warm.Search.Current()
				if id, ok := known.FileAt(rel); ok {
					language = known.Language(id)
				}
				if req.Query.OnlyCode() && known.Compiled(rel) {
					return false
				}
			}
		}
		if !keeps(file.Name, language, time.Unix(0, file.ModTime)) {
			return false
		}
		kept++
		return true
	}
	var answer Answer
	missing, err := w.Matching(ctx, req.Query.Lines, keep, func(l *Look) (bool, error) {
		list := make([]LineFile, len(l.Files))
		for i, file := range l.Files {
			list[i] = LineFile{Name: file.Name, Path: file.Path, Modified: file.ModTime}
			if f, rel := innermost(folders, file.Path); f != nil {
				list[i].Root, list[i].Path = f.dir, rel
			}
		}
		bounded := req
		bounded.Query.Lines = l.Within(req.Query.Lines)
		var err error
		answer, err = LinesIn(ctx, list, bounded, func(f LineFile) (string, error) {
			if l.Over() {
				return "", errOver
			}
			return w.Text(filepath.Join(f.Root, filepath.FromSlash(f.Path)))
		})
		if unknown := (*NotReady)(nil); l.Over() && errors.As(err, &unknown) {
			err = nil // the look says what it did not come to
		}
		return answer.Total > 0, err
	})
	if err != nil {
		return Answer{}, err
	}
	answer.Missing, answer.NothingLeft = cmp.Or(missing, answer.Missing), kept == 0
	answer.NotSearched, err = w.LeftOut(ctx)
	return answer, err
}

// LineFile is a file whose lines are searched: Path is in the folder Root, Name as models and
// citations have it.
type LineFile struct {
	Root, Path, Name string
	Modified         int64
}

// LinesIn finds the lines of files that a query asks for: every one, file by file in the order
// of their names; or one result a file, code before what helps it, with its next lines nested.
// text is the text of a file; one that fails has none. Where matching takes too long the
// answer is of the files until then and says so, or it is *NotReady if there is none.
func LinesIn(ctx context.Context, files []LineFile, req retrieval.Request, text func(LineFile) (string, error)) (Answer, error) {
	start := time.Now()
	q := &req.Query
	slices.SortStableFunc(files, func(a, b LineFile) int {
		switch {
		case q.Mode == retrieval.ModeRecent:
			return cmp.Or(cmp.Compare(b.Modified, a.Modified), cmp.Compare(a.Name, b.Name))
		case !q.AllLines:
			return cmp.Or(cmp.Compare(helps(a.Path), helps(b.Path)), cmp.Compare(a.Name, b.Name))
		}
		return cmp.Compare(a.Name, b.Name)
	})
	limit := cmp.Or(max(0, req.Limit), defaultLimit)
	answer := Answer{Results: []Result{}, Backend: []string{BackendLines}, Class: retrieval.ClassText}
	run := q.Lines.Start()
	for done, f := range files {
		if err := ctx.Err(); err != nil {
			return Answer{}, err
		}
		if answer.Total > req.Offset+limit {
			break
		}
		content, err := text(f)
		if err != nil {
			continue // gone, or left out by now
		}
		var first *Result
		lines := 0
		err = run.Lines(ctx, content, func(n int, line string) bool {
			lines++
			switch {
			case first == nil || q.AllLines:
				answer.Total++
				first = &Result{Root: f.Root, Result: retrieval.Result{Path: f.Path, StartLine: n, EndLine: n, Score: 1, Reasons: []string{}, More: []retrieval.Location{}, Text: clipped(line)}}
				if answer.Total > req.Offset && answer.Total <= req.Offset+limit {
					answer.Results = append(answer.Results, *first)
					first = &answer.Results[len(answer.Results)-1]
				}
			case lines <= 1+moreLines:
				first.More = append(first.More, retrieval.Location{StartLine: n, EndLine: n, Score: 1})
			}
			return answer.Total <= req.Offset+limit
		})
		if first != nil && !q.AllLines && lines > 1 {
			first.Reasons = append(first.Reasons, fmt.Sprintf("%d lines match; lines:all shows each", lines))
		}
		switch {
		case errors.Is(err, pattern.ErrSlow):
			if answer.Missing = TooSlow(f.Root, done, len(files)); answer.Total == 0 {
				return Answer{}, &NotReady{*answer.Missing}
			}
			return answer, nil
		case err != nil:
			return Answer{}, err
		}
	}
	answer.Timings.Literal = time.Since(start)
	answer.Timings.Total = answer.Timings.Literal
	return answer, nil
}

// TooSlow is what an answer misses for which matching took too long: the files behind the
// first done of total.
func TooSlow(folder string, done, total int) *Missing {
	return &Missing{Doing: doingStopped, Folder: folder, FilesDone: done, FilesTotal: total, Searchable: []string{},
		Reason: fmt.Sprintf("the regular expression takes too long: %d of %d files were looked at; repeat less in it, or search fewer files", done, total)}
}

// TooLong is what an answer misses for which following references took too long: what is next to
// the declarations behind those that were asked about.
func TooLong(path string, asked int) *Missing {
	return &Missing{Doing: doingStopped, Folder: filepath.Dir(path), Searchable: []string{},
		Reason: fmt.Sprintf("following references takes too long: %d declarations were asked about; ask with a smaller depth, or about one of those found", asked)}
}

// clipped is a line, of which no more than maxLine bytes are shown.
func clipped(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + "…"
}

const maxLine = 1000

// moreLines is how many lines of a file are nested under its first.
const moreLines = 4

// helps orders files by what they are for: code, then what helps it.
func helps(path string) int {
	t, auxiliary := retrieval.TypeOf(path)
	if t == retrieval.TypeCode && !auxiliary {
		return 0
	}
	return 1
}

// Look is what one look of Matching reads.
type Look struct {
	// Files are those to read.
	Files []File
	until time.Time // when to end, zero for never
	cut   bool
}

// Over answers whether no more of the files is to be read. It is asked before each.
func (l *Look) Over() bool {
	l.cut = l.cut || !l.until.IsZero() && !time.Now().Before(l.until)
	return l.cut
}

// Within is a pattern that is matched until the look is over.
func (l *Look) Within(p *pattern.Pattern) *pattern.Pattern {
	if l.until.IsZero() {
		return p
	}
	return p.Within(min(pattern.MatchingLimit, time.Until(l.until)))
}

// rest is what a look did not come to, nil if it came to all; that is *NotReady if it found
// nothing. part is of a folder that is not known whole.
func (l *Look) rest(ctx context.Context, part *lack, found bool) (*Missing, error) {
	if !l.cut {
		return nil, nil
	}
	err := part.count(ctx)
	if err == nil && !found {
		err = &NotReady{part.Missing}
	}
	return &part.Missing, err
}

var errOver = errors.New("there is no time left to read it")

// Matching calls look with those of the files that keep takes, or all if it is nil, whose text
// may have a line that p matches: all that have one are among them. A file whose text may be
// another than the one that searches know counts as one that may. Where look finds nothing
// and more becomes known, it is called again, until Matching fails with *NotReady; missing is
// what is not indexed yet, nil if nothing.
//
// While searches do not know all of the index, every file may match. Reading them has the rest of
// the patience then, a fifth of it at least; what a look did not come to is missing.
func (w *Workspace) Matching(ctx context.Context, p *pattern.Pattern, keep func(File) bool, look func(*Look) (found bool, err error)) (missing *Missing, err error) {
	var cut *Missing
	missing, err = w.whenKnown(ctx, needFiles, func() (bool, error) {
		l := &Look{}
		var behind *lack
		var err error
		if l.Files, behind, err = w.matchingNow(ctx, p, keep); err != nil {
			return true, err
		}
		if behind != nil {
			l.until = w.readUntil(ctx, time.Now())
		}
		found, err := look(l)
		if err == nil {
			cut, err = l.rest(ctx, behind, found)
		}
		return found || err != nil, err
	})
	return cmp.Or(missing, cut), err
}

// readUntil is when to end reading that begins now, for a question that shares its patience with
// the wait.
func (w *Workspace) readUntil(ctx context.Context, now time.Time) time.Time {
	until := asked(ctx).Add(w.opts.WaitLimit)
	if least := now.Add(w.opts.WaitLimit / 5); until.Before(least) {
		return least
	}
	return until
}

// matchingNow are those of Matching that are known now. part is of the first folder of which
// searches do not know all, nil if there is none.
func (w *Workspace) matchingNow(ctx context.Context, p *pattern.Pattern, keep func(File) bool) (files []File, part *lack, err error) {
	list, err := w.filesNow(ctx)
	if err != nil {
		return nil, nil, err
	}
	if keep != nil {
		list = slices.DeleteFunc(list, func(f File) bool { return !keep(f) })
	}
	folders := w.snapshot()
	w.mu.Lock()
	open := make(map[string]bool, len(w.buffers))
	for path := range w.buffers {
		open[w.place(path)] = true
	}
	w.mu.Unlock()
	behind := map[*folder]bool{}
	for _, f := range folders {
		if x, err := f.ready(); err == nil {
			working := x.Working()
			behind[f] = working || f.warm.Behind(ctx)
			if behind[f] && part == nil {
				part = &lack{Missing: Missing{Folder: f.dir, Doing: doingLoad, Searchable: []string{}}, index: x}
				if working {
					part.Doing = doingIndex
				}
			}
		}
	}
	return slices.DeleteFunc(list, func(file File) bool {
		f, rel := innermost(folders, file.Path)
		if f == nil || behind[f] || open[file.Path] {
			return false
		}
		if _, err := f.ready(); err != nil {
			return false
		}
		known := f.warm.Search.Current()
		id, ok := known.FileAt(rel)
		if !ok || p.MayMatch(func(literal string) bool { return known.MayContain(id, literal) }) {
			return false
		}
		now, err := walk.Ask(file.Path) // nobody may have told of a change yet
		return err == nil && now.Size == file.Size && now.ModTime == file.ModTime && now.Changed == file.Changed
	}), part, nil
}

// Plain is a file that the index knows by its lines only, because the parser gave up on it.
type Plain struct {
	File
	// Problem says why, in words.
	Problem string
}

// IsCode answers whether it would declare and use something.
func (p *Plain) IsCode() bool { return lang.Of(lang.Detect(p.Name, nil)).Content == lang.Code }

// Plain are those files of all folders, in the order of their names; only the Name and Path of
// each File are set.
func (w *Workspace) Plain(ctx context.Context) (list []Plain, err error) {
	folders := w.snapshot()
	for _, f := range folders {
		x, err := f.ready()
		if err != nil {
			continue // it is being opened, or it was said then
		}
		problems, err := x.Store().Problems(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range problems {
			path := filepath.Join(f.dir, filepath.FromSlash(p.Path))
			if owner, _ := innermost(folders, path); owner == f && x.Root().Check(p.Path) == "" {
				list = append(list, Plain{File{Name: nameIn(folders, f, p.Path), Path: path}, p.Problem})
			}
		}
	}
	slices.SortFunc(list, func(a, b Plain) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// LeftOut counts the files and folders that the last scans left out of the indexes, by reason.
func (w *Workspace) LeftOut(ctx context.Context) (map[string]int, error) {
	sum := map[string]int{}
	for _, f := range w.snapshot() {
		x, err := f.ready()
		if err != nil {
			continue // it is being opened, or it was said then
		}
		counts, err := x.Skipped(ctx)
		if err != nil {
			return nil, err
		}
		for reason, n := range counts {
			sum[reason] += n
		}
	}
	return sum, nil
}
