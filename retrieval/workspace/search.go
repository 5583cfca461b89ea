package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"quarry/retrieval"
)

// Result is a result with the folder it is from.
type Result struct {
	// Root is the folder's path.
	Root string `json:"root"`
	retrieval.Result
}

// Answer is the outcome of a search over all folders.
type Answer struct {
	Results []Result
	Backend []string
	Class   retrieval.Class
	Total   int
	// NothingLeft: the filters leave out every file.
	NothingLeft bool
	// NotSearched counts what lies in the folders and is not indexed, by why, where the
	// query asked for all that has a text, or nothing was found; and Unparsed. OnlyIndexed
	// and NotParsed say it in words.
	NotSearched map[string]int
	Timings     retrieval.Timings
	// Missing is what the answer could not look at, nil if nothing.
	Missing *Missing
}

// Search asks every folder and merges what they answer by score. Paths in
// req.At are absolute; those of the query's filters may start with a folder's
// name, as file names do. A search by semantics alone fails if no folder's chunks can be
// compared with the query, and one that finds nothing while it cannot know, with
// *NotReady. Where the query asks for lines, they are searched, by nothing but their texts.
func (w *Workspace) Search(ctx context.Context, req retrieval.Request) (answer Answer, err error) {
	if req.Query.Lines != nil {
		return w.searchLines(ctx, req)
	}
	ctx = Question(ctx) // for Options.Project, which asks the workspace, too
	n := needWords
	if req.OnlyDeclared() {
		n = needSymbols
	}
	missing, err := w.whenKnown(ctx, n, func() (bool, error) {
		var err error
		answer, err = w.searchNow(ctx, req)
		return err != nil || len(answer.Results) > 0, err
	})
	answer.Missing = missing
	if err == nil && answer.Total == 0 {
		answer.NotSearched, err = w.notSearched(ctx, &req.Query)
	}
	return answer, err
}

// Unparsed is the reason in Answer.NotSearched of files of code whose declarations are not known,
// where the query asked for one and nothing was found.
const Unparsed = "could not be parsed"

// notSearched is Answer.NotSearched of a query that found nothing.
func (w *Workspace) notSearched(ctx context.Context, q *retrieval.Query) (map[string]int, error) {
	left, err := w.LeftOut(ctx)
	if err != nil || len(q.Symbols)+len(q.Kinds) == 0 && q.Mode != retrieval.ModeSymbols {
		return left, err
	}
	plain, err := w.Plain(ctx)
	plain = slices.DeleteFunc(plain, func(p Plain) bool { return !p.IsCode() })
	if n := len(plain); n > 0 {
		left[Unparsed] = n
	}
	return left, err
}

// OnlyIndexed says what an answer did not look at, by the counts of LeftOut or
// Answer.NotSearched, "" if nothing is left out.
func OnlyIndexed(left map[string]int) string {
	var said []string
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		if reason != Unparsed {
			said = append(said, fmt.Sprintf("%s %d", reason, left[reason]))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "only indexed files were looked at, not what is left out (folders count once): " + strings.Join(said, ", ")
}

// NotParsed says that an answer may lack what n files declare and use; which names them, or says
// what does.
func NotParsed(n int, which string) string {
	if n == 1 {
		return "incomplete: 1 file could not be parsed, so that what it declares and uses is missing here: " + which
	}
	return fmt.Sprintf("incomplete: %d files could not be parsed, so that what they declare and use is missing here: %s", n, which)
}

// searchNow searches in what is known now.
func (w *Workspace) searchNow(ctx context.Context, req retrieval.Request) (Answer, error) {
	folders := w.snapshot()
	limit := req.Offset + cmp.Or(max(0, req.Limit), defaultLimit)
	sum := Answer{Backend: []string{}, NothingLeft: len(folders) > 0} // a list in JSON even where nothing could speak
	var mute error                                                    // what kept a folder from answering semantically
	asked := false
	for _, f := range folders {
		if _, err := f.ready(); err != nil {
			continue // what cannot be searched yet answers nothing
		}
		own := w.within(f, req)
		own.Offset, own.Limit = 0, limit
		own.Query.Paths = pathsIn(folders, f, req.Query.Paths)
		own.Query.NotPaths = pathsIn(folders, f, req.Query.NotPaths)
		a, err := f.warm.Find(ctx, w.queries, own)
		switch {
		case err == nil:
			asked = true
			sum.add(f.dir, f.allowed(a))
		case req.Signals == retrieval.SignalsSemantic && ctx.Err() == nil:
			mute = err
		default:
			return Answer{}, err
		}
	}
	if !asked && mute != nil {
		return Answer{}, mute
	}
	slices.SortStableFunc(sum.Results, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) })
	sum.Results = sum.Results[:min(limit, len(sum.Results))]
	err := w.rerank(ctx, &req, &sum)
	if err == nil {
		err = w.answerProject(ctx, &req, &sum)
	}
	sum.Results = sum.Results[:min(limit, len(sum.Results))]
	sum.Results = sum.Results[min(req.Offset, len(sum.Results)):]
	return sum, err
}

