package syntax

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A summary says what a file or folder is for in a few lines, from what its
// authors wrote: no model is asked.
const (
	maxSummaryDoc   = 300 // bytes of doc comment in a file's summary
	maxSummaryNames = 8   // names listed of a kind
	maxOpeningBytes = 500 // bytes of a README
)

// Summary describes the file: the first paragraph of its head comment, then the
// names of its types, functions and the rest, the documented and larger ones
// first. It is "" for a file that says and declares nothing.
func (f *File) Summary() string {
	var parts []string
	if doc := firstParagraph(f.Doc); doc != "" {
		parts = append(parts, truncate(doc, maxSummaryDoc))
	}
	rest := "Also"
	if contentOf(f.Language) != ContentCode {
		rest = "Sections"
	}
	for _, group := range []struct {
		title string
		rank  int
	}{{"Types", importance(KindType)}, {"Functions", importance(KindFunction)}, {rest, importance(KindConst)}} {
		if names := f.topNames(group.rank); len(names) > 0 {
			parts = append(parts, group.title+": "+strings.Join(names, ", ")+".")
		}
	}
	return strings.Join(parts, "\n")
}

// topNames lists the most telling file-level names of a rank, in the order of
// the text.
func (f *File) topNames(rank int) []string {
	type candidate struct {
		index, weight int
	}
	var found []candidate
	for i, s := range f.Symbols {
		if importance(s.Kind) != rank || s.Kind == KindModule || strings.Contains(s.Container, ".") {
			continue
		}
		weight := int(s.Span.EndLine - s.Span.StartLine)
		if s.Doc != "" {
			weight += 50
		}
		if s.Container != "" {
			weight -= 100 // members come after what stands alone
		}
		found = append(found, candidate{i, weight})
	}
	slices.SortStableFunc(found, func(x, y candidate) int { return cmp.Compare(y.weight, x.weight) })
	more := len(found) > maxSummaryNames
	found = found[:min(len(found), maxSummaryNames)]
	slices.SortFunc(found, func(x, y candidate) int { return cmp.Compare(x.index, y.index) })
	var names []string
	for _, c := range found {
		if name := f.Symbols[c.index].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more {
		names = append(names, "…")
	}
	return names
}

// firstParagraph joins the lines up to the first blank one.
func firstParagraph(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.Join(strings.Fields(text), " ")
}

// Opening is the first paragraph of a README behind its title, badges and HTML, cut to a few
// hundred bytes, with the 1-based lines that it stands in; "" if there is none.
func Opening(readme string) (text string, from, to int) {
	text, from, to = opening(readme)
	return truncate(text, maxOpeningBytes), from, to
}

// A sentence may stand in a tag of its own, as no heading, picture or badge does.
var (
	emphasis = regexp.MustCompile(`^<(?:i|b|em|strong|p)\b[^>]*>`)
	tag      = regexp.MustCompile(`<[^<>]*>`)
)

// opening is Opening, uncut.
func opening(readme string) (text string, from, to int) {
	lines := strings.Split(readme, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		tagged := emphasis.MatchString(line) && len(strings.Fields(tag.ReplaceAllString(line, " "))) >= 4
		if line == "" || !tagged && strings.ContainsAny(line[:1], "#=-<![|*") {
			continue
		}
		if i+1 < len(lines) && strings.Trim(strings.TrimSpace(lines[i+1]), "=-") == "" && strings.TrimSpace(lines[i+1]) != "" {
			continue // an underlined title
		}
		end := i
		for end < len(lines) && strings.TrimSpace(lines[end]) != "" {
			end++
		}
		text := strings.Join(lines[i:end], "\n")
		if tagged {
			text = tag.ReplaceAllString(text, "")
		}
		return firstParagraph(text), i + 1, end
	}
	return "", 0, 0
}
