package syntax

import (
	"bytes"
	"slices"
	"strings"

	"quarry/index/lang"
)

// A file without syntax is read by lines: a declaration is a line that starts
// with certain words, its extent the lines indented deeper below it. That
// finds the names a reader would search for, which is what ranking needs, and
// nothing else.

// lineRules say how the declarations of a language look on their first line.
type lineRules struct {
	comment   lang.Comment    // how the language writes comments, from its row in package lang
	modifiers []string        // words to skip: pub, export, private
	keywords  map[string]Kind // the word before the name
	// operator, if set, follows the name in a declaration at the left margin
	// that no keyword introduces: "::" in Haskell.
	operator string
	imports  string // what stands before the path of an import
	// section, if set, returns the name of a part of a configuration file.
	section func(text string, indent int) string
}

// maxSections is the number of parts above which a file is data.
const maxSections = 100

// longestMark is more than a sign that starts a comment has, and the byte behind it.
const longestMark = 16

// analyzeLines reads a file without syntax; its chunks are windows of lines.
func analyzeLines(language string, src []byte, lines lineTable) *File {
	rules := plainLanguages[language]
	rules.comment = lang.Of(language).Comment
	f := &File{Language: language, Doc: rules.headDoc(language, src)}
	if rules.keywords != nil || rules.operator != "" || rules.section != nil {
		f.Symbols = rules.symbols(src, lines)
	}
	f.Imports = rules.importsOf(src, lines)
	c := newChunker(f, src, lines) // with all parts, or the cuts would move where a file becomes data
	if rules.section != nil && len(f.Symbols) > maxSections {
		f.Symbols = nil
	}
	c.comment = rules.comment
	c.limit = maxChunk - overlap
	c.split([]atom{{start: 0, node: none}}, uint32(len(src)))
	c.overlapPieces()
	f.Chunks = c.finish(nil)
	return f
}

// overlapPieces extends pieces that start in the middle of a paragraph by the
// lines before, up to overlap bytes. The extent of the piece before does not
// matter: an edit there would change both.
func (c *chunker) overlapPieces() {
	for i := len(c.pieces) - 1; i > 0; i-- {
		p := &c.pieces[i]
		for at, own := p.start, p.start; at > 0 && !c.blankBefore(at); p.start = at {
			at = c.lineStart(at - 1)
			if own-at > overlap || p.end-at > maxChunk {
				break
			}
		}
	}
}

// symbols finds the declarations. Containers follow from indentation.
func (r lineRules) symbols(src []byte, lines lineTable) []Symbol {
	type open struct {
		symbol, indent int
	}
	var out []Symbol
	var around []open
	comments, last := uint32(0), uint32(0) // first line of the comment above; last line with text
	for number := uint32(1); int(number) <= len(lines); number++ {
		start := lines.start(number)
		raw := src[start:lines.end(number, len(src))]
		text := bytes.TrimSpace(raw)
		if len(text) == 0 {
			comments = 0
			continue
		}
		if r.comment.Starts(string(text[:min(len(text), longestMark)])) {
			if comments == 0 {
				comments = number
			}
			continue
		}
		indent := len(raw) - len(bytes.TrimLeft(raw, " \t"))
		kind, name := r.declaration(text, indent)
		if r.section != nil && (name == "" || len(around) > 0 && indent > around[0].indent) {
			if len(around) > 0 && (!closes(text) || indent >= around[0].indent) {
				last = number // inside of a part
			}
			continue
		}
		for len(around) > 0 && indent <= around[len(around)-1].indent && !closes(text) {
			if top := out[around[len(around)-1].symbol].Name; r.operator != "" && bytes.HasPrefix(text, append([]byte(top), ' ')) {
				break // an equation of the function whose type stands above
			}
			closeAt(&out[around[len(around)-1].symbol], src, lines, last)
			around = around[:len(around)-1]
		}
		if r.importIn(raw) != "" {
			name = "" // const std = @import("std")
		}
		if len(around) > 0 {
			kind, name = nested(out[around[len(around)-1].symbol].Kind, kind, name)
		}
		if name != "" {
			at := start + uint32(indent) + uint32(bytes.Index(text, []byte(name)))
			s := Symbol{
				Kind: kind, Name: strings.ToValidUTF8(name, "\uFFFD"), Signature: oneLineSignature(balanced(src[start:])),
				Span: lines.span(start+uint32(indent), start+uint32(indent+len(text))), NameSpan: lines.span(at, at+uint32(len(name))),
			}
			if len(around) > 0 {
				parent := &out[around[len(around)-1].symbol]
				s.Container = joinPath(parent.Container, parent.Name)
			}
			if comments > 0 {
				above := lines.start(comments)
				s.Doc = cleanDoc(src[above:start], r.comment.Marks()...)
				s.Span.Start, s.Span.StartLine = above, comments
			}
			around = append(around, open{len(out), indent})
			out = append(out, s)
		}
		comments, last = 0, number
	}
	for _, o := range around {
		closeAt(&out[o.symbol], src, lines, last)
	}
	return out
}

// balanced is the line that text starts with and those after it up to the one
// that closes its parentheses, if that is near.
func balanced(text []byte) []byte {
	first, depth := -1, 0
	for i, c := range text[:min(len(text), maxSignature)] {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case '\n':
			if depth <= 0 {
				return text[:i]
			}
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return text[:min(len(text), maxSignature)]
	}
	return text[:first]
}

