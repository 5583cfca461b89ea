package imports

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"quarry/agent"
	"quarry/index/lang"
	"quarry/index/syntax"
)

// document is the text that an import is missing in.
type document struct {
	agent.Document
	rel  string // its path in its folder
	file *syntax.File
	eol  string
	at   int // where the unknown name stands
	// beside is the look that is made for the document, ways what it found; nil in a document that
	// is an example.
	beside *search
	ways   []way
	pkg    pythonPackage
	goPath string // the path of its module

	readExamples sync.Once
	exampleList  []*document // as readExamples left it

	// What is read of the whole text, once: it is asked for at each of many imports.
	jvmPackage       func() string
	conditions       func() []condition
	pythonStatements func() []pythonStatement
	scriptStatements func() []scriptStatement
}

func read(doc agent.Document, rel string) (*document, error) {
	doc.Language = lang.Canonical(doc.Language)
	file, err := syntax.Analyze(doc.Language, []byte(doc.Text))
	if err != nil {
		return nil, err
	}
	return newDocument(doc, rel, file), nil
}

func newDocument(doc agent.Document, rel string, file *syntax.File) *document {
	d := &document{Document: doc, rel: rel, file: file, eol: "\n"}
	if crlf := strings.Count(doc.Text, "\r\n"); crlf > 0 && 2*crlf > strings.Count(doc.Text, "\n") {
		d.eol = "\r\n"
	}
	d.jvmPackage = sync.OnceValue(d.readPackage)
	d.conditions = sync.OnceValue(d.readConditions)
	d.pythonStatements = sync.OnceValue(d.readPythonStatements)
	d.scriptStatements = sync.OnceValue(d.readScriptStatements)
	return d
}

// mostMentions is how often a document may have a name and still be looked at closely.
const mostMentions = 2000

// readAt is read for the document that has an unknown name. It answers false where the name does
// not stand in code, and notes that it is vague where it may be bound in the function around it.
func readAt(ctx context.Context, doc agent.Document, rel string, u *unknown) (d *document, ok bool) {
	doc.Language = lang.Canonical(doc.Language)
	list, file, err := syntax.Mentions(ctx, doc.Language, []byte(doc.Text), u.name, mostMentions)
	if err != nil {
		d, err := read(doc, rel)
		return d, err == nil && ctx.Err() == nil
	}
	i := slices.IndexFunc(list, func(m syntax.Mention) bool { return int(m.Span.Start) <= u.at && u.at < int(m.Span.End) })
	if i < 0 {
		// Python's annotations may be strings.
		if doc.Language != "python" || !isQuoted(doc.Text, u) {
			return nil, false
		}
		u.isVague = true
	} else if list[i].Import {
		return nil, false
	}
	u.isVague = u.isVague || i >= 0 && list[i].Local
	return newDocument(doc, rel, file), true
}

// isQuoted answers whether a name stands alone, or as a part of a type, in a string of one line.
func isQuoted(text string, u *unknown) bool {
	start := strings.LastIndexAny(text[:u.at], "\n")
	return strings.ContainsAny(text[start+1:u.at], `"'`) && !strings.ContainsAny(text[max(start+1, strings.LastIndexAny(text[:u.at], `"'`)):u.at], " ")
}

// examples are some files that import the name as the first of the ways does.
func (d *document) examples() []*document {
	if d.beside == nil || len(d.ways) == 0 {
		return nil
	}
	d.readExamples.Do(func() {
		for _, file := range d.ways[0].near[:min(len(d.ways[0].near), mostRead)] {
			if d.beside.ctx.Err() != nil {
				return
			}
			if facts := d.beside.factsOf(file); facts != nil {
				example := newDocument(agent.Document{Path: file, Language: d.Language, Text: d.beside.textOf(file)}, file, facts)
				example.pkg, example.goPath = d.pkg, d.goPath
				d.exampleList = append(d.exampleList, example)
			}
		}
	})
	return d.exampleList
}

// isApart is isApart of the document and of its examples.
func (d *document) isApart(l language, usual bool) func() bool {
	return func() bool {
		lists := [][]entry{l.list(d)}
		for _, example := range d.examples() {
			lists = append(lists, l.list(example))
		}
		return isApart(usual, lists...)
	}
}

func (d *document) dir() string { return path.Dir(d.rel) }

// knows answers whether the document imports or declares the name already: then its import is
// not what is missing.
func (d *document) knows(l language, u unknown) bool {
	d.at = u.at
	for i := range d.file.Imports {
		im := &d.file.Imports[i]
		switch {
		case im.Alias == "" && slices.Contains(im.Names, u.name), im.Alias == u.name:
			if l == languages["rust"] && !d.sameModule(int(im.Span.Start), u.at) {
				continue
			}
			if l == languages["python"] && d.indent(int(im.Span.Start)) > 0 && !d.isGuarded(int(im.Span.Start)) { // in a function, perhaps another
				continue
			}
			return true
		case im.Alias == "" && len(im.Names) == 0 && l.mayGive(im.Path, u.name):
			if l == languages["python"] && strings.Contains(im.Path, ".") && u.path != im.Path && !strings.HasPrefix(u.path, im.Path+".") {
				continue // import a.b does not know a.c
			}
			return true
		}
	}
	return slices.ContainsFunc(d.file.Symbols, func(s syntax.Symbol) bool {
		return s.Name == u.name && s.Container == "" && s.Kind != syntax.KindModule
	})
}

// isNamed answers whether the document names something of its own so: a variable of some
// function, whose use elsewhere may be the mistake.
func (d *document) isNamed(u unknown) bool {
	return slices.ContainsFunc(d.file.Symbols, func(s syntax.Symbol) bool { return s.Name == u.name && s.Kind != syntax.KindField })
}

// line is where the line with an offset begins, and where the next one does.
func (d *document) line(at int) (start, next int) {
	start = strings.LastIndexByte(d.Text[:at], '\n') + 1
	if end := strings.IndexByte(d.Text[at:], '\n'); end >= 0 {
		return start, at + end + 1
	}
	return start, len(d.Text)
}

// indent is how far the line with an offset is indented.
func (d *document) indent(at int) int {
	start, next := d.line(at)
	line := d.Text[start:next]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// statements are the spans of the document's imports, each whole and none inside another.
func (d *document) statements() (list []syntax.Span) {
	for i := range d.file.Imports {
		list = append(list, d.file.Imports[i].Span)
	}
	slices.SortStableFunc(list, func(a, b syntax.Span) int {
		if a.Start != b.Start {
			return int(a.Start) - int(b.Start)
		}
		return int(b.End) - int(a.End)
	})
	var out []syntax.Span
	for _, s := range list {
		if n := len(out); n == 0 || s.Start >= out[n-1].End {
			out = append(out, s)
		}
	}
	return out
}

// module is the body of the innermost module in braces around an offset, the whole text if
// there is none.
func (d *document) module(at int) (start, end int) {
	end = len(d.Text)
	for _, s := range d.file.Symbols {
		if s.Kind == syntax.KindModule && int(s.NameSpan.End) <= at && at < int(s.Span.End) {
			if brace := strings.IndexByte(d.Text[s.NameSpan.End:s.Span.End], '{'); brace >= 0 {
				start, end = int(s.NameSpan.End)+brace+1, int(s.Span.End)-1
			}
		}
	}
	return start, end
}

func (d *document) sameModule(a, b int) bool {
	x, _ := d.module(a)
	y, _ := d.module(b)
	return x == y
}
