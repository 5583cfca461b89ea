package retrieval

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"time"

	"quarry/index/syntax"
	"quarry/index/token"
	"quarry/retrieval/lexicon"
)

// Document is one file as the index has it. An Index keeps no reference to Text
// unless it was made to (Options.Text).
type Document struct {
	// Path is relative to the workspace root, with slashes.
	Path     string
	Language string
	Text     string
	Modified time.Time
	Syntax   *syntax.File
}

// file is what a search needs of one file; immutable.
type file struct {
	path     string
	language string
	modified time.Time
	class    fileClass
	kind     Type
	words    pathWords
	// chunks [firstChunk, endChunk) of the segment are the file's.
	firstChunk, endChunk uint32
	// defs [firstDef, endDef) of the segment are declared here.
	firstDef, endDef uint32
	// uses [firstUse, endUse) of the segment are the distinct names that the file uses,
	// imports [firstImport, endImport) are what it imports.
	firstUse, endUse       uint32
	firstImport, endImport uint32
	trigrams               trigramSet
	text                   string // "" when the index was not made to keep texts
}

// chunk is one retrievable piece of a file; immutable. It has no pointers, so that it
// is the same in memory and in a file.
type chunk struct {
	file      uint32
	startLine uint32
	endLine   uint32
	content   uint32 // a string of the segment's names
	// def is the chunk's most important declaration in the segment's defs, -1
	// for none.
	def int32
}

// defRecord is one declaration as a segment keeps it, without pointers: there are
// several for each chunk. The first four are strings of the segment's names, the
// signature is one of its signatures.
type defRecord struct {
	name, key, container, kind uint32
	file, chunk                uint32
	signature                  uint32
	startLine, endLine         uint32
}

// def is one declaration, made of its record when somebody asks.
type def struct {
	at        uint32 // in the segment's defs
	name      string // as written
	key       string // flatName of name
	container string
	kind      syntax.Kind
	file      uint32
	chunk     uint32
}

func (s *segment) def(i uint32) *def {
	r := &s.defs[i]
	return &def{
		at: i, name: s.names.at(r.name), key: s.names.at(r.key), container: s.names.at(r.container), kind: syntax.Kind(s.names.at(r.kind)),
		file: r.file, chunk: r.chunk,
	}
}

// key is the key of a declaration.
func (s *segment) key(def uint32) string { return s.names.at(s.defs[def].key) }

// contentOf is what a chunk holds.
func (s *segment) contentOf(c *chunk) syntax.Content { return syntax.Content(s.names.at(c.content)) }

// segment is an immutable index of some files. A snapshot is a large segment and
// a few of one file each, for the files that changed since.
type segment struct {
	files  []file // in the order of their paths
	chunks []chunk
	defs   []defRecord
	// names are the strings of chunks, defs, uses and imports, in order.
	names      stringTable
	signatures stringTable
	// uses and imports are the files' (see file), as numbers in names: of an import its
	// path, its alias, how many names are taken from it, and these. usedBy is how many files use
	// each name.
	uses, imports, usedBy []uint32
	// byName holds the indices of the defs that completion can show, ordered by name,
	// byOwner of those in another declaration, ordered by the last part of its name.
	byName, byOwner []uint32
	// folders are those that have files of the segment, made when somebody asks.
	folders func() []string
	// byKey holds the indices of defs ordered by key, then by index.
	byKey    []uint32
	keys     []nameKey // the distinct keys in that order
	text     postings  // documents are chunks
	metadata postings  // documents are files
	// textKeys are the chunks' keys, byText the chunks in the order of these.
	textKeys []Key
	byText   []uint32
	vectors  *lexiconVectors // the chunks'
	// keep is what the arrays lie in, if not in memory of their own.
	keep any
}

// Weights of the lexical columns, and what BM25 takes for an average length. See
// weights.go for the measurements.
const (
	weightBody     = 1
	weightName     = 3
	weightFileName = 2
	weightDirs     = 1

	// thinFace is the most chunks of a package face that only passes on what
	// other files hold; a larger one has code of its own.
	thinFace = 4

	meanChunkTerms    = 220
	meanMetadataTerms = 120
)

// fileAt finds a file by its path.
func (s *segment) fileAt(path string) (int, bool) {
	return slices.BinarySearchFunc(s.files, path, func(f file, path string) int { return strings.Compare(f.path, path) })
}

