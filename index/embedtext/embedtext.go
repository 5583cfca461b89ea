// Package embedtext says by what text a chunk is embedded.
//
// A chunk's own code often lacks what a question asks by: a method's body names
// neither its class nor what the file is about. So the text is headed by the place
// and the declarations of the chunk:
//
//	internal/queue/retry.go
//	Retrier.Next, Retrier.Reset
//	func (r *Retrier) Next() time.Duration {
//	…
//
// The vector is kept by the hash of the chunk's code, so that a file that moves or a
// copy elsewhere costs nothing: its chunks keep the vector of the place they were
// first met at. bench/vectors.md compares the text with the code alone.
package embedtext

import (
	"strings"

	"quarry/index/syntax"
)

// maxNames is how many declarations of a chunk head its text; more would crowd the
// code out of a small model's context.
const maxNames = 8

// Version is that of Text: raise it when Text makes another text of the same chunk,
// and all chunks are embedded again.
const Version = "1"

// Text is the text that chunk i of a file is embedded by. text is that of the whole
// file, path is relative to the workspace root, with slashes.
func Text(path string, f *syntax.File, i int, text string) string {
	span := f.Chunks[i].Span
	return head(path, f, i) + text[span.Start:span.End]
}

// head is what stands before a chunk's code.
func head(path string, f *syntax.File, i int) string {
	var b strings.Builder
	b.WriteString(path)
	b.WriteByte('\n')
	names := f.Chunks[i].Symbols
	for n, at := range names[:min(len(names), maxNames)] {
		if n > 0 {
			b.WriteString(", ")
		}
		if s := &f.Symbols[at]; s.Container != "" {
			b.WriteString(s.Container + "." + s.Name)
		} else {
			b.WriteString(s.Name)
		}
	}
	if len(names) > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}
