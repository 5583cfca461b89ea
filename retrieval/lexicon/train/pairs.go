// Package train learns the table of package lexicon from repositories: what words
// programmers say things by, and what words they name them by.
//
// Pairs of what is said and what is named (pairs.go) are counted, damped by
// repository, into a matrix of a word said by a word named (matrix.go), whose
// positive pointwise mutual information is factored (svd.go). Nothing but the words'
// numbers is kept. The same repositories give the same table to the byte.
package train

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"quarry/index/lang"
	"quarry/index/token"
	"quarry/index/walk"
)

// A repository gives no more than its share, however large it is.
const (
	maxFiles = 150 // that are read, of at most maxFile bytes
	maxFile  = 128 << 10
	maxPairs = 3000
	// maxSaid and maxNamed are the words of each side of a pair that are looked at, and
	// codeLines how many lines behind a comment belong to it.
	maxSaid   = 40
	maxNamed  = 70
	codeLines = 18
	// minSaid and minNamed are the fewest that say anything.
	minSaid, minNamed = 2, 3
	// minComment is the fewest bytes of a comment that is no mere mark.
	minComment = 25
)

// words numbers stems.
type words struct {
	ids  map[string]uint32
	text []string
}

func (w *words) id(s string) uint32 {
	id, ok := w.ids[s]
	if !ok {
		id = uint32(len(w.text))
		w.ids[s] = id
		w.text = append(w.text, s)
	}
	return id
}

// pair is what is said of a declaration, and what it is named and made of: stems by
// number, none twice.
type pair struct{ said, named []uint32 }

// stemPair has the stems as they are.
type stemPair struct{ said, named []string }

