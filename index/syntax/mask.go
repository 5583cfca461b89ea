package syntax

import (
	"bytes"
	"unicode"
)

// Some text that readers skip stops a grammar: macros that stand for attributes
// in C, annotation comments that Lua's grammar only half knows, SQL's procedures.
// It is replaced by other text of the same length before parsing, so that every offset stays
// right; what is read from the file is still the file's own text. Of the errors in
// the C++ library fmt this takes 43 of 100 away, of those in a Lua plugin manager
// nine of ten, and with each the loss of the declarations around it.

// maskLua makes annotations (---@class) plain comments (-- @class).
func maskLua(src []byte) []byte {
	masked := src
	for at := 0; ; {
		i := bytes.Index(src[at:], []byte("---"))
		if i < 0 {
			return masked
		}
		i += at
		lineStart := bytes.LastIndexByte(src[:i], '\n') + 1
		if len(bytes.TrimSpace(src[lineStart:i])) == 0 {
			masked = blank(masked, src, i+2, i+3)
		}
		at = i + 3
		if end := bytes.IndexByte(src[at:], '\n'); end >= 0 {
			at += end
		}
	}
}

// maskFunInterfaces makes Kotlin's interfaces of one function plain ones.
func maskFunInterfaces(src []byte) []byte {
	masked, words := src, []byte("fun interface ")
	for at := 0; ; at += len(words) {
		i := bytes.Index(src[at:], words)
		if i < 0 {
			return masked
		}
		at += i
		if at == 0 || !isWordByte(src[at-1]) {
			masked = blank(masked, src, at, at+len("fun"))
		}
	}
}

// maskProcedures makes SQL's procedures functions, which its grammar knows, and lets
// them return something in place of their language or their arguments.
func maskProcedures(src []byte) []byte {
	masked := src
	for i := 0; i+len("procedure") <= len(src); i++ {
		to := i + len("procedure")
		if src[i]|0x20 != 'p' || !bytes.EqualFold(src[i:to], []byte("procedure")) {
			continue
		}
		before := bytes.TrimRight(src[:i], " \t\r\n")
		word := len(before)
		for word > 0 && isWordByte(before[word-1]) {
			word--
		}
		if verb := before[word:]; bytes.EqualFold(verb, []byte("create")) || bytes.EqualFold(verb, []byte("replace")) {
			masked = maskProcedure(masked, src, i, to)
		}
	}
	return masked
}

// maskProcedure masks the head of the procedure whose keyword is src[from:to], if
// there is room in it for what a function returns.
func maskProcedure(masked, src []byte, from, to int) []byte {
	at := to // of the arguments
	for at < len(src) && (isSpace(src[at]) || isWordByte(src[at]) || src[at] == '.' || src[at] == '"') {
		at++
	}
	end, text := afterArguments(src, at), "()RETURNS INT"
	if rest := bytes.TrimLeft(src[end:], " \t\r\n"); end > at && len(rest) > 8 && bytes.EqualFold(rest[:8], []byte("language")) {
		at, text = len(src)-len(rest), "RETURNS INT"
		for end = at + 8; end < len(src) && (src[end] == ' ' || isWordByte(src[end])); end++ {
		}
	}
	if end-at >= len(text) {
		masked = blank(blank(masked, src, from, to), src, at, end)
		copy(masked[from:], "FUNCTION")
		copy(masked[at:], text)
	}
	return masked
}

