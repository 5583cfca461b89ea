package toolcall

import "strings"

// Begin is where a call begins in text or, while text is still being written, may
// turn out to begin: what stands before it can be shown. It is len(text) where
// there is none. It errs on the side of holding back.
func Begin(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '<':
			if begins(text[i:], openTag) || begins(text[i:], oldTag) || begins(text[i:], closeTag) {
				return i
			}
		case '{', '[':
			rest := strings.TrimLeft(text[i+1:], " \t\r\n[{")
			if rest == "" || rest[0] == '"' {
				return i
			}
		case '`':
			if !begins(text[i:], "```") {
				continue
			}
			info, body, ended := strings.Cut(strings.TrimPrefix(text[i:], "```"), "\n")
			if !ended || beginsJSON(info) || callFence(info) && (strings.TrimSpace(body) == "" || Begin(strings.TrimSpace(body)) == 0) {
				return i
			}
		}
	}
	return len(text)
}

// begins answers whether text begins with mark, as far as it goes.
func begins(text, mark string) bool {
	return strings.HasPrefix(text, mark[:min(len(mark), len(text))])
}
