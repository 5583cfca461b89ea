package assist

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/agent"
	"quarry/index/mask"
	"quarry/lsp/document"
	"quarry/lsp/text"
)

// knownDiagnostic is a diagnostic that quarry knows of, from whatever server.
type knownDiagnostic struct {
	protocol.Diagnostic
	// number is its own as long as it is known, whatever is typed around it; 0 until
	// knownDiagnostics has taken it.
	number uint64
	// start and end are its byte range in the document as it is now.
	start, end int
	// explanation is what was said about it, the zero value if nothing yet.
	explanation prose
}

// same is whether two diagnostics in one version of a document are one diagnostic.
func (f *knownDiagnostic) same(g knownDiagnostic) bool {
	return f.start == g.start && f.end == g.end && messageOf(f.Diagnostic) == messageOf(g.Diagnostic)
}

// knownDiagnostics are the diagnostics of the open documents, as far as quarry was told:
// a client shows a server the diagnostics of others only where it asks for code
// actions. They move with the text around them and go when their own text
// changes.
type knownDiagnostics struct {
	mu sync.Mutex
	// of is guarded by mu; what it holds is replaced, never changed.
	of map[uri.URI][]knownDiagnostic
	// numbered is the last number given; guarded by mu.
	numbered uint64
}

func newKnownDiagnostics() *knownDiagnostics {
	return &knownDiagnostics{of: map[uri.URI][]knownDiagnostic{}}
}

// saw takes what a client says of [start, end) of a document in place of what was
// known there.
func (fs *knownDiagnostics) saw(u uri.URI, start, end int, seen []knownDiagnostic) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var next []knownDiagnostic
	for _, f := range fs.of[u] {
		if f.end < start || end < f.start {
			next = append(next, f)
		}
	}
	for _, f := range seen {
		if slices.ContainsFunc(next, f.same) {
			continue
		}
		if i := slices.IndexFunc(fs.of[u], f.same); i >= 0 {
			f.number, f.explanation = fs.of[u][i].number, fs.of[u][i].explanation
		} else {
			fs.numbered++
			f.number = fs.numbered
		}
		next = append(next, f)
	}
	slices.SortStableFunc(next, func(a, b knownDiagnostic) int { return a.start - b.start })
	fs.of[u] = next
}

// number is that of f, a diagnostic in a document as it is now. An unknown one is
// taken: clients that show a server no diagnostics of others tell of one where the
// user wants it explained.
func (fs *knownDiagnostics) number(u uri.URI, f knownDiagnostic) uint64 {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if i := slices.IndexFunc(fs.of[u], f.same); i >= 0 {
		return fs.of[u][i].number
	}
	fs.numbered++
	f.number = fs.numbered
	next := append(slices.Clone(fs.of[u]), f)
	slices.SortStableFunc(next, func(a, b knownDiagnostic) int { return a.start - b.start })
	fs.of[u] = next
	return f.number
}

// explained keeps what was said about the diagnostic of that number, if it is still
// there.
func (fs *knownDiagnostics) explained(u uri.URI, number uint64, explanation prose) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	next := slices.Clone(fs.of[u])
	for i := range next {
		if next[i].number == number {
			next[i].explanation = explanation
		}
	}
	fs.of[u] = next
}

// list are a document's diagnostics in the order of the text.
func (fs *knownDiagnostics) list(u uri.URI) []knownDiagnostic {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.of[u]
}

// in are the diagnostics that lie in doc, of which there may be a newer version with
// diagnostics past this one's end.
func (fs *knownDiagnostics) in(doc *document.Document) (list []knownDiagnostic) {
	for _, f := range fs.list(doc.URI) {
		if f.end <= doc.Text.Len() {
			list = append(list, f)
		}
	}
	return list
}

func (fs *knownDiagnostics) forget(u uri.URI) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.of, u)
}

