package index

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"quarry/index/lang"
	"quarry/index/store"
	"quarry/index/syntax"
)

// analyzerVersion is part of what an index was made with. Raise it when syntax, token,
// this file or terms would read the same text otherwise than before: the next start then
// reads every file again.
const analyzerVersion = "9"

func hashOf(text []byte) store.Hash {
	sum := sha256.Sum256(text)
	return store.Hash(sum[:16])
}

// head is how much of a file its language is told by.
func head(text []byte) []byte { return text[:min(len(text), 8000)] }

// newDocument analyses a text read from disk.
func newDocument(name string, text []byte, hash store.Hash) (*store.Document, error) {
	file, err := syntax.Analyze(lang.Detect(name, head(text)), text)
	if err != nil {
		return nil, err
	}
	return finish(name, text, hash, file), nil
}

// finish adds what the store wants beside the syntax.
func finish(name string, text []byte, hash store.Hash, file *syntax.File) *store.Document {
	return &store.Document{
		Path: name, Language: file.Language, Size: int64(len(text)), Hash: hash,
		Summary: file.Summary(), Problem: problem(file, len(text)), Syntax: file,
	}
}

// problem tells a file that the parser gave up on. Where it may have done so for want of
// memory, which is the process's and not the text's, the room that it had is part of it, so that
// a process which has more reads the file again.
func problem(file *syntax.File, size int) string {
	if len(file.Errors) != 1 || file.Errors[0].Start != 0 || int(file.Errors[0].End) != size || size == 0 || len(file.Symbols) > 0 {
		return ""
	}
	within := ""
	if file.Short > 0 {
		within = fmt.Sprintf(" within %d MB", file.Short>>20)
	}
	return "could not be parsed as " + strings.ToLower(file.Language) + within + "; indexed by lines"
}

var roomOf = regexp.MustCompile(` within (\d+) MB; `)

// mayParse answers whether a file with a problem is worth another parse in this process.
func mayParse(problem string, size int64) bool {
	m := roomOf.FindStringSubmatch(problem)
	if m == nil {
		return false
	}
	short, err := strconv.ParseInt(m[1], 10, 32)
	return err == nil && syntax.MayParse(size, (short+1)<<20)
}
