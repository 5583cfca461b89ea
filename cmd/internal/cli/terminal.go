package cli

import (
	"crypto/rand"
	"io"
	"strings"
	"sync"

	"quarry/index/visible"
)

// Terminal is the only way to the two streams that people read. What would steer a
// terminal instead of standing on it is made visible: it may come from any file of
// a repository, its name, or a model. quarry's own looks go through, since nobody
// else knows their mark.
//
// It is safe for concurrent use; what one Write is given stands together.
type Terminal struct {
	mu    sync.Mutex // held while something is written
	wrote bool       // anything; guarded by mu
	w     io.Writer
	// json says that a JSON document is written, in whose strings the same is escaped.
	json *bool
}

// NewTerminal writes to w.
func NewTerminal(w io.Writer) *Terminal { return &Terminal{w: w} }

// mark begins quarry's own codes. It is another one in every process.
var mark = "\x1b" + rand.Text()

// The looks of an editor: grey line numbers, grey italic ghost text.
var (
	Dim   = mark + "[90m"
	Ghost = mark + "[3;90m"
	Bold  = mark + "[1m"
	Green = mark + "[32m"
	Red   = mark + "[31m"
	Reset = mark + "[0m"
	// ClearLine goes back to the beginning of the line and empties it.
	ClearLine = mark + "[G" + mark + "[K"
)

// Write implements io.Writer.
func (t *Terminal) Write(p []byte) (int, error) {
	show := visible.Text
	if t.json != nil && *t.json {
		show = visible.JSON
	}
	first, rest, own := strings.Cut(string(p), mark)
	out := show(first)
	for own {
		var code string
		end := 1 + strings.IndexFunc(rest, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
		code, rest = rest[:end], rest[end:]
		first, rest, own = strings.Cut(rest, mark)
		out += "\x1b" + code + show(first)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrote = t.wrote || out != ""
	if _, err := io.WriteString(t.w, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// used answers whether anything was written.
func (t *Terminal) used() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wrote
}
