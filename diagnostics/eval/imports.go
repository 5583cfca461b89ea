package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"quarry/agent"
	"quarry/diagnostics/imports"
	"quarry/index/lang"
	"quarry/index/syntax"
)

// Missing imports are measured without a compiler: an import that somebody wrote is taken
// out of a file, and the fixer is asked for each name that it gave and the file uses. And as
// the opposite, a line that declares a variable or function is taken out, and the fixer is
// asked for its name: no import is right then.

// ImportTrial is one statement that was taken out.
type ImportTrial struct {
	Repository string `json:"repository"`
	Language   string `json:"language"`
	Half       string `json:"half"`
	File       string `json:"file"`
	Line       int    `json:"line"`
	Statement  string `json:"statement"`
	// Declaration says that it was no import but a declaration: no offer is right.
	Declaration bool        `json:"declaration,omitempty"`
	Names       []NameTrial `json:"names"`
	// Exact says that after the right offers were applied the text is the original.
	Exact bool `json:"exact"`
	// Written says that it has the same lines, perhaps in another order.
	Written bool `json:"written"`
	// Differs is what the text then has in place of the original's, "" where a name had no
	// right offer.
	Differs string `json:"differs,omitempty"`
}

// NameTrial is what was offered for one name.
type NameTrial struct {
	Name string `json:"name"`
	// Rank is where the right import stands among the offers, from 1; 0 if nowhere.
	Rank    int      `json:"rank"`
	Offers  []string `json:"offers"`
	Certain bool     `json:"certain"`
	Seconds float64  `json:"seconds"`
}

// Finder is what is judged.
type Finder interface {
	Find(ctx context.Context, p agent.Problem) imports.Found
}

// LoadRepositories reads a list of repositories.
func LoadRepositories(file string) ([]Repository, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the list of repositories: %w", err)
	}
	var list []Repository
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return list, nil
}

// Imports tries at most n imports and n declarations of a tree, chosen by the hash of their
// places, in the files of its language.
func Imports(ctx context.Context, r Repository, root string, finder Finder, n int) ([]ImportTrial, error) {
	var found []removal
	err := filepath.WalkDir(root, func(file string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(file)
		language := lang.Detect(filepath.Base(file), raw)
		if err != nil || lang.Family(language) != lang.Family(r.Language) || len(raw) > 200_000 || isBuilt(filepath.ToSlash(file)) {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		list, err := removals(language, string(raw))
		for i := range list {
			list[i].file, list[i].rel, list[i].language = file, filepath.ToSlash(rel), language
		}
		found = append(found, list...)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b removal) int { return cmp.Compare(a.order(), b.order()) })
	var trials []ImportTrial
	counts := map[bool]int{}
	for _, m := range found {
		if ctx.Err() != nil {
			return trials, ctx.Err()
		}
		if counts[m.declaration] == n {
			continue
		}
		if t, ok := m.try(ctx, finder); ok {
			counts[m.declaration]++
			t.Repository, t.Language, t.Half = r.Name, r.Language, r.Half
			trials = append(trials, t)
		}
	}
	return trials, nil
}

// isBuilt answers whether a file is in a folder of what a build wrote, as packages of npm have it.
func isBuilt(file string) bool {
	return strings.Contains(file, "/dist/") || strings.Contains(file, "/build/")
}

// removal is a text without a statement.
type removal struct {
	file, rel, language string
	original, text      string
	start, line         int
	statement           string
	declaration         bool
	names               []string // that it gave
}

func (m removal) order() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, m.rel, m.line, m.declaration)
	return h.Sum64()
}

var (
	// localVariable declares one in the languages by families.
	localVariable = map[string]*regexp.Regexp{
		"go":     regexp.MustCompile(`^\t+([a-zA-Z_]\w*) :?= [^{(]*$`),
		"python": regexp.MustCompile(`^ +([a-zA-Z_]\w*) = [^\[({]*$`),
		"js":     regexp.MustCompile(`^\s+(?:const|let|var) ([a-zA-Z_]\w*) = [^{(\[]*;?$`),
		"rust":   regexp.MustCompile(`^\s+let (?:mut )?([a-zA-Z_]\w*) = [^{(\[]*;$`),
		"jvm":    regexp.MustCompile(`^\s+(?:final )?[A-Za-z]\w* ([a-zA-Z_]\w*) = [^{]*;$`),
		"c":      regexp.MustCompile(`^\s+[A-Za-z]\w* \*?([a-zA-Z_]\w*) = [^{]*;$`),
	}
	anyWord = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)
)

// libraryNames are some that C's headers have.
var libraryNames = map[string][]string{
	"string.h": {"memcpy", "memset", "memmove", "strlen", "strcmp", "strncmp", "strchr", "strdup", "memcmp", "strrchr"},
	"stdlib.h": {"malloc", "free", "calloc", "realloc", "abort", "getenv", "qsort", "strtol", "atoi"},
	"stdio.h":  {"printf", "fprintf", "fopen", "fclose", "snprintf", "sprintf", "fread", "fwrite"},
	"assert.h": {"assert"},
	"ctype.h":  {"isdigit", "isspace", "isalpha", "tolower", "toupper"},
	"errno.h":  {"errno"}, "time.h": {"time", "clock", "localtime"}, "math.h": {"sqrt", "floor", "pow"},
}

