package crossfile

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

const (
	// bytesPerToken is a low guess, with which more is answered than fits: the
	// engine counts, and takes what does.
	bytesPerToken = 3
	// signatureShare of the budget is for signatures while there is similar code;
	// what that leaves goes to further ones.
	signatureShare = 0.5
	// likely is the score from which on a declaration stands before similar code. On the
	// half of the holes fitted on, 81 of the names taken out are in the head with it, 71
	// without (bench/completion.md).
	likely = 3
	// explained is how near the cursor a name stands whose declaration is shown
	// with its doc, or whole if it is a short type.
	explained = 0.5
	// sameText is how many declarations of one signature are shown: a third toString
	// tells nothing that two do not.
	sameText  = 2
	maxDocs   = 8
	maxTypes  = 4
	typeLines = 24
	docLines  = 4
	docBytes  = 80
	// Similar code: how much alike it must be, and how much of it is shown.
	similarScore    = 0.2
	similarAsked    = 8
	similarSnippets = 3
	matchLines      = 10
	similarLines    = 16 // matchLines and what follows
	// similarBytes is half of the default budget: in a larger one, further declarations
	// are worth more.
	similarBytes    = 1152
	similarPerFile  = 2 // R7's limit
	minSimilarLines = 2
)

// snippets writes the candidates down until they fill the budget, and similar
// code behind the most likely ones.
func (s *Source) snippets(ctx context.Context, q completion.ContextQuery, here surroundings, known *declared, list []*candidate) []completion.Snippet {
	room := bytesPerToken * q.Tokens
	var out, similar []completion.Snippet
	if s.reach == Similar && s.workspace != nil && ctx.Err() == nil {
		similar = s.similar(q, here, room)
	}
	w := writer{ctx: ctx, source: s, declared: known, texts: map[string]int{}}
	before := -1 // how many stand before similar code
	for i := range list {
		if before < 0 && (list[i].score < likely || float64(w.bytes) > signatureShare*float64(room)) {
			before = len(out)
		}
		if w.bytes > 2*room {
			break
		}
		if list[i].nearness() < explained && covered(similar, list[i]) {
			continue
		}
		if sn, ok := w.write(list[i]); ok {
			out = append(out, sn)
		}
	}
	if before < 0 {
		before = len(out)
	}
	return slices.Insert(out, before, w.unseen(similar)...)
}

// writer turns candidates into snippets.
type writer struct {
	ctx         context.Context
	source      *Source
	declared    *declared
	bytes       int // written so far
	docs, types int
	whole       []*candidate // types written with their bodies
	// texts counts the signatures met.
	texts map[string]int
}

func (w *writer) write(c *candidate) (completion.Snippet, bool) {
	for _, t := range w.whole {
		if t.key == c.key && t.Line <= c.Line && c.End <= t.End {
			return completion.Snippet{}, false // a field of what is there
		}
	}
	signature := written(c.in, c.id, c.family)
	sn := completion.Snippet{Root: c.key.root, Path: c.key.path, StartLine: c.Line, EndLine: c.End, Text: signature, Within: w.within(c, signature), Why: c.why()}
	if !w.adds(&sn) {
		return completion.Snippet{}, false
	}
	if c.nearness() >= explained && w.ctx.Err() == nil {
		switch {
		case isShortType(c) && w.types < maxTypes:
			if body := w.source.body(c); body != "" {
				sn.Text = body
				w.types++
				w.whole = append(w.whole, c)
			}
		case w.docs < maxDocs:
			if doc := docLine(w.source.lines(c, docLines)); doc != "" {
				sn.Text = doc + "\n" + sn.Text
				w.docs++
			}
		}
	}
	w.bytes += len(sn.Text)
	return sn, true
}

// adds answers whether a snippet's signature is not yet there often enough, and
// counts it in.
func (w *writer) adds(sn *completion.Snippet) bool {
	w.texts[sn.Text]++
	return w.texts[sn.Text] <= sameText
}

// covered answers whether all of a declaration stands in a snippet.
func covered(list []completion.Snippet, c *candidate) bool {
	for _, sn := range list {
		if sn.Root == c.key.root && sn.Path == c.key.path && sn.StartLine <= c.Line && c.End <= sn.EndLine {
			return true
		}
	}
	return false
}