// moved takes the diagnostics of a document along when its text changes.
func (fs *knownDiagnostics) moved(u uri.URI, before, after text.Text) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.of[u]) == 0 {
		return
	}
	head, tail := sharedEnds(before.String(), after.String())
	shift := after.Len() - before.Len()
	var next []knownDiagnostic
	for _, f := range fs.of[u] {
		switch {
		case f.end < head:
		case f.start > before.Len()-tail:
			f.start += shift
			f.end += shift
		default:
			continue
		}
		next = append(next, f)
	}
	fs.of[u] = next
}

// sharedEnds is how many bytes a and b share at their beginning, and how many
// more at their end.
func sharedEnds(a, b string) (head, tail int) {
	most := min(len(a), len(b))
	for head < most && a[head] == b[head] {
		head++
	}
	for tail < most-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// diagnosticsIn are diagnostics of doc that a client sent, without those that lie
// outside of it.
func (s *Service) diagnosticsIn(doc *document.Document, diagnostics []protocol.Diagnostic) []knownDiagnostic {
	var list []knownDiagnostic
	for _, d := range diagnostics {
		start, startErr := doc.Text.PositionToOffset(document.Position(d.Range.Start), s.encoding)
		end, endErr := doc.Text.PositionToOffset(document.Position(d.Range.End), s.encoding)
		if startErr != nil || endErr != nil || start > end {
			continue
		}
		list = append(list, knownDiagnostic{Diagnostic: cloneDiagnostic(d), start: start, end: end})
	}
	return list
}

// Problems are the diagnostics known of the open document at path, or of all if it
// is "".
func (s *Service) Problems(path string) (list []agent.Problem) {
	for _, doc := range s.docs.Others("") {
		if doc.Path() == "" || path != "" && doc.Path() != path {
			continue
		}
		text := doc.Shown()
		for _, f := range s.known.in(doc) {
			e := quoteDiagnostic(f.Diagnostic)
			list = append(list, agent.Problem{
				Location: agent.Location{Document: agent.Document{Path: doc.Path(), Language: doc.Language, Text: text}, Start: f.start, End: f.end},
				Severity: severityName(e.Severity), Source: mask.Text(e.Source), Code: mask.Text(e.Code), Message: mask.Text(e.Message),
			})
		}
	}
	return list
}

// cloneDiagnostic is what is kept of d. Decoded strings alias their message.
func cloneDiagnostic(d protocol.Diagnostic) protocol.Diagnostic {
	kept := protocol.Diagnostic{Range: d.Range, Severity: d.Severity, Message: protocol.String(strings.Clone(messageOf(d)))}
	if _, ok := d.Source.Get(); ok {
		kept.Source = protocol.NewOptional(strings.Clone(sourceOf(d)))
	}
	switch code := d.Code.(type) {
	case protocol.String:
		kept.Code = protocol.String(strings.Clone(codeOf(d)))
	case protocol.Integer:
		kept.Code = code
	}
	return kept
}

const (
	// maxProblems is how many of an editor's diagnostics are looked at in one request: those of the
	// lines around the cursor, or of a selection.
	maxProblems = 100
	// maxMessage and maxWord bound a diagnostic's message and its code and source, in bytes;
	// compilers of templates write some thousand.
	maxMessage, maxWord = 8000, 200
	// maxCarried is how large a diagnostic may be, in bytes, that an action carries back.
	maxCarried = 2 * maxMessage
)

// clipped is the beginning of a text that is longer than most bytes.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func messageOf(d protocol.Diagnostic) string {
	switch m := d.Message.(type) {
	case protocol.String:
		return clipped(string(m), maxMessage)
	case *protocol.MarkupContent:
		return clipped(m.Value, maxMessage)
	}
	return ""
}

func sourceOf(d protocol.Diagnostic) string {
	source, _ := d.Source.Get()
	return clipped(source, maxWord)
}

func codeOf(d protocol.Diagnostic) string {
	switch code := d.Code.(type) {
	case protocol.String:
		return clipped(string(code), maxWord)
	case protocol.Integer:
		return fmt.Sprint(int32(code))
	}
	return ""
}
