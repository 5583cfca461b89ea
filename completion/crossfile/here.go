package crossfile

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/index/lang"
	"quarry/index/syntax"
)

// surroundings is what the document at the cursor tells.
type surroundings struct {
	// names are the names used in the document, in the order of their first use.
	names []weighted
	// cursor is the cursor's 1-based line.
	cursor int
	// shown are the first and last lines that the prompt has of the document.
	shown [2]int
	// begun is the word at the cursor, as far as it is typed.
	begun string
	// lines are those being written, to look for similar code.
	lines string
	// kin are the names on the heads of the types that the cursor's line stands in: the
	// type, and what it is derived from.
	kin []string
	// receiver is what the member that is called or begun is asked of.
	receiver receiver
}

// receiver is whose member is meant, as far as the text says.
type receiver int

const (
	anyone receiver = iota
	self            // of the type that the code is part of, or of a base of it
	base            // of a base, and of nothing else
)

// weighted is a name with what the document says of it.
type weighted struct {
	text string
	// weight is how near the cursor it stands: 1 there, less with every line away.
	weight float64
	// count is how often it stands anywhere.
	count int
	// called is 0 or calls.
	called float64
}

const (
	// nearLines is where a name's weight has fallen to a half.
	nearLines = 12
	// header is the least weight of a line that the cursor's line stands in: the
	// head of its function names receiver and parameter types.
	header = 0.7
	// drafted is the weight of names in a draft of the answer: with more, a bad
	// draft drives out what one round finds (bench/context.md). calls is that of
	// the function whose arguments are being written, or of the word at the cursor.
	drafted, calls = 0.5, 4
	// linesBefore and linesAfter the cursor are compared with other code.
	linesBefore, linesAfter = 10, 2
	// maxLook is how much of a document is read on each side of the cursor: all of
	// one of a megabyte would take longer than the look-up may.
	maxLook = 128 << 10
	// maxAnalyze is the largest new document that is parsed for its imports; a
	// larger one would take longer than the look-up may.
	maxAnalyze = 64 << 10
)

func look(q completion.ContextQuery) surroundings {
	from := max(q.Offset-maxLook, 0)
	before := q.Text[from:q.Offset]
	lines := strings.Split(q.Text[from:min(q.Offset+maxLook, len(q.Text))], "\n")
	row := strings.Count(before, "\n")
	s := surroundings{cursor: strings.Count(q.Text[:from], "\n") + row + 1}
	s.shown = [2]int{s.cursor - strings.Count(q.Text[q.Shown[0]:q.Offset], "\n"), s.cursor + strings.Count(q.Text[q.Offset:q.Shown[1]], "\n")}
	heads := enclosing(lines, row)
	at := map[string]int{} // in names
	see := func(text string, weight float64) {
		words(text, func(w string) {
			i, met := at[w]
			if !met {
				i = len(s.names)
				at[w] = i
				s.names = append(s.names, weighted{text: w})
			}
			if weight == calls {
				s.names[i].called = max(s.names[i].called, weight)
				return
			}
			s.names[i].count++
			s.names[i].weight = max(s.names[i].weight, weight)
		})
	}
	for i, line := range lines {
		weight := nearLines / float64(nearLines+max(i-row, row-i))
		if heads[i] {
			weight = max(weight, header)
		}
		see(line, weight)
	}
	variable := ""
	for i := row - 1; i >= 0; i-- {
		if heads[i] {
			kin, v := kinOf(lines[i])
			s.kin = append(s.kin, kin...)
			variable = cmp.Or(variable, v)
		}
	}
	called, member := calling(before)
	see(called, calls)
	s.begun = strings.TrimLeft(before[len(strings.TrimRightFunc(before, isName)):], "0123456789")
	see(s.begun, calls)
	if s.begun != "" {
		member = len(before) - len(s.begun)
	}
	if s.receiver = receiverOf(before[:member], variable); s.begun == "" && called == "super" {
		s.receiver = base
		see("constructor", calls) // which JavaScript calls so
		for _, name := range s.kin {
			see(name, calls) // others after the type
		}
	}
	see(q.Draft, drafted)
	s.lines = strings.Join(around(lines, row), "\n") + "\n" + q.Draft
	return s
}

// typeHead is the head of a type, or of what is part of one, up to its names; method
// is that of a Go method.
var (
	typeHead = regexp.MustCompile(`^\s*(?:[\w@]+\s+)*?(?:class|struct|interface|trait|impl(?:<[^>]*>)?|object|extension|module|record|enum)\s+(.*)`)
	method   = regexp.MustCompile(`^func \((?:(\w+) +)?\*?(\w+)`)
	callOn   = regexp.MustCompile(`(\w+)(\([^()]*\))?(?:\??\.|->|::)$`)
)

// kinOf are the names on the head of a type, and the variable that its members are
// asked of, if the head names one.
func kinOf(head string) (kin []string, variable string) {
	if m := method.FindStringSubmatch(head); m != nil {
		return []string{m[2]}, m[1]
	}
	if m := typeHead.FindStringSubmatch(head); m != nil {
		words(m[1], func(w string) {
			if !everyday[w] {
				kin = append(kin, w)
			}
		})
	}
	return kin, ""
}

// receiverOf tells it from the text before a member's name; variable is a further name of
// the type's own.
func receiverOf(before, variable string) receiver {
	m := callOn.FindStringSubmatch(before[max(0, len(before)-100):])
	switch {
	case m == nil:
	case m[1] == "super" || m[1] == "base" && m[2] == "" || m[1] == "parent" && strings.HasSuffix(m[0], "::"):
		return base
	case m[2] == "" && (m[1] == "self" || m[1] == "this" || m[1] == "cls" || m[1] == "Self" || m[1] == variable):
		return self
	}
	return anyone
}

