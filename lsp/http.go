package lsp

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/completion"
	"quarry/index/lang"
	"quarry/index/mask"
	"quarry/lsp/completions"
	"quarry/lsp/document"
	"quarry/lsp/settings"
	"quarry/retrieval"
)

// leastToken is how long a token must be that cannot be guessed.
const leastToken = 16

// web is the serving of completions over HTTP as the settings want it.
type web struct {
	mu sync.Mutex
	// now is what is served by, stop ends it and waits; both are guarded by mu.
	now  settings.HTTP
	stop func()

	kept sync.Mutex
	// unopened is the file that was completed last and is not open, "" before the first;
	// guarded by kept.
	unopened string
}

// keep has the core keep what it knows of one such file at a time, as nobody will
// close it.
func (w *web) keep(core Core, key string) {
	w.kept.Lock()
	defer w.kept.Unlock()
	if w.unopened != key && w.unopened != "" {
		core.Forget(w.unopened)
	}
	w.unopened = key
}

// serveHTTP serves completions over HTTP as now says, in place of what was served.
func (s *Server) serveHTTP(now settings.HTTP) {
	s.web.mu.Lock()
	defer s.web.mu.Unlock()
	if now == s.web.now {
		return
	}
	s.web.now = now
	if s.web.stop != nil {
		s.web.stop()
		s.web.stop = nil
	}
	if now.Address == "" {
		return
	}
	if len(now.Token) < leastToken {
		s.notify(Warning, "http.token", fmt.Sprintf("set http.token to %d or more random characters: until then no completions are served at %s.", leastToken, now.Address))
		return
	}
	dir, err := s.cacheDir("http")
	if err != nil {
		s.notify(Warning, "http.address", fmt.Sprintf("no completions over HTTP, see http.address (%s): %v", now.Address, err))
		return
	}
	ctx, cancel := context.WithCancel(s.base)
	ended := make(chan struct{})
	s.web.stop = func() { cancel(); <-ended }
	s.task("completions over HTTP", func(context.Context) error {
		defer close(ended)
		defer cancel()
		failed := func(err error) {
			s.notify(Warning, "http.address", fmt.Sprintf("no completions over HTTP, see http.address (%s): %v", now.Address, err))
		}
		err := completions.Serve(ctx, completions.Options{
			Address: now.Address, Token: now.Token, Dir: dir, Complete: s.completeAt, Metrics: s.metricsNow, Log: s.log, Taken: failed,
		})
		if err != nil {
			failed(err)
		}
		return nil
	})
}

// completeAt answers a place that has no name, as an inline completion of the
// document that it is in.
func (s *Server) completeAt(ctx context.Context, cursor completions.CursorContext) (completions.Answer, error) {
	if s.currentCore() == nil {
		return completions.Answer{}, completions.ErrUnknown
	}
	doc, now, offset := s.findCursor(ctx, cursor)
	if doc == nil {
		return completions.Answer{}, completions.ErrUnknown
	}
	_, roots := s.current()
	req := completion.Request{Key: string(doc.URI), Document: engineDocument(doc, roots), Version: doc.Version, Offset: offset}
	if now != doc.Text.String() {
		req.Text = mask.Text(now)
	}
	if s.docs.Get(doc.URI) == nil {
		s.web.keep(s.currentCore(), req.Key)
	}
	ctx, done := s.inline.Begin(ctx, req.Key)
	defer done()
	result, err := s.completed(ctx, req, s.withOthers(doc))
	if result == nil || err != nil {
		return completions.Answer{}, err
	}
	items := unmasked(now, result.Items)
	if len(items) == 0 {
		return completions.Answer{}, nil
	}
	item := items[0]
	return completions.Answer{Text: inserted(now, offset, item), Engine: item.Engine, PromptTokens: result.Prompt.Tokens}, nil
}

// findCursor finds the document that a place is in, with its text and the cursor
// there: one that is open, or a file of the workspace. It answers nil if there is none.
func (s *Server) findCursor(ctx context.Context, cursor completions.CursorContext) (doc *document.Document, now string, offset int) {
	for _, d := range s.docs.Others("") {
		if d.Stale || !d.Completable() {
			continue
		}
		if now, offset, ok := cursor.In(d.Text.String()); ok {
			return d, now, offset
		}
	}
	clue := cursor.Clue()
	if clue == "" {
		return nil, "", 0
	}
	core := s.currentCore()
	found, err := core.Search(ctx, retrieval.Request{
		Query: retrieval.Parse(`"`+clue+`"`, time.Now()), Limit: 10,
		Signals: retrieval.SignalsLexical, // nobody knows yet whether a model may be shown this text
	})
	if err != nil {
		return nil, "", 0
	}
	for _, r := range found.Results {
		path := filepath.Join(r.Root, filepath.FromSlash(r.Path))
		text, err := core.Text(path)
		if err != nil || s.docs.At(path) != nil { // that has been looked at
			continue
		}
		if now, offset, ok := cursor.In(text); ok {
			u := uri.File(path)
			language := lang.Detect(path, []byte(text[:min(len(text), 512)]))
			return document.Open(protocol.TextDocumentItem{URI: u, LanguageID: protocol.LanguageKind(language), Text: text}), now, offset
		}
	}
	return nil, "", 0
}

// inserted is the part of an item that a client can show that inserts at the cursor
// and replaces nothing: what stands there already is not in it.
func inserted(text string, cursor int, item completion.Item) string {
	insert, ok := strings.CutPrefix(item.Text, text[item.Start:cursor])
	if !ok {
		return ""
	}
	covered := text[cursor:item.End]
	if rest, ok := strings.CutSuffix(insert, covered); ok {
		return rest
	}
	first, _, _ := strings.Cut(insert, "\n")
	if rest, ok := strings.CutSuffix(first, covered); ok {
		return rest
	}
	return ""
}

// cacheDir is a folder of that name for what need not last.
func (s *Server) cacheDir(name string) (string, error) {
	base, err := os.UserCacheDir()
	if s.opts.CacheDir == "" && err != nil {
		return "", err
	}
	return filepath.Join(cmp.Or(s.opts.CacheDir, filepath.Join(base, "quarry")), name), nil
}
