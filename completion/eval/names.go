package eval

import (
	"regexp"
	"slices"
	"strings"
)

// Names counts the names of what was taken out of the holes by the part of quarry's
// prompt that has them. It needs no model: what no part has, a model can only know or
// guess.
type Names struct {
	Holes  string `json:"holes"`
	Wanted int    `json:"wanted"`
	// Window is the document around the cursor, Lead the imports and headers before
	// it, Head the code of other places; a name counts for the first that has it.
	Window int `json:"window"`
	Lead   int `json:"lead"`
	Head   int `json:"head"`
	// HeadBytes is the length of all heads, Repeated that of their lines which stand
	// above in the same head.
	HeadBytes int `json:"head_bytes"`
	Repeated  int `json:"repeated"`
}

// longName leaves out names of one or two letters, which are anywhere.
var longName = regexp.MustCompile(`[\pL_][\pL\pN_]{2,}`)

// count adds a hole with its prompt to the counts of its half. It reports whether the
// wanted line stands in the head.
func (r *TypedReport) count(prompt string, h *TypedHole, inTree, copied bool) (inHead bool) {
	half := string(h.Source.Half)
	at := slices.IndexFunc(r.Names, func(n Names) bool { return n.Holes == half })
	if at < 0 {
		at = len(r.Names)
		r.Names = append(r.Names, Names{Holes: half})
	}
	n := &r.Names[at]
	shown := promptParts(prompt, h)
	n.HeadBytes += len(shown.head)
	var above []string
	for line := range strings.Lines(shown.head) {
		if slices.Contains(above, line) {
			n.Repeated += len(line)
		}
		above = append(above, line)
	}
	window, lead, head := namesOf(shown.window+" "+shown.suffix), namesOf(shown.lead), namesOf(shown.head)
	for name := range wantedNames(h) {
		n.Wanted++
		switch {
		case window[name]:
			n.Window++
		case lead[name]:
			n.Lead++
		case head[name]:
			n.Head++
		}
	}
	at = slices.IndexFunc(r.Stands, func(n Stands) bool { return n.Half == h.Source.Half })
	if at < 0 {
		at = len(r.Stands)
		r.Stands = append(r.Stands, Stands{Half: h.Source.Half})
	}
	in := &r.Stands[at]
	in.Holes++
	if inTree {
		in.Tree++
	}
	if inHead = strings.Contains(trimmedLines(uncommented(shown.head)), h.taken()); inHead {
		in.Head++
	}
	if copied {
		in.Copies++
	}
	return inHead
}

// wantedNames are the names that end in what was taken out: one that is half typed
// is the whole.
func wantedNames(h *TypedHole) map[string]bool {
	names := map[string]bool{}
	text := h.Typed + h.Want
	for _, at := range longName.FindAllStringIndex(text, -1) {
		if at[1] > len(h.Typed) {
			names[text[at[0]:at[1]]] = true
		}
	}
	return names
}

func namesOf(text string) map[string]bool {
	names := map[string]bool{}
	for _, name := range longName.FindAllString(text, -1) {
		names[name] = true
	}
	return names
}
