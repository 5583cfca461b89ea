package patch

import (
	"regexp"
	"strings"
)

// section is a run of lines of an answer in which a diff is looked for.
type section struct {
	lines []string
	// fenced says that it stood in a fence, so that all of it is meant.
	fenced bool
	// name is a file that the words around the fence name, "" if none.
	name string
}

var (
	fenceLine = regexp.MustCompile("^( {0,3})(`{3,}|~{3,})[ \t]*([^`]*)$")
	namedFile = regexp.MustCompile(`(?i)^(?:in |file(?:name)?|path|diff for|patch for)?[ :]*([^\s:]+\.\pL[^\s:]*|[^\s:]*/[^\s:]+)[ :]*$`)
)

// sections finds where in an answer the diff is: in the fences that hold one,
// else in all of it. Words around fences are dropped but for a file they name.
func sections(text string) []section {
	lines := strings.Split(unescaped(text), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	lines[0] = strings.TrimPrefix(lines[0], byteOrderMark)
	var found []section
	for i := 0; i < len(lines); i++ {
		open := fenceLine.FindStringSubmatch(lines[i])
		if open == nil {
			continue
		}
		end := closing(lines, i+1, open[1], open[2])
		info := strings.Fields(open[3])
		if inside := outdented(lines[i+1:end], open[1]); holdsDiff(inside, len(info) > 0 && isDiffLabel(info[0])) {
			p := section{lines: inside, fenced: true, name: nameBefore(lines[:i])}
			if len(info) > 1 {
				if m := namedFile.FindStringSubmatch(undecorated(info[len(info)-1])); m != nil {
					p.name = m[1]
				}
			}
			found = append(found, p)
		}
		i = end
	}
	if found == nil {
		found = []section{{lines: lines}}
	}
	return found
}

// closing is the index of the line that ends a fence, or the number of lines. A
// diff of Markdown has fences of its own, behind a column of markers.
func closing(lines []string, from int, indent, mark string) int {
	for i := from; i < len(lines); i++ {
		m := fenceLine.FindStringSubmatch(lines[i])
		if m != nil && m[1] == indent && m[3] == "" && strings.HasPrefix(m[2], mark) {
			return i
		}
	}
	return len(lines)
}

// outdented takes the fence's own indentation off the lines in it, as Markdown
// does in a list, if all have it.
func outdented(lines []string, indent string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		rest, ok := strings.CutPrefix(l, indent)
		if !ok && l != "" {
			return lines
		}
		out[i] = rest
	}
	return out
}

func isDiffLabel(s string) bool {
	switch strings.ToLower(s) {
	case "diff", "patch", "udiff", "git":
		return true
	}
	return false
}

func holdsDiff(lines []string, labelled bool) bool {
	for _, l := range lines {
		switch {
		case hunkStart(l), strings.HasPrefix(l, "diff --git "), strings.HasPrefix(l, "*** Begin Patch"), strings.HasPrefix(l, "*** Update File:"),
			strings.HasPrefix(l, "--- ") && strings.TrimSpace(l) != "---", strings.HasPrefix(l, "+++ "):
			return true
		case labelled && (strings.HasPrefix(l, "+") || strings.HasPrefix(l, "-")):
			return true
		}
	}
	return false
}

// nameBefore is the file that the words right above a fence name.
func nameBefore(lines []string) string {
	looked := 0
	for i := len(lines) - 1; i >= 0 && looked < 2; i-- {
		l := strings.TrimSpace(lines[i])
		if l == "" {
			continue
		}
		looked++
		for _, mark := range []string{"+++ ", "--- "} {
			if name, ok := strings.CutPrefix(l, mark); ok {
				return name
			}
		}
		if m := namedFile.FindStringSubmatch(undecorated(l)); m != nil {
			return m[1]
		}
	}
	return ""
}

// undecorated takes Markdown's emphasis off a line.
func undecorated(l string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*#\"'", r) {
			return -1
		}
		return r
	}, l))
}

// unescaped undoes one level of escaping too much, as in a JSON string within
// one: such a text is one line with "\n" spelled out.
func unescaped(text string) string {
	trimmed := strings.TrimSpace(text)
	if strings.Contains(trimmed, "\n") || strings.Count(trimmed, `\n`) < 2 {
		return text
	}
	return strings.NewReplacer(`\\`, `\`, `\r\n`, "\n", `\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(trimmed)
}
