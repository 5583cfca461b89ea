package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// file is what one document costs while a user types in it.
type file struct {
	change   []time.Duration // a didChange
	overhead []time.Duration // an answer besides the model
	cached   []time.Duration // an answer while a shown one is typed
	bytes    int
}

// measureFiles measures documents of each fixture's language, with its text again
// and again, and a few that nobody should write.
func measureFiles(quarry, fixtures string) error {
	b := &bench{ctx: context.Background(), assign: " ="} // of most languages
	if err := b.start(quarry); err != nil {
		return err
	}
	b.mu.Lock()
	b.answer = func() modeltest.Answer {
		return modeltest.Answer{Pieces: []string{" value", "(alpha", ", beta);", "\n"}}
	}
	b.mu.Unlock()
	list, err := filepath.Glob(filepath.Join(fixtures, "*", "*"))
	if err != nil {
		return err
	}
	fmt.Println("| file | KB | change p50 | p95 | overhead p50 | p95 | typed on p50 | p99 | shown |\n|---|---|---|---|---|---|---|---|---|")
	for _, path := range list {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		language := filepath.Base(filepath.Dir(path))
		for _, lines := range []int{100, 1_000, 20_000} {
			text := strings.Repeat(string(raw), lines/strings.Count(string(raw), "\n")+1)
			if err := b.file(fmt.Sprintf("%s, %d lines", language, lines), language, text); err != nil {
				return err
			}
		}
	}
	entry := `{"id":12345,"name":"a name","tags":["x","y"],"nested":{"a":1.5,"b":null}},`
	for _, one := range []struct{ name, language, text string }{
		{"json, 1 MB in one line", "json", "[" + strings.Repeat(entry, 1_000_000/len(entry)) + "{}]"},
		{"javascript, 1 MB in one line", "javascript", strings.Repeat("function f(a,b){return a+b};", 1_000_000/28)},
		{"json, 5 MB", "json", "[\n" + strings.Repeat(entry+"\n", 5_000_000/len(entry)) + "{}]\n"},
		{"go, 5 MB", "go", "package p\n" + strings.Repeat("\nfunc f(a, b int) int {\n\treturn a*b + b\n}\n", 5_000_000/43)},
	} {
		if err := b.file(one.name, one.language, one.text); err != nil {
			return err
		}
	}
	return b.quit()
}

// file types lines in the middle of a document.
func (b *bench) file(what, language, text string) error {
	path := strings.NewReplacer(" ", "_", ",", "").Replace(what)
	doc, err := b.editor.Open(path, language, text)
	if err != nil {
		return err
	}
	doc.Cursor = len(text) / 2
	if i := strings.IndexByte(text[doc.Cursor:], '\n'); i >= 0 {
		doc.Cursor += i
	}
	f := file{bytes: len(text)}
	const lines = 60
	for range lines {
		if err := b.line(doc, &f); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	cached := "| | "
	if len(f.cached) > 0 {
		cached = fmt.Sprintf("| %s | %s ", at(f.cached, .5), at(f.cached, .99))
	}
	fmt.Printf("| %s | %d | %s | %s | %s | %s %s| %d %% |\n", what, f.bytes/1000,
		at(f.change, .5), at(f.change, .95), at(f.overhead, .5), at(f.overhead, .95), cached, 100*len(f.cached)/len(typedOn)/lines)
	return b.editor.CloseDocument(path)
}

// typedOn is typed of what is shown.
const typedOn = " value("

// line types the beginning of a line, asks for the rest, and types some of what
// is shown.
func (b *bench) line(doc *headless.Buffer, f *file) error {
	took, err := b.change(doc)
	if err != nil {
		return err
	}
	f.change = append(f.change, took)
	sent, back, err := b.ask(doc)
	if err != nil {
		return err
	}
	f.overhead = append(f.overhead, sent+back)
	rest := " value(alpha, beta);"
	b.mu.Lock()
	received := b.received
	b.mu.Unlock()
	for i := 0; i < len(typedOn) && doc.Ghost != nil && strings.HasPrefix(doc.Ghost.Suffix(doc), rest[:1]); i++ {
		if err := b.editor.Replace(doc, doc.Cursor, doc.Cursor, rest[:1]); err != nil {
			return err
		}
		rest = rest[1:]
		begin := time.Now()
		if err := b.editor.Complete(b.ctx, doc, false); err != nil {
			return err
		}
		f.cached = append(f.cached, time.Since(begin))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.received != received {
		return fmt.Errorf("the model was asked for what it had said already; the figure would be wrong")
	}
	doc.Ghost = nil
	return b.editor.Replace(doc, doc.Cursor, doc.Cursor, rest)
}