// maskMacros hides the macros of C and C++ that its grammars cannot place:
// those whose name says that they are an attribute (UV_EXTERN, FMT_API, WINAPI,
// FMT_CONSTEXPR20) where one can stand, and those that are a line for themselves
// and open or close something (FMT_BEGIN_NAMESPACE).
func maskMacros(src []byte) []byte {
	masked := src
	for start := 0; start < len(src); {
		end := len(src)
		if i := bytes.IndexByte(src[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		line := src[start:end]
		if text := bytes.TrimLeft(line, " \t"); len(text) > 0 && text[0] == '#' {
			if open := bytes.Index(line, []byte("(<")); open >= 0 && !bytes.HasPrefix(text, []byte("#include")) {
				if length := bytes.Index(line[open:], []byte(">)")); length > 0 { // __has_include(<any>)
					masked = blank(masked, src, start+open+1, start+open+length+1)
				}
			}
			for end < len(src) && bytes.HasSuffix(bytes.TrimRight(src[start:end], "\r\n"), []byte(`\`)) {
				start = end
				if i := bytes.IndexByte(src[start:], '\n'); i >= 0 {
					end = start + i + 1
				} else {
					end = len(src)
				}
			}
			start = end
			continue
		}
		masked = maskLine(masked, src, start, end)
		start = end
	}
	return masked
}

// maskLine masks the macros in src[start:end].
func maskLine(masked, src []byte, start, end int) []byte {
	first := true // nothing but blanks before
	for i := start; i < end; {
		c := src[i]
		if !isWordByte(c) {
			if c != ' ' && c != '\t' {
				first = false
			}
			i++
			continue
		}
		from, capitals := i, true
		for ; i < end && isWordByte(src[i]); i++ {
			capitals = capitals && (src[i] < 'a' || src[i] > 'z') && src[i] < 0x80
		}
		if capitals && i-from >= 4 {
			if kind := macroKind(src[from:i]); kind != macroOther {
				masked, i = maskMacro(masked, src, kind, first, from, i, end)
			}
		}
		first = false
	}
	return masked
}

// maskMacro masks the macro at src[from:to] if it stands where one can be left
// out, and returns where to go on. A line ends at end; first says whether the
// macro is the first thing on it.
func maskMacro(masked, src []byte, kind macro, first bool, from, to, end int) ([]byte, int) {
	after := afterArguments(src, to)
	if kind == macroAttribute {
		if first && after > to && bytes.IndexByte(src[to+1:after-1], '(') > 0 {
			// UV_UNUSED(static void f(int)) holds what it is an attribute of.
			masked = blank(masked, src, from, to+1)
			return blank(masked, src, after-1, after), to + 1
		}
		after = to
	}
	rest := withoutComment(bytes.TrimLeftFunc(src[min(after, end):end], unicode.IsSpace)) // what it starts with counts
	place := first && len(rest) == 0 && lastCode(src[:from]) != ','                       // a line of its own; behind a comma OP_END is the last of a list
	if kind != macroLine && len(rest) > 0 {
		before := bytes.TrimRight(src[:from], " \t\r\n")
		place = isWordByte(rest[0]) || bytes.IndexByte([]byte("*~[&"), rest[0]) >= 0 || // UV_EXTERN int, (NTAPI *f)
			len(before) > 0 && before[len(before)-1] == ')' // f() FMT_NOEXCEPT;
	}
	if !place {
		return masked, to
	}
	return blank(masked, src, from, after), max(to, after)
}

type macro uint8

const (
	macroOther macro = iota
	macroAttribute
	macroWithArguments // an attribute that may have arguments
	macroLine          // what opens or closes something
)

// macroWords tell by one word of a macro's name what it is for.
var macroWords = map[string]macro{
	"ALWAYS": macroAttribute, "API": macroAttribute, "APIENTRY": macroAttribute, "CALLBACK": macroAttribute, "CDECL": macroAttribute,
	"CONSTEVAL": macroAttribute, "CONSTEXPR": macroAttribute, "EXPORT": macroAttribute, "EXTERN": macroAttribute,
	"FORCEINLINE": macroAttribute, "HIDDEN": macroAttribute, "INLINE": macroAttribute, "LIFETIMEBOUND": macroAttribute,
	"NODISCARD": macroAttribute, "NOEXCEPT": macroAttribute, "NOINLINE": macroAttribute, "NORETURN": macroAttribute,
	"NTAPI": macroAttribute, "OVERRIDE": macroAttribute, "PASCAL": macroAttribute, "STDCALL": macroAttribute, "UNUSED": macroAttribute, "WINAPI": macroAttribute,

	"ATTR": macroWithArguments, "ATTRIBUTE": macroWithArguments, "ATTRIBUTES": macroWithArguments, "DEPRECATED": macroWithArguments,
	"PRINTF": macroWithArguments, "VISIBILITY": macroWithArguments,

	"BEGIN": macroLine, "DECLS": macroLine, "DISABLE": macroLine, "ENABLE": macroLine, "END": macroLine, "NAMESPACE": macroLine,
	"OBJECT": macroLine, "POP": macroLine, "PRAGMA": macroLine, "PUSH": macroLine, "SUPPRESS": macroLine, "WARNINGS": macroLine,
}

// macroKind goes through the words of a name. What opens or closes something is
// that whatever else its name says: FMT_BEGIN_EXPORT.
func macroKind(name []byte) macro {
	kind := macroOther
	for len(name) > 0 {
		word, rest, _ := bytes.Cut(name, []byte("_"))
		word = bytes.TrimRight(word, "0123456789")
		kind = max(kind, macroWords[string(word)])
		name = rest
	}
	return kind
}

// afterArguments returns where the parentheses end that open at i, i if none
// open there or they are long.
func afterArguments(src []byte, i int) int {
	at := i
	for at < len(src) && (src[at] == ' ' || src[at] == '\t') {
		at++
	}
	depth := 0
	for ; at < len(src) && at-i < 300; at++ {
		switch src[at] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			if src[at] == ')' {
				return at + 1
			}
			return i
		}
	}
	return i
}

// lastCode is the last byte of text that is no blank and in no comment or
// directive, 0 if there is none.
func lastCode(text []byte) byte {
	for {
		text = bytes.TrimRight(text, " \t\r\n")
		if len(text) == 0 {
			return 0
		}
		if bytes.HasSuffix(text, []byte("*/")) { // asked first, or a file without comments is searched to its start
			if open := bytes.LastIndex(text, []byte("/*")); open >= 0 {
				text = text[:open]
				continue
			}
		}
		start := bytes.LastIndexByte(text, '\n') + 1
		line := bytes.TrimLeft(text[start:], " \t")
		comment := bytes.Index(line, []byte("//"))
		switch {
		case line[0] == '#':
			text = text[:start]
		case comment >= 0:
			text = text[:len(text)-len(line)+comment]
		default:
			return text[len(text)-1]
		}
	}
}

// withoutComment is a text, nil if it starts with a comment. It looks no further: a
// line may hold as many macros as it has letters.
func withoutComment(text []byte) []byte {
	if bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("/*")) {
		return nil
	}
	return text
}

// blank overwrites masked[from:to] with blanks, copying src first if that has
// not been done. Line ends stay.
func blank(masked, src []byte, from, to int) []byte {
	if len(src) > 0 && &masked[0] == &src[0] {
		masked = bytes.Clone(src)
	}
	for i := from; i < to; i++ {
		if masked[i] != '\n' && masked[i] != '\r' {
			masked[i] = ' '
		}
	}
	return masked
}
