package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/index"
	"quarry/index/walk"
	"quarry/model"
	"quarry/retrieval"
	"quarry/retrieval/overview"
	"quarry/retrieval/scan"
	"quarry/retrieval/workspace"
)

// searched is what a command searches in.
type searched struct {
	searchable
	root string
	// updated is how many files were read to bring the index up to date.
	updated int
	// similar: what is like a piece of code, which has no pages.
	similar bool
}

type searchable interface {
	Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error)
	FindSimilar(ctx context.Context, req workspace.SimilarRequest) (workspace.Answer, error)
}

// openSearch asks the user's quarry serve, or begins with what is kept of the workspace's index.
// query is what the user typed of it.
func (a searches) openSearch(ctx context.Context, root, query string, semantic, declared bool) (*searched, error) {
	if err := a.Allowed().Refuses(root); err != nil {
		return nil, err
	}
	if a.Scope().Off {
		return nil, errors.New("index.enabled is false: set it to true in the settings to search")
	}
	own := func() (*searched, error) { return a.openIndex(ctx, root, semantic, declared) }
	if from := (userService{a.app}).search(ctx, root, query, own); from != nil {
		return from, nil
	}
	return own()
}

// openIndex begins with what is kept of the workspace's index, and brings that up to date
// as far as Wait allows; with the vectors there are if semantic search is wanted. Without
// an index, because this build has no full-text search or its folder is unusable, it reads
// the workspace itself. declared: all that will be asked is retrieval.Request.OnlyDeclared.
// What is begun is brought to its end, and closed, behind the answer.
func (a searches) openIndex(ctx context.Context, root string, semantic, declared bool) (*searched, error) {
	index.Awaited()
	within, cancel := context.WithTimeout(ctx, a.WaitLimit())
	defer cancel()
	bar := &progressBar{app: a.app, terminal: cli.OnTerminal(a.Stderr), start: time.Now()}
	w := workspace.New(workspace.Options{
		StateDir: a.StateDir, Log: a.Log, Brief: true, Scope: a.Scope(), WaitLimit: a.WaitLimit(), QueryTimeout: workspace.OnceQueryTimeout, Project: overview.Answer,
		Progress: func(_ string, p index.Progress, _ func()) { bar.show(p) },
		Notify:   func(message string) { fmt.Fprintln(a.Stderr, "quarry:", message) },
	})
	w.SetRoots([]string{root})
	await := w.Await
	if declared {
		await = w.AwaitDeclared
	}
	missing, err := await(ctx)
	bar.end()
	switch {
	case ctx.Err() != nil:
		w.Close()
		return nil, ctx.Err()
	case err != nil: // and that was said
		w.Close()
		fmt.Fprintln(a.Stderr, "quarry: searching the files themselves, without an index")
		only, err := a.scanned(ctx, root)
		return &searched{searchable: only, root: root}, err
	}
	if missing == nil {
		w.Link(within)
	}
	updated := bar.updated()
	if updated > 0 && !a.JSON {
		fmt.Fprintf(a.Stderr, "quarry: brought the index up to date; files read: %s\n", grouped(int64(updated)))
	}
	end := func() {}
	if semantic {
		end = a.useVectors(ctx, w)
	}
	a.Behind(func() {
		a.load(ctx, w)
		w.Keep(ctx) // for the next one, if there was nothing to begin with
		w.Close()
		end()
	})
	return &searched{searchable: w, root: root, updated: updated}, nil
}

// load lets searches read the rest of the index, if the command did not wait for that: what was
// read would be read again by every command after it, and none of them would come to an end.
func (a searches) load(ctx context.Context, w *workspace.Workspace) {
	var bar *progressBar
	err := w.Load(ctx, func(done, total int) {
		if bar == nil {
			fmt.Fprintln(a.Stderr, "quarry: loading what searches begin with, once, so that the next one has it at once; Ctrl-C ends this")
			bar = &progressBar{app: a.app, terminal: cli.OnTerminal(a.Stderr), start: time.Now()}
		}
		bar.prepared(done, total)
	})
	if bar != nil {
		bar.end()
	}
	if err != nil && ctx.Err() == nil {
		a.Log.Info("load what searches begin with", "error", err)
	}
}

// useVectors lets queries be compared with the vectors the index has; the command
// embeds no chunk. Settings that allow no model leave the words.
func (a searches) useVectors(ctx context.Context, w *workspace.Workspace) (end func()) {
	s := a.CommandSettings()
	options := engines.ModelOptions(s)
	options.Logger = a.Log
	server, err := model.New(options)
	if err != nil {
		a.Log.Info("searching without embeddings", "error", err)
		return func() {}
	}
	embed := engines.Embedders(server, s.Embedding, nil)
	embed.QueriesOnly = true
	w.SetEmbedders(embed)
	if err := w.SettleVectors(ctx); err != nil {
		a.Log.Info("searching without embeddings", "error", err)
	}
	return server.Close
}

// scanned is a folder as it is now, without an index.
func (a searches) scanned(ctx context.Context, root string) (wordsOnly, error) {
	docs, err := scan.Within(ctx, root, "", a.limits())
	if err != nil {
		return wordsOnly{}, err
	}
	ix := retrieval.New(retrieval.Options{Project: filepath.Base(root)})
	changes := make([]retrieval.Change, len(docs))
	for i := range docs {
		changes[i] = retrieval.Change{Path: docs[i].Path, Document: &docs[i]}
	}
	ix.Apply(changes)
	return wordsOnly{ix, root, docs}, nil
}

