// Package eval measures completion on real source: holes cut into files
// ([Holes], [Run]) and typing replayed from them ([Type]).
package eval

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/index/lang"
)

// measured are the file name extensions that are measured.
var measured = []string{".go", ".py", ".js", ".ts", ".tsx", ".rs", ".java", ".c", ".h", ".cc", ".cpp", ".cs", ".rb", ".php", ".kt", ".swift", ".lua", ".ex", ".scala"}

// Repository is the source of one package.
type Repository struct {
	Name      string
	Documents []completion.Document
}

// maxFile leaves out generated tables and bundles.
const maxFile = 300 << 10

// Load reads each folder in dir, or what a link in dir leads to, as one
// repository. Bundled and minified files stay out.
func Load(dir string) ([]Repository, error) {
	var all []Repository
	err := Each(dir, func(r Repository) error {
		all = append(all, r)
		return nil
	})
	return all, err
}

// Each is [Load] of a corpus that need not fit into memory: it calls yield with one
// repository after the other, in the order of their names. more are extensions of files
// to read besides.
func Each(dir string, yield func(Repository) error, more ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the corpus: %w", err)
	}
	found := false
	for _, e := range entries {
		root, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("read the corpus: %w", err)
		}
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			continue
		}
		docs, err := load(root, more...)
		if err != nil {
			return fmt.Errorf("read %s: %w", e.Name(), err)
		}
		if len(docs) == 0 {
			continue
		}
		found = true
		if err := yield(Repository{e.Name(), docs}); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("no source found in %s: it should hold one folder for each repository", dir)
	}
	return nil
}

func load(root string, more ...string) ([]completion.Document, error) {
	var docs []completion.Document
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"dist", "node_modules", "vendor", ".git"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		ext := filepath.Ext(path)
		if !slices.Contains(measured, ext) && !slices.Contains(more, ext) || strings.Contains(d.Name(), ".min.") || strings.HasSuffix(path, ".d.ts") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(text) > maxFile {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		docs = append(docs, completion.Document{Path: filepath.ToSlash(rel), Language: lang.OfExtension(ext).ID, Text: string(text)})
		return nil
	})
	return docs, err
}

// A Hole is a place where the rest of a line was taken out of a file.
type Hole struct {
	Request completion.Request
	// Want is what was taken out, without trailing blanks.
	Want string
	// Fresh is set when the whole line was, but for its indentation.
	Fresh bool
	// file is the index of the file in the repository, start the offset of the
	// hole in it.
	file, start int
}

// Holes cuts n holes into the files of r, chosen by rng: half of them whole
// lines, half of them from some token of a line on, half of those from inside
// a word. Comment lines are left out. Three other files are open.
func Holes(r Repository, n int, rng *rand.Rand) []Hole {
	var holes []Hole
	for tries := 0; len(holes) < n && tries < 50*n; tries++ {
		file := rng.IntN(len(r.Documents))
		if h, ok := cut(r.Documents[file], rng); ok {
			h.file = file
			for range 3 {
				if other := r.Documents[rng.IntN(len(r.Documents))]; other.Path != h.Request.Path {
					h.Request.Open = append(h.Request.Open, other)
				}
			}
			holes = append(holes, h)
		}
	}
	return holes
}

func cut(d completion.Document, rng *rand.Rand) (Hole, bool) {
	lines := strings.SplitAfter(d.Text, "\n")
	if len(lines) < 20 {
		return Hole{}, false
	}
	n := rng.IntN(len(lines))
	line := strings.TrimRight(lines[n], "\r\n")
	body := strings.TrimLeft(line, " \t")
	if len(line) > 200 || isComment(body) || !strings.ContainsFunc(body, isLetter) {
		return Hole{}, false
	}
	at := len(line) - len(body)
	fresh := rng.IntN(2) == 0
	if !fresh {
		tokens := lex(line)
		if len(tokens) < 4 {
			return Hole{}, false
		}
		t := tokens[1+rng.IntN(len(tokens)-3)]
		at = t.start
		if width := len(t.text); width > 1 && rng.IntN(2) == 0 {
			at += 1 + rng.IntN(width-1)
		}
	}
	offset := len(strings.Join(lines[:n], "")) + at
	text := d.Text[:offset] + d.Text[offset+len(line)-at:]
	h := Hole{Want: strings.TrimRight(line[at:], " \t"), Fresh: fresh, start: offset}
	h.Request = completion.Request{
		Key: d.Path, Document: completion.Document{Path: d.Path, Language: d.Language, Text: text}, Offset: offset,
	}
	return h, h.Want != ""
}

func isComment(line string) bool {
	for _, sign := range []string{"//", "#", "/*", "* ", "--", "\"\"\""} {
		if strings.HasPrefix(line, sign) {
			return true
		}
	}
	return false
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// lexeme is a word or a sign of a line.
type lexeme struct {
	text  string
	start int
}

func lex(line string) []lexeme {
	var out []lexeme
	for i := 0; i < len(line); {
		j := i + 1
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i = j
			continue
		case inWord(c):
			for j < len(line) && inWord(line[j]) {
				j++
			}
		}
		out = append(out, lexeme{line[i:j], i})
		i = j
	}
	return out
}

func inWord(c byte) bool { return c == '_' || c >= '0' && c <= '9' || isLetter(rune(c)) || c >= 0x80 }

// same reports whether two pieces of a line are the same tokens.
func same(a, b string) bool {
	return slices.EqualFunc(lex(a), lex(b), func(x, y lexeme) bool { return x.text == y.text })
}
