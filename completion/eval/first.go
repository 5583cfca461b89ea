package eval

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/completion"
	"quarry/completion/syntaxcheck"
	"quarry/index/lang"
)

// FirstScore is what the model-free engine showed while the first small files of one
// language were typed.
type FirstScore struct {
	Files int `json:"files"`
	// Letters is at how many places it was asked, Shown at how many it had something,
	// Right how often all of that was what comes next.
	Letters int `json:"letters"`
	Shown   int `json:"shown"`
	Right   int `json:"right"`
	// Saved is how many letters a user who takes all that is right need not type.
	Saved int `json:"saved"`
}

// FirstReport has a score for each language.
type FirstReport map[string]*FirstScore

// A FirstShown is something that was shown, for who wants to read them.
type FirstShown struct {
	Language, Path, Typed, Text, Next, Engine string
	Right                                     bool
}

const (
	// firstFiles of a language and a half are typed, firstLines of each from its first line of
	// code on: files that are shorter than the least are left out.
	firstFiles, firstLines, leastLines = 30, 40, 10
)

// First types the beginnings of files of the corpus letter by letter, each in an empty
// workspace of its own, and asks the model-free engine at each letter. The half of a file
// is chance, by its path. What an editor indents by itself is not typed, and comments are
// typed without asking.
func First(ctx context.Context, dir string, half Half, each func(FirstShown)) (FirstReport, error) {
	byLanguage := map[string][]completion.Document{}
	err := Each(dir, func(r Repository) error {
		for _, d := range r.Documents {
			d.Path = r.Name + "/" + d.Path
			if d.Text = beginning(d); halfOf(d.Path) == half && strings.Count(d.Text, "\n") >= leastLines {
				byLanguage[d.Language] = append(byLanguage[d.Language], d)
			}
		}
		return nil
	}, ".sh")
	if err != nil {
		return nil, err
	}
	report := FirstReport{}
	for _, language := range slices.Sorted(maps.Keys(byLanguage)) {
		documents := byLanguage[language]
		slices.SortFunc(documents, func(a, b completion.Document) int {
			return cmp.Or(cmp.Compare(chance(a.Path), chance(b.Path)), cmp.Compare(a.Path, b.Path))
		})
		s := &FirstScore{}
		report[language] = s
		for _, d := range documents[:min(len(documents), firstFiles)] {
			if err := s.add(ctx, d, each); err != nil {
				return nil, err
			}
		}
	}
	return report, nil
}

func chance(path string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(path)) // never fails
	return h.Sum32()
}

func halfOf(path string) Half {
	if chance(path)>>16&1 == 0 {
		return Fit
	}
	return Held
}

// beginning are the first lines of a document behind its licence.
func beginning(d completion.Document) string {
	lines := strings.SplitAfter(strings.ReplaceAll(d.Text, "\r\n", "\n"), "\n")
	for len(lines) > 0 && (strings.TrimSpace(lines[0]) == "" || isRemark(d.Language, lines[0])) {
		lines = lines[1:]
	}
	return strings.Join(lines[:min(len(lines), firstLines)], "")
}

// isRemark: line is a comment, as far as a line tells.
func isRemark(language, line string) bool {
	c, line := lang.Of(language).Comment, strings.TrimSpace(line)
	return c.Starts(line) || c.Open != "" && (strings.HasPrefix(line, c.Open) || strings.HasPrefix(line, "*"))
}

func (s *FirstScore) add(ctx context.Context, d completion.Document, each func(FirstShown)) error {
	e := completion.New(nil, completion.Options{Syntax: syntaxcheck.New()})
	defer e.Close()
	s.Files++
	start, taken := 0, 0
	for line := range strings.Lines(d.Text) {
		body := strings.TrimLeft(line, " \t")
		from, to := start+len(line)-len(body), start+len(strings.TrimRight(line, "\r\n"))
		start += len(line)
		if strings.TrimSpace(body) == "" || isRemark(d.Language, body) || len(line) > 200 {
			continue
		}
		for at := from; at <= to && at < len(d.Text)-1; at++ {
			if !utf8.RuneStart(d.Text[at]) {
				continue
			}
			s.Letters++
			typed := d
			typed.Text = d.Text[:at]
			res, err := e.Complete(ctx, completion.Request{Key: d.Path, Document: typed, Offset: at})
			if err != nil {
				return err
			}
			if len(res.Items) == 0 {
				continue
			}
			it := res.Items[0]
			s.Shown++
			right := begins(d.Text[at:], it.Text)
			if right {
				s.Right++
				if from := max(at, taken); at+len(it.Text) > from {
					s.Saved += at + len(it.Text) - from
					taken = at + len(it.Text)
				}
			}
			if each != nil {
				each(FirstShown{d.Language, d.Path, d.Text[start-len(line) : at], it.Text, d.Text[at:to], it.Engine, right})
			}
		}
	}
	return nil
}

// begins: text begins with shown, blanks aside, and no word of it goes on.
func begins(text, shown string) bool {
	shown = strings.TrimSpace(shown)
	for _, want := range lex(shown) {
		text = strings.TrimLeft(text, " \t\r\n")
		rest, ok := strings.CutPrefix(text, want.text)
		if !ok || rest != "" && inWord(want.text[0]) && inWord(rest[0]) {
			return false
		}
		text = rest
	}
	return true
}

func (r FirstReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %6s %8s %8s %8s %10s %8s\n", "language", "files", "letters", "shown", "", "right", "saved")
	all := &FirstScore{}
	row := func(name string, s *FirstScore) {
		fmt.Fprintf(&b, "%-16s %6d %8d %8d %7.1f%% %10.3f %7.1f%%\n", name, s.Files, s.Letters, s.Shown, 100*ratio(s.Shown, s.Letters), ratio(s.Right, s.Shown), 100*ratio(s.Saved, s.Letters))
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		s := r[name]
		all.Files, all.Letters, all.Shown, all.Right, all.Saved = all.Files+s.Files, all.Letters+s.Letters, all.Shown+s.Shown, all.Right+s.Right, all.Saved+s.Saved
		row(name, s)
	}
	row("all", all)
	return b.String()
}
