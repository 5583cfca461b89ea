package workspace

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"quarry/index/git"
	"quarry/index/lang"
	"quarry/index/mask"
	"quarry/index/syntax"
	"quarry/index/walk"
)

// How says how a declaration differs from the last commit.
type How string

// The ways of differing.
const (
	Added     How = "new"
	Body      How = "body"      // its signature is what it was
	Signature How = "signature" // callers may have to change, too
	Removed   How = "removed"
)

// Change is a declaration that differs from the last commit. Of one that was removed there
// is what it was, and its ID means nothing any more.
type Change struct {
	Symbol
	How How
}

// Changes are what differs from the last commit.
type Changes struct {
	List []Change
	// Files are the names of all files that differ, those without such a declaration, too.
	Files []string
	// TooLarge are the names of files that may differ and were not compared: they are larger
	// than the index takes, now or in the last commit.
	TooLarge []string
	// Missing is what could not be looked at, nil if nothing.
	Missing *Missing
}

// Changes compares the folders with their last commits, declaration by declaration. It fails
// with git.ErrNone if none of the folders has one, and with *NotReady as Symbols does.
func (w *Workspace) Changes(ctx context.Context) (found Changes, err error) {
	// What is on disk now is compared, so that the index must know it.
	if found.Missing, err = w.await(ctx, needSymbols, wait{asked(ctx), true, w.opts.WaitLimit}); err != nil {
		return found, err
	}
	var none error
	compared := false
	for _, f := range w.snapshot() {
		if _, err := f.ready(); err != nil {
			continue
		}
		switch err := w.changesIn(ctx, f, &found); {
		case errors.Is(err, git.ErrNone):
			none = err
		case err != nil:
			return found, err
		default:
			compared = true
		}
	}
	switch {
	case compared:
		return found, nil
	case found.Missing != nil:
		return found, &NotReady{*found.Missing}
	case none == nil:
		none = git.ErrNone
	}
	return found, none
}

// changesIn adds what differs in one folder.
func (w *Workspace) changesIn(ctx context.Context, f *folder, found *Changes) error {
	repository, err := git.Open(ctx, f.dir)
	if err != nil {
		return err
	}
	paths, err := repository.Changed(ctx)
	if err != nil {
		return err
	}
	known, err := repository.Known(ctx)
	if err != nil {
		return err
	}
	stats, err := f.index.Store().Stats(ctx, "")
	if err != nil {
		return err
	}
	for rel := range stats {
		if !known[rel] {
			paths = append(paths, rel)
		}
	}
	slices.Sort(paths)
	folders := w.snapshot()
	root := f.index.Root()
	tooLarge := func(rel string) { found.TooLarge = append(found.TooLarge, nameIn(folders, f, rel)) }
	paths = slices.DeleteFunc(slices.Compact(paths), func(rel string) bool {
		reason := root.Check(rel)
		if reason == walk.TooLarge {
			tooLarge(rel)
		}
		return reason != ""
	})
	return repository.Committed(ctx, paths, root.MaxSize(), func(rel, committed string, larger bool) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		now, err := f.text(rel)
		var excluded *walk.Excluded
		if larger || errors.As(err, &excluded) && excluded.Reason == walk.TooLarge {
			tooLarge(rel)
			return nil
		}
		if err != nil {
			now = "" // it is gone
		}
		before := mask.Text(committed)
		if unix(now) == unix(before) {
			return nil
		}
		symbols, err := f.symbols(ctx, folders, rel)
		if err != nil {
			return err
		}
		found.Files = append(found.Files, nameIn(folders, f, rel))
		found.List = append(found.List, compared(f, rel, before, now, symbols)...)
		return nil
	})
}

func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// compared are the declarations that differ between two texts of a file. Of those around one
// another the innermost differ, and an outer one only if its signature does.
func compared(f *folder, rel, before, now string, symbols []Symbol) []Change {
	var old []syntax.Symbol
	if tree, err := syntax.Parse(lang.Detect(rel, []byte(before)), []byte(before)); err == nil {
		old = tree.Analyze().Symbols
		tree.Close()
	}
	type key struct {
		kind syntax.Kind
		name string
		nth  int
	}
	keyOf := func(times map[key]int, s *syntax.Symbol) key {
		k := key{s.Kind, qualified(s), 0}
		times[k]++
		k.nth = times[k]
		return k
	}
	textOf := func(text string, s *syntax.Symbol) string {
		if int(s.Span.End) > len(text) || s.Span.Start > s.Span.End {
			return "" // of another state of the file
		}
		return strings.TrimSpace(unix(text[s.Span.Start:s.Span.End]))
	}
	was, times := map[key]*syntax.Symbol{}, map[key]int{}
	for i := range old {
		was[keyOf(times, &old[i])] = &old[i]
	}
	var list []Change
	clear(times)
	for i := range symbols {
		s := &symbols[i]
		k := keyOf(times, &s.Symbol)
		o := was[k]
		delete(was, k)
		switch {
		case o == nil:
			list = append(list, Change{*s, Added})
		case o.Signature != s.Signature:
			list = append(list, Change{*s, Signature})
		case textOf(before, o) != textOf(now, &s.Symbol):
			list = append(list, Change{*s, Body})
		}
	}
	path := filepath.Join(f.dir, filepath.FromSlash(rel))
	for i := range old {
		if slices.ContainsFunc(symbols, func(s Symbol) bool { return qualified(&s.Symbol) == qualified(&old[i]) }) {
			continue // it is another kind of declaration now, or there are fewer of it
		}
		list = append(list, Change{Symbol{Path: path, Symbol: old[i], folder: f}, Removed})
	}
	return slices.DeleteFunc(list, func(c Change) bool {
		if c.Kind == syntax.KindSection || c.Kind == syntax.KindModule {
			return true
		}
		return c.How == Body && slices.ContainsFunc(list, func(inner Change) bool { return isInside(&inner.Symbol.Symbol, &c.Symbol.Symbol) })
	})
}

// isInside answers whether a declaration stands in the text of another.
func isInside(inner, outer *syntax.Symbol) bool {
	name := qualified(outer)
	return (inner.Container == name || strings.HasPrefix(inner.Container, name+".")) &&
		inner.Span.Start >= outer.Span.Start && inner.Span.End <= outer.Span.End
}
