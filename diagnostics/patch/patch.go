// Package patch turns what a model writes as a change into a proposal, or says
// why not.
//
// Small models get the words of a diff right and its form wrong: line numbers,
// counts, file headers, markers and white space are often missing or off, and
// there are words and fences around. So the reader (read.go) forgives the form,
// and placing (match.go, place.go, rules.go) forgives white space and, as patch(1) does,
// two lines of context at each end. What it never forgives is the words of a
// removed line, and a hunk that fits in more than one place with nothing to tell
// which: that is refused with the lines in question, so that the model or the
// user can write it better. The result is parsed again and refused if it has
// syntax errors that the document had not (check.go).
//
// Blocks of lines to search for and what replaces them are read as hunks (block.go). For
// a change that is about one document, a declaration written whole does in place of a
// diff (whole.go).
//
// Well-formed diffs are read by the same code; tests hold it against
// github.com/bluekeyes/go-gitdiff.
//
// Edits come out in the document's own line endings, kind of indentation and
// state of the last line, and as small as they can be, so that cursors and
// markers stay where they are. A hunk that was plainly made from this very text
// (its counts, its line and every blank are right) is taken as it is.
package patch

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/agent"
)

const (
	// maxDiff is the longest diff that is read, in bytes: far above what a small
	// model writes in one answer.
	maxDiff = 256 << 10
	// maxDocument is the largest document that is changed, the size up to which
	// files are indexed and more.
	maxDocument = 4 << 20
	// maxFiles is how many files one change may touch. A user reads them all.
	maxFiles = 20
)

// Patcher makes proposals for the documents as they are now. It implements
// agent.Patcher and is safe for concurrent use.
type Patcher struct {
	files agent.Files
	// about, if not nil, is the document that changes are about; also admits
	// further files.
	about *agent.Document
	also  func(path string) bool
	off   Rule // rules that are not to be used
}

var _ agent.Patcher = (*Patcher)(nil)

// New makes a patcher for the files that may be named.
func New(files agent.Files) *Patcher { return &Patcher{files: files} }

// For is the patcher of changes that are asked for one document: they are made
// for its text as it is given, may leave out its name, may be whole declarations
// in place of a diff, and touch no other file but those that also admits by their
// absolute paths. also may be nil.
func (p *Patcher) For(doc agent.Document, also func(path string) bool) *Patcher {
	return &Patcher{files: p.files, about: &doc, also: also, off: p.off}
}

// Changeable is why the document of For cannot be changed at all, nil if it can: a
// *Refusal if it is too large, binary, or not to be changed.
func (p *Patcher) Changeable() error {
	_, err := p.open(p.about.Path, p.files.Name(p.about.Path))
	return err
}

// Reading is a proposal and how it was read.
type Reading struct {
	agent.Proposal
	// Forgiven says that a hunk fitted only with its indentation changed, or
	// without some of its context.
	Forgiven bool
	// Rewritten are the declarations that were written anew instead of a diff.
	Rewritten []string
}

// Patch implements agent.Patcher; see Read.
func (p *Patcher) Patch(ctx context.Context, diff string) (agent.Proposal, error) {
	r, err := p.Read(ctx, diff)
	return r.Proposal, err
}

// Read reads a unified diff in a model's answer, with or without words around
// it. The error is a *Refusal, which is an *agent.Failure to errors.As, or that
// of a cancelled ctx. All of the diff is taken or nothing of it.
func (p *Patcher) Read(ctx context.Context, diff string) (Reading, error) {
	if len(diff) > maxDiff {
		return Reading{}, refuse(TooLarge, "the diff has %d KB, %d are read; change less at a time", len(diff)>>10, maxDiff>>10)
	}
	if !utf8.ValidString(diff) {
		return Reading{}, refuse(NoDiff, "the diff is not UTF-8 text")
	}
	var blockRule Rule
	var files []*fileDiff
	var refusal *Refusal
	if p.off&SearchBlock == 0 {
		files, refusal = blocks(diff)
	}
	if len(files) > 0 {
		blockRule = SearchBlock
	} else if refusal == nil {
		files, refusal = read(diff)
	}
	if refusal != nil {
		if p.about == nil || refusal.Reason != NoDiff || p.off&WholeDeclaration != 0 {
			return Reading{}, refusal
		}
		t, found, err := p.whole(ctx, diff)
		if err != nil {
			return Reading{}, err
		}
		if !found {
			return Reading{}, refusal
		}
		proposal, err := propose([]*target{t})
		proposal.Rules = WholeDeclaration.names()
		return Reading{Proposal: proposal, Rewritten: t.rewritten}, err
	}
	if len(files) > maxFiles {
		return Reading{}, refuse(TooLarge, "it changes %d files, at most %d are taken; change less at a time", len(files), maxFiles)
	}
	byPath := map[string]*target{}
	var targets []*target
	for _, f := range files {
		t, err := p.target(ctx, f)
		if err != nil {
			return Reading{}, err
		}
		if byPath[t.doc.Path] != nil {
			return Reading{}, t.refuse(refuse(Conflict, "the diff has it under two names or twice; write all hunks of a file under one header"))
		}
		byPath[t.doc.Path] = t
		targets = append(targets, t)
	}
	for i, t := range targets {
		if err := t.apply(ctx, files[i], p.off); err != nil {
			return Reading{}, err
		}
	}
	proposal, err := propose(targets)
	rules := blockRule
	for _, t := range targets {
		rules |= t.rules
	}
	proposal.Rules = rules.names()
	return Reading{Proposal: proposal, Forgiven: rules&(Indentation|InnerSpace|SkippedBlanks|Fuzz) != 0}, err
}

