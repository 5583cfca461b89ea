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
	"quarry/index/lang"
	"quarry/index/walk"
	"quarry/retrieval/workspace"
)

// target is a file that a change is about.
type target struct {
	name   string // as people and models call it; once it is found, as Files does
	doc    agent.Document
	create bool
	edits  []agent.TextEdit
	// rules are those that its hunks needed, rewritten is Reading's for this file.
	rules     Rule
	rewritten []string
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
			if p.about != nil && meansAmong(err, p.files.Name(p.about.Path)) {
				return p.open(p.about.Path, p.files.Name(p.about.Path))
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
		// A diff with the model's own name of it, such as an absolute path, would not apply.
		t.name = p.files.Name(t.doc.Path)
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

// meansAmong says whether a name that several folders have may mean the file called
// own.
func meansAmong(err error, own string) bool {
	var several *workspace.Ambiguous
	return errors.As(err, &several) && slices.Contains(several.Choices, own)
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
		t.doc.Language = lang.Detect(filepath.Base(path), []byte(text[:min(len(text), 8000)]))
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
	return &target{name: p.files.Name(path), create: true, doc: agent.Document{Path: path, Language: lang.Detect(filepath.Base(path), nil)}}, nil
}

// allowed is the last look at where a change goes. Files confines names to what
// may be read; whatever it is, a change goes neither into version control nor
// into what holds secrets, nor anywhere else than it was asked for.
func (p *Patcher) allowed(path, name string) error {
	within := p.files.Name(path) // what the folder itself is called is nobody's fault
	switch {
	case slices.ContainsFunc(strings.Split(within, "/"), walk.IsGit):
		return &Refusal{NotAllowed, name, 0, "what belongs to version control is not changed"}
	case walk.IsSecret(within):
		return &Refusal{NotAllowed, name, 0, "a file that may hold secrets is not changed"}
	case p.about != nil && path != p.about.Path && (p.also == nil || !p.also(path)):
		return &Refusal{NotAllowed, name, 0, "only " + p.files.Name(p.about.Path) + " may be changed here"}
	}
	return nil
}
