package mask

import (
	"encoding/base64"
	"slices"
	"strings"
)

// A private key stands in text between two markers: PEM (RFC 7468), OpenPGP, OpenSSH, SSH2, PuTTY,
// OpenVPN. What is between them may have anything around each of its lines and between them, a
// comment's signs, the words of a log, a line that is being typed, so that nothing there ends a
// key: what looks like a line of one is one. Where a marker is missing, or spoilt, the other says
// the same of what is near it, and so does how a key's first line begins.

const (
	// longestKey is more than any key has between its markers, with what stands around each line.
	longestKey = 1 << 16
	// farFirst is how far behind a marker, or before it, a body may begin: headers stand there.
	farFirst = 600
	// farNext is how far behind a line of a body the next may stand where one marker is missing.
	farNext = 1000
	// leastClosed and leastOpen are fewer letters than any key has in base64, between markers and
	// behind one: a hash that stands there has fewer.
	leastClosed, leastOpen = 44, 60
	// leastPiece is the least of a line that is judged for itself.
	leastPiece = 12
)

// A marker opens or closes a block of text: that of a private key, or another.
type marker struct {
	Span
	opens, private, hex bool
}

// appendKeys finds the bodies of private keys, wherever they stand.
func appendKeys(list []Span, text string, long []Span) []Span {
	firsts := firstLines(text, long)
	private := strings.Contains(text, "PRIVATE") || strings.Contains(text, "Private-Lines") || strings.Contains(text, "Private-MAC") || strings.Contains(text, "OpenVPN") || strings.Contains(text, "private key-")
	if !private && len(firsts) == 0 {
		return list
	}
	marks := markers(text)
	done, opened := 0, -1 // where a private key was opened that nothing has closed
	add := func(found []Span) {
		for _, s := range found {
			list, done = append(list, s), max(done, s.End)
		}
	}
	for k := 0; k <= len(marks); k++ {
		from, to := 0, len(text)
		var left, right marker
		if k > 0 {
			left = marks[k-1]
			from = left.End
		}
		if k < len(marks) {
			right = marks[k]
			to = right.Start
		}
		if left.private {
			opened = -1
			if left.opens {
				opened = left.Start
			}
		}
		// What another block within a key leaves of it goes on behind that block.
		begun, ended := opened >= 0 && (left.private || !left.opens && from-opened <= longestKey), right.private && !right.opens
		hexed := left.hex || right.hex
		switch {
		case begun && ended && to-from <= longestKey:
			least := leastClosed
			if !left.private {
				least = leastLong // the rest of one
			}
			found := closedBody(text, from, to, least, hexed)
			add(found)
			if len(found) > 0 || left.private {
				continue
			}
		case begun:
			add(openBody(text, from, min(to, from+longestKey), hexed, true))
		}
		if ended {
			add(headlessBody(text, max(from, done, to-longestKey), to, hexed))
		}
	}
	next := 0
	for _, at := range firsts {
		if at < next {
			continue
		}
		to := min(len(text), at+longestKey)
		if k, _ := slices.BinarySearchFunc(marks, at, func(m marker, at int) int { return m.Start - at }); k < len(marks) {
			to = min(to, marks[k].Start)
		}
		found := openBody(text, at, to, false, false)
		next = at + 1
		if len(found) > 0 && found[0].Start == at {
			list, next = append(list, found...), found[len(found)-1].End
		} else if r := nextRun(text, at, to); r.End > at {
			next = r.End // no run is read twice
		}
	}
	return list
}

