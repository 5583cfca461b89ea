package completion

import "strings"

// Syntax counts syntax errors; package syntaxgate does it with tree-sitter.
// ok is false where the language has no grammar.
type Syntax interface {
	// Document makes text the version that candidates are compared with.
	Document(key, language, text string) (errors int, ok bool)
	// Candidate counts the errors of what the document would become.
	Candidate(key, text string) (errors int, ok bool)
	Forget(key string)
}

// maxGateParses bounds the work of the gate: an incremental parse takes some
// 0.3 ms in a file of 1,000 lines.
const maxGateParses = 6

// gate answers the longest beginning of text, in whole lines, that adds no
// syntax error when it replaces [start, end) of the document; "" if there is
// none. A document with errors (one is being typed, after all) may keep them.
func gate(s Syntax, req Request, start, end int, text string) string {
	before, ok := s.Document(req.Key, req.Language, req.Text)
	if !ok {
		return text
	}
	for n := 0; text != "" && n < maxGateParses; n++ {
		after, ok := s.Candidate(req.Key, req.Text[:start]+text+req.Text[end:])
		if !ok || after <= before {
			return text
		}
		cut := strings.LastIndexAny(text, "\r\n")
		if cut < 0 {
			return ""
		}
		text = strings.TrimRight(text[:cut], " \t\r\n")
	}
	return ""
}
