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

// A sentence may stand in a tag of its own, as no heading, picture or badge does; and it may begin
// with an emphasis or a link, as a list, a row of badges and a link's definition do.
var (
	emphasis   = regexp.MustCompile(`^<(?:i|b|em|strong|p)\b[^>]*>`)
	tag        = regexp.MustCompile(`<[^<>]*>`)
	marked     = regexp.MustCompile(`^(?:\*\S|!?\[)`)
	link       = regexp.MustCompile(`!?\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])?`)
	definition = regexp.MustCompile(`^\[[^\]]+\]:`)
	notice     = regexp.MustCompile(`^\*+(?i:note|notice|warning|important|attention|caution|update)\b`)
	word       = regexp.MustCompile(`\pL{2,}`)

	endOfSentence = regexp.MustCompile(`[.!?:。！？：]$`)
)

const (
	wordsOfSentence = 4  // beside links and tags, of a line that begins with one
	maxHeadingBytes = 30 // of a line alone that is taken for a heading without a mark
)

// says reports whether a line has words enough beside tags and links.
func says(line string) bool {
	line = tag.ReplaceAllString(line, " ")
	for range 2 { // a badge is a picture in a link
		line = link.ReplaceAllString(line, " ")
	}
	return len(word.FindAllString(line, wordsOfSentence)) == wordsOfSentence
}

// opening is Opening, uncut.
func opening(readme string) (text string, from, to int) {
	lines := strings.Split(readme, "\n")
	fence := ""
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if fence != "" || strings.HasPrefix(line, "~~~") || strings.HasPrefix(line, "```") && !strings.Contains(strings.TrimLeft(line, "`"), "`") { // else it is code in a line
			switch {
			case fence == "":
				fence = line[:3]
			case strings.HasPrefix(line, fence):
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(line, "<!--") {
			for i+1 < len(lines) && !strings.Contains(lines[i], "-->") {
				i++
			}
			continue
		}
		if strings.HasPrefix(line, "> [!") { // a warning about the project does not say what it is
			for i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), ">") {
				i++
			}
			continue
		}
		if strings.HasPrefix(line, "<") && strings.LastIndex(line, "<") > strings.LastIndex(line, ">") { // its attributes have lines of their own
			for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" {
				i++
				if strings.Contains(lines[i], ">") {
					break
				}
			}
			continue
		}
		tagged := emphasis.MatchString(line) && len(strings.Fields(tag.ReplaceAllString(line, " "))) >= wordsOfSentence
		begins := tagged || marked.MatchString(line) && !definition.MatchString(line) && !notice.MatchString(line) && says(line)
		if !word.MatchString(line) || !begins && strings.ContainsAny(line[:1], "#=-<![|*") {
			continue
		}
		end, title := i+1, false
		for ; end < len(lines) && !title; end++ {
			next := strings.TrimSpace(lines[end])
			if next == "" || strings.HasPrefix(next, "</") {
				break
			}
			title = strings.Trim(next, "=-") == ""
		}
		if title { // underlined, perhaps with its badges
			i = end - 1
			continue
		}
		if end == i+1 && len(line) < maxHeadingBytes && len(word.FindAllString(line, 3)) < 3 && !endOfSentence.MatchString(line) {
			continue
		}
		text := strings.Join(lines[i:end], "\n")
		if tagged {
			text = tag.ReplaceAllString(text, "")
		}
		return firstParagraph(text), i + 1, end
	}
	return "", 0, 0
}
