package headless

import (
	"context"
	"errors"
	"fmt"

	"quarry/lsp/text"
)

// Ghost is a shown inline completion item.
type Ghost struct {
	InsertText string
	// Start and End are the byte range of the buffer it would replace.
	Start, End int
	// Command is run after it is accepted, nil if it has none.
	Command *Command
}

// Suffix is what the editor draws in grey behind the cursor: the item's text
// without what already stands between its start and the cursor.
func (g *Ghost) Suffix(b *Buffer) string {
	return g.InsertText[min(len(g.InsertText), b.Cursor-g.Start):]
}

// Type types s at the cursor as a user does: a change for each character and,
// in an editor that shows ghost text, an automatic request after it. Ghost text
// that begins with what is typed stays on the screen and no request is needed,
// as all editors do.
func (e *Editor) Type(b *Buffer, s string) error {
	for _, r := range s {
		if err := e.Replace(b, b.Cursor, b.Cursor, string(r)); err != nil {
			return err
		}
		if g := b.Ghost; g != nil && len(g.InsertText) > b.Cursor-g.Start && b.Text.String()[g.Start:b.Cursor] == g.InsertText[:b.Cursor-g.Start] {
			g.End += len(string(r))
			continue
		}
		b.Ghost = nil
		if !e.opts.Profile.InlineCompletion {
			continue
		}
		if b.pending != nil && e.opts.Profile.CancelsOlder {
			if err := b.pending.Cancel(); err != nil {
				return err
			}
		}
		var err error
		if b.pending, err = e.Start("textDocument/inlineCompletion", e.InlineParams(b, false)); err != nil {
			return err
		}
	}
	return nil
}

// Settle waits for the request of the last typed character and shows its answer.
func (e *Editor) Settle(ctx context.Context, b *Buffer) error {
	if b.pending == nil {
		return nil
	}
	p := b.pending
	b.pending = nil
	return e.show(ctx, b, p)
}

// Complete asks for ghost text at the cursor and shows it.
func (e *Editor) Complete(ctx context.Context, b *Buffer, manual bool) error {
	p, err := e.Start("textDocument/inlineCompletion", e.InlineParams(b, manual))
	if err != nil {
		return err
	}
	b.pending = nil
	return e.show(ctx, b, p)
}

type inlineItem struct {
	InsertText string
	Range      *lspRange
	Command    *Command
}

type lspRange struct{ Start, End text.Position }

// show waits for p's answer and puts the first item on the screen.
func (e *Editor) show(ctx context.Context, b *Buffer, p *Pending) error {
	stop := context.AfterFunc(ctx, func() { _ = p.Cancel() })
	defer stop()
	var list struct{ Items []inlineItem }
	b.Ghost = nil
	if err := p.Wait(&list); err != nil {
		return fmt.Errorf("inline completion: %w", err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	item := list.Items[0]
	if item.Range == nil {
		return errors.New("an inline completion item has no range")
	}
	start, err := b.Text.PositionToOffset(item.Range.Start, e.encoding)
	if err != nil {
		return err
	}
	end, err := b.Text.PositionToOffset(item.Range.End, e.encoding)
	if err != nil {
		return err
	}
	if start > b.Cursor || end < b.Cursor || b.Text.LineAt(start) != b.Text.LineAt(end) {
		return fmt.Errorf("the item replaces bytes %d to %d, which is not around the cursor at %d within its line", start, end, b.Cursor)
	}
	b.Ghost = &Ghost{InsertText: item.InsertText, Start: start, End: end, Command: item.Command}
	return nil
}

// Accept puts the ghost text into the buffer and runs its command.
func (e *Editor) Accept(b *Buffer) error {
	if b.Ghost == nil {
		return errors.New("there is no ghost text to accept")
	}
	g := *b.Ghost
	b.Ghost = nil
	if err := e.Replace(b, g.Start, g.End, g.InsertText); err != nil || g.Command == nil {
		return err
	}
	return e.Call(context.Background(), "workspace/executeCommand", g.Command, nil)
}

// InlineParams are the params of an inline completion request at the cursor.
func (e *Editor) InlineParams(b *Buffer, manual bool) any {
	kind := 2
	if manual {
		kind = 1
	}
	return map[string]any{
		"textDocument": map[string]any{"uri": b.URI},
		"position":     e.position(b, b.Cursor),
		"context":      map[string]any{"triggerKind": kind},
	}
}