// nested adapts a declaration to what it stands in: functions of types are
// methods, variables of functions are nobody's business.
func nested(parent, kind Kind, name string) (Kind, string) {
	inType := importance(parent) == importance(KindType)
	switch {
	case parent == KindModule:
	case inType && kind == KindFunction:
		return KindMethod, name
	case !inType && (kind == KindVar || kind == KindConst):
		return kind, ""
	}
	return kind, name
}

// importsOf finds the imports.
func (r lineRules) importsOf(src []byte, lines lineTable) []Import {
	var out []Import
	for number := uint32(1); int(number) <= len(lines); number++ {
		start := lines.start(number)
		line := bytes.TrimRight(src[start:lines.end(number, len(src))], " \t\r\n")
		if path := r.importIn(line); path != "" {
			out = append(out, Import{Path: path, Span: lines.span(start, start+uint32(len(line)))})
		}
	}
	return out
}

// importIn returns the path that a line imports, "" if none. The word for it
// starts the line, but for Zig's @import, which is an expression.
func (r lineRules) importIn(line []byte) string {
	at := bytes.Index(line, []byte(r.imports))
	if r.imports == "" || at < 0 || at > 0 && r.imports[0] != '@' {
		return ""
	}
	rest := strings.TrimLeft(string(line[at+len(r.imports):]), " \t(")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "qualified "), " ") // Haskell
	if rest == "" {
		return ""
	}
	if quote := rest[:1]; quote == `"` || quote == "'" {
		path, _, _ := strings.Cut(rest[1:], quote)
		return strings.ToValidUTF8(path, "\uFFFD")
	}
	if i := strings.IndexAny(rest, " \t;,(){}"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToValidUTF8(rest, "\uFFFD")
}

// closeAt ends a declaration with the given line.
func closeAt(s *Symbol, src []byte, lines lineTable, line uint32) {
	if line < s.Span.EndLine {
		return
	}
	end := lines.end(line, len(src))
	for isSpace(src[end-1]) {
		end--
	}
	s.Span.End, s.Span.EndLine = end, line
}

// declaration reads the kind and name of what a line declares, "" if nothing.
func (r lineRules) declaration(text []byte, indent int) (Kind, string) {
	rest := string(text[:min(len(text), 200)])
	if r.section != nil {
		return KindSection, r.section(rest, indent)
	}
	for {
		word, after := cutWord(rest)
		if word == "" {
			return "", ""
		}
		if kind, ok := r.keywords[word]; ok {
			name := declaredName(after, r.modifiers)
			if kind == KindConst && name != "" {
				kind = typeOfValue(after)
			}
			return kind, name
		}
		if !slices.Contains(r.modifiers, word) {
			break
		}
		rest = after
	}
	if r.operator == "" || indent > 0 {
		return "", ""
	}
	name, after := cutName(rest)
	if value, ok := strings.CutPrefix(strings.TrimLeft(after, " "), r.operator); ok && !strings.HasPrefix(value, "=") {
		return KindFunction, name
	}
	return "", ""
}

// jsonKey is a key of the outermost object, by its indentation.
func jsonKey(text string, indent int) string {
	if !strings.HasPrefix(text, `"`) || indent > 4 || indent == 0 {
		return ""
	}
	key, rest, ok := strings.Cut(text[1:], `"`)
	if !ok || !strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
		return ""
	}
	return key
}

// iniSection is what stands in brackets, without quotes.
func iniSection(text string, _ int) string {
	if !strings.HasPrefix(text, "[") {
		return ""
	}
	name, _, _ := strings.Cut(strings.Trim(text, "[]"), "]")
	return strings.TrimSpace(name)
}

// typeOfValue is the kind of what a constant is set to: Zig's types are values.
func typeOfValue(declaration string) Kind {
	_, value, _ := strings.Cut(declaration, "=")
	for range 2 { // = packed struct, = extern union
		word, rest := cutWord(strings.TrimLeft(value, " "))
		word, _, _ = strings.Cut(word, "(")
		switch word {
		case "struct", "union", "opaque":
			return KindStruct
		case "enum", "error":
			return KindEnum
		}
		value = rest
	}
	return KindConst
}

// declaredName is the name that follows a keyword, past modifiers.
func declaredName(s string, modifiers []string) string {
	s = strings.TrimLeft(s, " \t({[")
	for {
		name, rest := cutName(s)
		if !slices.Contains(modifiers, name) {
			if name == "" && strings.HasPrefix(s, `"`) { // Zig's tests have strings for names
				name, _, _ = strings.Cut(s[1:], `"`)
			}
			return name
		}
		s = strings.TrimLeft(rest, " \t")
	}
}

// cutWord splits off what stands before the first blank, or before an opening
// bracket that is not the first character.
func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t")
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		i = len(s)
	}
	if j := strings.IndexAny(s[min(1, len(s)):i], "({["); j >= 0 {
		i = j + 1
	}
	return s[:i], s[i:]
}

// cutName splits off an identifier, which may hold the marks ' ! ? - . / that
// some languages allow inside.
func cutName(s string) (name, rest string) {
	i := 0
	for i < len(s) && (isWordByte(s[i]) || i > 0 && strings.IndexByte("'!?-./", s[i]) >= 0) {
		i++
	}
	return strings.TrimRight(s[:i], "-./"), s[i:]
}
