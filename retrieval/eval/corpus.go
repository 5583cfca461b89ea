package eval

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/index/syntax"
	"quarry/retrieval"
)

// maxFile is the size of the largest file that is read, in bytes; the index's
// own default.
const maxFile = 1 << 20

// ReadDocuments reads and analyses the text files under root in the order of
// their paths, which are relative to base (root or a folder above it).
func ReadDocuments(ctx context.Context, base, root string) ([]retrieval.Document, error) {
	var docs []retrieval.Document
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
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
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !utf8.Valid(text) || strings.IndexByte(string(text[:min(len(text), 8000)]), 0) >= 0 {
			return nil
		}
		rel, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}
		d, err := analyse(filepath.ToSlash(rel), string(text), info.ModTime())
		if err != nil {
			return err
		}
		docs = append(docs, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read corpus %s: %w", root, err)
	}
	return docs, nil
}

func analyse(path, text string, modified time.Time) (retrieval.Document, error) {
	language := syntax.Detect(filepath.Base(path), []byte(text[:min(len(text), 512)]))
	f, err := syntax.Analyze(language, []byte(text))
	if err != nil {
		return retrieval.Document{}, fmt.Errorf("analyse %s: %w", path, err)
	}
	return retrieval.Document{Path: path, Language: language, Text: text, Modified: modified, Syntax: f}, nil
}
