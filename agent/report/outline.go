// Package report writes reports about a repository: an outline from the index, and with a model
// the answers to what a user asks for, each point with the places that prove it.
//
// What a model writes is held against the evidence it was given, by rules and not by another
// model: a point that proves itself by nothing it was shown is not in the report.
package report

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"quarry/agent/markdown"
	"quarry/index/visible"
	"quarry/retrieval"
	"quarry/retrieval/overview"
	"quarry/retrieval/workspace"
)

// Source is what reports are made from; workspace.Workspace has it.
type Source interface {
	overview.Source
	Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error)
}

// Evidence is a place that bears on a question.
type Evidence struct {
	overview.Place
	// Symbol is what is declared there, "" if nothing is.
	Symbol string
	// Text are the lines, without line ends behind the last.
	Text string
}

// Section is a question of the user's with what bears on it.
type Section struct {
	Title    string
	Evidence []Evidence
	// Answer is what a model says, with places, "" if none does.
	Answer string
}

const (
	// maxSections is how many questions a report answers.
	maxSections = 10
	// maxTitle is how long one may be, in bytes.
	maxTitle = 300
	// sectionEvidence is how many places are looked up for one.
	sectionEvidence = 4
	// evidenceLines is how many lines of a place count.
	evidenceLines = 24
)

var (
	mark    = regexp.MustCompile(`^\s*(?:#{1,6}\s+|(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?|>\s*)`)
	heading = regexp.MustCompile(`^\s*#\s`)
)

// Questions are what a prompt asks for: its list items, else its headings, else its paragraphs.
// A title above them is none.
func Questions(prompt string) (list []string) {
	var items, headings, paragraphs []string
	inFence, open := false, false
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimPrefix(prompt, "\ufeff"), "\r\n", "\n"), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inFence = !inFence
			continue
		}
		text := strings.TrimSpace(mark.ReplaceAllString(line, ""))
		switch {
		case inFence:
		case !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }):
			open = false // a blank line, or a rule
		case heading.MatchString(line):
			open = false
		case strings.HasPrefix(strings.TrimSpace(line), "#"):
			headings = append(headings, text)
			open = false
		case mark.MatchString(line):
			items = append(items, text)
			open = true
		case open && len(items) > 0 && strings.HasPrefix(line, " "):
			items[len(items)-1] += " " + text
		case open && len(paragraphs) > 0:
			paragraphs[len(paragraphs)-1] += " " + text
		default:
			paragraphs = append(paragraphs, text)
			open = true
		}
	}
	for _, found := range [][]string{items, headings, paragraphs} {
		if len(found) > 0 {
			list = found
			break
		}
	}
	list = list[:min(maxSections, len(list))]
	for i, q := range list {
		list[i] = clip(visible.Text(q), maxTitle)
	}
	return list
}

// sections looks up what bears on each question; backend is by what, with what the outline is made of.
func sections(ctx context.Context, src Source, questions []string) (list []Section, backend []string, missing *workspace.Missing, err error) {
	backend = []string{workspace.BackendProject}
	for _, q := range questions {
		answer, err := src.Search(ctx, retrieval.Request{Query: retrieval.Parse(q, time.Time{}), Limit: sectionEvidence})
		if err != nil {
			return nil, nil, nil, err
		}
		if answer.Missing != nil {
			missing = answer.Missing
		}
		for _, by := range answer.Backend {
			if !slices.Contains(backend, by) {
				backend = append(backend, by)
			}
		}
		s := Section{Title: q}
		for _, r := range answer.Results {
			path := filepath.Join(r.Root, filepath.FromSlash(r.Path))
			text, err := src.Text(path)
			if err != nil {
				continue // gone, or left out by now
			}
			if e, ok := evidence(src.Name(path), text, r.StartLine, r.EndLine); ok {
				e.Symbol = strings.TrimSpace(string(r.Kind) + " " + r.Symbol)
				s.Evidence = append(s.Evidence, e)
			}
		}
		list = append(list, s)
	}
	return list, backend, missing, nil
}

// evidence are lines of a file, the first of a long place.
func evidence(name, text string, from, to int) (Evidence, bool) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	from, to = max(1, from), min(to, len(lines), from+evidenceLines-1)
	if from > to {
		return Evidence{}, false
	}
	return Evidence{Place: overview.Place{Path: name, Start: from, End: to}, Text: strings.Join(lines[from-1:to], "\n")}, true
}

// page is a report in Markdown that is being written. What stands in it is the repository's,
// the names of files too, or a model's, so that each line is written whole as one that shows
// text, and code between backticks.
type page struct{ strings.Builder }

func (p *page) heading(level int, text string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	fmt.Fprintf(p, "%s %s\n\n", strings.Repeat("#", level), markdown.Inline(text))
}

