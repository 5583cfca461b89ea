// Package patch turns what a model writes as a change into a proposal, or says
// why not.
//
// Small models get the words of a diff right and its form wrong: line numbers,
// counts, file headers, markers and white space are often missing or off, and
// there are words and fences around. So the reader (read.go) forgives the form,
// and placing (match.go, place.go) forgives white space and, as patch(1) does,
// two lines of context at each end. What it never forgives is the words of a
// removed line, and a hunk that fits in more than one place with nothing to tell
// which: that is refused with the lines in question, so that the model or the
// person can write it better. The result is parsed again and refused if it has
// syntax errors that the document had not (check.go).
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
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/agent"
	"quarry/index/syntax"
	"quarry/index/walk"
)

const (
	// maxDiff is the longest diff that is read, in bytes: far above what a small
	// model writes in one answer.
	maxDiff = 256 << 10
	// maxDocument is the largest document that is changed, the size up to which
	// files are indexed and more.
	maxDocument = 4 << 20
	// maxFiles is how many files one change may touch. A person reads them all.
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
}

var _ agent.Patcher = (*Patcher)(nil)

// New makes a patcher for the files that may be named.
func New(files agent.Files) *Patcher { return &Patcher{files: files} }

// For is the patcher of changes that are asked for one document: they are made
// for its text as it is given, may leave out its name, and touch no other file
// but those that also admits by their absolute paths. also may be nil.
func (p *Patcher) For(doc agent.Document, also func(path string) bool) *Patcher {
	return &Patcher{files: p.files, about: &doc, also: also}
}

// Reading is a proposal and how it was read.
type Reading struct {
	agent.Proposal
	// Forgiven says that a hunk fitted only with its indentation changed, or
	// without some of its context.
	Forgiven bool
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
	files, refusal := read(diff)
	if refusal != nil {
		return Reading{}, refusal
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
		if err := t.apply(files[i]); err != nil {
			return Reading{}, err
		}
	}
	proposal, err := propose(targets)
	r := Reading{Proposal: proposal}
	for _, t := range targets {
		r.Forgiven = r.Forgiven || t.forgiven
	}
	return r, err
}

// target is a file that a change is about.
type target struct {
	name   string // as people and models call it
	doc    agent.Document
	create bool
	edits  []agent.TextEdit
	// forgiven is Reading's for this file.
	forgiven bool
}

func (t *target) refuse(r *Refusal) *Refusal {
	r.Path = t.name
	return r
}

// target finds the document that a diff's header means.
func (p *Patcher) target(ctx context.Context, f *fileDiff) (*target, error) {
	shown := f.new.path
	if shown == "" {
		shown = f.old.path
	}
	if f.refused != nil {
		f.refused.Path = shown
		return nil, f.refused
	}
	if shown == "" {
		if p.about == nil {
			return nil, refuse(NoFile, "it does not say which file it changes; begin with --- a/FILE and +++ b/FILE")
		}
		return p.open(p.about.Path, p.files.Name(p.about.Path))
	}
	if p.about != nil && !f.create && slices.ContainsFunc(candidateNames(f), p.meansAbout) {
		return p.open(p.about.Path, p.files.Name(p.about.Path))
	}
	var first error
	var found []*target
	for _, n := range candidateNames(f) {
		at, err := p.files.Locate(ctx, n)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if first == nil {
				first = err
			}
			continue
		}
		if slices.ContainsFunc(found, func(t *target) bool { return t.doc.Path == at }) {
			continue
		}
		t, err := p.open(at, n)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	if f.old.path != "" && f.new.path != "" && f.old.path != f.new.path && len(found) > 0 && found[0].name != f.new.path && found[0].name != f.new.prefixed {
		return nil, &Refusal{Unsupported, shown, 0, "it renames the file; change the lines where the file is"}
	}
	switch {
	case len(found) > 0:
		t := found[0] // the name without git's prefix, if there is such a file
		if f.create && t.doc.Text != "" {
			return nil, t.refuse(refuse(Conflict, "it says that the file is new, but it exists; write the change against what is there"))
		}
		return t, nil
	case f.create || f.allAdded() && errors.Is(first, fs.ErrNotExist):
		return p.vacant(ctx, shown)
	case p.about != nil && errors.Is(first, fs.ErrNotExist) && path.Base(shown) == filepath.Base(p.about.Path):
		return p.open(p.about.Path, p.files.Name(p.about.Path)) // in a folder that there is not
	}
	return nil, notLocated(shown, first)
}

// meansAbout says whether a name is that of the document that changes are about,
// which need not be one that Files locates: who asked has it open.
func (p *Patcher) meansAbout(name string) bool {
	return name == p.files.Name(p.about.Path) || filepath.IsAbs(name) && filepath.Clean(name) == p.about.Path
}