// read reads the pairs of a checkout.
func read(ctx context.Context, w *words, dir string) (pairs []pair, err error) {
	root, err := walk.Open(dir, walk.Limits{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var paths []string
	err = root.Walk(ctx, "", walk.Visitor{
		Dir:  func(string) {},
		Skip: func(walk.Skip) {},
		File: func(e walk.Entry) error {
			if e.Size <= maxFile && isCode(e.Path) {
				paths = append(paths, e.Path)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	paths = sample(paths, maxFiles, func(p string) string { return p })
	found := make([][]stemPair, len(paths))
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for first := range workers {
		wait.Go(func() {
			a := &analyzer{known: map[string][]string{}}
			for i := first; i < len(paths); i += workers {
				if text, _, reason, err := root.Read(paths[i]); reason == "" && err == nil {
					found[i] = pairsOf(a, string(text))
				}
			}
		})
	}
	wait.Wait()
	ids := func(list []string) []uint32 {
		n := make([]uint32, len(list))
		for i, s := range list {
			n[i] = w.id(s)
		}
		return n
	}
	for _, p := range sample(slices.Concat(found...), maxPairs, func(p stemPair) string {
		return strings.Join(p.said, " ") + "\n" + strings.Join(p.named, " ")
	}) {
		pairs = append(pairs, pair{ids(p.said), ids(p.named)})
	}
	return pairs, ctx.Err()
}

// sample takes n of a list by the hash of their keys, in an order that depends on
// nothing else.
func sample[T any](list []T, n int, key func(T) string) []T {
	type keyed struct {
		hash uint64
		key  string
		of   T
	}
	all := make([]keyed, len(list))
	for i, x := range list {
		k := key(x)
		h := fnv.New64a()
		h.Write([]byte(k))
		all[i] = keyed{h.Sum64(), k, x}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.key, b.key)) })
	all = slices.CompactFunc(all, func(a, b keyed) bool { return a.key == b.key })
	out := make([]T, 0, min(n, len(all)))
	for _, x := range all[:min(n, len(all))] {
		out = append(out, x.of)
	}
	return out
}

// pairsOf reads the pairs of a file by its lines, which is a tenth of the cost of parsing
// it: a comment with the code under it, a doc string with the code around it, a declared
// name with its body.
func pairsOf(a *analyzer, text string) (pairs []stemPair) {
	lines := strings.Split(text, "\n")
	code := func(from int) string {
		return strings.Join(lines[from:min(from+codeLines, len(lines))], "\n")
	}
	for i := 0; i < len(lines); i++ {
		if quote := tripleQuote(lines[i]); quote != "" {
			from := i
			if strings.Count(lines[i], quote) < 2 {
				for i++; i < len(lines) && !strings.Contains(lines[i], quote); i++ {
				}
			}
			if i+1 < len(lines) {
				add(&pairs, a.stems(maxSaid, strings.Join(lines[from:i+1], "\n")), a.stems(maxNamed, lines[max(from-1, 0)]+"\n"+code(i+1)))
			}
			continue
		}
		if isComment(lines[i]) {
			from := i
			for i < len(lines) && isComment(lines[i]) {
				i++
			}
			doc := strings.Join(lines[from:i], "\n")
			if i < len(lines) && len(doc) >= minComment && strings.TrimSpace(lines[i]) != "" && !licence.MatchString(doc) {
				add(&pairs, a.stems(maxSaid, doc), a.stems(maxNamed, code(i)))
			}
			i--
			continue
		}
		if name, rest := declared(lines[i]); name != "" && i+1 < len(lines) {
			add(&pairs, a.stems(maxSaid, name), a.stems(maxNamed, rest+"\n"+code(i+1)))
		}
	}
	return pairs
}

var licence = regexp.MustCompile(`(?i)copyright|licen[sc]e|nolint|eslint|generated by`)

// isComment answers whether a line is one of a comment, in whatever language.
func isComment(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if len(line) < 2 {
		return line == "#" || line == "*"
	}
	switch line[:2] {
	case "//", "/*", "--", ";;", "{-", "# ", "* ", "##", "**", "*/":
		return true
	}
	return false
}

// declared is the name that a line declares behind a keyword, with the rest of the
// line, "" if it declares none.
func declared(line string) (name, rest string) {
	line = strings.TrimLeft(line, " \t")
	for range 5 {
		word, after, ok := strings.Cut(line, " ")
		if !ok {
			return "", ""
		}
		if keywords[word] {
			if strings.HasPrefix(after, "(") { // a receiver of Go
				if _, after, ok = strings.Cut(after, ") "); !ok {
					return "", ""
				}
			}
			n := 0
			for n < len(after) && (after[n] == '_' || after[n]|0x20 >= 'a' && after[n]|0x20 <= 'z') {
				n++
			}
			if n < 4 {
				return "", ""
			}
			return after[:n], after[n:]
		}
		line = after
	}
	return "", ""
}

// keywords stand before a name that is declared.
var keywords = map[string]bool{
	"func": true, "fun": true, "fn": true, "def": true, "defp": true, "function": true, "class": true, "interface": true, "struct": true, "trait": true,
	"object": true, "sub": true, "void": true, "bool": true, "int": true,
}

// tripleQuote is the quote that a doc string of the line begins with, "" if there is
// none.
func tripleQuote(line string) string {
	line = strings.TrimLeft(strings.TrimSpace(line), "rRbBuU@")
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "moduledoc"), "doc"))
	for _, q := range []string{`"""`, "'''"} {
		if strings.HasPrefix(line, q) {
			return q
		}
	}
	return ""
}

// isCode answers by its name whether a file may hold code with comments.
func isCode(path string) bool {
	if strings.Contains(path, ".min.") {
		return false
	}
	switch lang.Detect(path, nil) {
	case "c", "cpp", "csharp", "elixir", "go", "haskell", "java", "javascript", "kotlin", "lua", "objective-c", "perl", "php", "python", "ruby", "rust", "scala",
		"shellscript", "swift", "typescript", "typescriptreact", "javascriptreact", "zig":
		return true
	}
	return false
}

func add(pairs *[]stemPair, said, named []string) {
	if len(said) >= minSaid && len(named) >= minNamed {
		*pairs = append(*pairs, stemPair{said, named})
	}
}

// analyzer remembers the stems of the runs it met.
type analyzer struct {
	token.Analyzer
	known map[string][]string
}

// stems are the distinct stems of a text that are words, the first n.
func (a *analyzer) stems(n int, text string) (out []string) {
	token.Runs(text, func(run string) {
		if len(out) >= n {
			return
		}
		words, ok := a.known[run]
		if !ok {
			a.Terms(run, func(term []byte) {
				if len(term) >= 2 && len(term) <= 24 && !slices.ContainsFunc(term, func(c byte) bool { return c < 'a' || c > 'z' }) {
					words = append(words, string(term))
				}
			})
			a.known[strings.Clone(run)] = words
		}
		for _, w := range words {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	})
	return out
}
