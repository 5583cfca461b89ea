package completion

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Snippet is code of another place shown to the model, and why.
type Snippet struct {
	Root, Path string // as in [Document]
	// StartLine and EndLine are 1-based and inclusive.
	StartLine, EndLine int
	Text               string
	// Within is the line that opens what the snippet is a member of, "" at file
	// level: members of one stand below it together.
	Within string
	// Why is for the user: "definition of parseRange", say.
	Why string
}

func (s *Snippet) file() fileKey { return fileKey{s.Root, s.Path} }

// group is the file of a snippet and what it is a member of.
type group struct {
	file   fileKey
	within string
}

func (s *Snippet) group() group { return group{s.file(), s.Within} }

// maxSuffixTokens bounds a suffix however large the context is: it stands behind
// a prefix that grew, so each request reads it again. The lines behind it stand in
// the head, and 512 tokens of suffix completed no more lines (bench/models.md).
const maxSuffixTokens = 128

// headTokens is kept free for the style header.
const headTokens = 48

// share divides the context window. What the user set is lowered in
// proportion where it does not fit.
func (o *Options) share(factor float64) limits {
	room := o.ContextTokens - o.MaxTokens - headTokens - 16 // 16: tags and chat wrapper
	suffix := min(o.SuffixTokens, maxSuffixTokens, room/8)
	room -= suffix
	snippets, prefix := o.SnippetTokens, o.PrefixTokens
	if o.Context == nil {
		snippets = 0
	}
	if snippets+prefix > room {
		prefix = room * prefix / (snippets + prefix)
		snippets = room - prefix
	}
	raw := func(tokens int) int { return int(float64(max(tokens, 0)) / factor) }
	return limits{prefix: raw(prefix), suffix: raw(suffix), snippets: raw(snippets)}
}

// pick chooses the snippets that fit the budget, the first found first. It puts
// those that the last prompt had before the others, in its order, so that a
// refresh that finds mostly the same changes little of the prompt; new ones of
// one file stand together, and those of one type in it, behind them the last edits and
// what follows in the document itself.
func pick(lang language, found, last []Snippet, budget int) []Snippet {
	var chosen []Snippet
	files, groups := map[fileKey]int{}, map[group]int{} // those chosen, in order
	for _, s := range found {
		_, named := files[s.file()]
		_, opened := groups[s.group()]
		cost := rawTokens(comment(lang, s.lines("    ")))
		if !named {
			cost += rawTokens(comment(lang, s.Path))
		}
		if !opened && s.Within != "" {
			cost += rawTokens(comment(lang, s.Within))
		}
		if cost > budget {
			continue
		}
		budget -= cost
		chosen = append(chosen, s)
		if !named {
			files[s.file()] = len(files)
		}
		if !opened {
			groups[s.group()] = len(groups)
		}
	}
	slices.SortStableFunc(chosen, func(a, b Snippet) int {
		i, j := slices.Index(last, a), slices.Index(last, b)
		switch {
		case i >= 0 && j >= 0:
			return i - j
		case i >= 0 || j >= 0:
			return j - i // what the last prompt had is first
		}
		return cmp.Or(a.late()-b.late(), files[a.file()]-files[b.file()], groups[a.group()]-groups[b.group()])
	})
	return chosen
}

// late is 0 for code of other places, more for what stands behind it in a head.
func (s *Snippet) late() int { return 1 + slices.Index([]string{lastEdit, following}, s.Why) }

// lines are the snippet's as they stand below Within.
func (s *Snippet) lines(unit string) string {
	if s.Within == "" {
		return s.Text
	}
	return unit + strings.ReplaceAll(s.Text, "\n", "\n"+unit)
}

// comment writes text of the workspace as a comment.
func comment(lang language, text string) string {
	return lang.comment(neutralise(unixLines(text)))
}

// buildHead writes the snippets and the style header, all as comments of the
// document's language. It holds nothing that changes while the user types:
// no cursor, no rank, no time.
func buildHead(doc Document, indent string, snippets []Snippet) string {
	lang := languageFor(doc.Language)
	var b strings.Builder
	open := group{} // what stands above
	for _, s := range snippets {
		if s.file() != open.file {
			b.WriteString(comment(lang, s.Path))
			open = group{file: s.file()}
		}
		if s.Within != "" && s.Within != open.within {
			b.WriteString(comment(lang, s.Within))
		}
		b.WriteString(comment(lang, s.lines(indent)))
		if open.within = s.Within; s.Within == "" {
			open.within = s.Text // its members may follow
		}
	}
	b.WriteString(comment(lang, styleHeader(doc, indent)))
	return b.String()
}

// styleHeader is one line. The path keeps its last parts: they tell the most.
func styleHeader(doc Document, indent string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, doc.Path)
	for len(name) > 80 {
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			name = path.Base(name)
			name = name[:runeStart(name, 80)]
			break
		}
		name = rest
	}
	width := "tabs"
	if indent != "\t" {
		width = fmt.Sprintf("%d spaces", len(indent))
	}
	lang := doc.Language
	if len(lang) > 24 || strings.ContainsAny(lang, "\r\n") {
		lang = "text"
	}
	return fmt.Sprintf("%s, %s, indent %s", name, lang, width)
}

// prompt cuts the document along the window and renders what is safe to send.
func (f *promptWindow) prompt(t *Template, chat bool) string {
	return t.render(parts{
		head:   f.head,
		prefix: neutralise(unixLines(f.lead + f.text[f.start:f.cursor])),
		suffix: neutralise(unixLines(suffixOf(f.text, f.cursor, f.limits.suffix))),
	}, chat)
}

// unixLines gives s the line endings models were trained on.
func unixLines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// indentUnit is one step of indentation as text has it: a tab, or a number of
// spaces; four spaces where nothing is indented, a tab for Go and makefiles.
func indentUnit(text, language string) string {
	tabs, spaces := 0, [9]int{}
	prev := 0
	for n := 0; text != "" && n < 2000; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		body := strings.TrimLeft(line, " \t")
		if body == "" || body == "\r" || body[0] == '*' { // the middle of a block comment tells nothing
			continue
		}
		if line[0] == '\t' {
			tabs++
			continue
		}
		width := len(line) - len(body)
		if step := width - prev; step > 1 && step <= 8 {
			spaces[step]++
		}
		prev = width
	}
	best := 0
	for step, n := range spaces {
		if n > spaces[best] {
			best = step
		}
	}
	switch {
	case tabs > 0 && tabs >= 2*spaces[best]:
		return "\t"
	case spaces[best] > 0:
		return strings.Repeat(" ", best)
	case language == "go" || language == "makefile":
		return "\t"
	}
	return "    "
}
