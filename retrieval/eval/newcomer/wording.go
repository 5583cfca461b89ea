package newcomer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/index/token"
	"quarry/index/walk"
	"quarry/retrieval/eval"
)

// A word that gives an answer away has at least leakLetters letters. It is an ordinary
// word of the repository, which anyone may use, when it stands in ordinaryFiles files
// beside the answer's, or in one of ordinaryShare where there are more.
const (
	leakLetters   = 4
	ordinaryFiles = 5
	ordinaryShare = 20
)

// Tree is a checkout, with the files in which each word stands.
type Tree struct {
	dir   string
	files int
	has   map[string][]string // files by the stem of a word, in order
}

// ReadTree reads the files of a checkout that quarry would index.
func ReadTree(ctx context.Context, dir string) (t *Tree, err error) {
	root, err := walk.Open(dir, walk.Limits{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	t = &Tree{dir: dir, has: map[string][]string{}}
	var a token.Analyzer
	err = root.Walk(ctx, "", walk.Visitor{
		Dir:  func(string) {},
		Skip: func(walk.Skip) {},
		File: func(e walk.Entry) error {
			text, _, reason, err := root.Read(e.Path)
			if reason != "" || err != nil {
				return nil
			}
			t.files++
			for w := range words(&a, string(text)) {
				t.has[w] = append(t.has[w], e.Path)
			}
			return nil
		},
	})
	return t, err
}

// words are the stems of the words of a text that could give something away.
func words(a *token.Analyzer, text string) map[string]bool {
	out := map[string]bool{}
	var parts []string
	token.Runs(text, func(run string) {
		parts = a.Words(parts[:0], run)
		for _, w := range parts {
			if letters(w) >= leakLetters {
				out[a.Stem(w)] = true
			}
		}
	})
	return out
}

func letters(w string) (n int) {
	for _, r := range w {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// ordinary answers whether the word with this stem stands in many files beside those of
// the answers.
func (t *Tree) ordinary(stem string, answers []eval.Span) bool {
	n := 0
	for _, f := range t.has[stem] {
		if !slices.ContainsFunc(answers, func(s eval.Span) bool { return s.Path == f }) {
			n++
		}
	}
	return n >= max(ordinaryFiles, t.files/ordinaryShare)
}

// Check says which answers are not in the checkout, and which questions about behaviour
// and architecture give their answer away: by a word of the names of its file and
// folders, or by a name declared in it.
func (t *Tree) Check(questions []Question) (problems []string, err error) {
	var a token.Analyzer
	for _, q := range questions {
		asked := words(&a, q.Text)
		names := map[string]bool{}
		token.Runs(q.Text, func(run string) { names[bare(run)] = true })
		for _, s := range q.Answers {
			text, err := os.ReadFile(filepath.Join(t.dir, filepath.FromSlash(s.Path)))
			if errors.Is(err, os.ErrNotExist) {
				problems = append(problems, fmt.Sprintf("%s: %s is not in the checkout", q.ID, s.Path))
				continue
			}
			if err != nil {
				return nil, err
			}
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			if s.EndLine > len(lines) || strings.TrimSpace(strings.Join(lines[s.StartLine-1:s.EndLine], "")) == "" {
				problems = append(problems, fmt.Sprintf("%s: nothing stands in lines %d-%d of %s, which has %d", q.ID, s.StartLine, s.EndLine, s.Path, len(lines)))
				continue
			}
			if q.Kind != Behaviour && q.Kind != Architecture {
				continue
			}
			for w := range words(&a, strings.TrimSuffix(s.Path, path.Ext(s.Path))) {
				if asked[w] && !t.ordinary(w, q.Answers) {
					problems = append(problems, fmt.Sprintf("%s: %q stands in the path %s and in few other files", q.ID, w, s.Path))
				}
			}
			declared, err := declaredIn(s, text)
			if err != nil {
				return nil, err
			}
			for _, name := range declared {
				if b := bare(name); b == "" || !names[b] {
					continue
				}
				if parts := a.Words(nil, name); len(parts) == 1 && (letters(name) < leakLetters || t.ordinary(a.Stem(parts[0]), q.Answers)) {
					continue
				}
				problems = append(problems, fmt.Sprintf("%s: %s is declared in %s:%d-%d", q.ID, name, s.Path, s.StartLine, s.EndLine))
			}
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems), nil
}

// bare is a name without case and separators.
func bare(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name))
}

// declaredIn has the names declared in a span of a file.
func declaredIn(s eval.Span, text []byte) (names []string, err error) {
	f, err := syntax.Analyze(lang.Detect(s.Path, text[:min(len(text), 8000)]), text)
	if err != nil {
		return nil, fmt.Errorf("analyse %s: %w", s.Path, err)
	}
	for _, d := range f.Symbols {
		if line := int(d.NameSpan.StartLine); s.StartLine <= line && line <= s.EndLine && d.Kind != syntax.KindSection {
			names = append(names, d.Name)
		}
	}
	return names, nil
}
