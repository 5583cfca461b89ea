package mask

import (
	"errors"
	"slices"
	"strings"
	"unicode"
)

var (
	// ErrAlike says that a change touches lines with values that look alike once masked:
	// which of them stands where after it cannot be told.
	ErrAlike = errors.New("the change touches lines with masked secrets that cannot be told apart")
	// ErrUnknown says that a change writes a mask whose value the text does not have.
	ErrUnknown = errors.New("the change writes a masked secret whose value is not known")
)

// Restore answers after, which a change has made of the masked form of before, with the
// values put back: who proposes a change has seen only Text(before). It is as long as
// after, and no value is ever put where another may belong:
//
//   - A mask whose form only one value of before has gets that value wherever it stands:
//     the line was changed, moved or copied.
//   - Where several values have one form, the lines with them stay as they are, in their
//     order, or lose every mask of that form; or lines are taken away in one place and
//     nothing else changes. All else is ErrAlike. Lines with the same words are told apart
//     only by what is around them, so that the change may be between two of them, or in front
//     of all and behind all, not in several places beside them.
//   - What looks like a mask and is none of before's is ErrUnknown.
//
// beside are the texts before of other files that change with it: a value of theirs may
// have come from there.
func Restore(before, after string, beside ...string) (string, error) {
	shown := Text(before)
	if after == shown {
		return before, nil
	}
	if restored, ok := shortened(before, shown, after); ok {
		return restored, nil
	}
	h := newHeld()
	h.read(before, shown, after)
	for _, other := range beside {
		h.readBeside(other)
	}
	list := rows(after)
	present := map[shape]bool{}
	for _, r := range list {
		present[r.shape] = true
	}
	was, is := h.units(shown, present), h.units(after, present)
	if !sameUnits(before, shown, was, after, is) {
		return "", ErrAlike
	}
	restored := []byte(after)
	for i, u := range is {
		copy(restored[u.Start:u.End], before[was[i].Start:was[i].End])
	}
	for _, r := range list {
		for len(is) > 0 && is[0].End <= r.Start {
			is = is[1:]
		}
		if len(is) > 0 && is[0].Start <= r.Start {
			continue
		}
		value, known := h.values[r.shape]
		if known {
			copy(restored[r.Start:r.End], value)
		} else if h.foreign[r.shape] || h.leads[r.lead] || r.sure() {
			return "", ErrUnknown
		}
	}
	return string(restored), nil
}

// shortened answers after, if it is the masked form of before without some lines that follow
// each other, with the values of all the others. It is not ok where other lines may be meant
// that hold other values.
func shortened(before, shown, after string) (restored string, ok bool) {
	values, was, is := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(shown)), slices.Collect(strings.Lines(after))
	gone := len(was) - len(is)
	if gone <= 0 {
		return "", false
	}
	same := 0
	for same < len(is) && is[same] == was[same] {
		same++
	}
	for at := len(is); at > same; at-- {
		if is[at-1] != was[at-1+gone] {
			return "", false
		}
	}
	// But for signs they may be those from a line earlier or later on, too.
	alike := func(at int) bool { return words(was[at]) == words(was[at+gone]) }
	holds := func(at int) string { return hidden(values[at], was[at]) }
	for at := same; at > 0 && alike(at-1); at-- {
		if holds(at-1) != holds(at-1+gone) {
			return "", false
		}
	}
	for at := same; at < len(is) && alike(at); at++ {
		if holds(at) != holds(at+gone) {
			return "", false
		}
	}
	return strings.Join(values[:same], "") + strings.Join(values[same+gone:], ""), true
}

const (
	// leastRun is the shortest run of x's that is known again.
	leastRun = 4
	// sureRun is the shortest that is a mask whatever stands before it.
	sureRun = 16
	// longestLead is how much of the word before a run tells which mask it is.
	longestLead = 16
)

// shape is what a masked value looks like: the beginning of its word, and how many x's.
type shape struct {
	lead   string
	length int
}

// row is a run of x's in a text, as long as it can be.
type row struct {
	Span
	shape
}

func rows(text string) (list []row) {
	for i := 0; i < len(text); i++ {
		if text[i] != 'x' {
			continue
		}
		start := i
		for i < len(text) && text[i] == 'x' {
			i++
		}
		if i-start < leastRun {
			continue
		}
		from := start
		for from > 0 && start-from < longestLead && word[text[from-1]] {
			from--
		}
		list = append(list, row{Span{start, i}, shape{text[from:start], i - start}})
	}
	return list
}

// sure answers whether a run is a mask, whatever the text has: "sk-xxxx" is what people write
// where a token has to be.
func (r row) sure() bool { return r.length >= sureRun }

// held is what a text has masked.
type held struct {
	values  map[shape]string
	several map[shape]bool  // forms that more than one value has
	leads   map[string]bool // of masks
	foreign map[shape]bool  // of masks that only other texts have
	// slivers are masked lines of which a part is too short to be known again and may be left.
	slivers map[string]bool
}

func newHeld() *held {
	return &held{map[shape]string{}, map[shape]bool{}, map[string]bool{}, map[shape]bool{}, map[string]bool{}}
}