// firstLetters are how the base64 of a private key begins, back letters behind where it begins with
// the letters of start. In DER that is a sequence (RFC 5208, 5915, 5958, 8017) of a version and the
// first number, or of the name of an algorithm; a public key or a certificate has none of them.
var firstLetters = []struct {
	find  string
	back  int
	start string
}{
	{"IBAAKB", 6, "MII"}, {"IBAAKC", 6, "MII"}, {"IBAAJ", 6, "MII"}, {"IBAD", 6, "MII"}, {"AgEAMB", 4, "MI"}, {"CAQAwBQYDK2V", 3, "M"}, {"CAQEwBQYDK2V", 3, "M"}, {"CAQAwCwYJYIZIAWUDBA", 3, "M"}, // RSA and DSA, PKCS #8, ML-DSA and its like
	{"MHcCAQEEI", 0, ""}, {"MHQCAQEEI", 0, ""}, {"MGgCAQEEH", 0, ""}, {"MIGkAgEBBD", 0, ""}, {"MIHcAgEBBE", 0, ""}, // curves
	{"BgkqhkiG9w0BBQ", 8, "MII"}, {"GCSqGSIb3DQEF", 7, "MI"}, {"IBAzCC", 6, "MII"}, // encrypted, PKCS #12
	{"b3BlbnNzaC1rZXktdjE", 0, ""}, {"RWRTY0Iy", 0, ""}, // OpenSSH, minisign
}

// firstLines are where the first lines of keys begin, in their order.
func firstLines(text string, long []Span) (list []int) {
	for _, r := range long {
		s := text[r.Start:r.End]
		for _, f := range firstLetters {
			for i := 0; ; {
				n := strings.Index(s[i:], f.find)
				if n < 0 {
					break
				}
				i += n
				if at := i - f.back; at >= 0 && strings.HasPrefix(s[at:], f.start) {
					list = append(list, r.Start+at)
				}
				i += len(f.find)
			}
		}
	}
	slices.Sort(list)
	return list
}

// leastLong is shorter than what a run of base64 has before anything else, and longer than most
// words.
const leastLong = 16

// longRuns are the runs of base64's letters that are as long, none of which is escaped. One letter
// of so many is looked at where there is none.
func longRuns(text string) (list []Span) {
	for i := leastLong - 1; i < len(text); {
		if !base64Set[text[i]] {
			i += leastLong
			continue
		}
		start, end := i, i+1
		for start > 0 && base64Set[text[start-1]] {
			start--
		}
		for end < len(text) && base64Set[text[end]] {
			end++
		}
		if end-start >= leastLong {
			list = append(list, Span{start, end})
		}
		i = end + leastLong - 1
	}
	return list
}

// A run is of base64's letters, some of which may be escaped.
type run struct {
	Span
	kind kind
}

// kind is what a run looks like.
type kind int

const (
	other  kind = iota
	weak        // a line of a body, if others are near
	strong      // a line of a body, if it stands where one may
)

// escaped are base64's letters that are none of alnum, as JSON, addresses and HTML write them.
var escaped = []string{`\/`, `\u002b`, `\u002f`, `\u003d`, `\x2b`, `\x2f`, `\x3d`, "%2b", "%2f", "%3d", "&#43;", "&#47;", "&#61;", "&#x2b;", "&#x2f;", "&#x3d;"}

// letter is how many bytes the letter of base64 at i has, 0 if there is none.
func letter(text string, i int) int {
	switch c := text[i]; {
	case base64Set[c]:
		return 1
	case c == '\\', c == '%', c == '&':
		for _, e := range escaped {
			if len(text)-i >= len(e) && strings.EqualFold(text[i:i+len(e)], e) {
				return len(e)
			}
		}
	}
	return 0
}

// between is how many bytes of what is no letter stand at i: an escape's letters are none.
func between(text string, i int) int {
	rest := text[i:]
	n := 1
	switch {
	case len(rest) < 2:
	case rest[0] == '\\' && rest[1] == 'u':
		n = 6
	case rest[0] == '\\' && rest[1] == 'x':
		n = 4
	case rest[0] == '\\' && rest[1] == '0':
		n = 4
	case rest[0] == '\\':
		n = 2
	case len(rest) > 2 && rest[0] == '%' && hexAny[rest[1]] && hexAny[rest[2]]:
		n = 3
	case rest[0] == '&' && rest[1] == '#':
		n = strings.IndexByte(rest[:min(len(rest), 8)], ';') + 1
	}
	return min(len(rest), max(n, 1))
}

