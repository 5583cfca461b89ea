package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/index/lang"
	"quarry/index/mask"
	"quarry/lsp/text"
)

// Document is one version of an open document. It never changes; a didChange
// makes the next one.
type Document struct {
	URI      uri.URI
	Language string
	Version  int32
	Text     text.Text
	shown    func() string
	opened   func() string // Shown of the first version
	// Stale is true when a change could not be applied: the text is then not
	// what the editor shows, and nothing is computed from it until the editor
	// sends the whole text again.
	Stale bool
}

// Path is the document's file path, "" if it is not a file.
func (d *Document) Path() string {
	if !d.URI.IsFile() {
		return ""
	}
	return Path(d.URI)
}

// Shown is the text as a model may see it: tokens and keys masked, every offset as in
// Text.
func (d *Document) Shown() string { return d.shown() }

// largestOpened is the largest text, in bytes, that is kept as it was opened.
const largestOpened = 256 << 10

// Opened is Shown as it was when the document was opened, "" for a large one.
func (d *Document) Opened() string { return d.opened() }

// masked is Shown of a text, computed when it is first asked for.
func masked(t text.Text) func() string {
	return sync.OnceValue(func() string { return mask.Text(t.String()) })
}

// newScheme is that of texts that are in no file yet.
const newScheme = "untitled"

