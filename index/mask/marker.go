package mask

import (
	"slices"
	"strings"
)

// markers are all of a text, in their order; none lies in another.
func markers(text string) []marker {
	var list []marker
	each := func(word string, at func(i int) (marker, bool)) {
		for i := 0; ; {
			n := strings.Index(text[i:], word)
			if n < 0 {
				return
			}
			i += n
			if m, ok := at(i); ok {
				list = append(list, m)
			}
			i += len(word)
		}
	}
	for _, word := range []string{"BEGIN", "END", "begin", "end"} {
		each(word, func(i int) (m marker, ok bool) { return block(text, i, word) })
	}
	each("PRIVATE", func(i int) (m marker, ok bool) { return spoilt(text, i) })
	each("Private-Lines:", func(i int) (m marker, ok bool) { // PuTTY
		return marker{Span: Span{i, i + len("Private-Lines:")}, opens: true, private: true}, true
	})
	each("Private-MAC", func(i int) (m marker, ok bool) {
		return marker{Span: Span{i, i + len("Private-MAC")}, private: true}, true
	})
	slices.SortFunc(list, func(a, b marker) int { return a.Start - b.Start })
	end := 0
	return slices.DeleteFunc(list, func(m marker) bool {
		inside := m.Start < end
		end = max(end, m.End)
		return inside
	})
}

// farLabel is more than a marker's words are long.
const farLabel = 64

// dashes are what stands around a marker's words, also as editors of prose and addresses write it.
var dashes = []string{"-", "%2D", "%2d", "&#45;", "&#x2d;", "&#x2D;", `\u002d`, `\u002D`, `\x2d`, `\x2D`, "—", "–", "‑", "−"}

// blocks are words of which a block's label has one, if it may be of PEM, OpenPGP or SSH2.
var blocks = []string{"KEY", "CERTIFICATE", "SIGNATURE", "MESSAGE", "PARAMETERS", "REQUEST", "CRL", "PKCS", "CMS", "SIGNED"}

// block judges whether text[i:], which begins with BEGIN or END, is part of a marker. That of a
// private key may have other signs around it than dashes, or none.
func block(text string, i int, word string) (m marker, ok bool) {
	before := strings.TrimSuffix(strings.TrimRight(text[max(0, i-8):i], " +"), "%20")
	dashed := slices.ContainsFunc(dashes, func(d string) bool { return strings.HasSuffix(before, d) })
	from := i + len(word)
	label := text[from:min(len(text), from+farLabel)]
	if label == "" || strings.IndexByte(" +%_\\&", label[0]) < 0 {
		return m, false
	}
	end := strings.IndexByte(label, '\n')
	if end < 0 {
		end = len(label)
	}
	for _, d := range dashes {
		if at := strings.Index(label[:end], d); at > 0 && (d != "-" || strings.HasPrefix(label[at:], "--")) {
			end = at
		}
	}
	if at := behindKey(upper(label[:end])); at > 0 {
		end = at
	}
	label = label[:end]
	m = marker{Span: Span{i, from + end}, opens: len(word) == len("BEGIN"), hex: strings.Contains(label, "OpenVPN")}
	label = upper(label)
	m.private = m.hex || strings.Contains(label, "PRIVATE") && strings.Contains(label, "KEY")
	if !dashed && !(m.private && framed(text, i, m.End)) {
		return m, false
	}
	if !slices.ContainsFunc(blocks, func(word string) bool { return strings.Contains(label, word) }) {
		return m, m.hex // the end of a page, a comment of SQL, a marker that is being typed: it ends no key
	}
	m.End = skipDashes(text, m.End)
	return m, true
}

// behindKey is where the words of a private key's marker end, 0 if they are none.
func behindKey(label string) int {
	if at := strings.Index(label, "OPENVPN STATIC KEY V1"); at >= 0 {
		return at + len("OPENVPN STATIC KEY V1")
	}
	private := strings.Index(label, "PRIVATE")
	if private < 0 {
		return 0
	}
	key := strings.Index(label[private:], "KEY")
	if key < 0 {
		return 0
	}
	end := private + key + len("KEY")
	const between = len("%20")
	if at := strings.Index(label[end:min(len(label), end+between+len("BLOCK"))], "BLOCK"); at >= 0 {
		end += at + len("BLOCK")
	}
	return end
}

// framed answers whether text[start:end], which is like a marker but has no dashes, has capitals alone
// and stands between signs, blanks or the ends of a line: names of a program do not.
func framed(text string, start, end int) bool {
	label := text[start:end]
	const rule = "___"
	if strings.IndexByte(label, '_') >= 0 || label != upper(label) && !strings.Contains(label, "OpenVPN") {
		return false
	}
	escaped := start >= 2 && text[start-2] == '\\' || start >= 3 && text[start-3] == '%'
	return (start == 0 || escaped || !word[text[start-1]] || strings.HasSuffix(text[:start], rule)) && (end == len(text) || !word[text[end]] || text[end] == '-' || strings.HasPrefix(text[end:], rule))
}

// upper has ASCII's letters as capitals, each byte where it was.
func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// spoilt judges whether text[i:], which begins with PRIVATE, ends a marker that somebody types in.
func spoilt(text string, i int) (m marker, ok bool) {
	rest := text[i+len("PRIVATE") : min(len(text), i+farLabel)]
	key := strings.Index(rest[:min(len(rest), 10)], "KEY")
	if key < 0 || !strings.Contains(text[max(0, i-48):i], "--") && !strings.Contains(text[max(0, i-48):i], "%2D%2D") {
		return m, false
	}
	at := i + len("PRIVATE") + key + len("KEY")
	at += len(rest[key+3:]) - len(strings.TrimPrefix(rest[key+3:], " BLOCK"))
	if end := skipDashes(text, at); end > at+1 {
		return marker{Span: Span{i, end}, opens: true, private: true}, true
	}
	return m, false
}

func skipDashes(text string, i int) int {
	for again := true; again; {
		again = false
		for _, d := range dashes {
			if strings.HasPrefix(text[i:], d) {
				i, again = i+len(d), true
			}
		}
	}
	return i
}
