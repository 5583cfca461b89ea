package crossfile

import (
	"path"
	"strings"

	"quarry/completion"
	"quarry/index/syntax"
)

// surroundings is what the document at the cursor tells.
type surroundings struct {
	// names are the names used in the document, each with how much it matters:
	// 1 at the cursor, less with every line away from it.
	names   map[string]float64
	imports []syntax.Import
	family  string
}

const (
	// nearLines is where a name's weight has fallen to a half.
	nearLines = 12
	// drafted is the weight of names in a draft of the answer.
	drafted = 3
	// maxAnalyze is the largest new document that is parsed for its imports; a
	// larger one would take longer than the look-up may.
	maxAnalyze = 64 << 10
)

func look(q completion.ContextQuery) surroundings {
	s := surroundings{names: map[string]float64{}}
	cursor := strings.Count(q.Text[:q.Offset], "\n")
	row := 0
	for line := range strings.SplitSeq(q.Text, "\n") {
		away := row - cursor
		if away < 0 {
			away = -away
		}
		weight := nearLines / float64(nearLines+away)
		words(line, func(w string) { s.names[w] = max(s.names[w], weight) })
		row++
	}
	words(q.Draft, func(w string) { s.names[w] = drafted })
	return s
}

// family groups the languages that use each other's declarations.
func family(language string) string {
	switch language = syntax.Canonical(language); language {
	case "javascriptreact", "typescript", "typescriptreact", "vue", "svelte":
		return "javascript"
	case "cpp", "objective-c":
		return "c"
	}
	return language
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

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// importedBy answers whether a path belongs to what a file imports, by names
// alone: the folder of a package path (Go, Java), the file of a module (Python,
// Rust), a path relative to the file's (JavaScript, C).
func importedBy(name string, imports []syntax.Import) func(string) bool {
	var stems []string
	for _, im := range imports {
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
		stems = append(stems, strings.TrimSuffix(p, path.Ext(p)))
		for _, n := range im.Names { // from package import module
			stems = append(stems, path.Join(p, n))
		}
	}
	return func(other string) bool {
		stem := strings.TrimSuffix(other, path.Ext(other))
		dir := path.Dir(other)
		for _, s := range stems {
			if endsWithPath(stem, s) || endsWithPath(s, stem) || dir != "." && (endsWithPath(dir, s) || endsWithPath(s, dir)) {
				return true
			}
		}
		return false
	}
}

// endsWithPath: tail is p or the end of it after a slash.
func endsWithPath(p, tail string) bool {
	rest, ok := strings.CutSuffix(p, tail)
	return tail != "" && ok && (rest == "" || strings.HasSuffix(rest, "/"))
}