// unseen are snippets without the lines of types that are there whole: of each
// the longest part that is left.
func (w *writer) unseen(list []completion.Snippet) (out []completion.Snippet) {
	for _, sn := range list {
		lines := strings.Split(sn.Text, "\n")
		from, to := 0, 0 // the longest run of lines not shown
		for i := 0; i < len(lines); i++ {
			j := i
			for j < len(lines) && !w.shown(fileKey{sn.Root, sn.Path}, sn.StartLine+j) {
				j++
			}
			if j-i > to-from {
				from, to = i, j
			}
			i = j
		}
		if sn, ok := trimmed(sn, lines, from, to); ok {
			out = append(out, sn)
		}
	}
	return out
}

// trimmed is the part [from, to) of a snippet's lines without blank ones at its
// ends; ok is false if that is too little to help.
func trimmed(sn completion.Snippet, lines []string, from, to int) (_ completion.Snippet, ok bool) {
	for from < to && strings.TrimSpace(lines[from]) == "" {
		from++
	}
	for from < to && strings.TrimSpace(lines[to-1]) == "" {
		to--
	}
	sn.EndLine = sn.StartLine + to - 1
	sn.StartLine += from
	sn.Text = strings.Join(lines[from:to], "\n")
	return sn, to-from >= minSimilarLines
}

func (w *writer) shown(at fileKey, line int) bool {
	for _, t := range w.whole {
		if t.key == at && t.Line <= line && line <= t.End {
			return true
		}
	}
	return false
}

// within is the signature of what a declaration is a member of, its name where
// that is not declared around it; "" where the declaration names it itself.
func (w *writer) within(c *candidate, signature string) string {
	owner := lastName(c.Container)
	if owner == "" || strings.Contains(signature, owner) {
		return ""
	}
	for _, o := range w.declared.name(owner).declared {
		if at := o.in.Snapshot.Signature(o.id); o.in == c.in && at.File == c.File && at.Line <= c.Line && c.End <= at.End {
			return written(o.in, o.id, c.family)
		}
	}
	if c.family == "rust" && c.Kind == syntax.KindMethod {
		return "impl " + owner + " {"
	}
	return owner
}

// written is the signature of a declaration as its file has it: decorators on lines of
// their own, and what opens the body of a type, below which its members stand.
func written(in *workspace.Searchable, id retrieval.DeclarationID, family string) string {
	signature := in.Snapshot.SignatureText(id)
	var b strings.Builder
	for {
		mark := decorator.FindString(signature)
		if mark == "" {
			break
		}
		b.WriteString(strings.TrimRight(mark, " ") + "\n")
		signature = signature[len(mark):]
	}
	b.WriteString(signature)
	if family == "python" && strings.HasPrefix(signature, "class ") {
		b.WriteByte(':')
	}
	if at := in.Snapshot.Signature(id); at.End > at.Line && opensBraces(in.Snapshot.Language(at.File), at.Kind) && strings.IndexByte("{;)", signature[len(signature)-1]) < 0 {
		b.WriteString(" {")
	}
	return b.String()
}

// opensBraces: the body of a type of that kind stands in braces.
func opensBraces(language string, kind syntax.Kind) bool {
	switch kind {
	case syntax.KindStruct, syntax.KindInterface, syntax.KindEnum, syntax.KindClass:
		return lang.Of(language).Blocks.Style == lang.Braced
	}
	return false
}

// decorator is one at the beginning of a signature, an annotation or an attribute.
var decorator = regexp.MustCompile(`^(?:@(?:\w+[.:])*\w+(?:\((?:[^()]|\([^()]*\))*\))? +|#\[[^\]]*\] *)`)

func isShortType(c *candidate) bool {
	switch c.Kind {
	case syntax.KindStruct, syntax.KindInterface, syntax.KindEnum, syntax.KindType, syntax.KindClass:
		return c.End-c.Line < typeLines
	}
	return false
}

// body is the text of a declaration with its fields, "" if it cannot be had or
// the file is no longer as it was read.
func (s *Source) body(c *candidate) string {
	text := strings.Join(dedent(s.lines(c, c.End-c.Line+1)), "\n")
	if !strings.Contains(text, c.Name) {
		return ""
	}
	return text
}