// calling is the name before the innermost bracket that is open at the end of
// text, and where it begins; "" if none is on the last lines.
func calling(text string) (name string, at int) {
	const reach = 400
	least := max(0, len(text)-reach)
	depth := 0
	for i := len(text) - 1; i >= least; i-- {
		switch text[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth >= 0 {
				continue
			}
			end := i
			for i > least && inName(text[i-1]) {
				i--
			}
			return text[i:end], i
		}
	}
	return "", len(text)
}

// enclosing are the lines that open the blocks around a line, by indentation:
// each the nearest one above that is indented less.
func enclosing(lines []string, row int) map[int]bool {
	heads := map[int]bool{}
	depth := indentation(lines[row])
	if strings.TrimSpace(lines[row]) == "" {
		depth = 1 << 30 // as deep as what stands above
	}
	for i := row - 1; i >= 0 && depth > 0; i-- {
		body := strings.TrimSpace(lines[i])
		if body == "" || strings.Trim(body, "})];,") == "" {
			continue
		}
		if n := indentation(lines[i]); n < depth {
			heads[i] = depth < 1<<30 // the line above is near anyway
			depth = n
		}
	}
	return heads
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// around are the lines being written: some that are not blank above a line, the
// line, and fewer below it.
func around(lines []string, row int) []string {
	from, to := row, row+1
	for n := 0; from > 0 && n < linesBefore; from-- {
		if strings.TrimSpace(lines[from-1]) != "" {
			n++
		}
	}
	for n := 0; to < len(lines) && n < linesAfter; to++ {
		if strings.TrimSpace(lines[to]) != "" {
			n++
		}
	}
	return lines[from:to]
}

// everyday are words of the languages that some file declares a member of the
// same name of: a method string, a field type. Next to every cursor stands one.
var everyday = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`and as async await bool boolean break byte case catch char class const continue def default defer do double
		elif else end enum error except export extends false final finally float fn for from func function go if impl import in int
		interface is let match mod module nil none not null object or package pass private protected pub public raise range return rune
		self static str string struct super switch this throw true try type uint undefined use val var void where while with yield`) {
		m[w] = true
	}
	return m
}()

// words calls yield for each word of text that may be a name.
func words(text string, yield func(string)) {
	for i := 0; i < len(text); {
		if !inName(text[i]) {
			i++
			continue
		}
		j := i
		for j < len(text) && inName(text[j]) {
			j++
		}
		if c := text[i]; j-i > 1 && (c < '0' || c > '9') {
			yield(text[i:j])
		}
		i = j
	}
}

func isName(r rune) bool { return r >= 0x80 || inName(byte(r)) }

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// imports are the path stems that a file's imports may mean, by names alone:
// the folder of a package path (Go, Java), the file of a module (Python, Rust), a
// path relative to the file's (JavaScript, C).
type imports []string

func importedBy(name string, list []syntax.Import) imports {
	var stems imports
	entryFiles := lang.Of(lang.Detect(name, nil)).EntryFiles
	for _, im := range list {
		p := im.Path
		switch {
		case strings.HasPrefix(p, "./"), strings.HasPrefix(p, "../"):
			p = path.Join(path.Dir(name), p)
		case strings.HasPrefix(p, "."): // Python's relative ones
			dir := path.Dir(name)
			for p = p[1:]; strings.HasPrefix(p, "."); p = p[1:] {
				dir = path.Dir(dir)
			}
			p = path.Join(dir, strings.ReplaceAll(p, ".", "/"))
		case !strings.Contains(p, "/"):
			if e := path.Ext(im.Path); e == ".h" || e == ".hpp" || e == ".rb" || e == ".lua" {
				p = strings.TrimSuffix(im.Path, e)
			} else {
				p = strings.NewReplacer("::", "/", ".", "/", "\\", "/").Replace(im.Path)
			}
		}
		p = strings.TrimSuffix(p, path.Ext(p))
		stems = append(stems, p)
		if dir, base := path.Split(p); dir != "" && slices.Contains(entryFiles, base) {
			stems = append(stems, path.Clean(dir)) // the face of a folder, which passes on what is beside it
		}
		for _, n := range im.Names { // from package import module
			stems = append(stems, path.Join(p, n))
		}
	}
	return stems
}

// has answers whether a file belongs to what is imported.
func (m imports) has(file string) bool {
	stem := strings.TrimSuffix(file, path.Ext(file))
	dir := path.Dir(file)
	for _, s := range m {
		if endsWithPath(stem, s) || endsWithPath(s, stem) || dir != "." && (endsWithPath(dir, s) || endsWithPath(s, dir)) {
			return true
		}
	}
	return false
}

// folders answers a quick test that every folder passes that has an imported
// file: most need no closer look.
func (m imports) folders() func(dir string) bool {
	last := map[string]bool{".": true}
	for _, s := range m {
		last[path.Base(s)] = true
		last[path.Base(path.Dir(s))] = true
	}
	return func(dir string) bool { return last[path.Base(dir)] }
}

// endsWithPath: tail is p or the end of it after a slash.
func endsWithPath(p, tail string) bool {
	rest, ok := strings.CutSuffix(p, tail)
	return tail != "" && ok && (rest == "" || strings.HasSuffix(rest, "/"))
}