func isHex(r rune) bool { return r < 0x80 && hexAny[byte(r)] }

var hexAny = bytesOf(digits + "abcdefABCDEF")

// nextRun is the first run of text[i:to]; it is empty if there is none.
func nextRun(text string, i, to int) Span {
	for i < to && letter(text, i) == 0 {
		i += between(text, i)
	}
	start := i
	for i < to {
		n := letter(text, i)
		if n == 0 || i > start && text[i-1] == '=' && text[i] != '=' { // name=value
			break
		}
		i += n
	}
	for start < i && text[start] == '/' && (start == 0 || strings.IndexByte("/ \t\n", text[start-1]) >= 0) { // of a comment
		start++
	}
	return Span{start, max(start, min(i, to))}
}

// signs answers whether a run is empty, or is what joins strings or assigns.
func signs(text string, s Span) bool { return strings.Trim(text[s.Start:s.End], "+/=") == "" }

// runsOf are the runs of text[from:to].
func runsOf(text string, from, to int, hexed bool) (list []run) {
	for i := from; i < to; {
		s := nextRun(text, i, to)
		if i = max(s.End, i+1); !signs(text, s) {
			list = append(list, run{s, kindOf(text[s.Start:s.End], hexed)})
		}
	}
	return list
}

// kindOf judges a run. What chance draws in base64 changes between capitals, small letters and
// digits at two of three letters; the names of a program do at one of three.
func kindOf(s string, hexed bool) kind {
	if len(s) < leastPiece || strings.Trim(s, "x") == "" {
		return other
	}
	if odd := len(strings.TrimFunc(s, isHex)); hexed && odd <= len(s)/2 { // one letter may be another
		return strong
	}
	if !strings.ContainsAny(s, capitals) || !strings.ContainsAny(s, smalls) || worded(s) {
		return other
	}
	share, digit := changes(s)
	switch n := len(s); {
	case n >= 40 && slices.Contains(firstLines(s, []Span{{0, n}}), 0):
		return strong
	case n >= 40 && share >= .38 && digit, n >= 24 && share >= .45 && digit:
		return strong
	case n >= 40 && (share >= .38 || share >= .3 && digit || strings.Contains(s, "AAAAA")), share >= .45:
		return weak
	}
	return other
}

// changes is at how many of a value's letters its kind of letters changes, of all, and whether it
// has a digit.
func changes(s string) (share float64, digit bool) {
	class := func(c byte) int {
		switch {
		case c >= 'a' && c <= 'z':
			return 0
		case c >= 'A' && c <= 'Z':
			return 1
		case c >= '0' && c <= '9':
			digit = true
			return 2
		}
		return 3
	}
	n := 0
	for i := 1; i < len(s); i++ {
		if class(s[i]) != class(s[i-1]) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(s)-1)), digit
}

// closedBody are the lines of a body between two markers, of so many letters at least.
func closedBody(text string, from, to, least int, hexed bool) []Span {
	runs := runsOf(text, from, to, hexed)
	joinGroups(text, runs)
	first, last, total, words, sure := -1, -1, 0, 0, false
	for k, r := range runs {
		n := r.End - r.Start
		switch {
		case r.kind != other:
			if first < 0 {
				first = k
			}
			last, total, sure = k, total+n, sure || r.kind == strong
		case partial(text[r.Start:r.End]):
			total += n
		case n > 2:
			words += n
		}
	}
	known := len(firstLines(text, []Span{{from, min(to, from+farFirst)}})) > 0
	if last < 0 || !sure && !known && words*2 > total && !wraps(text, runs) || total < least || !believed(text, runs, first, last, from, to, hexed) {
		return nil
	}
	if runs[first].Start-from > farFirst && to-runs[last].End > farFirst && !wraps(text, runs) && len(firstLines(text, []Span{runs[first].Span})) == 0 {
		return nil
	}
	return covered(text, runs, first, last, to)
}

