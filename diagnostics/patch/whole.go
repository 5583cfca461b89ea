package patch

import (
	"context"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/index/syntax"
)

// Asked for a diff, small models like to write the changed function whole. Where a
// change is about one document, and the answer holds one piece of code that is
// nothing but declarations the document has under the same names, each takes the
// place of its namesake. What it loses on the way shows in the diff of the
// proposal, and Reading.Rewritten names it.

// whole reads an answer without a diff. It answers false if there is no code
// in it.
func (p *Patcher) whole(ctx context.Context, answer string) (*target, bool, error) {
	code, n := codeIn(answer)
	if n == 0 {
		return nil, false, nil
	}
	t, err := p.open(p.about.Path, p.files.Name(p.about.Path))
	if err != nil {
		return nil, true, err
	}
	refused := func(reason Reason, format string, args ...any) (*target, bool, error) {
		return nil, true, t.refuse(refuse(reason, format, args...))
	}
	const instead = "write a unified diff: --- a/FILE, +++ b/FILE, @@, then lines that begin with a blank, - or +"
	if n > 1 {
		return refused(Incomplete, "there is code in several pieces, but no diff; %s", instead)
	}
	for line := range strings.Lines(code) {
		if elides(bodyLine{op: '+', text: line}) {
			return refused(Elided, "%q stands for lines; %s", shorten(line), instead)
		}
	}
	pieces, ok := declarations(t.doc.Language, code)
	if !ok {
		return refused(Incomplete, "there is code, but no diff, and where it belongs is not clear; %s", instead)
	}
	if lost := leftover(code, pieces, t.doc.Text); lost != "" {
		return refused(Incomplete, "there is code, but no diff, and where %q belongs is not clear; %s", shorten(lost), instead)
	}
	file, err := syntax.Analyze(t.doc.Language, []byte(t.doc.Text))
	if err != nil {
		return nil, true, err
	}
	src := cut(t.doc.Text)
	for _, d := range pieces {
		namesakes := slices.DeleteFunc(slices.Clone(file.Symbols), func(s syntax.Symbol) bool {
			return s.Name != d.Name || s.Kind != d.Kind && !(callable(s.Kind) && callable(d.Kind)) || d.Container != "" && s.Container != d.Container
		})
		if len(namesakes) != 1 {
			return refused(Incomplete, "there is code, but no diff, and the file declares %s %d times; %s", d.Name, len(namesakes), instead)
		}
		t.edits = append(t.edits, src.replace(t.doc.Text, namesakes[0], d, code)...)
		t.rewritten = append(t.rewritten, d.Name)
	}
	slices.SortFunc(t.edits, func(a, b agent.TextEdit) int { return a.Start - b.Start })
	return t, true, t.check(ctx)
}

func callable(k syntax.Kind) bool { return k == syntax.KindFunction || k == syntax.KindMethod }

// codeIn is the code of an answer's fences, and how many have any.
func codeIn(answer string) (code string, n int) {
	lines := strings.Split(strings.ReplaceAll(answer, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		open := fenceLine.FindStringSubmatch(lines[i])
		if open == nil {
			continue
		}
		end := closing(lines, i+1, open[1], open[2])
		if inside := strings.Join(outdented(lines[i+1:end], open[1]), "\n"); strings.TrimSpace(inside) != "" {
			code = inside + "\n"
			n++
		}
		i = end
	}
	return code, n
}

// declarations are those of some code that no other is around. The code must
// parse.
func declarations(language, code string) (list []syntax.Symbol, ok bool) {
	if faults, ok := syntax.ParseErrors(language, []byte(code)); !ok || len(faults) > 0 {
		return nil, false
	}
	file, err := syntax.Analyze(language, []byte(code))
	if err != nil {
		return nil, false
	}
	for _, s := range file.Symbols {
		if s.Kind == syntax.KindModule { // a package clause
			continue
		}
		if !slices.ContainsFunc(file.Symbols, func(o syntax.Symbol) bool {
			return o.Kind != syntax.KindModule && o.Span.Start <= s.Span.Start && s.Span.End <= o.Span.End && o.Span != s.Span
		}) {
			list = append(list, s)
		}
	}
	return list, len(list) > 0
}

// leftover is a line of code outside of all declarations that the document has
// not, "" if there is none.
func leftover(code string, pieces []syntax.Symbol, document string) string {
	has := map[string]bool{"": true}
	for line := range strings.Lines(document) {
		has[spaced.norm(line)] = true
	}
	number := uint32(0)
	for line := range strings.Lines(code) {
		number++
		inside := slices.ContainsFunc(pieces, func(s syntax.Symbol) bool { return s.Span.StartLine <= number && number <= s.Span.EndLine })
		if !inside && !has[spaced.norm(line)] {
			return line
		}
	}
	return ""
}

// replace is the declaration d of some code in the place of its namesake: with
// the namesake's indentation, and its doc comment if d has none.
func (s *source) replace(text string, namesake, d syntax.Symbol, code string) []agent.TextEdit {
	made := strings.Split(code, "\n")[d.Span.StartLine-1 : d.Span.EndLine]
	from, to := int(namesake.Span.StartLine)-1, int(namesake.Span.EndLine)
	for i := from; i < to; i++ { // below the doc comment, and what else stands above
		if spaced.norm(s.lines[i].text) == spaced.norm(made[0]) {
			from = i
			break
		} else if d.Doc == "" && namesake.Doc != "" && i == int(namesake.NameSpan.StartLine)-1 {
			from = i
		}
	}
	more, less := shift(indentOf(made[0]), indentOf(s.lines[from].text))
	in := &indentation{more: more, less: less, shifted: true}
	var texts []string
	for _, l := range s.lines {
		texts = append(texts, l.text)
	}
	added := habitOf(texts).adapt(made)
	for i, l := range added {
		if added[i] = trailing.norm(l); added[i] != "" {
			added[i] = in.apply(added[i])
		}
	}
	return s.edits(text, change{from: from, to: to, added: added})
}
