package patch

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/agent"
)

// Edit replaces ranges of one file, which agent.RangeEdit describes. The edits
// are all meant for the text as it is now; they must not overlap. Replacements
// take on the document's line endings. The error is that of Patch.
func (p *Patcher) Edit(ctx context.Context, name string, edits []agent.RangeEdit) (agent.Proposal, error) {
	path, err := p.files.Locate(ctx, name)
	if err != nil {
		if ctx.Err() != nil {
			return agent.Proposal{}, ctx.Err()
		}
		return agent.Proposal{}, notLocated(name, err)
	}
	t, err := p.open(path, p.files.Name(path))
	if err != nil {
		return agent.Proposal{}, err
	}
	size := 0
	src := cut(t.doc.Text)
	var list []agent.TextEdit
	for _, e := range edits {
		if size += len(e.Replacement); size > maxDiff {
			return agent.Proposal{}, t.refuse(refuse(TooLarge, "the replacements have more than %d KB; change less at a time", maxDiff>>10))
		}
		edit, refusal := src.edit(e)
		if refusal != nil {
			return agent.Proposal{}, t.refuse(refusal)
		}
		list = append(list, edit)
	}
	slices.SortStableFunc(list, func(a, b agent.TextEdit) int { return a.Start - b.Start })
	for i := 1; i < len(list); i++ {
		if list[i].Start < list[i-1].End {
			return agent.Proposal{}, t.refuse(refuse(Conflict, "two edits overlap; write one for both"))
		}
	}
	for _, e := range list {
		t.edits = append(t.edits, minimal(t.doc.Text, e.Start, e.End, e.New)...)
	}
	if err := t.check(ctx); err != nil {
		return agent.Proposal{}, err
	}
	return propose([]*target{t})
}

// Change makes a proposal of edits of the document that changes are about, or of
// the file at path, by bytes. They are sorted and do not overlap; new syntax
// errors refuse them.
func (p *Patcher) Change(ctx context.Context, path string, edits []agent.TextEdit) (agent.Proposal, error) {
	t, err := p.open(path, p.files.Name(path))
	if err != nil {
		return agent.Proposal{}, err
	}
	t.edits = edits
	if err := t.check(ctx); err != nil {
		return agent.Proposal{}, err
	}
	return propose([]*target{t})
}

// Changes implements agent.Patcher. However many files it touches, all of it is taken or
// nothing: what gives a name to many places is no change that could be halved.
func (p *Patcher) Changes(ctx context.Context, files []agent.FileEdits) (agent.Proposal, error) {
	var targets []*target
	for _, f := range files {
		if ctx.Err() != nil {
			return agent.Proposal{}, ctx.Err()
		}
		t, err := p.open(f.Path, p.files.Name(f.Path))
		if err != nil {
			return agent.Proposal{}, err
		}
		t.edits = f.Edits
		if err := t.check(ctx); err != nil {
			return agent.Proposal{}, err
		}
		targets = append(targets, t)
	}
	return propose(targets)
}

// edit is a range edit by bytes.
func (s *source) edit(e agent.RangeEdit) (agent.TextEdit, *Refusal) {
	if !utf8.ValidString(e.Replacement) || strings.IndexByte(e.Replacement, 0) >= 0 {
		return agent.TextEdit{}, refuse(Unsupported, "the replacement is no text")
	}
	start, refusal := s.offset(e.StartLine, e.StartCol)
	if refusal != nil {
		return agent.TextEdit{}, refusal
	}
	end, refusal := s.offset(e.EndLine, e.EndCol)
	if refusal != nil {
		return agent.TextEdit{}, refusal
	}
	if end < start {
		return agent.TextEdit{}, refuse(Incomplete, "the edit ends at %d:%d, before it begins at %d:%d", e.EndLine, e.EndCol, e.StartLine, e.StartCol)
	}
	eol := s.eolNear(e.StartLine-1, e.EndLine-1)
	text := strings.ReplaceAll(e.Replacement, "\r\n", "\n")
	return agent.TextEdit{Start: start, End: end, New: strings.ReplaceAll(text, "\n", eol)}, nil
}

// offset is the byte at a 1-based line and a 0-based column in characters. The
// place below the last line's ending is a line, too.
func (s *source) offset(line, column int) (int, *Refusal) {
	n := len(s.lines)
	if line == n+1 && column == 0 && s.ended() {
		return s.starts[n], nil
	}
	if line < 1 || line > n {
		return 0, refuse(NotFound, "there is no line %d; the file has %d", line, n)
	}
	text := s.lines[line-1].text
	at := 0
	for range column {
		_, width := utf8.DecodeRuneInString(text[at:])
		if width == 0 {
			return 0, refuse(NotFound, "there is no column %d in line %d, which has %d characters; columns count from 0", column, line, utf8.RuneCountInString(text))
		}
		at += width
	}
	if column < 0 {
		return 0, refuse(NotFound, "there is no column %d; columns count from 0", column)
	}
	return s.starts[line-1] + at, nil
}