// BackendProject is what an Answer's Backend has where the question was about the whole
// project: README, manifests and entry points come first.
const BackendProject = "overview"

// answerProject puts what answers a question about the whole before the other results.
func (w *Workspace) answerProject(ctx context.Context, req *retrieval.Request, a *Answer) error {
	var names []string
	for _, root := range w.Roots() {
		names = append(names, filepath.Base(root))
	}
	topics := req.Query.Topics(names...)
	if len(topics) == 0 || w.opts.Project == nil || req.Signals == retrieval.SignalsSemantic {
		return nil
	}
	first, err := w.opts.Project(ctx, w, topics)
	var unready *NotReady
	if err != nil && ctx.Err() == nil && errors.As(err, &unready) {
		return nil // the search says what is missing
	}
	if err != nil || len(first) == 0 {
		return err
	}
	if !req.Query.HasWords() { // what else has "this" and "is" answers nothing
		a.Results, a.Total = nil, 0
	}
	for _, r := range first {
		same := func(o Result) bool { return o.Root == r.Root && o.Path == r.Path }
		n := len(a.Results)
		if a.Results = slices.DeleteFunc(a.Results, same); len(a.Results) == n {
			a.Total++
		}
	}
	a.Results = append(first, a.Results...)
	a.Backend = append(a.Backend, BackendProject)
	return nil
}

// defaultLimit is how many results there are where the request does not say.
const defaultLimit = 10

// allowed is an answer without what a rule leaves out that is newer than what searches know.
func (f *folder) allowed(a retrieval.Answer) retrieval.Answer {
	before := len(a.Results)
	a.Results = slices.DeleteFunc(a.Results, func(r retrieval.Result) bool { return f.index.Root().Check(r.Path) != "" })
	a.Total -= before - len(a.Results)
	return a
}

// Merged is the answer of the one folder dir.
func Merged(dir string, only retrieval.Answer) Answer {
	sum := Answer{Backend: []string{}, NothingLeft: true}
	sum.add(dir, only)
	return sum
}

func (a *Answer) add(dir string, part retrieval.Answer) {
	for _, r := range part.Results {
		a.Results = append(a.Results, Result{dir, r})
	}
	for _, b := range part.Backend {
		if !slices.Contains(a.Backend, b) {
			a.Backend = append(a.Backend, b)
		}
	}
	a.Class = part.Class
	a.NothingLeft = a.NothingLeft && part.NothingLeft
	a.Total += part.Total
	a.Timings.Lexical += part.Timings.Lexical
	a.Timings.Semantic += part.Timings.Semantic
	a.Timings.Signals += part.Timings.Signals
	a.Timings.Literal += part.Timings.Literal
	a.Timings.Total += part.Timings.Total
}

// within is req with the user's place in f's terms.
func (w *Workspace) within(f *folder, req retrieval.Request) retrieval.Request {
	if req.At == nil {
		return req
	}
	rel := func(path string) string {
		if owner, r := w.folderOf(path); owner == f {
			return r
		}
		return ""
	}
	all := func(paths []string) (list []string) {
		for _, p := range paths {
			if r := rel(p); r != "" {
				list = append(list, r)
			}
		}
		return list
	}
	at := retrieval.Position{Path: rel(req.At.Path), Line: req.At.Line, Folder: rel(req.At.Folder), Open: all(req.At.Open), Recent: all(req.At.Recent)}
	req.At = &at
	return req
}

// SimilarChunk is code like a text, with the folder it is from.
type SimilarChunk struct {
	Root string
	retrieval.SimilarChunk
}

// Similar finds the k chunks of code most like a text in all folders, the best
// first; those of the file except of the folder root are left out.
func (w *Workspace) Similar(text, root, except string, k int) []SimilarChunk {
	var all []SimilarChunk
	for _, f := range w.snapshot() {
		if _, err := f.ready(); err != nil {
			continue
		}
		own := ""
		if f.dir == root {
			own = except
		}
		for _, p := range f.warm.Search.Current().Similar(text, own, k) {
			all = append(all, SimilarChunk{f.dir, p})
		}
	}
	slices.SortStableFunc(all, func(a, b SimilarChunk) int { return cmp.Compare(b.Score, a.Score) })
	return all[:min(k, len(all))]
}

// Snapshot is what the folder that holds path looks like to searches now, with
// the path relative to it; nil if no folder does.
func (w *Workspace) Snapshot(path string) (snap *retrieval.Snapshot, rel string) {
	f, rel := w.folderOf(path)
	if f == nil {
		return nil, ""
	}
	if _, err := f.ready(); err != nil {
		return nil, ""
	}
	return f.warm.Search.Current(), rel
}
