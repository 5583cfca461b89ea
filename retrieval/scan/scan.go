// Package scan reads a folder into documents for an in-memory index, without a
// database: for a search in a folder that has no index yet, and for evaluations.
package scan

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"quarry/index/syntax"
	"quarry/retrieval"
)

// maxFile is the size of the largest file that is read, in bytes; the index's
// own default.
const maxFile = 1 << 20

// Folder reads and analyses the text files under root. Their paths are relative
// to base, which is root or a folder above it, and the documents come in the
// order of their paths.
func Folder(ctx context.Context, base, root string) ([]retrieval.Document, error) {
	paths, err := list(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", root, err)
	}
	docs := make([]retrieval.Document, len(paths))
	errs := make([]error, len(paths))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				docs[i], errs[i] = read(base, paths[i])
			}
		})
	}
	for i := range paths {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	kept := docs[:0]
	for i, d := range docs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if d.Syntax != nil {
			kept = append(kept, d)
		}
	}
	return kept, nil
}

func list(ctx context.Context, root string) (paths []string, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if e.IsDir() {
			if path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
			return err
		}
		paths = append(paths, path)
		return nil
	})
	return paths, err
}

// read returns a document without Syntax for a file that is no text.
func read(base, path string) (d retrieval.Document, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return d, err
	}
	if !utf8.Valid(text) || strings.IndexByte(string(text[:min(len(text), 8000)]), 0) >= 0 {
		return d, nil
	}
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return d, err
	}
	var modified time.Time
	if info, err := os.Stat(path); err == nil {
		modified = info.ModTime()
	}
	language := syntax.Detect(filepath.Base(path), text[:min(len(text), 512)])
	f, err := syntax.Analyze(language, text)
	if err != nil {
		return d, fmt.Errorf("analyse %s: %w", path, err)
	}
	return retrieval.Document{Path: filepath.ToSlash(rel), Language: language, Text: string(text), Modified: modified, Syntax: f}, nil
}
