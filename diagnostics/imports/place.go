package imports

import (
	"regexp"
	"strings"
	"unicode"

	"quarry/agent"
)

// entry is a statement of a list of imports: whole lines, with the comments and attributes
// that stand right above it.
type entry struct {
	start, end int
	// own is where the statement itself begins.
	own   int
	key   string // by which it is ordered
	class int    // kinds that stand together
	group int    // what no blank line parts is one
}

// order is how a language arranges imports.
type order struct {
	// rules are ways in which a group may be sorted, the usual first.
	rules []func(a, b string) bool
	// byClass: classes come in their order also where no blank line parts them.
	byClass bool
}

// entries makes a list of what begins and ends at the given places; what keys gives is the
// key and class of each.
func (d *document) entries(places [][2]int, keys func(i int) (key string, class int)) (list []entry) {
	for i, p := range places {
		start, _ := d.line(p[0])
		_, end := d.line(max(p[0], p[1]-1))
		e := entry{start: start, end: end, own: p[0]}
		e.key, e.class = keys(i)
		if n := len(list); n > 0 && start < list[n-1].end { // two on one line
			list[n-1].end = max(list[n-1].end, end)
			continue
		}
		floor := 0
		if n := len(list); n > 0 {
			floor = list[n-1].end
		}
		for e.start > floor {
			above, _ := d.line(e.start - 1)
			text := strings.TrimSpace(d.Text[above:e.start])
			if len(list) == 0 || text == "" || !isLead(text) {
				break
			}
			e.start = max(above, floor)
		}
		if n := len(list); n > 0 {
			e.group = list[n-1].group
			if e.start > list[n-1].end {
				e.group++
			}
		}
		list = append(list, e)
	}
	return list
}

// isLead answers whether a line belongs to the statement below it.
func isLead(line string) bool {
	return strings.HasPrefix(line, "//") || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "#[") || strings.HasPrefix(line, "/*") && strings.HasSuffix(line, "*/")
}

// spot is where a line is put, and which blank lines part it from its neighbours.
type spot struct {
	at            int
	before, after bool
}

// place finds the spot for a key in a list that is not empty. apart says whether a class that
// has no group yet begins one.
func (o order) place(list []entry, key string, class int, apart func() bool) spot {
	group, best := -1, -1
	for _, e := range list {
		if e.class == class {
			if same := similarity(e.key, key); same > best {
				group, best = e.group, same
			}
		}
	}
	if group < 0 {
		isApart := apart()
		all := make([]int, len(list))
		for i := range list {
			all[i] = i
		}
		for _, less := range o.rules {
			if !isApart && !o.byClass && isOrdered(list, all, less) {
				return before(list, all, func(e entry) bool { return less(key, e.key) })
			}
		}
		return placeClass(list, class, isApart)
	}
	var in, alike []int
	for i, e := range list {
		if e.group == group {
			in = append(in, i)
			if e.class == class {
				alike = append(alike, i)
			}
		}
	}
	for _, of := range [][]int{in, alike} {
		for _, less := range o.rules {
			if isOrdered(list, of, less) && (len(of) > 1 || len(in) == 1) {
				return before(list, of, func(e entry) bool { return less(key, e.key) })
			}
		}
	}
	// Nothing tells an order: it stands behind the last of those that it is most like.
	at := alike[0]
	for _, i := range alike {
		if similarity(list[i].key, key) >= similarity(list[at].key, key) {
			at = i
		}
	}
	return spot{at: list[at].end}
}

// placeClass finds the spot for the first of a class.
func placeClass(list []entry, class int, apart bool) spot {
	last := -1
	for i, e := range list {
		if e.class < class {
			last = i
		}
	}
	if last < 0 {
		return spot{at: list[0].start, after: apart}
	}
	if apart { // behind the whole group
		for last+1 < len(list) && list[last+1].group == list[last].group {
			last++
		}
	}
	return spot{at: list[last].end, before: apart}
}