// candidateNames are what a header may mean, the likeliest first.
func candidateNames(f *fileDiff) []string {
	var list []string
	for _, n := range []string{f.new.path, f.new.prefixed, f.old.path, f.old.prefixed} {
		if n != "" && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

func notLocated(name string, err error) *Refusal {
	if errors.Is(err, fs.ErrNotExist) {
		return &Refusal{NoFile, name, 0, "there is no such file; name one that list_files shows, or begin with --- /dev/null to make it"}
	}
	return outOfBounds(name, err)
}

// outOfBounds is the refusal of a name that may not be used.
func outOfBounds(name string, err error) *Refusal {
	var excluded *walk.Excluded
	if errors.As(err, &excluded) {
		return &Refusal{NotAllowed, name, 0, fmt.Sprintf("it may not be changed: %s", excluded.Reason)}
	}
	return &Refusal{NotAllowed, name, 0, err.Error()}
}

// open reads a document that is to be changed.
func (p *Patcher) open(path, name string) (*target, error) {
	if err := p.allowed(path, name); err != nil {
		return nil, err
	}
	t := &target{name: name}
	if p.about != nil && path == p.about.Path {
		t.doc = *p.about
	} else {
		text, err := p.files.Text(path)
		if err != nil {
			return nil, notLocated(name, err)
		}
		t.doc = agent.Document{Path: path, Text: text}
	}
	text := t.doc.Text
	switch {
	case len(text) > maxDocument:
		return nil, t.refuse(refuse(TooLarge, "the file has %d MB, up to %d are changed", len(text)>>20, maxDocument>>20))
	case strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text):
		return nil, t.refuse(refuse(Unsupported, "it is a binary file, or no UTF-8 text"))
	}
	if t.doc.Language == "" {
		t.doc.Language = syntax.Detect(filepath.Base(path), []byte(text[:min(len(text), 8000)]))
	}
	return t, nil
}

// vacant is a file that is to be made.
func (p *Patcher) vacant(ctx context.Context, name string) (*target, error) {
	path, err := p.files.LocateNew(ctx, name)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, outOfBounds(name, err)
	}
	if err := p.allowed(path, name); err != nil {
		return nil, err
	}
	return &target{name: name, create: true, doc: agent.Document{Path: path, Language: syntax.Detect(filepath.Base(path), nil)}}, nil
}

// allowed is the last look at where a change goes. Files confines names to what
// may be read; whatever it is, a change goes neither into version control nor
// into what holds secrets, nor anywhere else than it was asked for.
func (p *Patcher) allowed(path, name string) error {
	within := p.files.Name(path) // what the folder itself is called is nobody's fault
	switch {
	case slices.ContainsFunc(strings.Split(within, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }):
		return &Refusal{NotAllowed, name, 0, "what belongs to version control is not changed"}
	case walk.IsSecret(within):
		return &Refusal{NotAllowed, name, 0, "a file that may hold secrets is not changed"}
	case p.about != nil && path != p.about.Path && (p.also == nil || !p.also(path)):
		return &Refusal{NotAllowed, name, 0, "only " + p.files.Name(p.about.Path) + " may be changed here"}
	}
	return nil
}

// allAdded says whether a diff has nothing but added lines, as that of a new file
// has.
func (f *fileDiff) allAdded() bool {
	return len(f.hunks) > 0 && !slices.ContainsFunc(f.hunks, func(h *hunk) bool {
		return slices.ContainsFunc(h.body, func(l bodyLine) bool { return l.op != '+' && !l.blank() })
	})
}

// apply computes the edits of one file and tries them.
func (t *target) apply(f *fileDiff) error {
	if t.doc.Text == "" { // a new file, or one that is still empty
		if len(f.hunks) > 0 && !f.allAdded() {
			return t.refuse(refuse(NotFound, "the file is empty or new, but the diff has old lines; begin every line with +"))
		}
		return t.fill(f)
	}
	src := cut(t.doc.Text)
	placed, refusal := place(src, f.hunks, maxCompared)
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
		t.forgiven = t.forgiven || m.rough || m.level >= indented
		list = append(list, m.changes(src, h, t.doc.Language)...)
	}
	list, refusal = ordered(list)
	if refusal != nil {
		return t.refuse(refusal)
	}
	for _, c := range list {
		t.edits = append(t.edits, src.edits(t.doc.Text, c)...)
	}
	return t.check()
}

// fill gives a file that has no text its first.
func (t *target) fill(f *fileDiff) error {
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
	return t.check()
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
