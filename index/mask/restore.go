package mask

import (
	"errors"
	"fmt"
	"regexp"
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
//   - A line that shows what it showed, but for signs and blanks, keeps its value, wherever it
//     stands. A mask on a line that is new or changed gets the value that it alone can stand for
//     by how its issuer begins it and how long it is, if a line that was changed or taken away
//     had that value. A copy is ErrAlike, and so are a value that goes while the mask of another
//     comes, and two values with one beginning, or none, that both come: one who counted the x's
//     wrong would mix them.
//   - Where several values have one form, and where lines differ in nothing but their values,
//     the lines with them stay as they are, in their order, or lose every such mask; or lines
//     are taken away in one place and nothing else changes. All else is ErrAlike. Lines with the
//     same words are told apart only by what is around them: the change is in front of all of
//     them, or behind all, where no list has its names in another order after it, or between
//     two, where no word trades places with another.
//   - What looks like a mask and is none of before's is ErrUnknown, and so are fewer x's than a
//     mask has where a value goes.
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
	present := map[shape]bool{}
	for _, r := range rows(after, leastRun) {
		present[r.shape] = true
	}
	h.readTwins(before, shown, present)
	was, is := h.units(shown, present), h.units(after, present)
	if !sameUnits(before, shown, was, after, is) {
		return "", ErrAlike
	}
	restored := []byte(after)
	for i, u := range is {
		copy(restored[u.Start:u.End], before[was[i].Start:was[i].End])
	}
	gone, written := changed(shown, was, after, is)
	if err := h.judge(before, shown, gone, after, written); err != nil {
		return "", err
	}
	for _, l := range others(after, is) {
		for _, r := range rows(after[l.Start:l.End], leastRun) {
			if value, known := h.values[r.shape]; known {
				copy(restored[l.Start+r.Start:], value)
			}
		}
	}
	return string(restored), nil
}

// others are the lines of a text that are no units.
func others(text string, units []Span) (list []Span) {
	for _, l := range lines(text) {
		for len(units) > 0 && units[0].Start < l.Start {
			units = units[1:]
		}
		if len(units) == 0 || units[0] != l {
			list = append(list, l)
		}
	}
	return list
}

// changed are the lines of shown that after has not, and those of after that are new in it. A
// line with other signs or blanks alone is neither, nor is one that stands elsewhere.
func changed(shown string, was []Span, after string, is []Span) (gone, written []Span) {
	key := func(line string) string {
		key := words(line)
		for _, r := range rows(line, leastRun) {
			key += fmt.Sprintf(" %s%d", r.lead, r.length)
		}
		return key
	}
	count := map[string]int{}
	for _, l := range others(after, is) {
		count[key(after[l.Start:l.End])]++
	}
	for _, l := range others(shown, was) {
		if k := key(shown[l.Start:l.End]); count[k] > 0 {
			count[k]--
		} else {
			gone = append(gone, l)
		}
	}
	for _, l := range slices.Backward(others(after, is)) { // of lines with the same words the last are new
		if k := key(after[l.Start:l.End]); count[k] > 0 {
			count[k]--
			written = append(written, l)
		}
	}
	slices.Reverse(written)
	return gone, written
}