// isApart answers whether classes of imports stand in groups apart, as the lists of the document
// and of files that import the same show it; usual if none does.
func isApart(usual bool, lists ...[]entry) bool {
	votes := 0
	for _, list := range lists {
		for i := 1; i < len(list); i++ {
			switch {
			case list[i].class == list[i-1].class:
			case list[i].group == list[i-1].group:
				votes--
			default:
				votes++
			}
		}
	}
	if votes == 0 {
		return usual
	}
	return votes > 0
}

// before is the spot among some entries that has the most of those before it that come before, and
// of those behind it that come behind.
func before(list []entry, of []int, comes func(e entry) bool) spot {
	best, most := 0, -1
	for at := range len(of) + 1 {
		fit := 0
		for k, i := range of {
			if comes(list[i]) == (k >= at) {
				fit++
			}
		}
		if fit > most {
			best, most = at, fit
		}
	}
	if best == len(of) {
		return spot{at: list[of[best-1]].end}
	}
	return spot{at: list[of[best]].start}
}

// isOrdered answers whether entries are sorted, but for the odd one that somebody put elsewhere.
func isOrdered(list []entry, of []int, less func(a, b string) bool) bool {
	const odd = 6 // one of so many
	wrong := 0
	for i := 1; i < len(of); i++ {
		if less(list[of[i]].key, list[of[i-1]].key) {
			wrong++
		}
	}
	return wrong <= (len(of)-1)/odd
}

// similarity is how much of two paths is the same, in bytes, up to the last part that differs.
func similarity(a, b string) (n int) {
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' || a[i] == '.' || a[i] == ':' || a[i] == ' ' {
			n = i + 1
		}
	}
	if a == b {
		n = len(a) + 1
	}
	return n
}

func ascending(a, b string) bool { return a < b }

func caseless(a, b string) bool { return strings.ToLower(a) < strings.ToLower(b) }

// insert writes a statement, of one line or several without the last line's end, at a spot.
func (d *document) insert(s spot, statement string) agent.TextEdit {
	text := strings.ReplaceAll(statement, "\n", d.eol) + d.eol
	if s.before {
		text = d.eol + text
	}
	if s.after {
		text += d.eol
	}
	if s.at == len(d.Text) && s.at > 0 && d.Text[s.at-1] != '\n' { // the file has no last line's end, and keeps none
		text = d.eol + strings.TrimSuffix(text, d.eol)
	}
	return agent.TextEdit{Start: s.at, End: s.at, New: text}
}

// first is the spot of the first import, behind what stands at the head of a file.
func (d *document) first(head int) spot {
	s := spot{at: head}
	above, _ := d.line(max(0, head-1))
	s.before = head > 0 && strings.TrimSpace(d.Text[above:head]) != ""
	_, next := d.line(head)
	s.after = head < len(d.Text) && strings.TrimSpace(d.Text[head:next]) != ""
	if !s.after && head < len(d.Text) && s.before { // use the blank line that is there
		s.at, s.before = next, false
		for s.at < len(d.Text) {
			_, n := d.line(s.at)
			if strings.TrimSpace(d.Text[s.at:n]) != "" {
				break
			}
			s.at = n
		}
		s.after = s.at < len(d.Text)
	}
	return s
}

// head is behind the comments at the beginning of a text, from an offset on, and behind the
// lines that goes on answers true for. A comment right above code belongs to the code, but
// for the file's first.
func (d *document) head(from int, goesOn func(line string) bool) int {
	at, end := from, from
	isOpen := false // a block comment
	first := true
	for at < len(d.Text) {
		_, next := d.line(at)
		line := strings.TrimSpace(d.Text[at:next])
		switch {
		case isOpen:
			isOpen = !strings.Contains(line, "*/")
		case goesOn(line):
			end = next
		case strings.HasPrefix(line, "/*"):
			isOpen = !strings.Contains(line, "*/")
		case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "#") && d.Language == "python":
		case line == "":
			if first && at > from {
				end = at
			}
			first = false
		default:
			return end
		}
		at = next
	}
	return end
}