// buildSegment indexes documents, which are in the order of their paths; equal paths
// must not repeat.
func buildSegment(docs []Document, keepText bool, yield func()) *segment {
	s, w := &segment{}, &segmentWriter{names: newStrings(), signatures: newStrings(), text: newPostingsBuilder(meanChunkTerms), metadata: newPostingsBuilder(meanMetadataTerms)}
	w.text.sum = lexicon.Builtin().NewSum()
	for i := range docs {
		if yield != nil {
			yield()
		}
		s.add(&docs[i], w)
		if keepText {
			s.files[i].text = docs[i].Text
		}
	}
	s.vectors = &lexiconVectors{rows: w.text.vectors}
	s.text, s.metadata = w.text.build(), w.metadata.build()
	s.finish(w.names, w.signatures)
	return s
}

// segmentWriter is what a segment is made with.
type segmentWriter struct {
	names, signatures *stringsBuilder
	text, metadata    *postingsBuilder
	analyzer          token.Analyzer
}

// finish puts the strings in order, and makes what is found by them.
func (s *segment) finish(names, signatures *stringsBuilder) {
	s.orderNames(names)
	s.signatures = signatures.table()
	s.sortDefs()
	s.sortKeys()
	s.sortDeclarations()
	s.folders = foldersOf(s.files)
}

// orderNames gives every name the number of its place among them.
func (s *segment) orderNames(names *stringsBuilder) {
	var renumber []uint32
	s.names, renumber = names.ordered()
	for i := range s.chunks {
		c := &s.chunks[i]
		c.content = renumber[c.content]
	}
	for i := range s.defs {
		d := &s.defs[i]
		d.name, d.key, d.container, d.kind = renumber[d.name], renumber[d.key], renumber[d.container], renumber[d.kind]
	}
	for i, id := range s.uses {
		s.uses[i] = renumber[id]
	}
	for i := range s.files {
		slices.Sort(s.uses[s.files[i].firstUse:s.files[i].endUse])
	}
	for i := 0; i < len(s.imports); i++ {
		s.imports[i], s.imports[i+1] = renumber[s.imports[i]], renumber[s.imports[i+1]]
		i += 2
		for n := s.imports[i]; n > 0; n-- {
			i++
			s.imports[i] = renumber[s.imports[i]]
		}
	}
}

func (s *segment) sortDefs() {
	s.byKey = make([]uint32, len(s.defs))
	for i := range s.byKey {
		s.byKey[i] = uint32(i)
	}
	slices.SortFunc(s.byKey, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(s.defs[x].key, s.defs[y].key), cmp.Compare(x, y))
	})
	s.indexKeys()
}

func (s *segment) add(d *Document, w *segmentWriter) {
	a, names, text, metadata := &w.analyzer, w.names, w.text, w.metadata
	id := uint32(len(s.files))
	r := classOf(d.Path, d.Text)
	f := file{
		path: d.Path, language: d.Language, modified: d.Modified, class: r, kind: r.typeOf(),
		words:      wordsOfPath(a, d.Path),
		firstChunk: uint32(len(s.chunks)),
		firstDef:   uint32(len(s.defs)),
		trigrams:   trigramsOf(d.Text),
	}
	syn := d.Syntax
	if len(syn.Chunks) > thinFace {
		f.class &^= classFace
	}
	if declaresOnlyTypes(d) {
		f.class |= classTypes
	}
	if foreign(a, d.Path, runtime.GOOS) {
		f.class |= classForeign
	}
	f.words.name = nameFromSymbols(a, f.words, syn.Symbols)
	symbolDef := make([]int32, len(syn.Symbols))
	for i, sym := range syn.Symbols {
		if isClause(&sym) {
			symbolDef[i] = -1
			continue
		}
		symbolDef[i] = int32(len(s.defs))
		s.defs = append(s.defs, defRecord{
			name: names.id(sym.Name), key: names.id(flatName(sym.Name)), container: names.id(sym.Container), kind: names.id(string(sym.Kind)),
			file: id, chunk: f.firstChunk, signature: w.signatures.id(sym.Signature), startLine: sym.Span.StartLine, endLine: sym.Span.EndLine,
		})
	}
	for _, part := range syn.Chunks {
		n := uint32(len(s.chunks))
		s.textKeys = append(s.textKeys, part.Hash)
		c := chunk{
			file: id, startLine: part.Span.StartLine, endLine: part.Span.EndLine,
			content: names.id(string(part.Content)), def: -1,
		}
		for _, sym := range part.Symbols {
			if symbolDef[sym] < 0 {
				continue
			}
			if c.def < 0 {
				c.def = symbolDef[sym]
			}
			s.defs[symbolDef[sym]].chunk = n
			text.addText(syn.Symbols[sym].Name, weightName)
		}
		s.chunks = append(s.chunks, c)
		text.addText(d.Text[part.Span.Start:part.Span.End], weightBody)
		for _, w := range f.words.name {
			text.addTerm(w, weightFileName)
		}
		if len(f.words.name) > 1 {
			text.addTerm(f.words.base, weightFileName)
		}
		for _, w := range f.words.dirs {
			text.addTerm(w, weightDirs)
		}
		text.endDocument()
	}
	f.endChunk, f.endDef = uint32(len(s.chunks)), uint32(len(s.defs))
	s.addMetadata(d, &f, metadata)
	metadata.endDocument()
	s.addUses(&f, syn, names)
	s.files = append(s.files, f)
}

