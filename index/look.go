package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/index/walk"
)

// found is what looking at a path led to.
type found uint8

const (
	here found = iota + 1
	gone       // with all below
)

// refresh brings single paths up to date.
func (c *coordinator) refresh(ctx context.Context, paths []string) error {
	slices.Sort(paths)
	c.root.Refresh()
	var b changes
	var errs []error
	for _, rel := range paths {
		if err := c.look(ctx, rel, &b); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", rel, err))
		}
	}
	c.noteRoot()
	return errors.Join(append(errs, c.apply(b))...)
}

// look adds to a batch what one path needs.
func (c *coordinator) look(ctx context.Context, rel string, b *changes) error {
	if text, ok := c.bufferOf(rel); ok {
		return c.lookBuffer(ctx, rel, text, b)
	}
	c.trees.drop(rel)
	delete(c.near, rel)
	reason := c.root.Check(rel)
	var r result
	if reason == "" {
		info, err := c.root.Stat(rel)
		switch {
		case err != nil:
			reason = walk.Unreadable
		case info.IsDir():
			// What is below is for the scans to tell.
			c.request(func() { c.scans[rel] = true })
			c.looked(rel, here)
			return c.removeKnown(ctx, rel, b)
		default:
			if r, reason, err = c.readOne(ctx, rel); err != nil {
				return err
			}
		}
	}
	b.private = b.private || reason.IsPrivate()
	switch {
	case reason != "":
		return c.lookGone(ctx, rel, b)
	case r.touch:
		c.looked(rel, here)
		b.Touch = append(b.Touch, r.touched())
	default:
		c.looked(rel, here)
		b.Put = append(b.Put, r.doc)
	}
	return nil
}

// looked notes, while a scan is at work, that it may have read something older.
func (c *coordinator) looked(rel string, f found) {
	if c.scan != nil {
		c.fresh[rel] = f
	}
}

// readOne reads a file that an event named.
func (c *coordinator) readOne(ctx context.Context, rel string) (r result, reason walk.Reason, err error) {
	known, err := c.known(ctx, rel)
	if err != nil {
		return r, "", err
	}
	return readFile(c.Index, rel, known)
}

// known is what the index has of a path, nil if nothing that counts.
func (c *coordinator) known(ctx context.Context, rel string) (*store.Hash, error) {
	st, ok, err := c.Store().Stat(ctx, rel)
	if err != nil || !ok || c.outdated[rel] {
		return nil, err
	}
	return &st.Hash, nil
}

// lookGone removes what the index has at a path and, if it was a folder, below.
func (c *coordinator) lookGone(ctx context.Context, rel string, b *changes) error {
	below, err := c.Store().Stats(ctx, rel)
	if err != nil {
		return err
	}
	for name := range below {
		if !c.isOpen(name) {
			b.Remove = append(b.Remove, name)
		}
	}
	c.looked(rel, gone)
	return c.removeKnown(ctx, rel, b)
}

// removeKnown removes what the index has at a path, if anything: a build writes many
// files that are left out, and nothing is committed for them.
func (c *coordinator) removeKnown(ctx context.Context, rel string, b *changes) error {
	_, known, err := c.Store().Stat(ctx, rel)
	if known {
		b.Remove = append(b.Remove, rel)
	}
	return err
}

func (c *coordinator) lookBuffer(ctx context.Context, rel, text string, b *changes) error {
	reason := c.root.Check(rel)
	if reason == "" || reason == walk.TooLarge { // on disk; the buffer may have shrunk
		reason = c.root.Unfit([]byte(text))
	}
	b.private = b.private || reason.IsPrivate()
	if reason != "" {
		c.trees.drop(rel)
		return c.lookGone(ctx, rel, b)
	}
	c.looked(rel, here)
	hash := hashOf([]byte(text))
	known, err := c.known(ctx, rel)
	if err != nil {
		return err
	}
	if known != nil && *known == hash {
		return c.preferKnown(ctx, rel)
	}
	file, err := c.trees.analyze(rel, []byte(text))
	if err != nil {
		return err
	}
	c.prefer(rel, file.Imports)
	// ModTime stays 0: after a crash the disk is read again.
	b.Put = append(b.Put, finish(rel, []byte(text), hash, file))
	return nil
}

// prefer has a scan at work, or the next one, read what is near an open document before
// the rest.
func (c *coordinator) prefer(rel string, imports []syntax.Import) {
	_, known := c.near[rel]
	if c.near == nil {
		c.near = map[string][]syntax.Import{}
	}
	own := make([]syntax.Import, min(len(imports), maxNear))
	for i := range own { // what is kept must not keep the whole text
		im := &imports[i]
		own[i].Path = strings.Clone(im.Path)
		for _, name := range im.Names[:min(len(im.Names), maxNear)] {
			own[i].Names = append(own[i].Names, strings.Clone(name))
		}
	}
	c.near[rel] = own
	if c.scan != nil && !known {
		c.scan.queue.prefer(rel, own)
	}
}

// maxNear is how many imports of a document count, and how many names of each.
const maxNear = 100

// preferKnown is prefer for a document that is indexed as it is.
func (c *coordinator) preferKnown(ctx context.Context, rel string) error {
	if _, known := c.near[rel]; known {
		return nil
	}
	file, err := c.Store().ByPath(ctx, rel)
	if err != nil || file == nil {
		return err
	}
	c.prefer(rel, file.Syntax.Imports)
	return nil
}

// preferOpen is prefer for all open documents, when a scan begins.
func (c *coordinator) preferOpen(s *scan) {
	for rel := range c.near {
		if !c.isOpen(rel) {
			delete(c.near, rel)
		}
	}
	for _, rel := range c.openPaths() {
		s.queue.prefer(rel, c.near[rel])
	}
}

// recheckOpen looks again at the open documents of a folder whose rules a scan has just
// read, where those now say otherwise than the index has it. The scan itself leaves what
// is open alone, and no edit may come for long.
func (c *coordinator) recheckOpen(ctx context.Context, dir string) error {
	var changed []string
	for _, rel := range c.openPaths() {
		if dir != "" && !strings.HasPrefix(rel, dir+"/") {
			continue
		}
		_, known, err := c.Store().Stat(ctx, rel)
		if err != nil {
			return err
		}
		if known != (c.root.Check(rel) == "") {
			changed = append(changed, rel)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return c.refresh(ctx, changed)
}