// names is a list of names in a statement: what stands between its braces.
type names struct {
	text       string
	start, end int // between the braces, or of the list itself
	items      []item
}

type item struct {
	start, end int
	text       string
}

// listed reads a list of names, separated by commas; nested braces stay whole.
func listed(text string, start, end int) names {
	n := names{text: text, start: start, end: end}
	code := withoutComments(text[start:end])
	depth, from := 0, 0
	add := func(to int) {
		piece := code[from:to]
		if trimmed := strings.TrimSpace(piece); trimmed != "" {
			at := start + to - len(strings.TrimLeftFunc(piece, unicode.IsSpace))
			n.items = append(n.items, item{at, at + len(trimmed), trimmed})
		}
	}
	for i := range len(code) {
		switch code[i] {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
		case ',':
			if depth == 0 {
				add(i)
				from = i + 1
			}
		}
	}
	add(len(code))
	return n
}

var comment = regexp.MustCompile(`(?m)(?:#|//).*$|(?s:/\*.*?\*/)`)

// withoutComments has blanks where text has comments, byte for byte, so that no comma in one counts.
func withoutComments(text string) string {
	return comment.ReplaceAllStringFunc(text, func(c string) string {
		blank := []byte(c)
		for i := range blank {
			if blank[i] != '\n' {
				blank[i] = ' '
			}
		}
		return string(blank)
	})
}

// with are the edits that add a name where the list's order wants it.
func (n names) with(name, eol string, rules ...func(a, b string) bool) agent.TextEdit {
	at := len(n.items)
	for _, less := range rules {
		if n.isSorted(less) {
			at = 0
			for at < len(n.items) && !less(name, n.items[at].text) {
				at++
			}
			break
		}
	}
	if len(n.items) == 0 {
		return agent.TextEdit{Start: n.start, End: n.end, New: " " + name + " "}
	}
	lineOf := func(i int) int { return strings.LastIndexByte(n.text[:n.items[i].start], '\n') + 1 }
	vertical := true
	for i := range n.items {
		if !vertical { // of many names in a line the first has told
			break
		}
		start := lineOf(i)
		vertical = start >= n.start && strings.TrimSpace(n.text[start:n.items[i].start]) == ""
	}
	if at < len(n.items) {
		it := n.items[at]
		if start := lineOf(at); vertical {
			return agent.TextEdit{Start: start, End: start, New: n.text[start:it.start] + name + "," + eol}
		}
		return agent.TextEdit{Start: it.start, End: it.start, New: name + ", "}
	}
	last := n.items[len(n.items)-1]
	rest := n.text[last.end:n.end]
	comma := strings.IndexByte(withoutComments(rest), ',')
	if vertical {
		start := lineOf(len(n.items) - 1)
		indent := n.text[start:last.start]
		if comma < 0 {
			return agent.TextEdit{Start: last.end, End: last.end, New: "," + eol + indent + name}
		}
		to := last.end + comma + 1
		if end := strings.IndexByte(n.text[to:n.end], '\n'); end >= 0 { // behind what is said of the last
			to += end + 1
			return agent.TextEdit{Start: to, End: to, New: indent + name + "," + eol}
		}
		return agent.TextEdit{Start: to, End: to, New: eol + indent + name + ","}
	}
	if comma >= 0 {
		return agent.TextEdit{Start: last.end + comma + 1, End: last.end + comma + 1, New: " " + name + ","}
	}
	return agent.TextEdit{Start: last.end, End: last.end, New: ", " + name}
}

func (n names) isSorted(less func(a, b string) bool) bool {
	for i := 1; i < len(n.items); i++ {
		if less(n.items[i].text, n.items[i-1].text) {
			return false
		}
	}
	return true
}