// addMetadata writes the file's metadata: the names it declares, the words of its path
// and its head comment.
func (s *segment) addMetadata(d *Document, f *file, metadata *postingsBuilder) {
	for _, sym := range d.Syntax.Symbols {
		if isClause(&sym) {
			continue
		}
		metadata.addText(sym.Name, 1)
	}
	for _, w := range f.words.name {
		metadata.addTerm(w, 2)
	}
	for _, w := range f.words.dirs {
		metadata.addTerm(w, 1)
	}
	metadata.addText(headComment(d.Text), 1)
}

// declaresOnlyTypes answers whether a file of TypeScript has types that other files'
// code uses, and no code: what a .d.ts is.
func declaresOnlyTypes(d *Document) bool {
	if d.Language != "typescript" {
		return false
	}
	found := false
	for i := range d.Syntax.Symbols {
		switch sym := &d.Syntax.Symbols[i]; sym.Kind {
		case syntax.KindInterface, syntax.KindType:
			found = true
		case syntax.KindFunction, syntax.KindClass, syntax.KindEnum, syntax.KindConst, syntax.KindVar:
			if sym.Container == "" {
				return false
			}
		}
	}
	return found
}

// isClause answers whether a symbol only says which module the file is in or
// that another file holds one (package gin, mod tests;): every file of a package
// has the same, and none is its declaration.
func isClause(sym *syntax.Symbol) bool {
	return sym.Kind == syntax.KindModule && sym.NameSpan.EndLine == sym.Span.EndLine || sym.Name == "_"
}

// nameFromSymbols cuts a base name that is written as one word (routergroup.go) as
// a declaration of the same file cuts it (RouterGroup).
func nameFromSymbols(a *token.Analyzer, w pathWords, symbols []syntax.Symbol) []string {
	if len(w.name) != 1 {
		return w.name
	}
	for _, sym := range symbols {
		if flatName(sym.Name) == w.base {
			if cut := stemmedWords(a, nil, sym.Name); len(cut) > 1 {
				return cut
			}
		}
	}
	return w.name
}

// headComment returns the comment a file starts with, without a licence, at most
// headBytes of it.
func headComment(text string) string {
	const headBytes = 1200
	if len(text) > headBytes {
		text = text[:headBytes]
	}
	var out []string
	inBlock := ""
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		switch {
		case inBlock != "":
			out = append(out, t)
			if strings.Contains(t, inBlock) {
				inBlock = ""
			}
		case t == "" || strings.HasPrefix(t, "#!"):
		case strings.HasPrefix(t, "/*"):
			if !strings.Contains(t, "*/") {
				inBlock = "*/"
			}
			out = append(out, t)
		case strings.HasPrefix(t, `"""`) || strings.HasPrefix(t, `'''`):
			if len(t) < 6 || !strings.HasSuffix(t, t[:3]) {
				inBlock = t[:3]
			}
			out = append(out, t)
		case strings.HasPrefix(t, "{-"):
			if !strings.Contains(t, "-}") {
				inBlock = "-}"
			}
			out = append(out, t)
		case strings.HasPrefix(t, "//"), strings.HasPrefix(t, "#"), strings.HasPrefix(t, "--"), strings.HasPrefix(t, ";"), strings.HasPrefix(t, "%"):
			out = append(out, t)
		default:
			return withoutLicence(out)
		}
	}
	return withoutLicence(out)
}

// withoutLicence drops the paragraphs of a licence from a head comment.
func withoutLicence(lines []string) string {
	var out []string
	for _, line := range lines {
		lower := strings.ToLower(line)
		for _, word := range []string{"licen", "copyright", "warrant", "permission", "redistribut", "merchantab", "spdx", "liab", "all rights", "(c)", "apache", "http://", "https://", "as is", "limitation", "use this file", "agreed to in writing", "software is"} {
			if strings.Contains(lower, word) {
				lower = ""
				break
			}
		}
		if lower != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