// joinGroups judges the groups of letters that a line is written in, with a blank between two, as
// one run; groups of one length also where other signs are between two, as a table has them.
func joinGroups(text string, runs []run) {
	width := func(k int) int { // with the slashes that may have been a comment's
		return runs[k].End - len(strings.TrimRight(text[:runs[k].Start], "/"))
	}
	for k := 0; k < len(runs); {
		var joined strings.Builder
		last, own := k, true
		for {
			part := text[runs[last].Start:runs[last].End]
			joined.WriteString(part)
			own = own && runs[last].kind != strong && strings.Trim(part, "x") != "" && !strings.HasPrefix(part, "0x") // masked already, or a number
			if last+1 == len(runs) {
				break
			}
			gap := text[runs[last].End:runs[last+1].Start]
			if strings.TrimSuffix(gap, "/") != " " && !(grouped(strings.TrimRight(gap, "/")) && len(part) >= 4 && width(last) == width(k) && width(last+1) <= width(last)) {
				break
			}
			last++
		}
		if last > k && own && kindOf(joined.String(), false) == strong {
			for i := k; i <= last; i++ {
				runs[i].kind = strong
			}
		}
		k = last + 1
	}
}

// grouped answers whether what is between two runs may separate the groups of a line.
func grouped(gap string) bool { return len(gap) <= 8 && strings.Trim(gap, " \t\r\n,;|\"'`.-") == "" }

// openBody are the lines of a body that begins near from, of which nothing says where it ends but
// its own length. Where a marker stands before it, a line as wide as its first may be far from
// the others.
func openBody(text string, from, to int, hexed, marked bool) []Span {
	const slack = 16 // slashes at the beginnings of lines, which may have been a comment's
	near, first, last, total, sure := from+farFirst, -1, -1, 0, false
	var runs []run
	length := longestKey
	for i := from; i < to; {
		s := nextRun(text, i, to)
		if i = max(s.End, i+1); signs(text, s) {
			continue
		}
		r := run{s, kindOf(text[s.Start:s.End], hexed)}
		if total >= length || r.kind != other && public(text, s) {
			break
		}
		if s.Start > near {
			if !marked || first < 0 {
				break
			}
			width, n := runs[first].End-runs[first].Start, r.End-r.Start
			if width < leastWidth || width > longestLine || (r.kind != strong || n != width) && (n < leastLong || total+n > length || total+n < length-slack) {
				r.kind = other
			}
		}
		runs = append(runs, r)
		if r.kind == other {
			continue
		}
		if first < 0 {
			first, length = len(runs)-1, keyLength(text[s.Start:s.End])
		}
		last, total, sure, near = len(runs)-1, total+r.End-r.Start, sure || r.kind == strong, r.End+farNext
	}
	if !sure || total < leastOpen || !believed(text, runs, first, last, from, -1, hexed) {
		return nil
	}
	return covered(text, runs, first, last, -1)
}

// headlessBody are the lines of a body that ends near to, of which nothing says where it begins.
func headlessBody(text string, from, to int, hexed bool) []Span {
	runs := runsOf(text, from, to, hexed)
	joinGroups(text, runs)
	near, first, last, total, sure, width := to-farFirst, -1, -1, 0, false, 0
	for k, r := range slices.Backward(runs) {
		if r.kind == other {
			continue
		}
		if n := r.End - r.Start; r.End < near && (r.kind != strong || n < leastWidth || n > longestLine || n != width) {
			continue
		}
		if n := r.End - r.Start; r.kind == strong && width == 0 && n >= leastWidth {
			width = n
		}
		if last < 0 {
			last = k
		}
		first, total, sure, near = k, total+r.End-r.Start, sure || r.kind == strong, r.Start-farNext
		if public(text, r.Span) {
			return nil
		}
	}
	if !sure || total < leastOpen || !believed(text, runs, first, last, -1, to, hexed) {
		return nil
	}
	return covered(text, runs, first, last, to)
}

