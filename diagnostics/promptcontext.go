package diagnostics

import (
	"context"
	"embed"
	"iter"
	"strings"
	"unicode"

	"quarry/agent"
	"quarry/agent/markdown"
	"quarry/agent/prompt"
	"quarry/index/lang"
	"quarry/index/syntax"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = prompt.Templates(promptFiles, "prompts")

// promptContext is the code that a task is about, as its prompt shows it.
type promptContext struct {
	doc            agent.Document
	Name, Language string
	// From and To are the lines shown, from 1, inclusive; Text is theirs.
	From, To int
	Text     string
	// Head is the beginning of the file up to its last import, "" where Text has
	// it; it ends at line HeadTo.
	Head   string
	HeadTo int
	// Line is the line of the problem, and LineText what stands there; First and
	// Last are the lines of a selection, and Selected its text.
	Line        int
	LineText    string
	First, Last int
	Selected    string

	Severity, Source, Code, Message string
	Goal                            string
	// Misspelt is what the problem's name may mean, where a line is asked for.
	Misspelt Alike
	// Form is what a fix is to be written as.
	Form string
	// TestName is where tests of the file would stand.
	TestName string
}

// contextLines is how much of a file is shown at most; a function longer than that
// is shown around the place.
const contextLines = 90

// newContext shows the declaration around a place, or the lines around it.
func (a *Assistant) newContext(p agent.Location) promptContext {
	s := promptContext{doc: p.Document, Name: a.parts.Files.Name(p.Document.Path), Language: p.Document.Language}
	if s.Language == "" {
		s.Language = lang.Detect(s.Name, []byte(p.Document.Text[:min(len(p.Document.Text), 8000)]))
		s.doc.Language = s.Language
	}
	lines := strings.SplitAfter(p.Document.Text, "\n")
	s.First = lineOf(p.Document.Text, p.Start)
	s.Last = lineOf(p.Document.Text, max(p.Start, p.End-1))
	s.Line, s.LineText = s.First, strings.TrimRight(lines[s.First-1], "\r\n")
	s.Selected = p.Document.Text[p.Start:p.End]
	file, err := syntax.Analyze(s.Language, []byte(p.Document.Text))
	if err != nil {
		file = &syntax.File{}
	}
	room, _ := a.budget()
	s.window(lines, around(file.Symbols, p.Start, p.End), room*4/5)
	s.head(lines, file.Imports, room/5)
	return s
}

// lineOf is the line of a byte, from 1.
func lineOf(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// around is the smallest declaration that holds a range, nil if none does.
func around(symbols []syntax.Symbol, start, end int) *syntax.Symbol {
	var best *syntax.Symbol
	for i := range symbols {
		s := &symbols[i]
		if int(s.Span.Start) > start || int(s.Span.End) < end || s.Kind == syntax.KindField || s.Kind == syntax.KindVar || s.Kind == syntax.KindConst {
			continue
		}
		if best == nil || s.Span.End-s.Span.Start < best.Span.End-best.Span.Start {
			best = s
		}
	}
	return best
}

// window chooses the lines shown: those of the declaration and two around it
// if they fit, else as many as fit around the place.
func (s *promptContext) window(lines []string, d *syntax.Symbol, room int) {
	from, to := s.First-contextLines/2, s.Last+contextLines/2
	if d != nil {
		from, to = int(d.Span.StartLine)-2, int(d.Span.EndLine)+2
		if to-from >= contextLines {
			from, to = max(from, s.First-contextLines/2), min(to, s.Last+contextLines/2)
		}
	}
	from, to = max(from, 1), min(to, len(lines))
	if to == len(lines) && to > from && lines[to-1] == "" {
		to--
	}
	size := 0
	for _, l := range lines[from-1 : to] {
		size += len(l)
	}
	for size > room && (from < s.First || to > s.Last) { // drop the lines farthest from the place
		if s.First-from >= to-s.Last {
			size -= len(lines[from-1])
			from++
		} else {
			size -= len(lines[to-1])
			to--
		}
	}
	s.From, s.To = from, to
	s.Text = plain(strings.Join(lines[from-1:to], ""))
	if len(s.Text) > room { // a selection of a whole file
		s.Text = clipped(s.Text, room)
		s.To = s.From + strings.Count(s.Text, "\n")
	}
}

// head shows the file's beginning up to its last import, which a change may have
// to extend.
func (s *promptContext) head(lines []string, imports []syntax.Import, room int) {
	last := 0
	for _, i := range imports {
		if int(i.Span.StartLine) < s.From {
			last = max(last, int(i.Span.EndLine))
		}
	}
	last = min(last, s.From-1, len(lines))
	if last <= 0 {
		return
	}
	if head := plain(strings.Join(lines[:last], "")); len(head) <= room {
		s.Head, s.HeadTo = head, last
	}
}

// plain is code as prompts have it: a model writes line feeds alone.
func plain(code string) string {
	return strings.TrimRight(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
}

// Fence is a fence that nothing in the context closes.
func (s promptContext) Fence() string { return markdown.Fence(s.Text, s.Head, s.Selected) }

// Numbered and NumberedHead are Text and Head with a number before each line, for
// answers that only name lines: what is to be copied into a diff has none.
func (s promptContext) Numbered() string     { return prompt.Number(s.Text, s.From) }
func (s promptContext) NumberedHead() string { return prompt.Number(s.Head, 1) }

// quoted are the lines that the messages quote.
func (e task) quoted() []agent.Citation {
	s := e.about
	places := []agent.Citation{{Path: s.Name, StartLine: s.From, EndLine: s.To}}
	if s.Head != "" {
		places = append(places, agent.Citation{Path: s.Name, StartLine: 1, EndLine: s.HeadTo})
	}
	if e.selects { // Text ends before a selection that is longer than its room
		places = append(places, agent.Citation{Path: s.Name, StartLine: s.First, EndLine: s.Last})
	}
	return places
}

// messages are the conversation that opens a task.
func (e task) messages() []agent.Message {
	return []agent.Message{
		{Role: "system", Text: prompt.Text(prompts, e.name+".system.tmpl", e.about)},
		{Role: "user", Text: prompt.Text(prompts, e.name+".user.tmpl", e.about)},
	}
}

// names are those in some code or words, in order: a letter or an underscore, and what follows of
// letters, digits and underscores.
func names(text string) iter.Seq[string] {
	return func(yield func(name string) bool) {
		begin := -1
		for i, r := range text {
			switch isLetter := r == '_' || unicode.IsLetter(r); {
			case begin < 0 && isLetter:
				begin = i
			case begin >= 0 && !isLetter && !unicode.IsNumber(r):
				if !yield(text[begin:i]) {
					return
				}
				begin = -1
			}
		}
		if begin >= 0 {
			yield(text[begin:])
		}
	}
}

// namesIn are the names in some code or words, each once, in order.
func namesIn(text string) []string {
	list, _ := namesWithin(context.Background(), text) // which does not end
	return list
}

// namesWithin is namesIn for as long as ctx lasts: a document has a million.
func namesWithin(ctx context.Context, text string) (list []string, err error) {
	seen := map[string]bool{}
	n := 0
	for name := range names(text) {
		if n++; n%lookEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list, nil
}

// lookEvery is how many names are looked at between two looks at the context.
const lookEvery = 1 << 12
