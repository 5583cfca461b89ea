package overview

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// How a project is built, run and tested is said by targets, scripts and the steps of its
// continuous integration. A command is known by the words of its text behind the first quote.

// doing are the words of a command that does what a topic asks for, the plainest first.
var doing = map[retrieval.Topic][]string{
	retrieval.TopicTests: {"test", "tests", "check", "unittest", "rspec", "pytest", "tox", "spec", "jest", "vitest", "ctest"},
	retrieval.TopicBuild: {"build", "compile", "all", "install", "package", "assemble", "setup", "dist"},
	retrieval.TopicRun:   {"run", "start", "serve", "dev", "server", "up", "watch"},
}

// onlyAlone are words that say what a command does only where they are all of its name: check-licence
// tests nothing, and install-tools builds nothing.
var onlyAlone = map[string]bool{"check": true, "all": true, "install": true, "setup": true, "up": true}

// ofTests are words that speak of tests.
var ofTests = regexp.MustCompile(`(?i)\b(?:unit|pre|post)?tests?\b|\btest(?:ing|s?[-_:])|[-_:]tests?\b`)

var commandWord = regexp.MustCompile(`[A-Za-z]+`)

// step is the text of a command that continuous integration runs; it says so behind it.
func step(command string, of retrieval.Topic) string {
	return fmt.Sprintf("`%s` %s, as a step of continuous integration", oneLine(command), does[of])
}

// rank says how plainly a command does what a topic asks for, 0 most; ok is false if it does
// not.
func rank(t retrieval.Topic, c Note) (r int, ok bool) {
	_, command, _ := strings.Cut(c.Text, "`")
	command, said, _ := strings.Cut(command, "`")
	fields := strings.Fields(command)
	tests := ofTests.MatchString(c.Text)
	if len(fields) == 0 || t != retrieval.TopicTests && tests {
		return 0, false
	}
	if len(fields) > 2 && fields[1] == "run" { // how each script of a manifest is named
		command = strings.Join(fields[2:], " ")
	}
	last := strings.ToLower(fields[len(fields)-1])
	at := slices.Index(doing[t], last)
	inside := slices.ContainsFunc(commandWord.FindAllString(strings.ToLower(command), -1), func(w string) bool { return slices.Contains(doing[t], w) && !onlyAlone[w] })
	switch {
	case strings.Contains(said, "as a step"):
		return 50, strings.Contains(said, does[t])
	case strings.Contains(said, "as usual"):
		return 70, strings.Contains(said, does[t])
	case at >= 0:
		return at, true
	default:
		_, script, named := strings.Cut(said, " runs ")
		return 60, inside || named && serves(t, script) || !named && t == retrieval.TopicTests && tests
	}
}

// does is what the text of a command says of one that does what a topic asks for.
var does = map[retrieval.Topic]string{retrieval.TopicTests: runsTests, retrieval.TopicBuild: buildsIt, retrieval.TopicRun: runsIt}

// commandsFor are the commands that do what a topic asks for, the plainest first.
func commandsFor(t retrieval.Topic, o *Overview) (list []Note) {
	type ranked struct {
		Note
		rank, depth int
	}
	var all []ranked
	for _, c := range o.Commands {
		if r, ok := rank(t, c); ok {
			depth := strings.Count(c.Path, "/")
			if strings.HasPrefix(c.Path, workflows) {
				depth = 0
			}
			all = append(all, ranked{c, r, depth})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.rank, b.rank)) })
	for _, c := range all {
		list = append(list, c.Note)
	}
	return list
}

const (
	workflows = ".github/workflows/"
	// maxWorkflows is how many files of continuous integration are read.
	maxWorkflows = 12
)