// covered are the runs from first to last that belong to a body, with its shorter parts: what
// stands between two lines, what something was typed into, what ends it before the marker at to,
// -1 if there is none.
func covered(text string, runs []run, first, last, to int) (list []Span) {
	belongs := func(k int) bool { return k >= first && k <= last && runs[k].kind != other }
	gap := func(k int) string { return text[runs[k].End:runs[k+1].Start] } // behind a run
	const joined = 12                                                      // bytes at most between two parts of a body, with no word among them
	padded := strings.HasSuffix(text[:runs[last].End], "=")
	for k, r := range runs {
		s := text[r.Start:r.End]
		inside := k > first && k < last || to >= 0
		near := k == first-1 && len(gap(k)) <= joined || k == last+1 && len(gap(k-1)) <= joined
		at := belongs(k-1) && typed(gap(k-1)) || belongs(k+1) && typed(gap(k))
		ends := k == last+1 && !padded && (s[len(s)-1] == '=' && len(s) > 2 && r.Start-runs[last].End < 80 || to >= 0 && len(s)%4 == 0 && to-r.End < 16 && strings.ContainsAny(gap(k-1), "\n\\%&"))
		switch {
		case strings.Trim(s, "x") == "": // masked already
		case belongs(k), (inside || near) && partial(s), (at || ends) && (len(s) < 4 || !worded(s)):
			list = append(list, r.Span)
		}
	}
	return list
}

// partial answers whether a run may be a part of a line where others are. What has capitals and
// digits alone is what an encrypted key's header says, unless it is a line of zeros.
func partial(s string) bool {
	if len(s) < leastPiece || !strings.ContainsAny(s, capitals) || worded(s) {
		return false
	}
	return strings.Contains(s, "AAAAAA") || strings.ContainsAny(s, smalls) && (len(s) >= 16 || strings.ContainsAny(s, digits+"+/="))
}

// typed answers whether what stands between two runs was typed into one: it separates no words.
func typed(gap string) bool {
	return gap != "" && len(gap) <= 3 && !strings.ContainsAny(gap, " \t\r\n:=\"'\\,|>#*%&")
}

// public answers whether a run begins a public key or a certificate.
func public(text string, s Span) bool {
	head := text[s.Start:min(s.End, s.Start+24)]
	if strings.HasPrefix(head, "AAAA") {
		before := text[max(0, s.Start-40):s.Start]
		return strings.Contains(before, "ssh-") || strings.Contains(before, "ecdsa-") || strings.Contains(before, "sk-")
	}
	if len(head) < 24 || head[0] != 'M' {
		return false
	}
	der, err := base64.StdEncoding.DecodeString(head)
	if err != nil {
		return false
	}
	_, inner := sequence(der)
	if inner == nil {
		return false
	}
	n, content := sequence(inner)
	switch {
	case content == nil:
		return false
	case n < 0x100 && len(content) > 0 && content[0] == 6: // an algorithm: encrypted if it is one of PKCS #5
		return !strings.Contains(string(content), "\x86\xf7\x0d\x01\x05") && !strings.Contains(string(content), "\x86\xf7\x0d\x01\x0c")
	}
	return true // what a certificate says of itself
}

// sequence reads how long a sequence of DER is, and its content; nil if there is none.
func sequence(der []byte) (n int, content []byte) {
	if len(der) < 4 || der[0] != 0x30 {
		return 0, nil
	}
	switch size := der[1]; {
	case size < 0x80:
		return int(size), der[2:]
	case size == 0x81:
		return int(der[2]), der[3:]
	case size == 0x82:
		return int(der[2])<<8 | int(der[3]), der[4:]
	}
	return 0, nil
}

// keyLength is how many letters of base64 a key has whose first line this is, as far as it says so.
func keyLength(line string) int {
	if len(line) >= 8 && line[0] == 'M' {
		if der, err := base64.StdEncoding.DecodeString(line[:8]); err == nil {
			if n, content := sequence(der); content != nil {
				return (n + len(der) - len(content) + 2) / 3 * 4
			}
		}
	}
	return longestKey
}