// judge answers whether it can be told what the masks in the lines that were written stand for.
func (h *held) judge(before, shown string, gone []Span, after string, written []Span) error {
	left := map[string]int{} // values of the lines that are gone
	names := map[string]bool{}
	loses := false
	for _, l := range gone {
		line, masked := before[l.Start:l.End], shown[l.Start:l.End]
		if line == masked {
			continue
		}
		names[collapsed(masked)] = true
		pieces := []byte(masked)
		for _, r := range rows(masked, leastRun) {
			if value := line[r.Start:r.End]; value != masked[r.Start:r.End] {
				left[value]++
			}
			copy(pieces[r.Start:r.End], line[r.Start:r.End])
		}
		loses = loses || string(pieces) != line
	}
	put := map[string]string{} // the value that comes, by how it begins
	come := map[string]int{}
	for _, l := range written {
		for _, r := range rows(after[l.Start:l.End], leastRun) {
			value, known := h.values[r.shape]
			switch {
			case !known && (h.foreign[r.shape] || h.leads[r.lead] || r.sure()):
				return ErrUnknown
			case !known || h.own[r.shape]:
				continue
			}
			if first, ok := put[r.lead]; ok && first != value {
				return ErrAlike
			}
			put[r.lead] = value
			if come[value]++; come[value] > left[value] {
				return ErrAlike
			}
		}
	}
	for value := range left {
		loses = loses || come[value] == 0
	}
	if loses && len(come) > 0 {
		return ErrAlike
	}
	for _, l := range written {
		line := after[l.Start:l.End]
		if loses && (names[collapsed(line)] || oneLetter.MatchString(line)) {
			return ErrUnknown
		}
		for _, r := range rows(line, leastPlaceholder) {
			if _, known := h.values[r.shape]; known {
				continue
			}
			if loses && !strings.Contains(before, wordAt(line, r.Span)) || r.lead != "" && h.leads[r.lead] || h.short && r.length < leastRun && !strings.Contains(before, wordAt(line, r.Span)) {
				return ErrUnknown
			}
		}
	}
	return nil
}

// oneLetter is where a single x stands as a value does.
var oneLetter = regexp.MustCompile(`[:=]\s*["'\x60]?x["'\x60]?\s*(?:$|[,;#])|["'\x60]x["'\x60]`)

// wordAt is the word around a part of a line.
func wordAt(line string, s Span) string {
	for s.Start > 0 && word[line[s.Start-1]] {
		s.Start--
	}
	for s.End < len(line) && word[line[s.End]] {
		s.End++
	}
	return line[s.Start:s.End]
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
	alike := func(at int) bool { return collapsed(was[at]) == collapsed(was[at+gone]) }
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
	// leastPlaceholder is the shortest run that is one where a value goes.
	leastPlaceholder = 2
	// longestLead is how much of the word before a run tells which mask it is, where no rule does.
	longestLead = 16
)

// leads are how issuers begin their tokens, and longestRule is the longest of them.
var leads, longestRule = func() (map[string]bool, int) {
	all, longest := map[string]bool{}, 0
	add := func(lead string) { all[lead], longest = true, max(longest, len(lead)) }
	for _, kinds := range tokens {
		for _, t := range kinds {
			add(t.prefix)
		}
	}
	for _, p := range pointed {
		add(p.before + p.prefix)
	}
	return all, longest
}()

// leadAt is how the value at start begins: as its issuer's rule says, whatever is before that,
// or as its word does.
func leadAt(text string, start int) string {
	for n := min(longestRule, start); n > 0; n-- {
		if leads[text[start-n:start]] {
			return text[start-n : start]
		}
	}
	from := start
	for from > 0 && start-from < longestLead && word[text[from-1]] {
		from--
	}
	return text[from:start]
}

// shape is what a masked value looks like: how it begins, and how many x's.
type shape struct {
	lead   string
	length int
}

// row is a run of x's in a text, as long as it can be.
type row struct {
	Span
	shape
}