func (p *page) line(format string, args ...any) {
	fmt.Fprintln(p, markdown.Inline(fmt.Sprintf(format, args...)))
}

func (p *page) item(format string, args ...any) {
	p.WriteString("- ")
	p.line(format, args...)
}

// code is text as a code span of a line.
func code(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

// outline writes what the index says.
func (p *page) outline(o *overview.Overview) {
	if len(o.Purpose) > 0 {
		p.heading(2, "Purpose")
		var notes []string
		for _, n := range o.Purpose {
			notes = append(notes, fmt.Sprintf("%s %s", n.Text, n.Place))
		}
		p.line("%s", strings.Join(notes, " "))
	}
	p.heading(2, "Structure")
	var languages []string
	for _, l := range o.Languages {
		languages = append(languages, fmt.Sprintf("%s (%d)", l.Name, l.Files))
	}
	p.line("%s. Languages: %s.", counted(o.Files, "file"), orNone(strings.Join(languages, ", ")))
	if len(o.Folders) > 0 {
		p.WriteByte('\n')
	}
	for _, f := range o.Folders {
		line := fmt.Sprintf("%s/ has %s", f.Path, counted(f.Files, "file"))
		if f.Tests > 0 {
			line += fmt.Sprintf(", %d of tests", f.Tests)
		}
		if f.Purpose.Text != "" {
			line += ": " + f.Purpose.Text + " " + f.Purpose.Place.String()
		}
		p.item("%s", line)
	}
	p.heading(2, "Entry points")
	for _, n := range o.Entries {
		p.item("%s %s", n.Place, code(n.Text))
	}
	if len(o.Entries) == 0 {
		fmt.Fprintln(p, "No place is known at which a program begins: it may be a library.")
	}
	p.heading(2, "What most of it uses")
	for _, d := range o.Used {
		p.item("%s %s, named in %s", d.Place, code(clip(d.Signature, 160)), counted(d.UsedBy, "file"))
	}
	if len(o.Used) == 0 {
		fmt.Fprintln(p, "No declaration with a unique name is used in more than one file.")
	}
	p.heading(2, "Dependencies")
	for _, m := range o.Manifests {
		var names []string
		for _, n := range m.Needs {
			names = append(names, code(n))
		}
		p.item("%s %s", m.Place, strings.Join(names, ", "))
	}
	if len(o.Manifests) == 0 {
		fmt.Fprintln(p, "No manifest names any.")
	}
	p.heading(2, "Tests")
	if o.TestFiles == 0 {
		fmt.Fprintln(p, "No file is known to test.")
	} else {
		fmt.Fprintf(p, "%s of tests.\n\n", counted(o.TestFiles, "file"))
	}
	for _, f := range o.TestFolders {
		p.item("%s/ has %s of them", f.Name, counted(f.Files, "file"))
	}
	if len(o.Commands) > 0 {
		p.heading(2, "Commands")
	}
	for _, n := range o.Commands {
		p.item("%s %s", n.Place, n.Text)
	}
	if len(o.Documents) > 0 {
		p.heading(2, "Further reading")
		for _, d := range o.Documents {
			p.item("%s", d)
		}
	}
}

func orNone(text string) string {
	if text == "" {
		return "none that is known"
	}
	return text
}

// Coverage says how much of a repository a report rests on.
type Coverage struct {
	// Files are indexed, Named of them by the report, by a place in it.
	Files int `json:"files"`
	Named int `json:"named"`
	// LeftOut counts what is not indexed, by reason.
	LeftOut map[string]int `json:"left_out"`
}

var placeForm = regexp.MustCompile(`([^\s` + "`" + `(),]+):\d+-\d+`)

// coverage counts the files that a text names places in.
func coverage(text string, o *overview.Overview) Coverage {
	named := map[string]bool{}
	for _, m := range placeForm.FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
	}
	return Coverage{o.Files, len(named), o.LeftOut}
}

func (p *page) coverage(c Coverage, missing *workspace.Missing) {
	p.heading(2, "Coverage")
	fmt.Fprintf(p, "%s indexed; this report names places in %d of them.", are(c.Files, "file"), c.Named)
	var left []string
	for _, reason := range slices.Sorted(maps.Keys(c.LeftOut)) {
		left = append(left, fmt.Sprintf("%s (%d)", reason, c.LeftOut[reason]))
	}
	if len(left) > 0 {
		fmt.Fprintf(p, " Not indexed, by reason: %s.", strings.Join(left, ", "))
	}
	p.WriteByte('\n')
	if missing != nil {
		p.WriteByte('\n')
		p.line("Incomplete: %s.", missing)
	}
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func are(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return counted(n, thing) + " are"
}

// clip cuts s to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}
