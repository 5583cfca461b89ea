package patch

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// name is one side's file.
type name struct {
	// path is the name without git's a/ or b/.
	path string
	// prefixed is the name with it, if one was taken off.
	prefixed string
	// null is /dev/null: the file is not there on this side.
	null bool
}

var (
	timestamp = regexp.MustCompile(`\s+\(?\d{4}-\d\d-\d\d.*$`)
	drive     = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
	// A hunk's header in all its states: "@@ -1,2 +3,4 @@ func f", "@@ -1 +1",
	// "@@ func f", "@@ ... @@", "@@".
	hunkHeader = regexp.MustCompile(`^@@+\s*(?:-\s*(\d+)(?:\s*,\s*(\d+))?)?\s*(?:\+\s*(\d+)(?:\s*,\s*(\d+))?)?\s*(?:@@+)?(.*)$`)
)

// cleanName reads what stands behind --- or +++, however it is dressed.
func cleanName(s string) name {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(timestamp.ReplaceAllString(s, ""))
	if strings.HasPrefix(s, `"`) {
		if u, err := strconv.Unquote(s); err == nil {
			s = u
		}
	}
	s = strings.Trim(s, "`'\"* ")
	if !strings.Contains(s, "/") || drive.MatchString(s) {
		s = strings.ReplaceAll(s, `\`, "/")
	}
	switch strings.ToLower(s) {
	case "/dev/null", "dev/null", "nul", "null":
		return name{null: true}
	}
	n := name{path: path.Clean(s)}
	for _, prefix := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok && rest != "" {
			n = name{path: path.Clean(rest), prefixed: path.Clean(s)}
		}
	}
	switch strings.ToLower(n.path) { // what stands for a name in examples
	case "", ".", "original", "modified", "old", "new", "before", "after", "updated", "fixed", "a", "b", "file", "path/to/file", "filename":
		return name{}
	}
	return n
}

// gitNames reads "diff --git a/x b/x". Names with blanks cannot be told apart
// here; the lines --- and +++ that follow say them again.
func gitNames(l string) (old, new name) {
	fields := strings.Fields(strings.TrimPrefix(l, "diff --git "))
	if len(fields) != 2 {
		return name{}, name{}
	}
	return cleanName(fields[0]), cleanName(fields[1])
}

// hunkStart says whether a line begins a hunk. Ruby's class variables begin with
// @@, too, but go on at once.
func hunkStart(l string) bool {
	return l == "@@" || strings.HasPrefix(l, "@@ ") || strings.HasPrefix(l, "@@-") || strings.HasPrefix(l, "@@@")
}

func parseHunkHeader(l string) *hunk {
	h := &hunk{}
	m := hunkHeader.FindStringSubmatch(l)
	if m == nil {
		return h
	}
	h.line = number(m[1], 0)
	if m[1] != "" && m[3] != "" {
		h.hasCounts = true
		h.wantOld, h.wantNew = number(m[2], 1), number(m[4], 1)
	}
	if section := strings.Trim(m[5], " @.…\t"); strings.ContainsFunc(section, isLetter) {
		h.section = section
	}
	return h
}

func number(digits string, otherwise int) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return otherwise
	}
	return n
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 }