// allAdded says whether a diff has nothing but added lines, as that of a new file
// has.
func (f *fileDiff) allAdded() bool {
	return len(f.hunks) > 0 && !slices.ContainsFunc(f.hunks, func(h *hunk) bool {
		return slices.ContainsFunc(h.body, func(l bodyLine) bool { return l.op != '+' && !l.blank() })
	})
}

// apply computes the edits of one file and tries them; off are the rules that are not
// to be used.
func (t *target) apply(ctx context.Context, f *fileDiff, off Rule) error {
	if t.doc.Text == "" { // a new file, or one that is still empty
		if len(f.hunks) > 0 && !f.allAdded() {
			return t.refuse(refuse(NotFound, "the file is empty or new, but the diff has old lines; begin every line with +"))
		}
		return t.fill(ctx, f)
	}
	src := cut(t.doc.Text)
	placed, refusal := place(ctx, src, f.hunks, maxCompared, off)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refusal != nil {
		return t.refuse(refusal)
	}
	texts := make([]string, len(src.lines))
	for i, l := range src.lines {
		texts[i] = l.text
	}
	h := habitOf(texts)
	var list []change
	for _, m := range placed {
		t.rules |= m.rules
		list = append(list, m.changes(src, h, t.doc.Language)...)
	}
	list, refusal = ordered(list)
	if refusal != nil {
		return t.refuse(refusal)
	}
	for _, c := range list {
		t.edits = append(t.edits, src.edits(t.doc.Text, c)...)
	}
	return t.check(ctx)
}

// fill gives a file that has no text its first.
func (t *target) fill(ctx context.Context, f *fileDiff) error {
	var lines []string
	ended := true
	for _, h := range f.hunks {
		for _, l := range h.body {
			if elides(l) {
				return t.refuse(refuse(Elided, "%q stands for lines; write the whole file", shorten(l.text)))
			}
			lines = append(lines, l.text)
			ended = !l.last
		}
	}
	text := strings.Join(lines, "\n")
	if ended && len(lines) > 0 {
		text += "\n"
	}
	if text != "" {
		t.edits = []agent.TextEdit{{New: text}}
	}
	return t.check(ctx)
}

// propose makes one proposal of all files.
func propose(targets []*target) (agent.Proposal, error) {
	var p agent.Proposal
	var diff strings.Builder
	for _, t := range targets {
		if len(t.edits) == 0 && !t.create {
			continue
		}
		p.Files = append(p.Files, agent.FileChange{
			Path: t.doc.Path, Base: agent.HashText(t.doc.Text), Edits: t.edits, Create: t.create,
		})
		diff.WriteString(Unified(t.name, t.doc.Text, t.edits, t.create))
	}
	if len(p.Files) == 0 {
		return agent.Proposal{}, refuse(Unchanged, "it changes nothing: the added lines are the removed ones")
	}
	p.Diff = diff.String()
	p.Title = title(targets)
	return p, nil
}

// title names what is changed; whoever knows why names it better.
func title(targets []*target) string {
	verb := "Change "
	if len(targets) == 1 && targets[0].create {
		verb = "Create "
	}
	names := make([]string, 0, 3)
	for i, t := range targets {
		if i == 2 && len(targets) > 3 {
			names = append(names, "and others")
			break
		}
		names = append(names, t.name)
	}
	return verb + strings.Join(names, ", ")
}