// removals are what can be taken out of a text.
func removals(language, text string) (list []removal, err error) {
	file, err := syntax.Analyze(language, []byte(text))
	if err != nil {
		return nil, nil // there is no grammar
	}
	lines := strings.SplitAfter(text, "\n")
	starts := make([]int, len(lines)+1)
	for i, l := range lines {
		starts[i+1] = starts[i] + len(l)
	}
	family := lang.Family(language)
	for i := range file.Imports {
		im := &file.Imports[i]
		first, last := int(im.Span.StartLine), int(im.Span.EndLine)
		if last > first && strings.HasSuffix(text[im.Span.Start:im.Span.End], "\n") {
			last-- // an include ends behind its line
		}
		alone := true
		for k := range file.Imports {
			other := &file.Imports[k]
			if k != i && int(other.Span.StartLine) <= last && int(other.Span.EndLine) >= first && !(other.Span.StartLine >= im.Span.StartLine && other.Span.End <= im.Span.End) &&
				!(family == "c" && int(other.Span.EndLine) == first) {
				alone = false
			}
		}
		if !alone || first < 1 || last > len(lines) {
			continue
		}
		m := removal{original: text, start: starts[first-1], line: first, statement: strings.TrimSpace(text[starts[first-1]:starts[last]])}
		lead := text[m.start:im.Span.Start]
		above := ""
		if first > 1 {
			above = strings.TrimSpace(lines[first-2])
		}
		switch {
		case family == "js" && !strings.HasPrefix(m.statement, "import") && !strings.Contains(m.statement, "require("),
			strings.HasPrefix(above, "#["), strings.HasPrefix(above, "if ") || strings.HasPrefix(above, "try:"), // one line of a condition
			strings.Contains(lines[last-1], "//") || strings.Contains(lines[last-1], "/*") || strings.Contains(m.statement, " #"), // nobody could write the comment again
			family == "python" && strings.TrimLeft(lead, " ") != lead && !isForTypes(lines[:first-1]),                             // in a function
			family == "rust" && strings.TrimSpace(lead) != "", family == "rust" && lead != "" && strings.Contains(m.statement, "use "),
			family == "c" && !strings.HasPrefix(m.statement, "#include "):
			continue
		}
		end := starts[last]
		// A group of one takes a blank line with it, as a formatter leaves the text.
		blankBefore := first == 1 || strings.TrimSpace(lines[first-2]) == "" || strings.HasSuffix(strings.TrimSpace(lines[first-2]), "import (")
		blankAfter := last < len(lines) && strings.TrimSpace(lines[last]) == ""
		if blankBefore && blankAfter {
			end = starts[last+1]
		} else if closes := last < len(lines) && strings.HasPrefix(lines[last], ")"); closes && first > 1 && strings.TrimSpace(lines[first-2]) == "" {
			m.start = starts[first-2]
		}
		m.text = text[:m.start] + text[end:]
		m.names = providedBy(family, im, file, m.statement, text)
		if len(m.names) > 0 {
			list = append(list, m)
		}
	}
	form := localVariable[family]
	declared := map[string]bool{}
	for i, l := range lines {
		g := form.FindStringSubmatch(strings.TrimRight(l, "\r\n"))
		if g == nil || declared[g[1]] || len(g[1]) < 2 {
			continue
		}
		declared[g[1]] = true // the first only: a later one leaves a declaration
		list = append(list, removal{
			original: text, text: text[:starts[i]] + text[starts[i+1]:], start: starts[i], line: i + 1,
			statement: strings.TrimSpace(l), declaration: true, names: []string{g[1]},
		})
	}
	return list, nil
}

// isForTypes answers whether the last block that lines begin is one for type checkers.
func isForTypes(lines []string) bool {
	for _, l := range slices.Backward(lines) {
		if strings.TrimSpace(l) != "" && strings.TrimLeft(l, " \t)") == l {
			return strings.Contains(l, "TYPE_CHECKING")
		}
	}
	return false
}

// providedBy are the names that an import gives a file.
func providedBy(family string, im *syntax.Import, file *syntax.File, statement, text string) (names []string) {
	switch {
	case family == "c":
		return libraryNames[im.Path]
	case im.Alias != "":
		names = []string{im.Alias}
	case len(im.Names) == 0 && family == "go":
		base := path.Base(im.Path)
		if regexp.MustCompile(`^v\d+$`).MatchString(base) {
			base = path.Base(path.Dir(im.Path))
		}
		base, _, _ = strings.Cut(base, ".")
		names = []string{strings.TrimPrefix(base, "go-")}
	case len(im.Names) == 0 && family == "python":
		first, _, _ := strings.Cut(im.Path, ".")
		names = []string{first}
	case len(im.Names) == 0 && family == "rust" && strings.Contains(im.Path, "::") && !strings.Contains(statement, "*"):
		names = []string{im.Path[strings.LastIndex(im.Path, "::")+2:]}
	}
	if im.Alias == "" {
		names = append(names, im.Names...)
	}
	for i := range file.Imports { // nested lists, and names with aliases
		if in := &file.Imports[i]; in != im && in.Span.Start >= im.Span.Start && in.Span.End <= im.Span.End {
			if in.Alias != "" {
				names = append(names, in.Alias)
			} else {
				names = append(names, in.Names...)
			}
		}
	}
	return slices.Compact(names)
}

