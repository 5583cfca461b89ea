package index

import (
	"crypto/sha256"
	"strings"

	"quarry/index/lang"
	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/index/token"
)

// analyzerVersion is part of what an index was made with. Raise it when syntax,
// token or this file would read the same text otherwise than before: the next
// start then reads every file again.
const analyzerVersion = "7"

// analyzer turns texts into documents of the store. It is not safe for concurrent
// use; each worker has one.
type analyzer struct {
	terms         token.Analyzer
	body, comment []byte
}

func hashOf(text []byte) store.Hash {
	sum := sha256.Sum256(text)
	return store.Hash(sum[:16])
}

// head is how much of a file its language is told by.
func head(text []byte) []byte { return text[:min(len(text), 8000)] }

// document analyses a text read from disk.
func (a *analyzer) document(name string, text []byte, hash store.Hash) (*store.Document, error) {
	file, err := syntax.Analyze(lang.Detect(name, head(text)), text)
	if err != nil {
		return nil, err
	}
	return a.finish(name, text, hash, file), nil
}

// finish adds what the store wants beside the syntax.
func (a *analyzer) finish(name string, text []byte, hash store.Hash, file *syntax.File) *store.Document {
	whole := string(text)
	d := &store.Document{
		Path: name, Language: file.Language, Size: int64(len(text)), Hash: hash,
		Summary: file.Summary(), Problem: problem(file, len(text)), Syntax: file,
		Text: make([]store.ChunkText, len(file.Chunks)),
	}
	for i, c := range file.Chunks {
		d.Text[i] = a.chunkText(file.Language, c.Content, whole[c.Span.Start:c.Span.End])
	}
	return d
}

func (a *analyzer) chunkText(language string, content syntax.Content, text string) store.ChunkText {
	if content == syntax.ContentDoc || content == syntax.ContentConfig {
		a.body = a.terms.AppendText(a.body[:0], text)
		return store.ChunkText{Body: string(a.body)}
	}
	a.body, a.comment = a.body[:0], a.comment[:0]
	// Terms never cross a line, so neighbouring lines of a kind go in one piece.
	start, at, kind := 0, 0, false
	flush := func() {
		if kind {
			a.comment = a.terms.AppendText(a.comment, text[start:at])
		} else {
			a.body = a.terms.AppendText(a.body, text[start:at])
		}
		start = at
	}
	eachLine(language, text, func(line string, comment bool) {
		if comment != kind {
			flush()
			kind = comment
		}
		at += len(line)
	})
	flush()
	return store.ChunkText{Body: string(a.body), Comment: string(a.comment)}
}

// problem tells a file that the parser gave up on.
func problem(file *syntax.File, size int) string {
	if len(file.Errors) == 1 && file.Errors[0].Start == 0 && int(file.Errors[0].End) == size && size > 0 && len(file.Symbols) == 0 {
		return "could not be parsed as " + strings.ToLower(file.Language) + "; indexed by lines"
	}
	return ""
}