// workflowNames are what the names of files of continuous integration have that are about a topic,
// the most telling first.
var workflowNames = map[retrieval.Topic][]*regexp.Regexp{
	retrieval.TopicTests: {regexp.MustCompile(`(?i)\b(?:unit)?tests?\b`), regexp.MustCompile(`(?i)\b(?:ci|ci-?cd|main|build|go|rust|python|node|ruby|php|gradle|maven)\b`)},
	retrieval.TopicBuild: {regexp.MustCompile(`(?i)\bbuild\b`), regexp.MustCompile(`(?i)\b(?:ci|ci-?cd|main|tests?|go|rust|python|node|ruby|php|gradle|maven)\b`)},
}

// integration notes the first steps of continuous integration that build and that test.
func (m *maker) integration(files []workspace.File) {
	var list []workspace.File
	for _, f := range files {
		name := strings.TrimPrefix(f.Name, m.prefix)
		if ext := path.Ext(name); (ext == ".yml" || ext == ".yaml") && (strings.HasPrefix(name, workflows) || name == ".gitlab-ci.yml") {
			list = append(list, f)
		}
	}
	for _, t := range []retrieval.Topic{retrieval.TopicTests, retrieval.TopicBuild} {
		about := func(f workspace.File) int { // those that say so by their names come first
			for i, words := range workflowNames[t] {
				if words.MatchString(path.Base(f.Name)) {
					return i
				}
			}
			return len(workflowNames[t])
		}
		slices.SortStableFunc(list, func(a, b workspace.File) int { return about(a) - about(b) })
		for _, f := range list[:min(maxWorkflows, len(list))] {
			text, err := m.text(f.Path)
			if err != nil || m.ctx.Err() != nil {
				continue // gone, or left out by now
			}
			if line, command := stepOf(t, strings.Split(text, "\n")); line > 0 {
				m.Commands = append(m.Commands, Note{Place{f.Name, line, line}, step(command, t)})
				break
			}
		}
	}
}

// sectionWords are what the heading of a README's section for a topic has.
var sectionWords = map[retrieval.Topic]*regexp.Regexp{
	retrieval.TopicTests:  regexp.MustCompile(`(?i)\b(?:tests?|testing|unit tests|test suite)\b`),
	retrieval.TopicBuild:  regexp.MustCompile(`(?i)\b(?:build(?:ing)?|compil(?:e|ing|ation)|install(?:ation|ing)?|getting started|quick ?start|running|set ?up|from source)\b`),
	retrieval.TopicRun:    regexp.MustCompile(`(?i)\b(?:usage|running|run|start(?:ing)?|getting started|quick ?start|how to use|using)\b`),
	retrieval.TopicStart:  regexp.MustCompile(`(?i)\b(?:getting started|quick ?start|usage|install(?:ation|ing)?|set ?up|examples?|how to use|using)\b`),
	retrieval.TopicLayout: regexp.MustCompile(`(?i)\b(?:architecture|structure|layout|organi[sz]ation|design|how it works|components|overview)\b`),
}

var (
	heading   = regexp.MustCompile(`^(?:#{1,6}|={2,6})\s+(\S.*)$`)
	underline = regexp.MustCompile("^(?:={3,}|-{3,}|~{3,}|\\^{3,}|`{4,})\\s*$")
)

// maxSection is how many lines of a section are cited.
const maxSection = 20

// sectionOf is the first section of a README whose heading is about a topic.
func sectionOf(t retrieval.Topic, name, text string) (n Note, ok bool) {
	words := sectionWords[t]
	if words == nil {
		return n, false
	}
	fenced := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \r")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		title := ""
		if match := heading.FindStringSubmatch(line); match != nil && !fenced {
			title = match[1]
		} else if i+1 < len(lines) && strings.TrimSpace(line) != "" && !fenced && underline.MatchString(lines[i+1]) {
			title = line
		}
		switch {
		case title != "" && n.Start > 0:
			return n, true
		case title != "" && words.MatchString(title):
			n = Note{Place{name, i + 1, i + 1}, title}
		}
		if n.Start > 0 && strings.TrimSpace(line) != "" && i < n.Start+maxSection {
			n.End = i + 1
		}
	}
	return n, n.Start > 0
}
