// Package learn makes the tables of package idioms from public repositories.
//
// A line counts without its indentation, every name in it that is not common in its
// language being a slot. Of lines that enough repositories have, and of pairs of lines
// one below the other, it is counted for each beginning how often the rest followed,
// each repository having one vote. What follows seldom, says little or was
// written by few is left out.
package learn

import (
	"cmp"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/completion/eval"
	"quarry/completion/idioms"
	"quarry/index/lang"
)

// Corpus yields the repositories to learn from, each time it is called the same.
type Corpus func(yield func(eval.Repository) error) error

const (
	// minRepositories is how many have to have a line, share how many of a hundred who
	// began it like this went on like this.
	minRepositories = 4
	minShare        = 70
	// commonWord is the share of repositories that have a word which is no slot.
	commonWord = 0.2
	// minSaved is how many letters an idiom saves; maxLine leaves out long lines.
	minSaved, maxLine = 3, 100
	// maxFiles of a repository and a language are read, spread over it: it has one vote.
	maxFiles = 120
	// maxIdioms are the ones kept of a language, those that save most.
	maxIdioms = 2000
)

// Learn makes the tables of all languages of the corpus.
func Learn(corpus Corpus) (map[string][]idioms.Idiom, error) {
	l := &learner{corpus: corpus, languages: map[string]*language{}}
	for _, pass := range []func(*language, []source){(*language).words, (*language).lines, (*language).beginnings, (*language).follow} {
		if err := l.each(pass); err != nil {
			return nil, err
		}
	}
	tables := map[string][]idioms.Idiom{}
	for name, g := range l.languages {
		if found := g.idioms(); len(found) > 0 {
			tables[name] = found
		}
	}
	return tables, nil
}

type learner struct {
	corpus    Corpus
	languages map[string]*language
}

// source is one file as lines without indentation, comments and blank lines being "".
type source []string

// language is what is counted of one. Keys are hashes of texts.
type language struct {
	repositories int
	// seen is how many repositories have a word; lineSeen a line or a pair.
	seen     map[string]int
	lineSeen map[hash]uint16
	// started are the beginnings that some frequent line has, and what followed them.
	started map[hash]*beginning
	// frequent are the lines and pairs themselves.
	frequent map[hash]line
}

type beginning struct {
	// votes is how many repositories wrote it, followed the sum over them of the part
	// that went on with each line.
	votes    int
	followed map[hash]float64
}

func (l *learner) each(pass func(*language, []source)) error {
	return l.corpus(func(r eval.Repository) error {
		byLanguage := map[string][]completion.Document{}
		for _, d := range r.Documents {
			id := strings.TrimSuffix(d.Language, "react")
			byLanguage[id] = append(byLanguage[id], d)
		}
		for id, documents := range byLanguage {
			var files []source
			for step, i := 1+len(documents)/maxFiles, 0; i < len(documents); i += step {
				files = append(files, sourceOf(documents[i]))
			}
			g := l.languages[id]
			if g == nil {
				g = &language{seen: map[string]int{}, lineSeen: map[hash]uint16{}, started: map[hash]*beginning{}, frequent: map[hash]line{}}
				l.languages[id] = g
			}
			pass(g, files)
		}
		return nil
	})
}

func sourceOf(d completion.Document) source {
	comment := lang.Of(d.Language).Comment
	inside := false
	var s source
	for text := range strings.Lines(d.Text) {
		text = strings.TrimSpace(text)
		switch {
		case inside:
			inside = !strings.Contains(text, comment.Shut)
			text = ""
		case comment.Open != "" && strings.HasPrefix(text, comment.Open):
			inside = !strings.Contains(text, comment.Shut)
			text = ""
		case comment.Starts(text), len(text) > maxLine, strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r > 0x7f }):
			text = ""
		}
		s = append(s, text)
	}
	return s
}

// words counts who uses which word.
func (g *language) words(files []source) {
	g.repositories++
	here := map[string]bool{}
	for _, f := range files {
		for _, text := range f {
			for _, token := range idioms.Tokens(text) {
				if idioms.Nameable(token) && len(token) <= 24 {
					here[token] = true
				}
			}
		}
	}
	for token := range here {
		g.seen[token]++
	}
}

func (g *language) common(token string) bool {
	return g.seen[token] >= max(minRepositories, int(commonWord*float64(g.repositories)))
}

// line is a line, or a pair, with its slots.
type line struct {
	above  string
	tokens []string // of the line itself
	// unknown is the number of tokens before the last slot that stands for the first
	// time, which nobody can foretell.
	unknown int
	// typed are the tokens as they were written.
	typed []string
}

// each calls yield with every line of the files, alone and below the one above it.
func (g *language) each(files []source, yield func(line)) {
	for _, f := range files {
		above := ""
		for _, text := range f {
			if text != "" {
				yield(g.line("", text))
				if above != "" {
					yield(g.line(above, text))
				}
			}
			above = text
		}
	}
}