func (h *held) read(text, shown, after string) {
	masked := []byte(shown) // what is masked outside of all runs
	for _, r := range rows(shown) {
		value := text[r.Start:r.End]
		if first, ok := h.values[r.shape]; ok && first != value {
			h.several[r.shape] = true
		}
		h.values[r.shape] = value
		if value != shown[r.Start:r.End] {
			h.leads[r.lead] = true
		}
		copy(masked[r.Start:r.End], value)
	}
	for _, l := range lines(shown) {
		first, end := -1, 0
		for i := l.Start; i < l.End; i++ {
			if masked[i] != text[i] {
				end = i + 1
				if first < 0 {
					first = i
				}
			}
		}
		if first >= 0 && strings.Contains(after, shown[first:end]) {
			h.slivers[shown[l.Start:l.End]] = true
		}
	}
}

func (h *held) readBeside(text string) {
	shown := Text(text)
	if shown == text {
		return
	}
	for _, r := range rows(shown) {
		value := text[r.Start:r.End]
		if value == shown[r.Start:r.End] {
			continue
		}
		if own, ok := h.values[r.shape]; !ok {
			h.foreign[r.shape] = true
		} else if own != value {
			h.several[r.shape] = true
		}
	}
}

// lines are those of a text without their endings.
func lines(text string) (list []Span) {
	at := 0
	for line := range strings.Lines(text) {
		list = append(list, Span{at, at + len(strings.TrimRight(line, "\r\n"))})
		at += len(line)
	}
	return list
}

// units are the lines of a masked text whose values can only be told by their place. A form
// of which nothing is left need not be told.
func (h *held) units(shown string, present map[shape]bool) (list []Span) {
	for _, l := range lines(shown) {
		line := shown[l.Start:l.End]
		if h.slivers[line] || slices.ContainsFunc(rows(line), func(r row) bool { return h.several[r.shape] && present[r.shape] }) {
			list = append(list, l)
		}
	}
	return list
}

// sameUnits answers whether each of the units is still what it was, and where it was.
func sameUnits(before, shown string, was []Span, after string, is []Span) bool {
	if len(was) != len(is) {
		return false
	}
	values, alike := map[string]string{}, false
	between, around := 0, 0 // changes in front of units and behind, and between two
	oldEnd, newEnd := 0, 0
	for i, u := range was {
		if shown[u.Start:u.End] != after[is[i].Start:is[i].End] {
			return false
		}
		name, value := words(shown[u.Start:u.End]), hidden(before[u.Start:u.End], shown[u.Start:u.End])
		if first, ok := values[name]; ok && first != value {
			alike = true
		}
		values[name] = value
		switch {
		case shown[oldEnd:u.Start] == after[newEnd:is[i].Start]:
		case i == 0:
			around++
		default:
			between++
		}
		oldEnd, newEnd = u.End, is[i].End
	}
	if shown[oldEnd:] != after[newEnd:] {
		around++
	}
	// Two such lines trade places only if what is said of one changes and what is said of
	// another, in front of both or behind both.
	return !alike || between == 0 || between == 1 && around == 0
}

// words is a line without its signs and blanks: a comma or a dash does not tell one from another.
func words(line string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && !alnum[byte(r)] {
			return -1
		}
		return unicode.ToLower(r)
	}, line)
}

// hidden is what stands in a line where its masked form shows x's.
func hidden(line, shown string) string {
	var b []byte
	for i := range len(line) {
		if shown[i] == 'x' {
			b = append(b, line[i])
		}
	}
	return string(b)
}

// Insert answers with, which is to stand in place of the masked form of text[start:end], with
// the values that it keeps at its beginning and at its end. It is not ok if it writes a mask
// that the text does not show itself, or takes a value away. Both ends are in one line.
func Insert(text string, start, end int, with string) (kept string, ok bool) {
	shown := Text(text)
	old := shown[start:end]
	first := 0
	for first < min(len(old), len(with)) && old[first] == with[first] {
		first++
	}
	last := 0
	for last < min(len(old), len(with))-first && old[len(old)-1-last] == with[len(with)-1-last] {
		last++
	}
	if shown[start+first:end-last] != text[start+first:end-last] {
		return "", false
	}
	line, rest := strings.LastIndexByte(shown[:start], '\n')+1, strings.IndexByte(shown[end:], '\n')
	if rest < 0 {
		rest = len(shown) - end
	}
	written := Span{start - line + first, start - line + len(with) - last}
	list := slices.DeleteFunc(rows(shown[line:start]+with+shown[end:end+rest]), func(r row) bool {
		return r.Start >= written.End || r.End <= written.Start
	})
	if len(list) > 0 {
		h := newHeld()
		h.read(text, shown, "")
		own := map[shape]bool{} // x's that the text shows itself
		for _, r := range rows(text) {
			own[r.shape] = true
		}
		for _, r := range list {
			_, known := h.values[r.shape]
			if !own[r.shape] && (known || h.leads[r.lead] || r.sure()) {
				return "", false
			}
		}
	}
	return text[start:start+first] + with[first:len(with)-last] + text[end-last:end], true
}
