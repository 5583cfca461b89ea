package overview

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// What a project is for is said where people look for it: by its README, which may lie in a
// folder for such, by the description in its manifest, or by the package that it is made of.

const (
	// maxTops is how many folders of a workspace speak for themselves.
	maxTops = 6
	// maxOwnWords is how many files are read for the words of the packages, and maxOwnNotes how many
	// of them are told.
	maxOwnWords = 12
	maxOwnNotes = 2
)

// readmeDirs are the folders in which a README is looked for, the best first.
var readmeDirs = []string{"", ".github", "docs", "doc", "documentation"}

// tops are the folders that are described, as files are named and with a slash at the end; ""
// is that of a workspace of one folder.
func (m *maker) tops() (list []string) {
	if m.prefix != "" {
		return []string{m.prefix}
	}
	for _, s := range m.src.Searchable() {
		if top := strings.TrimSuffix(m.src.Name(filepath.Join(s.Root, "x")), "x"); !slices.Contains(list, top) {
			list = append(list, top)
		}
	}
	if len(list) == 0 {
		return []string{""}
	}
	slices.Sort(list)
	return list[:min(maxTops, len(list))]
}

// dirOf is the key of a folder in byDir.
func dirOf(prefix string) string { return cmp.Or(strings.TrimSuffix(prefix, "/"), ".") }

// purposes are what the tops say they are for.
func (m *maker) purposes() (list []Note) {
	for _, top := range m.tops() {
		found := len(list)
		for _, dir := range readmeDirs {
			if n := m.readme(dirOf(top + dir)); n.Text != "" {
				list = append(list, n)
				break
			}
		}
		// Of a package in a folder only where nothing speaks for the whole.
		if n := m.description(top); n.Text != "" && (len(list) == found || !strings.Contains(strings.TrimPrefix(n.Path, top), "/")) {
			list = append(list, n)
		}
		if len(list) == found {
			list = append(list, m.ownWords(top)...)
		}
	}
	return list
}

// readme is what the README of a folder says it is for; of one that only has a title, that.
func (m *maker) readme(dir string) Note {
	for _, f := range m.byDir[dir] {
		if !isReadme(f.Name) {
			continue
		}
		text, err := m.text(f.Path)
		if err != nil {
			continue // gone, or left out by now
		}
		if opening, from, to := syntax.Opening(text); opening != "" {
			return Note{Place{f.Name, from, to}, opening}
		}
		for i, line := range strings.Split(text, "\n") {
			if title := strings.Trim(line, "#=*- \t\r"); title != "" && !strings.ContainsAny(title[:1], "<![|") {
				return Note{Place{f.Name, i + 1, i + 1}, title}
			}
		}
	}
	return Note{}
}

// description is what the manifest nearest to a top says of its package.
func (m *maker) description(top string) Note {
	for _, n := range m.described {
		if strings.HasPrefix(n.Path, top) {
			return n
		}
	}
	return Note{}
}

// ownWords are what the packages below a top say of themselves, in a file that speaks for each; those
// near the top come first, and of those the fuller ones.
func (m *maker) ownWords(top string) (list []Note) {
	type speaker struct {
		workspace.File
		depth, files, rank int
	}
	var all []speaker
	for dir, files := range m.byDir {
		best := speaker{rank: len(speaking)}
		for _, f := range files {
			base := strings.ToLower(path.Base(f.Name))
			stem := strings.TrimSuffix(base, path.Ext(base))
			rank := slices.Index(speaking, stem)
			if stem == strings.ToLower(path.Base(dir)) {
				rank = 0
			}
			t, auxiliary := retrieval.TypeOf(f.Name)
			if rank < 0 || rank >= best.rank || !isCode(lang.Detect(f.Name, nil)) || t != retrieval.TypeCode || auxiliary || !strings.HasPrefix(f.Name, top) {
				continue
			}
			best = speaker{f, strings.Count(f.Name, "/"), len(files), rank}
		}
		if best.Path != "" {
			all = append(all, best)
		}
	}
	slices.SortFunc(all, func(a, b speaker) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(b.files, a.files), cmp.Compare(a.Name, b.Name))
	})
	depth := -1 // of the first that says something: those further down are parts of it
	for _, f := range all[:min(maxOwnWords, len(all))] {
		if depth >= 0 && f.depth > depth {
			break
		}
		text, err := m.text(f.Path)
		if err != nil {
			continue // gone, or left out by now
		}
		if n := headOf(f.Name, text); n.Text != "" && len(list) < maxOwnNotes {
			list, depth = append(list, n), f.depth
		}
	}
	return list
}

// maxDescription is how long a line is looked at for a description.
const maxDescription = 2000

// describe notes the description in a manifest, which is on one line or begins behind the key.
func (m *maker) describe(k *kind, name string, lines []string) {
	if k.describes == nil {
		return
	}
	for i, line := range lines {
		if len(line) > maxDescription {
			continue
		}
		match := k.describes.FindStringSubmatch(strings.TrimSpace(line))
		if match == nil {
			continue
		}
		for j := i; j < min(i+3, len(lines)); j++ {
			said := lines[j]
			if j == i {
				said = match[1]
			}
			said = strings.TrimSpace(xmlTag.ReplaceAllString(said, ""))
			if said = strings.Trim(said, `"'>|\,`); strings.TrimSpace(said) != "" {
				m.described = append(m.described, Note{Place{name, j + 1, j + 1}, oneLine(said)})
				return
			}
		}
		return
	}
}

var xmlTag = regexp.MustCompile(`</?[A-Za-z]+>`)

// guide is prose that has a topic by its name.
var guides = map[retrieval.Topic][]string{
	retrieval.TopicLayout: {"architecture", "design", "structure", "overview", "internals", "hacking"},
	retrieval.TopicStart:  {"getting-started", "getting_started", "gettingstarted", "quickstart", "quick-start", "quick_start", "tutorial", "contributing", "hacking", "development"},
	retrieval.TopicBuild:  {"install", "installation", "building", "build", "install-guide", "development", "hacking", "contributing"},
	retrieval.TopicRun:    {"usage", "running", "quickstart", "quick-start", "getting-started", "getting_started"},
	retrieval.TopicTests:  {"testing", "tests"},
}

// guide is the document nearest to the top that is about a topic by its name.
func (o *Overview) guide(t retrieval.Topic) (Place, bool) {
	for _, want := range guides[t] {
		for _, name := range o.prose {
			base := strings.ToLower(path.Base(name))
			if strings.TrimSuffix(base, path.Ext(base)) == want {
				return Place{name, 1, 1}, true
			}
		}
	}
	return Place{}, false
}