// wordsOnly is a search without vectors in a folder.
type wordsOnly struct {
	index *retrieval.Index
	root  string
	docs  []retrieval.Document
}

func (w wordsOnly) Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error) {
	if req.Query.Lines != nil {
		return w.lines(ctx, req)
	}
	if req.At != nil {
		folder, err := filepath.Rel(w.root, req.At.Folder)
		if err != nil {
			return workspace.Answer{}, err
		}
		req.At = &retrieval.Position{Folder: filepath.ToSlash(folder)}
	}
	a, err := w.index.Search(ctx, req)
	return workspace.Merged(w.root, a), err
}

func (w wordsOnly) lines(ctx context.Context, req retrieval.Request) (workspace.Answer, error) {
	keeps := req.Query.KeepsLines()
	var files []workspace.LineFile
	texts := map[string]string{}
	for _, d := range w.docs {
		if keeps(d.Path, d.Language, d.Modified) && !(req.Query.OnlyCode() && w.index.Current().Compiled(d.Path)) {
			files = append(files, workspace.LineFile{Root: w.root, Path: d.Path, Name: d.Path, Modified: d.Modified.UnixNano()})
			texts[d.Path] = d.Text
		}
	}
	answer, err := workspace.LinesIn(ctx, files, req, func(f workspace.LineFile) (string, error) { return texts[f.Path], nil })
	answer.NothingLeft = len(files) == 0
	return answer, err
}

func (w wordsOnly) FindSimilar(_ context.Context, req workspace.SimilarRequest) (workspace.Answer, error) {
	return workspace.Merged(w.root, w.index.Current().FindSimilar(retrieval.SimilarRequest{
		Code: req.Code, StartLine: req.StartLine, EndLine: req.EndLine, Filter: req.Filter, Limit: req.Limit,
	})), nil
}

// limits are those of the settings on what is read.
func (a *app) limits() walk.Limits { return a.Scope().Config("", "").Limits }

// readWithin reads a file that the index may hold, as the index holds it.
func (a searches) readWithin(root, path string) ([]byte, error) {
	files, err := walk.Open(root, a.limits())
	if err != nil {
		return nil, err
	}
	defer files.Close()
	rel, err := files.Resolve(path)
	if err != nil {
		return nil, err
	}
	text, _, reason, err := files.Read(rel)
	if reason != "" && err == nil {
		err = &walk.Excluded{Path: path, Reason: reason}
	}
	return text, err
}

// searchSimilar finds code like place, FILE:START-END or FILE:LINE. The file is
// relative to the current folder.
func (a searches) searchSimilar(ctx context.Context, location, filters, format string, k int) (err error) {
	if k < 1 {
		return fmt.Errorf("%w: -k %d: ask for at least one result", cli.ErrUsage, k)
	}
	query := retrieval.Parse(filters, time.Now())
	if query.Text != "" || query.Lines != nil {
		return fmt.Errorf("%w: --similar takes filters such as lang:go, not %q", cli.ErrUsage, query.Text)
	}
	file, start, end, err := splitLocation(location)
	if err != nil {
		return err
	}
	root, err := a.WorkspaceOf(file)
	if err != nil {
		return fmt.Errorf("--similar: %w", err)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if walk.IsSecret(filepath.ToSlash(path)) {
		return fmt.Errorf("--similar: quarry does not read %s, because it looks like a secret", file)
	}
	text, err := a.readWithin(root, path)
	if err != nil {
		return fmt.Errorf("--similar: %w", err)
	}
	if walk.IsSecretText(text) {
		return fmt.Errorf("--similar: quarry does not read %s, because it is a private key", file)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if start > len(lines) {
		return fmt.Errorf("--similar %s: the file has %d lines", location, len(lines))
	}
	req := workspace.SimilarRequest{
		Code: strings.Join(lines[start-1:min(end, len(lines))], ""),
		Path: path, StartLine: start, EndLine: end, Filter: query.Filter, Limit: k,
	}
	began := time.Now()
	from, err := a.openSearch(ctx, root, filters, true, false)
	if err != nil {
		return err
	}
	loaded := time.Since(began)
	answer, err := from.FindSimilar(ctx, req)
	query.Text = req.Code // to mark its words
	from.similar = true
	return a.showAnswer(from, format, &retrieval.Request{Query: query}, answer, err, loaded)
}

// splitLocation reads FILE:START-END or FILE:LINE, 1-based.
func splitLocation(location string) (file string, start, end int, err error) {
	at := strings.LastIndexByte(location, ':')
	if at > 0 {
		from, to, isRange := strings.Cut(location[at+1:], "-")
		if !isRange {
			to = from
		}
		var errFrom, errTo error
		start, errFrom = strconv.Atoi(from)
		end, errTo = strconv.Atoi(to)
		if errFrom == nil && errTo == nil && start >= 1 && end >= start {
			return location[:at], start, end, nil
		}
	}
	return "", 0, 0, fmt.Errorf("%w: --similar %s: give FILE:START-END with lines counted from 1", cli.ErrUsage, location)
}