func (g *language) line(above, text string) line {
	names := map[string]string{}
	l := line{typed: idioms.Tokens(text)}
	slots := func(tokens []string, first func(i int)) []string {
		out := make([]string, len(tokens))
		for i, token := range tokens {
			if out[i] = token; !idioms.Nameable(token) || g.common(token) {
				continue
			}
			if names[token] == "" {
				names[token] = idioms.Slot(len(names))
				first(i)
			}
			out[i] = names[token]
		}
		return out
	}
	if above != "" {
		l.above = strings.Join(slots(idioms.Tokens(above), func(int) {}), "")
	}
	l.tokens = slots(l.typed, func(i int) { l.unknown = i + 1 })
	if len(names) > idioms.MaxSlots {
		return line{}
	}
	return l
}

// lines counts how many repositories have each line.
func (g *language) lines(files []source) {
	here := map[hash]bool{}
	g.each(files, func(l line) {
		if len(l.tokens) > 0 {
			here[l.hash()] = true
		}
	})
	for key := range here {
		g.lineSeen[key]++
	}
}

// cuts calls yield with every beginning of a line, or with those alone behind which
// the rest could be foretold: its hash, and how long it is in the line with slots.
func (l line) cuts(all bool, yield func(beginning hash, at int)) {
	done, at := newHash().and(l.above).and("\n"), 0
	if l.above != "" && (all || l.unknown == 0) {
		yield(done, 0)
	}
	for i, token := range l.tokens {
		typed := l.typed[i]
		if idioms.Nameable(typed) { // while it is typed nobody knows that it will be a slot
			begun := done
			for n := range len(typed) {
				begun = begun.and(typed[n : n+1])
				if all || i >= l.unknown && token == typed {
					yield(begun, at+n+1)
				}
			}
		}
		done, at = done.and(token), at+len(token)
		if !idioms.Nameable(typed) && (all || i+1 >= l.unknown) {
			yield(done, at)
		}
	}
}

// hash is FNV-1a of a text, which grows with it.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h hash) and(s string) hash {
	for i := range len(s) {
		h = (h ^ hash(s[i])) * 1099511628211
	}
	return h
}

func (l line) hash() hash {
	h := newHash().and(l.above).and("\n")
	for _, token := range l.tokens {
		h = h.and(token)
	}
	return h.and("\n") // a whole line is no beginning
}

// beginnings collects the beginnings of the lines that enough repositories have.
func (g *language) beginnings(files []source) {
	g.each(files, func(l line) {
		key := l.hash()
		if len(l.tokens) == 0 || g.lineSeen[key] < minRepositories {
			return
		}
		if _, ok := g.frequent[key]; ok {
			return
		}
		g.frequent[key] = l
		l.cuts(false, func(begun hash, _ int) {
			if g.started[begun] == nil {
				g.started[begun] = &beginning{followed: map[hash]float64{}}
			}
		})
	})
}

// follow counts what followed them.
func (g *language) follow(files []source) {
	type count struct {
		all      float64
		followed map[hash]float64
	}
	here := map[hash]*count{}
	g.each(files, func(l line) {
		if len(l.tokens) == 0 {
			return
		}
		key := l.hash()
		_, frequent := g.frequent[key]
		l.cuts(true, func(start hash, _ int) {
			if g.started[start] == nil {
				return
			}
			c := here[start]
			if c == nil {
				c = &count{followed: map[hash]float64{}}
				here[start] = c
			}
			c.all++
			if frequent {
				c.followed[key]++
			}
		})
	})
	for start, c := range here {
		b := g.started[start]
		b.votes++
		for key, n := range c.followed {
			b.followed[key] += n / c.all
		}
	}
}

// share is how many of a hundred who wrote a beginning went on with the line; a
// doubt of half a repository is counted against it.
func (b *beginning) share(line hash) int {
	return int(100 * b.followed[line] / (float64(b.votes) + 0.5))
}

// idioms chooses the lines that are sure from some beginning on.
func (g *language) idioms() []idioms.Idiom {
	type found struct {
		idioms.Idiom
		worth float64
	}
	var all []found
	for key, l := range g.frequent {
		whole := strings.Join(l.tokens, "")
		best := found{}
		sure := false
		l.cuts(false, func(begun hash, at int) {
			b := g.started[begun]
			share := b.share(key)
			if share < minShare {
				sure = false
				return
			}
			if sure {
				return
			}
			sure = true
			best = found{idioms.Idiom{Above: l.above, Line: whole, Sure: at, Share: share}, b.followed[key] * float64(len(whole)-at)}
		})
		if rest := whole[best.Sure:]; !sure || len(rest) < minSaved || !strings.ContainsFunc(rest, letter) {
			continue
		}
		all = append(all, best)
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), strings.Compare(a.Above+"\n"+a.Line, b.Above+"\n"+b.Line))
	})
	var kept []idioms.Idiom
	for _, f := range all[:min(len(all), maxIdioms)] {
		kept = append(kept, f.Idiom)
	}
	slices.SortFunc(kept, func(a, b idioms.Idiom) int {
		return cmp.Or(strings.Compare(a.Line, b.Line), strings.Compare(a.Above, b.Above))
	})
	return kept
}

func letter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
