// Package scan reads a folder into documents for an in-memory index, without a
// database: for a search in a folder that has no index yet, and for evaluations.
// It reads what package walk allows and nothing else.
package scan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/index/walk"
	"quarry/retrieval"
)

// Folder reads and analyses the files below dir of the workspace root, "" being
// all of it. Paths are relative to the root; the documents come in their order.
func Folder(ctx context.Context, root, dir string) (docs []retrieval.Document, err error) {
	return Within(ctx, root, dir, walk.Limits{})
}

// Within is Folder with limits on what is read.
func Within(ctx context.Context, root, dir string, limits walk.Limits) (docs []retrieval.Document, err error) {
	files, err := walk.Open(root, limits)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu      sync.Mutex // guards docs and failed
		failed  error
		workers sync.WaitGroup
		paths   = make(chan string)
	)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for p := range paths {
				d, err := read(files, p)
				mu.Lock()
				if err != nil {
					failed = errors.Join(failed, err)
					cancel()
				} else if d.Syntax != nil {
					docs = append(docs, d)
				}
				mu.Unlock()
			}
		})
	}
	err = files.Walk(ctx, strings.Trim(dir, "/"), walk.Visitor{
		Dir:  func(string) {},
		Skip: func(walk.Skip) {},
		File: func(e walk.Entry) error {
			select {
			case paths <- e.Path:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	})
	close(paths)
	workers.Wait()
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(docs, func(a, b retrieval.Document) int { return strings.Compare(a.Path, b.Path) })
	return docs, nil
}

// read returns a document without Syntax for a file that is not to be indexed,
// or went since it was listed.
func read(files *walk.Root, path string) (d retrieval.Document, err error) {
	text, entry, reason, err := files.Read(path)
	if reason != "" || err != nil {
		return d, nil
	}
	f, err := syntax.Analyze(lang.Detect(path, text[:min(len(text), 8000)]), text)
	if err != nil {
		return d, fmt.Errorf("analyse %s: %w", path, err)
	}
	return retrieval.Document{
		Path: path, Language: f.Language, Text: string(text), Modified: time.Unix(0, entry.ModTime), Syntax: f,
	}, nil
}
