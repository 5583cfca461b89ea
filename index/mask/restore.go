package mask

import (
	"context"
	"errors"
	"index/suffixarray"
	"regexp"
	"slices"
	"strconv"
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
// beside is what the files that change together have masked, nil for one alone: a value may
// have come from another of them. The time is about linear in the length of both texts, and
// ends with ctx, whose error is answered then.
func Restore(ctx context.Context, before, after string, beside *Beside) (string, error) {
	return restore(&pace{ctx: ctx}, before, after, beside)
}

func restore(p *pace, before, after string, beside *Beside) (string, error) {
	shown := Text(before)
	if after == shown {
		return before, nil
	}
	if restored, ok := shortened(before, shown, after); ok {
		return restored, nil
	}
	h := newHeld()
	h.pace, h.beside = p, beside
	h.read(before, shown, after)
	present := map[shape]bool{}
	for _, r := range rows(after, leastRun) {
		present[r.shape] = true
	}
	h.readTwins(before, shown, present)
	was, is := h.units(shown, present), h.units(after, present)
	same := h.sameUnits(before, shown, was, after, is)
	if err := p.ctx.Err(); err != nil {
		return "", err
	}
	if !same {
		return "", ErrAlike
	}
	restored := []byte(after)
	for i, u := range is {
		copy(restored[u.Start:u.End], before[was[i].Start:was[i].End])
	}
	gone, written := h.changed(shown, was, after, is)
	err := h.judge(before, shown, gone, after, written)
	if over := p.ctx.Err(); over != nil {
		return "", over
	}
	if err != nil {
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

// A pace counts the steps of a restoration, a letter or a word each, and looks now and then
// whether whoever asked is still there. What goes on without them is thrown away.
type pace struct {
	ctx          context.Context
	steps, asked int
	over         bool
}

// stride is how many steps go by between two looks, some ten microseconds.
const stride = 1 << 12

// ended answers whether nobody waits any more, after some more steps.
func (p *pace) ended(steps int) bool {
	p.steps += steps
	if p.steps-p.asked >= stride && !p.over {
		p.asked, p.over = p.steps, p.ctx.Err() != nil
	}
	return p.over
}

// Beside is what files that change together have masked, see Restore.
type Beside struct {
	values map[shape]string
	many   map[shape]bool // forms with several values
}

// ReadBeside reads the texts before of all files of a change, once for all of them: with
// what a file has itself in it, it says no more than without. The error is that of ctx.
func ReadBeside(ctx context.Context, texts ...string) (*Beside, error) {
	b := &Beside{map[shape]string{}, map[shape]bool{}}
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		shown := Text(text)
		if shown == text {
			continue
		}
		for _, r := range rows(shown, leastRun) {
			value := text[r.Start:r.End]
			if value == shown[r.Start:r.End] {
				continue
			}
			if first, ok := b.values[r.shape]; ok && first != value {
				b.many[r.shape] = true
			}
			b.values[r.shape] = value
		}
	}
	return b, nil
}

// A finder answers which pieces stand in a text, in time that is about linear in the length
// of the text and of all the pieces.
type finder struct {
	text  string
	asked map[string]bool
	index *suffixarray.Index
}

// fewPieces are looked for one by one, which is faster than to sort the text's ends for them.
const fewPieces = 32

func (f *finder) has(piece string) bool {
	found, ok := f.asked[piece]
	if ok {
		return found
	}
	switch {
	case len(f.asked) < fewPieces:
		found = strings.Contains(f.text, piece)
	default:
		if f.index == nil {
			f.index = suffixarray.New([]byte(f.text))
		}
		found = len(f.index.Lookup([]byte(piece), 1)) > 0
	}
	if f.asked == nil {
		f.asked = map[string]bool{}
	}
	f.asked[piece] = found
	return found
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
func (h *held) changed(shown string, was []Span, after string, is []Span) (gone, written []Span) {
	key := func(line string) string {
		if h.ended(len(line)) {
			return ""
		}
		key := []byte(words(line))
		for _, r := range rows(line, leastRun) {
			key = append(append(key, ' '), r.lead...)
			key = strconv.AppendInt(key, int64(r.length), 10)
		}
		return string(key)
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
			case !known && (h.foreign(r.shape) || h.leads[r.lead] || r.sure()):
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
	whole := finder{text: before}
	for _, l := range written {
		line := after[l.Start:l.End]
		if h.ended(len(line)) {
			return nil
		}
		if loses && (names[collapsed(line)] || oneLetter.MatchString(line)) {
			return ErrUnknown
		}
		var around Span // the word of the last run, of which one word may have many
		for _, r := range rows(line, leastPlaceholder) {
			if _, known := h.values[r.shape]; known {
				continue
			}
			if r.lead != "" && h.leads[r.lead] {
				return ErrUnknown
			}
			if !loses && (!h.short || r.length >= leastRun) || r.End <= around.End {
				continue
			}
			if around = wordAt(line, r.Span); !whole.has(line[around.Start:around.End]) {
				return ErrUnknown
			}
		}
	}
	return nil
}

// oneLetter is where a single x stands as a value does.
var oneLetter = regexp.MustCompile(`[:=]\s*["'\x60]?x["'\x60]?\s*(?:$|[,;#])|["'\x60]x["'\x60]`)

// wordAt is the word around a part of a line.
func wordAt(line string, s Span) Span {
	for s.Start > 0 && word[line[s.Start-1]] {
		s.Start--
	}
	for s.End < len(line) && word[line[s.End]] {
		s.End++
	}
	return s
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

// leads are how issuers begin their tokens, and leadLengths how long those are that end in a
// letter, the longest first.
var leads, leadLengths = func() (all map[string]bool, lengths [256][]int) {
	all = map[string]bool{}
	add := func(lead string) {
		if lead == "" {
			return
		}
		all[lead] = true
		if last := &lengths[lead[len(lead)-1]]; !slices.Contains(*last, len(lead)) {
			*last = append(*last, len(lead))
		}
	}
	for _, kinds := range tokens {
		for _, t := range kinds {
			add(t.prefix)
		}
	}
	for _, p := range pointed {
		add(p.before + p.prefix)
	}
	for _, list := range lengths {
		slices.SortFunc(list, func(a, b int) int { return b - a })
	}
	return all, lengths
}()

// leadAt is how the value at start begins: as its issuer's rule says, whatever is before that,
// or as its word does.
func leadAt(text string, start int) string {
	if start == 0 {
		return ""
	}
	for _, n := range leadLengths[text[start-1]] {
		if n <= start && leads[text[start-n:start]] {
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
	*pace
	beside  *Beside // nil if nothing else changes
	values  map[shape]string
	several map[shape]bool  // forms that more than one value of the text has
	leads   map[string]bool // of masks
	// slivers are masked lines of which a part is too short to be known again and may be left.
	slivers map[string]bool
	short   bool            // whether there are such parts
	own     map[shape]bool  // forms of x's that the text has itself, and no value has
	twins   map[string]bool // lines that differ from another in their values alone
}

func newHeld() *held {
	return &held{pace: &pace{ctx: context.Background()}, values: map[shape]string{}, several: map[shape]bool{}, leads: map[string]bool{}, slivers: map[string]bool{}, own: map[shape]bool{}, twins: map[string]bool{}}
}

// foreign answers whether a form is that of a mask that only other texts have.
func (h *held) foreign(s shape) bool {
	if h.beside == nil {
		return false
	}
	_, own := h.values[s]
	_, theirs := h.beside.values[s]
	return theirs && !own
}

// ambiguous answers whether more than one value has a form, those of other texts included.
func (h *held) ambiguous(s shape) bool {
	if h.several[s] || h.beside == nil {
		return h.several[s]
	}
	own, ok := h.values[s]
	theirs, known := h.beside.values[s]
	return ok && known && (h.beside.many[s] || own != theirs)
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
	left := finder{text: after}
	for _, l := range lines(shown) {
		if h.ended(l.End - l.Start) {
			return
		}
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
		if first >= 0 && left.has(shown[first:end]) {
			h.slivers[shown[l.Start:l.End]] = true
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
			if h.ended(l.End - l.Start) {
				return
			}
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
		if h.ended(len(line)) {
			return nil
		}
		if h.slivers[line] || h.twins[line] || slices.ContainsFunc(rows(line, leastRun), func(r row) bool { return h.ambiguous(r.shape) && present[r.shape] }) {
			list = append(list, l)
		}
	}
	return list
}

// sameUnits answers whether each of the units is still what it was, and where it was.
func (h *held) sameUnits(before, shown string, was []Span, after string, is []Span) bool {
	if len(was) != len(is) {
		return false
	}
	values, alike := map[string]string{}, false
	var name, value strings.Builder // of a unit, or of the lines of one key
	bare := true                    // whether the name is that of such lines
	end := func() {
		if first, ok := values[name.String()]; ok && first != value.String() {
			alike = true
		}
		values[name.String()] = value.String()
		name.Reset()
		value.Reset()
		bare = true
	}
	// What changed around them, and whether it is between two.
	changes, old, now, between := 0, "", "", false
	oldEnd, newEnd := 0, 0
	for i, u := range was {
		line := shown[u.Start:u.End]
		if h.ended(u.End-oldEnd) || line != after[is[i].Start:is[i].End] {
			return false
		}
		gap := shown[oldEnd:u.Start]
		if other := after[newEnd:is[i].Start]; gap != other {
			changes++
			old, now, between = gap, other, i > 0
		}
		own := collapsed(line)
		if i > 0 && (!nameless(own) || !bare || strings.Trim(gap, "\r\n") != "") {
			end()
		}
		bare = bare && nameless(own)
		name.WriteString(own)
		value.WriteString(hidden(before[u.Start:u.End], line))
		oldEnd, newEnd = u.End, is[i].End
	}
	if len(was) > 0 {
		end()
	}
	if gap, other := shown[oldEnd:], after[newEnd:]; gap != other {
		changes++
		old, now, between = gap, other, false
	}
	// Two such lines trade places if what is said of one changes and what is said of another.
	switch {
	case !alike || changes == 0:
		return true
	case changes > 1:
		return false
	}
	return !(between && traded(old, now) || reordered(h.pace, old, now))
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
	stands := map[string]bool{}
	for _, w := range is {
		stands[w] = true
	}
	return slices.ContainsFunc(was, func(w string) bool { return stands[w] })
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
