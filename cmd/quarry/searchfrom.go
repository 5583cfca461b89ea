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
	"quarry/retrieval/dense"
	"quarry/retrieval/live"
	"quarry/retrieval/scan"
)

// queryPatience is how long a command waits for its query to be embedded: the model
// may have to be loaded first.
const queryPatience = 30 * time.Second

// searchable is what a command searches in.
type searchable interface {
	Find(ctx context.Context, memory *dense.Memory, req retrieval.Request) (retrieval.Answer, error)
	FindSimilar(ctx context.Context, memory *dense.Memory, req retrieval.SimilarRequest) (retrieval.Answer, error)
}

// openSearch brings the workspace's index up to date and reads it into memory, with
// the vectors there are if semantic search is wanted. Without an index, because this build has
// no full-text search or its folder is unusable, it reads the workspace itself.
func (a *app) openSearch(ctx context.Context, root string, semantic bool) (from searchable, closed func() error, err error) {
	bar := &progressBar{app: a, terminal: cli.OnTerminal(a.Stderr), start: time.Now()}
	x, err := index.Open(index.Config{
		Dir: root, StateDir: a.StateDir, Log: a.Log, Progress: bar.show, Brief: true, Allowed: a.Allowed(),
		Notify: func(message string) { fmt.Fprintln(a.Stderr, "quarry:", message) },
	})
	var wide *index.Wide
	if errors.As(err, &wide) {
		return nil, nil, err
	}
	if err != nil {
		fmt.Fprintf(a.Stderr, "quarry: searching without an index: %v\n", err)
		from, err := scanned(ctx, root)
		return from, func() error { return nil }, err
	}
	w := live.Follow(x, filepath.Base(root), nil) // it is ready while the folder is compared
	err = x.Settle(ctx)
	bar.end()
	end := func() {}
	if semantic && err == nil {
		end = a.useVectors(ctx, x)
	}
	closed = func() error {
		w.Keep(ctx) // for the next one, if there was nothing to begin with
		w.Close()
		err := x.Close()
		end()
		return err
	}
	if err := errors.Join(err, w.CatchUp(ctx)); err != nil {
		return nil, nil, errors.Join(err, closed())
	}
	return w, closed, nil
}

// useVectors lets queries be compared with the vectors the index has; the command
// embeds no chunk. Settings that allow no model leave the words.
func (a *app) useVectors(ctx context.Context, x *index.Index) (end func()) {
	s := a.CommandSettings()
	options := engines.ModelOptions(s)
	options.Logger = a.Log
	server, err := model.New(options)
	if err != nil {
		a.Log.Info("searching by words only", "error", err)
		return func() {}
	}
	embed := engines.Embedders(server, s.Embedding, nil)
	embed.QueriesOnly = true
	x.SetEmbedders(embed)
	if err := x.SettleVectors(ctx); err != nil {
		a.Log.Info("searching by words only", "error", err)
	}
	return server.Close
}

// scanned is a folder as it is now, without an index.
func scanned(ctx context.Context, root string) (searchable, error) {
	docs, err := scan.Folder(ctx, root, "")
	if err != nil {
		return nil, err
	}
	ix := retrieval.New(retrieval.Options{Project: filepath.Base(root)})
	changes := make([]retrieval.Change, len(docs))
	for i := range docs {
		changes[i] = retrieval.Change{Path: docs[i].Path, Document: &docs[i]}
	}
	ix.Apply(changes)
	return wordsOnly{ix}, nil
}

// wordsOnly is a search without vectors.
type wordsOnly struct{ *retrieval.Index }

func (w wordsOnly) Find(ctx context.Context, _ *dense.Memory, req retrieval.Request) (retrieval.Answer, error) {
	return w.Search(ctx, req)
}

func (w wordsOnly) FindSimilar(_ context.Context, _ *dense.Memory, req retrieval.SimilarRequest) (retrieval.Answer, error) {
	return w.Current().FindSimilar(req), nil
}

// readWithin reads a file that the index may hold, as the index holds it.
func readWithin(root, path string) ([]byte, error) {
	files, err := walk.Open(root, 0)
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
func (a *app) searchSimilar(ctx context.Context, location, filters string, k int) (err error) {
	if k < 1 {
		return fmt.Errorf("%w: -k %d: ask for at least one result", cli.ErrUsage, k)
	}
	query := retrieval.Parse(filters, time.Now())
	if query.Text != "" {
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
	text, err := readWithin(root, path)
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
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	req := retrieval.SimilarRequest{
		Code: strings.Join(lines[start-1:min(end, len(lines))], ""),
		Path: filepath.ToSlash(rel), StartLine: start, EndLine: end, Filter: query.Filter, Limit: k,
	}
	began := time.Now()
	from, closed, err := a.openSearch(ctx, root, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed()) }()
	loaded := time.Since(began)
	answer, err := from.FindSimilar(ctx, dense.NewMemory(queryPatience), req)
	if err != nil {
		return err
	}
	query.Text = req.Code // to mark its words
	return a.showAnswer(root, &query, answer, loaded)
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