// codeWord is where a name stands in code: not in a comment, a string or an import; -1 if
// nowhere.
func codeWord(language, text, name string) int {
	list, _, err := syntax.Mentions(context.Background(), language, []byte(text), name, 200)
	if err != nil {
		return -1
	}
	for _, m := range list {
		if !m.Import && !m.Member && !m.Local && m.Symbol < 0 {
			return int(m.Span.Start)
		}
	}
	return -1
}

// unknownName is what a tool says of a name.
func unknownName(family, name string) string {
	switch family {
	case "go":
		return "undefined: " + name
	case "python":
		return "Undefined name `" + name + "`"
	case "js":
		return "Cannot find name '" + name + "'."
	case "rust":
		return "cannot find type `" + name + "` in this scope"
	case "jvm":
		return "cannot find symbol\n  symbol:   class " + name
	}
	return "implicit declaration of function ‘" + name + "’"
}

// try asks for the names of a removal one after the other, each time with those applied that
// were right before. ok is false if the file uses none of them.
func (m removal) try(ctx context.Context, finder Finder) (t ImportTrial, ok bool) {
	t = ImportTrial{File: m.rel, Line: m.line, Statement: m.statement, Declaration: m.declaration}
	family := lang.Family(m.language)
	text := m.text
	want := importsOf(m.language, m.original)
	all := true
	for _, name := range m.names {
		at := codeWord(m.language, text, name)
		if m.declaration && (at < m.start || at > 0 && text[at-1] == '.') { // it has another meaning there
			continue
		}
		if at < 0 {
			all = false
			continue
		}
		p := agent.Problem{
			Location: agent.Location{Document: agent.Document{Path: m.file, Language: m.language, Text: text}, Start: at, End: at + len(name)},
			Severity: agent.SeverityError, Message: unknownName(family, name),
		}
		begin := time.Now()
		found := finder.Find(ctx, p)
		n := NameTrial{Name: name, Offers: []string{}, Certain: found.Certain, Seconds: time.Since(begin).Seconds()}
		now := importsOf(m.language, text)
		var right string
		for i, c := range found.Candidates {
			n.Offers = append(n.Offers, c.Title())
			after := agent.ApplyEdits(text, c.Edits)
			if !m.declaration && n.Rank == 0 && isStep(now, importsOf(m.language, after), want) {
				n.Rank, right = i+1, after
			}
		}
		if right != "" {
			text = right
		}
		t.Names = append(t.Names, n)
		if family == "c" {
			break // one name brings the whole header
		}
	}
	t.Written = all && slices.Equal(sortedLines(text), sortedLines(m.original))
	if t.Exact = all && text == m.original; !t.Exact && all && !m.declaration && !slices.ContainsFunc(t.Names, func(n NameTrial) bool { return n.Rank == 0 }) {
		t.Differs = udiff.Unified("original", "mended", m.original, text)
	}
	return t, len(t.Names) > 0
}

// sortedLines are the lines of a text that are not blank.
func sortedLines(text string) []string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	slices.Sort(lines)
	return lines
}

// importsOf are the imports of a text as what they give: each is a path, a name, what it is
// called, and for JavaScript its form.
func importsOf(language, text string) map[string]int {
	set := map[string]int{}
	file, err := syntax.Analyze(language, []byte(text))
	if err != nil {
		return set
	}
	for i := range file.Imports {
		im := &file.Imports[i]
		form := ""
		source := text[im.Span.Start:im.Span.End]
		if lang.Family(language) == "js" && strings.HasPrefix(source, "import type") {
			form = "type "
		}
		if len(im.Names) == 0 {
			set[fmt.Sprintf("%s%s||%s", form, im.Path, im.Alias)]++
		}
		for _, n := range im.Names {
			how := form
			if lang.Family(language) == "js" {
				if brace := strings.IndexByte(source, '{'); brace >= 0 && strings.Index(source, n) > brace {
					how += "{}"
				}
			}
			p := im.Path
			if lang.Family(language) == "rust" && im.Alias == "" { // a::b is b of a
				p = strings.TrimSuffix(p, "::"+n)
			}
			set[fmt.Sprintf("%s%s|%s|%s", how, p, n, im.Alias)]++
		}
	}
	return set
}

// isStep answers whether after has what before has and something more, all of it wanted.
func isStep(before, after, want map[string]int) bool {
	more := false
	for k, n := range after {
		if n > want[k] {
			return false
		}
		more = more || n > before[k]
	}
	for k, n := range before {
		if after[k] < n {
			return false
		}
	}
	return more
}
