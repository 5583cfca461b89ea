package assist

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// VirtualScheme is the scheme of documents that exist only in the server.
const VirtualScheme = "quarry"

// refreshEvery bounds how often a client is told that a document has grown: each
// time it asks for the whole text.
const refreshEvery = 150 * time.Millisecond

// virtualDocument is a read-only text for the user that may grow while they read: an
// explanation, an answer. It is shown in the best way the client has: as a
// virtual document from its first word on, else when it is whole, as a file in
// the cache folder or as a message.
type virtualDocument struct {
	screen *Screen
	name   string
	number int64         // the newer, the higher
	uri    uri.URI       // of the virtual document
	wake   chan struct{} // has capacity 1; filled when text has grown
	done   chan struct{} // closed when follow has ended; nil if nothing is shown before end
	// shown says that the client was asked to show it; follow's, then end's.
	shown bool

	mu   sync.Mutex
	text prose // guarded by mu
}

// newDocument begins a document. The name is that of a file, without its ending; a document
// takes the place of an older one of the same name. The caller must call end or
// abandon.
func (s *Screen) newDocument(ctx context.Context, name string) *virtualDocument {
	p := &virtualDocument{screen: s, name: name, number: s.begun.Add(1), uri: uri.URI(VirtualScheme + ":/" + name + ".md"), wake: make(chan struct{}, 1)}
	if !s.showsVirtual() {
		return p
	}
	p.done = make(chan struct{})
	s.task("show "+name, func(context.Context) error {
		defer close(p.done)
		return p.follow(ctx)
	})
	return p
}

// add appends words below head; it returns at once.
func (p *virtualDocument) add(head, words string) {
	p.mu.Lock()
	p.text.head, p.text.words = head, p.text.words+words
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// follow shows the document when it has text, and the client what is added to it,
// until it is ended.
func (p *virtualDocument) follow(ctx context.Context) error {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, more := <-p.wake:
			if !more {
				return nil
			}
		}
		if err := p.publish(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// publish lets the client show the virtual document as it is now, unless a newer
// document has its place.
func (p *virtualDocument) publish(ctx context.Context) error {
	was, placed := p.place()
	if !placed {
		return nil
	}
	if was {
		if err := p.screen.client.TextDocumentContentRefresh(ctx, &protocol.TextDocumentContentRefreshParams{URI: p.uri}); err != nil {
			return fmt.Errorf("refresh %s: %w", p.uri, err)
		}
	}
	if p.shown {
		return nil
	}
	p.shown = true
	return p.screen.showDocument(ctx, p.uri)
}

// place puts the document where clients read its text, unless a newer one is there. was says
// that some document was there before.
func (p *virtualDocument) place() (was, placed bool) {
	s := p.screen
	s.placing.Lock()
	defer s.placing.Unlock()
	before, was := s.documents.Load(p.uri)
	if was && before.(*virtualDocument).number > p.number {
		return was, false
	}
	s.documents.Store(p.uri, p)
	return was, true
}

// stop ends follow.
func (p *virtualDocument) stop() {
	close(p.wake)
	if p.done != nil {
		<-p.done
	}
}

// end shows text as the document's final one, even if ctx of newDocument has ended.
func (p *virtualDocument) end(text prose) error {
	p.stop()
	if p.done == nil {
		return p.screen.showWhole(p.screen.base, p.name, text)
	}
	p.mu.Lock()
	p.text = text
	p.mu.Unlock()
	return p.publish(p.screen.base)
}

// abandon ends a document that will not be whole. If the user sees some of it, note
// is put below.
func (p *virtualDocument) abandon(note string) error {
	p.stop()
	if !p.shown {
		return nil
	}
	p.mu.Lock()
	p.text.foot = note
	p.mu.Unlock()
	return p.publish(p.screen.base)
}

// Show puts a whole text, which is Markdown, on the screen.
func (s *Screen) Show(name, text string) error {
	return s.newDocument(s.base, name).end(prose{head: text})
}

// showsVirtual is whether the client shows documents that only the server has.
func (s *Screen) showsVirtual() bool {
	w := s.caps.Workspace
	return s.showsDocuments() && (w != nil && w.TextDocumentContent != nil || ExtensionsOf(s.caps).Documents)
}

func (s *Screen) showsDocuments() bool {
	w := s.caps.Window
	return w != nil && w.ShowDocument != nil && w.ShowDocument.Support
}

// showWhole shows a text that will not change, to clients without virtual
// documents.
func (s *Screen) showWhole(ctx context.Context, name string, text prose) error {
	if !s.showsDocuments() {
		return s.client.ShowMessage(ctx, &protocol.ShowMessageParams{Type: protocol.MessageTypeInfo, Message: text.plain()})
	}
	dir, err := s.shownDir()
	if err != nil {
		return fmt.Errorf("find a folder for %s: %w", name, err)
	}
	// An editor that has a file open may not read it again, so each gets its own.
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.md", name, s.shownNumber.Add(1)))
	// The file is the user's alone, since it may quote their code, and is not
	// to be changed.
	if err := os.WriteFile(path, []byte(fold(text.markdown(), pageColumns)), 0o400); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return s.showDocument(ctx, uri.File(path))
}

// pagesKept is how long the files of a server that was killed stay.
const pagesKept = 7 * 24 * time.Hour

// shownDir is the folder for this server's files, made on first use. Those of
// servers that could not remove theirs go when they are old.
func (s *Screen) shownDir() (string, error) {
	dir := s.cacheDir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "quarry", "pages")
	}
	own := filepath.Join(dir, strconv.Itoa(os.Getpid()))
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	if err := os.MkdirAll(own, 0o700); err != nil {
		return "", err
	}
	others, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range others {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > pagesKept {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				s.log.Warn("remove old pages", "error", err)
			}
		}
	}
	return own, nil
}

// Close removes what shownDir made.
func (s *Screen) Close() {
	if s.shownNumber.Load() == 0 {
		return
	}
	dir, err := s.shownDir()
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		s.log.Warn("remove the pages shown", "error", err)
	}
}

func (s *Screen) showDocument(ctx context.Context, u uri.URI) error {
	return s.show(ctx, &protocol.ShowDocumentParams{URI: u})
}

// showBeside shows a document where it takes no key that is meant for another.
func (s *Screen) showBeside(ctx context.Context, u uri.URI) error {
	focus := false
	return s.show(ctx, &protocol.ShowDocumentParams{URI: u, TakeFocus: &focus})
}

func (s *Screen) show(ctx context.Context, params *protocol.ShowDocumentParams) error {
	u := params.URI
	result, err := s.client.ShowDocument(ctx, params)
	if err != nil {
		return fmt.Errorf("show %s: %w", u, err)
	}
	if result == nil || !result.Success {
		return fmt.Errorf("the editor did not show the page; ask again (%s)", u)
	}
	return nil
}

// Content implements workspace/textDocumentContent.
func (s *Screen) Content(params *protocol.TextDocumentContentParams) (*protocol.TextDocumentContentResult, error) {
	p, ok := s.documents.Load(params.URI)
	if !ok {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("there is no document %s; run its command again", params.URI))
	}
	shown := p.(*virtualDocument)
	shown.mu.Lock()
	defer shown.mu.Unlock()
	return &protocol.TextDocumentContentResult{Text: shown.text.markdown()}, nil
}
