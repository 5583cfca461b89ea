package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/index/lang"
	"quarry/index/walk"
	"quarry/retrieval/workspace"
)

// An index that is whole has gaps all the same: what is left out of it, what cannot be read, and
// files that the parser gave up on, which it knows by their lines only. An answer that may lack
// something for that says so.

// only says that an answer is of what is indexed, where it is nothing, and counts what is not.
func (b *Toolbox) only(ctx context.Context, r *reply) error {
	left, err := b.parts.Workspace.LeftOut(ctx)
	if said := workspace.OnlyIndexed(left); said != "" {
		r.warn(said)
	}
	return err
}

// nothing says what a search that found nothing did not look at.
func (b *Toolbox) nothing(ctx context.Context, r *reply, answer workspace.Answer) error {
	if answer.Total > 0 {
		return nil
	}
	if answer.NotSearched[workspace.Unparsed] > 0 { // and a declaration was asked for
		return b.gaps(ctx, r, "", "", false)
	}
	return b.only(ctx, r)
}

// unread warns of what cannot be read, where an answer that has something may lack more.
func (b *Toolbox) unread(ctx context.Context, r *reply) error {
	left, err := b.parts.Workspace.LeftOut(ctx)
	if n := left[string(walk.Unreadable)]; n > 0 {
		r.warn(fmt.Sprintf("incomplete: files or folders that quarry cannot read, and did not search: %d", n))
	}
	return err
}

// leftOut says why a file is not indexed, "" if that is not known, or it is no file.
func (b *Toolbox) leftOut(ctx context.Context, name string) string {
	path, err := b.parts.Workspace.Locate(ctx, name)
	if err == nil {
		_, err = b.parts.Workspace.Text(path)
	}
	var excluded *walk.Excluded
	if !errors.As(err, &excluded) || excluded.Reason == walk.Special || excluded.Reason == walk.Outside {
		return ""
	}
	return fmt.Sprintf("%s is not indexed: %s", clip(name, 200), excluded.Reason)
}

const (
	// maxPlainRead is how many files that are known by their lines are looked into for a name.
	maxPlainRead = 64
	// maxPlainNamed is how many of them a warning names.
	maxPlainNamed = 5
)

// plain warns of the files of code that are known by their lines only, where an answer may lack
// what they declare and use: of those that keep takes, or all if it is nil, and that mention
// name, or all if that is "".
func (b *Toolbox) plain(ctx context.Context, r *reply, name string, keep func(workspace.Plain) bool) error {
	list, err := b.parts.Workspace.Plain(ctx)
	if err != nil {
		return err
	}
	name = strings.ToLower(name)
	read := 0
	var names []string
	for _, f := range list {
		if !f.IsCode() || keep != nil && !keep(f) {
			continue
		}
		if name != "" && read < maxPlainRead {
			read++
			if text, err := b.parts.Workspace.Text(f.Path); err == nil && !strings.Contains(strings.ToLower(text), name) {
				continue
			}
		}
		names = append(names, f.Name)
	}
	switch n := len(names); {
	case n == 1:
		r.warn(workspace.NotParsed(n, names[0]+"; search_text finds what it says"))
	case n > 1:
		r.warn(workspace.NotParsed(n, strings.Join(names[:min(n, maxPlainNamed)], ", ")+"; search_text finds what they say"))
	}
	return nil
}

// gaps says what an answer about uses and declarations near those of a symbol may lack; name is
// what all that it lacks would mention, "" if that is not known. found: the answer has something.
func (b *Toolbox) gaps(ctx context.Context, r *reply, like, name string, found bool) error {
	family := lang.Family(lang.Detect(like, nil))
	keep := func(f workspace.Plain) bool { return like == "" || lang.Family(lang.Detect(f.Name, nil)) == family }
	if err := b.plain(ctx, r, name, keep); err != nil {
		return err
	}
	if found {
		return b.unread(ctx, r)
	}
	return b.only(ctx, r)
}

// lastName is the last part of a name as a question has it.
func lastName(name string) string {
	name = strings.TrimSuffix(strings.TrimSpace(name), "()")
	if before, n, ok := strings.Cut(name, "~"); ok && strings.Trim(n, "0123456789") == "" {
		name = before
	}
	return name[strings.LastIndexAny(name, ".:#/")+1:]
}