// rows are those of least x's at least.
func rows(text string, least int) (list []row) {
	for i := 0; i < len(text); i++ {
		if text[i] != 'x' {
			continue
		}
		start := i
		for i < len(text) && text[i] == 'x' {
			i++
		}
		if i-start >= least {
			list = append(list, row{Span{start, i}, shape{leadAt(text, start), i - start}})
		}
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
	short   bool            // whether there are such parts
	own     map[shape]bool  // forms of x's that the text has itself, and no value has
	twins   map[string]bool // lines that differ from another in their values alone
}

func newHeld() *held {
	return &held{values: map[shape]string{}, several: map[shape]bool{}, leads: map[string]bool{}, foreign: map[shape]bool{}, slivers: map[string]bool{}, own: map[shape]bool{}, twins: map[string]bool{}}
}

func (h *held) read(text, shown, after string) {
	masked := []byte(shown) // what is masked outside of all runs
	for _, r := range rows(shown, leastRun) {
		value := text[r.Start:r.End]
		if first, ok := h.values[r.shape]; ok && first != value {
			h.several[r.shape] = true
		}
		h.values[r.shape] = value
		h.own[r.shape] = value == shown[r.Start:r.End] // if it is not one of several
		if !h.own[r.shape] {
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
		h.short = h.short || first >= 0
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
	for _, r := range rows(shown, leastRun) {
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

// readTwins finds the lines that differ from another in their values alone, if the mask of one
// of them is present. A count of x's tells nobody which is which.
func (h *held) readTwins(before, shown string, present map[shape]bool) {
	first, twin, left := map[string]string{}, map[string]bool{}, map[string]bool{}
	each := func(f func(name, value, line string)) {
		for _, l := range lines(shown) {
			if line := shown[l.Start:l.End]; line != before[l.Start:l.End] {
				f(collapsed(line), hidden(before[l.Start:l.End], line), line)
			}
		}
	}
	each(func(name, value, line string) {
		if other, ok := first[name]; ok && other != value {
			twin[name] = true
		}
		first[name] = value
		left[name] = left[name] || slices.ContainsFunc(rows(line, leastRun), func(r row) bool { return present[r.shape] })
	})
	each(func(name, _, line string) {
		if twin[name] && left[name] {
			h.twins[line] = true
		}
	})
}

// units are the lines of a masked text whose values can only be told by their place. A form
// of which nothing is left need not be told.
func (h *held) units(shown string, present map[shape]bool) (list []Span) {
	for _, l := range lines(shown) {
		line := shown[l.Start:l.End]
		if h.slivers[line] || h.twins[line] || slices.ContainsFunc(rows(line, leastRun), func(r row) bool { return h.several[r.shape] && present[r.shape] }) {
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
	name, value := "", "" // of a unit, or of the lines of one key
	end := func() {
		if first, ok := values[name]; ok && first != value {
			alike = true
		}
		values[name], name, value = value, "", ""
	}
	changes, mixed := 0, false
	oldEnd, newEnd := 0, 0
	for i, u := range was {
		line := shown[u.Start:u.End]
		if line != after[is[i].Start:is[i].End] {
			return false
		}
		old, now := shown[oldEnd:u.Start], after[newEnd:is[i].Start]
		if old != now {
			changes++
			mixed = mixed || i > 0 && traded(old, now) || reordered(old, now)
		}
		own := collapsed(line)
		if i > 0 && (!nameless(own) || !nameless(name) || strings.Trim(old, "\r\n") != "") {
			end()
		}
		name += own
		value += hidden(before[u.Start:u.End], line)
		oldEnd, newEnd = u.End, is[i].End
	}
	if len(was) > 0 {
		end()
	}
	if old, now := shown[oldEnd:], after[newEnd:]; old != now {
		changes++
		mixed = mixed || reordered(old, now)
	}
	// Two such lines trade places if what is said of one changes and what is said of another.
	return !alike || changes <= 1 && !mixed
}

// nameless answers whether lines have nothing but x's in them, as those of a key do.
func nameless(collapsed string) bool { return strings.Trim(collapsed, "xn") == "" }

// traded answers whether a word of old that is not where it was stands elsewhere in now.
func traded(old, now string) bool {
	split := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r < 0x80 && !alnum[byte(r)] })
	}
	was, is := split(old), split(now)
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	return slices.ContainsFunc(was, func(w string) bool { return slices.Contains(is, w) })
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

// collapsed is words with one x for each run of them: how many there are tells nothing apart.
func collapsed(line string) string {
	b := []byte(words(line))
	return string(slices.CompactFunc(b, func(a, b byte) bool { return a == 'x' && b == 'x' }))
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
	list := slices.DeleteFunc(rows(shown[line:start]+with+shown[end:end+rest], leastRun), func(r row) bool {
		return r.Start >= written.End || r.End <= written.Start
	})
	if len(list) > 0 {
		h := newHeld()
		h.read(text, shown, "")
		own := map[shape]bool{} // x's that the text shows itself
		for _, r := range rows(text, leastRun) {
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
