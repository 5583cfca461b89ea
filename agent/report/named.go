package report

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A small model writes what the evidence says and forgets the number of it. What it says is then
// held against the pieces by the names of code in it.

var (
	quotedCode = regexp.MustCompile("`([^`\n]+)`")
	// codeName are names that no prose has: with an underscore, with a capital within, or called.
	codeName = regexp.MustCompile(`\b(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z]\w+(?:\.[A-Za-z]\w+)*\(\))`)
	wordsIn  = regexp.MustCompile(`[A-Za-z_]\w*`)
)

const (
	// shortestName is the least that a name must have to tell anything, in bytes.
	shortestName = 3
	// fewestNames is how many names one piece must hold to be what a point is about.
	fewestNames = 2
)

// namesOf are the names of code in a point, and the files that it names.
func namesOf(point string) (names, files []string) {
	add := func(text string) {
		if base := path.Base(text); strings.Contains(base, ".") && (strings.Contains(text, "/") || path.Ext(base) != "" && !strings.Contains(text, "(") && len(path.Ext(base)) <= 4) {
			files = append(files, strings.TrimPrefix(text, "./"))
			return
		}
		for _, name := range wordsIn.FindAllString(text, -1) {
			if len(name) >= shortestName && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, m := range quotedCode.FindAllStringSubmatch(point, -1) {
		add(strings.TrimSpace(m[1]))
	}
	for _, name := range codeName.FindAllString(quotedCode.ReplaceAllString(point, " "), -1) {
		add(name)
	}
	return names, files
}

// byNames is the piece of a section's evidence that a point without a number is about: the first that
// holds all names of code in it, two at least, and lies in a file that it names if it names one.
func (w *writer) byNames(point string, section int) (number int, ok bool) {
	names, files := namesOf(point)
	if len(names) < fewestNames {
		return 0, false
	}
	for _, e := range w.sections[section].Evidence {
		n := slices.IndexFunc(w.evidence, func(shown Evidence) bool { return shown.Place == e.Place })
		if n < 0 {
			continue // the model has not read it
		}
		at := e.Place.String()
		if len(files) > 0 && !slices.ContainsFunc(files, func(f string) bool {
			return strings.Contains("/"+at, "/"+f+":") || strings.Contains(at, f+":") && strings.Contains(f, "/")
		}) {
			continue
		}
		held := map[string]bool{}
		for _, word := range wordsIn.FindAllString(e.Text+" "+e.Symbol, -1) {
			held[word] = true
		}
		if !slices.ContainsFunc(names, func(name string) bool { return !held[name] }) {
			return n + 1, true
		}
	}
	return 0, false
}