// Completable answers whether ghost text is written in the document: it is a file,
// or a new text without a place. What other schemes show (an older version of a
// file, a page of an archive, a cell, a folder) is judged by nobody's rules of
// what is private.
func (d *Document) Completable() bool {
	return d.URI.IsFile() || d.URI.Scheme() == newScheme && !strings.ContainsAny(d.URI.Path(), `/\`)
}

// Name is what the name of a secret is looked for in: the path of a file, or what
// the editor calls a text that is in none.
func (d *Document) Name() string { return cmp.Or(d.Path(), d.URI.Path()) }

var (
	errUnknownDocument = errors.New("document is not open")
	ErrVersionBack     = errors.New("version goes back")
)

// Set holds the open documents. Changes come from the read loop alone, in
// the order of arrival; readers take a Document and keep it.
type Set struct {
	mu sync.RWMutex
	// docs is guarded by mu; the Documents in it are immutable.
	docs map[uri.URI]*Document
	// recent lists the open documents, the most recently used last; guarded
	// by mu.
	recent []uri.URI
	// used lists the files opened or edited lately, closed ones too, the latest last;
	// guarded by mu.
	used []string
	// moved is closed and renewed when docs changes; guarded by mu.
	moved chan struct{}
}

func NewSet() *Set {
	return &Set{docs: map[uri.URI]*Document{}, moved: make(chan struct{})}
}

func (o *Set) Get(u uri.URI) *Document {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.docs[u]
}

func (o *Set) Put(d *Document) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.docs[d.URI] = d
	o.touch(d.URI)
	o.wake()
}

func (o *Set) Remove(u uri.URI) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.docs, u)
	o.drop(u)
	o.wake()
}

// wake tells who waits for a change; mu is held.
func (o *Set) wake() {
	close(o.moved)
	o.moved = make(chan struct{})
}

// Await returns true when cond does; it is asked again after each change of a
// document. It returns false if ctx ends before.
func (o *Set) Await(ctx context.Context, cond func() bool) bool {
	for {
		o.mu.RLock()
		moved := o.moved
		o.mu.RUnlock()
		if cond() {
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

// At is the open document of a file, nil if it is not open.
func (o *Set) At(path string) *Document {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, d := range o.docs {
		if d.Path() == path {
			return d
		}
	}
	return nil
}

// Others lists the open documents but one, the most recently used first.
func (o *Set) Others(but uri.URI) []*Document {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var list []*Document
	for i := len(o.recent) - 1; i >= 0; i-- {
		if u := o.recent[i]; u != but {
			list = append(list, o.docs[u])
		}
	}
	return list
}

// maxUsed is how many files count as used lately.
const maxUsed = 12

// Used lists the paths of the files but one that were opened or edited lately, the latest
// first, whether they are open or not.
func (o *Set) Used(but string) []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var list []string
	for _, path := range slices.Backward(o.used) {
		if path != but {
			list = append(list, path)
		}
	}
	return list
}

// touch makes u the most recent; mu is held.
func (o *Set) touch(u uri.URI) {
	if path := o.docs[u].Path(); path != "" && (len(o.used) == 0 || o.used[len(o.used)-1] != path) {
		o.used = append(slices.DeleteFunc(o.used, func(p string) bool { return p == path }), path)
		o.used = o.used[max(0, len(o.used)-maxUsed):]
	}
	if n := len(o.recent); n > 0 && o.recent[n-1] == u {
		return
	}
	o.drop(u)
	o.recent = append(o.recent, u)
}

func (o *Set) drop(u uri.URI) {
	for i, have := range o.recent {
		if have == u {
			o.recent = append(o.recent[:i], o.recent[i+1:]...)
			return
		}
	}
}

// parentModes are what eglot names as the language where it was told to start
// quarry for all modes derived from one, as its set-up for quarry does: then the
// file tells what it is.
var parentModes = []string{"prog", "text", "conf"}

// Open makes the first version of a document. The small strings are
// copied, because a decoded one can keep its whole message alive.
func Open(item protocol.TextDocumentItem) *Document {
	u, language := uri.URI(strings.Clone(string(item.URI))), strings.Clone(string(item.LanguageID))
	if slices.Contains(parentModes, language) {
		language = lang.Detect(string(u), []byte(item.Text[:min(len(item.Text), 512)]))
	}
	t := text.New(item.Text)
	shown := masked(t)
	opened := shown
	if t.Len() > largestOpened {
		opened = func() string { return "" }
	}
	return &Document{URI: u, Language: language, Version: item.Version, Text: t, shown: shown, opened: opened}
}

// Changed makes the version after changes, applied in their order (LSP,
// textDocument/didChange). On an impossible change it answers the document as
// it was before that change, marked stale, and the error. A version that goes
// back is reported but applied: what the editor sent last is what it shows.
func (d *Document) Changed(version int32, changes []protocol.TextDocumentContentChangeEvent, enc text.Encoding) (*Document, error) {
	next := *d
	next.Version = version
	var err error
	if version < d.Version {
		err = fmt.Errorf("version %d after %d: %w", version, d.Version, ErrVersionBack)
	}
	for _, change := range changes {
		switch c := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			next.Text, next.Stale = text.New(c.Text), false
		case *protocol.TextDocumentContentChangePartial:
			if next.Stale {
				continue
			}
			start, startErr := next.Text.PositionToOffset(Position(c.Range.Start), enc)
			end, endErr := next.Text.PositionToOffset(Position(c.Range.End), enc)
			if rangeErr := errors.Join(startErr, endErr); rangeErr != nil {
				next.Stale, err = true, rangeErr
				continue
			}
			if start > end {
				next.Stale = true
				err = fmt.Errorf("range ends before it starts: %w", text.ErrOutside)
				continue
			}
			next.Text = next.Text.Replace(start, end, c.Text)
		}
	}
	next.shown = masked(next.Text)
	return &next, err
}

func Position(p protocol.Position) text.Position {
	return text.Position{Line: p.Line, Character: p.Character}
}

func Range(t text.Text, start, end int, enc text.Encoding) protocol.Range {
	s, e := t.OffsetToPosition(start, enc), t.OffsetToPosition(end, enc)
	return protocol.Range{
		Start: protocol.Position{Line: s.Line, Character: s.Character},
		End:   protocol.Position{Line: e.Line, Character: e.Character},
	}
}

// RootAndPath are the innermost of roots that path lies in and path below it,
// with slashes; "" and the base name if it lies in none.
func RootAndPath(path string, roots []string) (root, rel string) {
	best := ""
	for _, root := range roots {
		if len(root) > len(best) && (path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))) {
			best = root
		}
	}
	if best != "" {
		if rel, err := filepath.Rel(best, path); err == nil {
			return filepath.Clean(best), filepath.ToSlash(rel)
		}
	}
	return "", filepath.Base(path)
}
