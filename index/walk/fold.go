package walk

import (
	"strings"
	"unicode"
)

// Fold is a path with slashes as the disks take it that tell the fewest names apart:
// Windows leaves out blanks and dots at the end of each name and what stands behind a colon,
// macOS what nobody sees, and both the case of letters. What must not be reached by a name
// is compared so; whether there is such a file is another question.
func Fold(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if cut, _, ok := strings.Cut(part, ":"); ok && cut != "" {
			part = cut // a stream of the file: .env::$DATA
		}
		if trimmed := strings.TrimRight(part, ". "); trimmed != "" {
			part = trimmed
		}
		parts[i] = strings.Map(func(r rune) rune {
			switch {
			case r == '\u017f': // folds to s, and is small
				return 's'
			case r == '\ufeff', r >= '\u200c' && r <= '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u206a' && r <= '\u206f':
				return -1 // as HFS+ does
			}
			return unicode.ToLower(r)
		}, part)
	}
	return strings.Join(parts, "/")
}

// folds answers whether Fold changes more of a name than its case.
func folds(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c >= 0x80 || c == ':' || (c == '.' || c == ' ') && (i+1 == len(name) || name[i+1] == '/') {
			return true
		}
	}
	return false
}

// IsGit answers whether some disk takes a component of a path for git's own folder, or
// the file in its place.
func IsGit(component string) bool {
	if folds(component) {
		component = Fold(component)
	}
	return strings.EqualFold(component, ".git") || strings.EqualFold(component, "git~1") // its short name on Windows
}
