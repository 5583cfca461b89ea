package syntax

import (
	"bytes"
	"strings"
)

// headDoc finds what a file says of itself: its own doc string, the doc of its
// package, a comment at its head that is no licence, or else the doc of its
// largest type.
func (a *analysis) headDoc(f *File) string {
	if a.fileDoc != none {
		return cleanDoc(a.src[a.nodes[a.fileDoc].Start:a.nodes[a.fileDoc].End])
	}
	if contentOf(f.Language) == ContentDoc {
		text, _, _ := opening(withoutFrontMatter(a.src))
		return text
	}
	for _, s := range f.Symbols {
		if s.Kind == KindModule && s.Doc != "" && s.Container == "" {
			return s.Doc
		}
	}
	var blocks []piece
	for i := uint32(1); i < uint32(len(a.nodes)); i = a.nodes[i].Next {
		n := &a.nodes[i]
		if a.marks[i] != captureComment {
			if n.Start < n.End && a.query.query.IsNamed(n.Symbol) && len(blocks) > 0 || n.End-n.Start > 20 {
				break
			}
			continue
		}
		if last := len(blocks) - 1; last >= 0 && bytes.Count(a.src[blocks[last].end:n.Start], []byte("\n")) <= 1 {
			blocks[last].end = n.End
		} else {
			blocks = append(blocks, piece{n.Start, n.End})
		}
	}
	for _, b := range blocks {
		if doc := cleanDoc(a.src[b.start:b.end]); saysSomething(doc) {
			return doc
		}
	}
	return largestTypeDoc(f)
}

func largestTypeDoc(f *File) (doc string) {
	var size uint32
	for _, s := range f.Symbols {
		if n := s.Span.End - s.Span.Start; importance(s.Kind) == importance(KindType) && saysSomething(s.Doc) && n > size {
			doc, size = s.Doc, n
		}
	}
	return doc
}

// saysSomething tells a description from a licence and from settings of tools.
func saysSomething(doc string) bool {
	return strings.Count(doc, " ") >= 2 && !isLicence(doc) && !strings.HasPrefix(doc, "-*-") && !strings.Contains(doc, "eslint")
}

// headDoc is the comment, or the doc string, at the head of a file without syntax.
func (r lineRules) headDoc(language string, src []byte) string {
	if contentOf(language) == ContentDoc {
		text, _, _ := opening(withoutFrontMatter(src))
		return text
	}
	var block []string
	for rest := string(src[:min(len(src), maxDoc)]); rest != ""; {
		before := rest
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		if r.comment.Starts(line) {
			block = append(block, line)
			continue
		}
		if doc := cleanDoc([]byte(strings.Join(block, "\n")), r.comment.Marks()...); saysSomething(doc) {
			return doc
		}
		if doc := cleanDoc([]byte(r.docString(before))); saysSomething(doc) {
			return doc
		}
		if block = nil; line != "" && !strings.HasPrefix(line, "{-") {
			break
		}
	}
	return ""
}

// docString is the string of several lines that a text begins with, "" if it begins with
// none.
func (r lineRules) docString(text string) string {
	for _, quote := range r.comment.Quotes {
		if rest, ok := strings.CutPrefix(text, quote); ok {
			doc, _, _ := strings.Cut(rest, quote)
			return doc
		}
	}
	return ""
}

// withoutFrontMatter is the beginning of a document, past the settings that some
// start with.
func withoutFrontMatter(src []byte) string {
	text := string(src[:min(len(src), maxDoc)])
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, after, ok := strings.Cut(rest, "\n---"); ok {
			return after
		}
	}
	return text
}
