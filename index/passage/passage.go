// Package passage says by what text a chunk is embedded, and under what key the
// vector of that text is kept.
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
// bench/vectors.md compares it with the code alone.
package passage

import (
	"crypto/sha256"
	"strings"

	"quarry/index/syntax"
)

// maxNames is how many declarations of a chunk head its text; more would crowd the
// code out of a small model's context.
const maxNames = 8

// Text is the text that chunk i of a file is embedded by. text is that of the whole
// file, path is relative to the workspace root, with slashes.
func Text(path string, f *syntax.File, i int, text string) string {
	span := f.Chunks[i].Span
	return head(path, f, i) + text[span.Start:span.End]
}

// Key stands for the Text of chunk i of a file, which it does not need: equal keys
// mean equal texts, and a change of how texts are made changes all keys.
func Key(path string, f *syntax.File, i int) (key [16]byte) {
	h := sha256.New()
	h.Write([]byte("1\n")) // the version of Text
	h.Write([]byte(head(path, f, i)))
	h.Write(f.Chunks[i].Hash[:])
	copy(key[:], h.Sum(nil))
	return key
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