// lines are the first n lines of a declaration, its comment included.
func (s *Source) lines(c *candidate, n int) []string {
	text := s.text(c.key.root, c.key.path)
	for range c.Line - 1 {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return nil // it cannot be had, or is shorter by now
		}
		text = rest
	}
	lines := strings.SplitN(text, "\n", n+1)
	return lines[:min(n, len(lines))]
}

// docLine is the first sentence of the comment that a declaration begins with, as a comment
// on one line; "" where that is too long to be one.
func docLine(lines []string) string {
	doc, sign := "", ""
	for i, line := range lines {
		line = strings.TrimSpace(line)
		bare := strings.TrimSpace(strings.TrimRight(strings.TrimLeft(line, "/*#-!"), "*/"))
		if i == 0 {
			for _, s := range []string{"//", "/*", "# ", "--"} {
				if strings.HasPrefix(line, s) {
					sign = strings.Replace(strings.TrimSpace(s), "/*", "//", 1)
				}
			}
			if sign == "" {
				return ""
			}
		} else if !strings.HasPrefix(line, "*") && !(strings.HasPrefix(line, sign) && doc != "") {
			break
		}
		if bare == "" && doc != "" || strings.HasPrefix(bare, "@") {
			break
		}
		doc = strings.TrimSpace(doc + " " + bare)
		if end := strings.Index(doc+" ", ". "); end >= 0 {
			doc = doc[:end+1]
			break
		}
		if strings.HasSuffix(line, "*/") {
			break
		}
	}
	if doc == "" || len(doc) > docBytes {
		return ""
	}
	return sign + " " + doc
}

// dedent takes off what all lines that are not blank are indented by.
func dedent(lines []string) []string {
	least := -1
	for _, line := range lines {
		if n := indentation(line); strings.TrimSpace(line) != "" && (least < 0 || n < least) {
			least = n
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(line[min(max(least, 0), len(line)):], " \t\r")
	}
	return out
}

// similar is the code of other places most like the lines being written, at most
// what signatureShare leaves of room, and similarBytes.
func (s *Source) similar(q completion.ContextQuery, here surroundings, room int) []completion.Snippet {
	room = min(room-int(signatureShare*float64(room)), similarBytes)
	var out []completion.Snippet
	perFile := map[fileKey]int{}
	known := map[string]bool{}
	words(here.lines, func(w string) { known[w] = true })
	for _, p := range s.workspace.Similar(here.lines, q.Root, q.Path, similarAsked) {
		at := fileKey{p.Root, p.Path}
		if p.Score < similarScore || lang.Family(p.Language) != lang.Family(q.Language) || len(out) == similarSnippets || perFile[at] == similarPerFile {
			continue
		}
		sn, ok := s.similarSnippet(p, known)
		if !ok || len(sn.Text) > room {
			continue
		}
		room -= len(sn.Text)
		perFile[at]++
		out = append(out, sn)
	}
	return out
}

// similarSnippet cuts a chunk to the lines that share the most words with the ones
// known, and some that follow them, after Zhang et al., "RepoCoder" (EMNLP
// 2023): what follows there is what may be written next here.
func (s *Source) similarSnippet(p workspace.SimilarChunk, known map[string]bool) (completion.Snippet, bool) {
	all := strings.Split(s.text(p.Root, p.Path), "\n")
	if p.EndLine > len(all) {
		return completion.Snippet{}, false // it changed
	}
	lines := all[p.StartLine-1 : p.EndLine]
	shared := make([]int, len(lines)) // words of each line that are known
	for i, line := range lines {
		words(line, func(w string) {
			if known[w] {
				shared[i]++
			}
		})
	}
	from, best, sum := 0, -1, 0
	for i := range lines {
		sum += shared[i]
		if i >= matchLines {
			sum -= shared[i-matchLines]
		}
		if sum > best {
			best, from = sum, max(0, i+1-matchLines)
		}
	}
	to := min(from+similarLines, len(lines))
	sn := completion.Snippet{Root: p.Root, Path: p.Path, StartLine: p.StartLine, Why: "similar code"}
	sn, ok := trimmed(sn, lines, from, to)
	sn.Text = strings.Join(dedent(strings.Split(sn.Text, "\n")), "\n")
	return sn, ok
}
