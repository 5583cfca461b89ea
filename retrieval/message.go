package retrieval

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A message that somebody pastes is in the code word for word, but for the places
// where values were filled in, and the code may have it in several pieces. So what
// counts are runs: neighbouring words of the query that are neighbours in the code,
// whatever stands between them that is no word.

const (
	// minQueryWords is how long a query is whose order of words tells anything.
	minQueryWords = 3
	// messageChunks is how many of the best chunks are read for runs.
	messageChunks = 60
	// minRun is the shortest run that makes a query a message, words of which at least
	// minTelling are no stop words; without a sign that prose hardly has, both are two
	// more. With such a sign a chunk that has runs of so many words of the query, by
	// their rarity, makes it one, too.
	minRun, minTelling         = 3, 2
	minShare           float32 = .3
	// maxGap is how many bytes may stand between two words of a run: a string that is
	// continued on the next line.
	maxGap = 60
)

// messageQuery is a query as a message.
type messageQuery struct {
	text    string   // the query's, without the places of a stack
	words   []string // in order, lower case
	at      map[string][]int
	idf     []float32
	telling []bool // no stop word
	simple  []bool // the index has the word wherever a text has it
	total   float32
	plain   int // how much longer a run must be, without any sign that prose hardly has
	// strict: only a run says that it is a message, and not how many of its words stand together.
	strict bool
	// asks: it begins as a question does, and only what stands in a string makes it a message.
	asks bool
	// pieces are neighbouring words with the one blank between them: a file without any
	// of them is not read.
	pieces []string
	// docs are, by segment, the chunks that have each word: its stem, and the word as it
	// is; nil until they are asked for.
	docs [][][2]list
}

// asMessage reads the query as a message; ok is false if it cannot be one.
func (sr *search) asMessage() (m messageQuery, ok bool) {
	if sr.query.class != ClassText || sr.req.Signals == SignalsSemantic {
		return m, false
	}
	// Where a frame is says nothing of what is said there, nor does what is said of every one.
	m.text = pythonPlace.ReplaceAllString(sr.req.Query.Text, " ;")
	m.text = boilerplate.ReplaceAllString(m.text, " ;")
	m.text = sr.withoutPlaces(m.text)
	var ends []int
	eachWord(m.text, func(w string, end int) bool {
		m.words, ends = append(m.words, w), append(ends, end)
		return len(m.words) < maxMessageWords
	})
	if len(m.words) < minQueryWords {
		sr.frames() // of a stack without any message
		return m, false
	}
	m.asks = asking[m.words[0]]
	if m.asks || !strings.ContainsAny(sr.req.Query.Text, ":;'\"`([{=<>_/0123456789") {
		m.plain = 2
	}
	m.strict = sr.strict
	if m.strict && !strings.ContainsAny(strings.ReplaceAll(sr.req.Query.Text, `"`, ""), ":;'`([{=<>_/0123456789") {
		m.plain = 2
	}
	n := 2 + m.plain/2
	for i := n; i <= len(m.words); i++ {
		if piece := strings.Join(m.words[i-n:i], " "); ends[i-1]-len(piece) >= 0 && strings.EqualFold(piece, m.text[ends[i-1]-len(piece):ends[i-1]]) {
			m.pieces = append(m.pieces, piece)
		}
	}
	m.at, m.docs = make(map[string][]int, len(m.words)), make([][][2]list, len(sr.snap.segments))
	for i, w := range m.words {
		m.at[w] = append(m.at[w], i)
		m.idf = append(m.idf, idf(sr.snap.documentFrequency(sr.an.Stem(w)), sr.snap.liveChunks))
		m.total += m.idf[i]
		m.telling = append(m.telling, !stopWords[w] && !isNumber(w))
		m.simple = append(m.simple, isSimple(w))
	}
	if sr.quotesAreConditions() {
		m.leaveOut(sr.req.Query.Phrases)
	}
	return m, true
}

// elsewhere is a path from the root of some machine, or an address.
var elsewhere = regexp.MustCompile(`(?:\bhttps?://[^\s/"'<>]+|\b[A-Za-z]:\\[\w.@ -]+|~?(?:/[\w.@+-]+){2})[/\\][\w.@+%/\\-]*`)

// withoutPlaces leaves out of a text what was filled in and is a place on some machine: its words are
// neighbours wherever such a place is an example. One that a file of the workspace has stays.
func (sr *search) withoutPlaces(text string) string {
	return elsewhere.ReplaceAllStringFunc(text, func(place string) string {
		for _, seg := range sr.snap.segments {
			for i := range seg.files {
				if seg.files[i].trigrams.mayContain(place) {
					return place
				}
			}
		}
		return " ; "
	})
}

// leaveOut keeps the words of quoted texts from making the query a message: what is quoted
// to be found stands in the code as it is.
func (m *messageQuery) leaveOut(phrases []string) {
	from := 0
	for _, p := range phrases {
		var quoted []string
		eachWord(p, func(w string, _ int) bool { quoted = append(quoted, w); return true })
		for i := from; len(quoted) > 0 && i+len(quoted) <= len(m.words); i++ {
			if !slices.Equal(m.words[i:i+len(quoted)], quoted) {
				continue
			}
			for from = i; from < i+len(quoted); from++ {
				m.total -= m.idf[from]
				m.idf[from], m.telling[from] = 0, false
			}
			break
		}
	}
}

// pastedSign is what an error, a line of a log or a stack has and a search hardly does.
var pastedSign = regexp.MustCompile(`(?:^|[ [(])(?:[\w.$]*(?:Error|Exception)|(?i:error|warn|warning|fatal|critical|severe|panic))(?:\[\w+\])?\]?:(?: |$)|` +
	`\[(?i:error|warn|warning|fatal|critical|severe)\]|\bException in thread |\bTraceback \(most recent `)

// looksPasted answers whether a query with quoted texts is a message by its looks.
func (q *Query) looksPasted() bool {
	in, out := q.quotedWords()
	return in > 0 && out >= minQueryWords && (pastedSign.MatchString(q.Text) || frame.MatchString(q.Text))
}

// quotedWords counts the words of a query in its quoted texts and beside them.
func (q *Query) quotedWords() (in, out int) {
	for _, p := range q.Phrases {
		in += len(strings.Fields(p))
	}
	return in, len(strings.Fields(q.Text)) - in
}

// quotesAreConditions answers whether every result must have the query's quoted texts.
func (sr *search) quotesAreConditions() bool {
	return len(sr.req.Query.Phrases) > 0 && sr.unquoted == ""
}

// quotesAndMessages finds the quoted texts, or what a message comes from. Whether the query
// is a message comes first: one that quotes a value is not found where the value stands. It
// is one by its looks, or if the code has a run of the words beside the quotes, of which
// there are more than in them; a quoted text alone, or with a word or two, is a condition.
func (sr *search) quotesAndMessages(ctx context.Context) error {
	switch in, out := sr.req.Query.quotedWords(); {
	case sr.req.Query.looksPasted():
		sr.unquoted = BackendMessage
	case in > 0 && out >= minQueryWords && out > in:
		if err := sr.messages(ctx); err != nil {
			return err
		}
		if sr.pasted {
			sr.unquoted = BackendMessage
		}
	}
	if sr.unquoted == "" {
		if err := sr.literals(ctx); err != nil {
			return err
		}
	}
	if sr.quotesAreConditions() || sr.pasted {
		return nil
	}
	return sr.messages(ctx)
}

// asking are words that a question begins with and a message hardly does.
var asking = setOf("how", "where", "what", "which", "why", "when", "who", "does", "i", "we")

// maxMessageWords is how much of a message is looked at: what comes first, before the
// frames of a stack.
const maxMessageWords = 128

func isNumber(w string) bool { return w[0] >= '0' && w[0] <= '9' }

// eachWord calls each for the words of a text, in lower case, with the offset behind
// them, until it answers false.
func eachWord(text string, each func(word string, end int) bool) {
	start := -1
	for i := 0; i <= len(text); {
		r, size := rune(0), 1
		if i < len(text) {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		inWord := i < len(text) && (unicode.IsLetter(r) || unicode.IsDigit(r))
		switch {
		case inWord && start < 0:
			start = i
		case !inWord && start >= 0:
			if !each(strings.ToLower(text[start:i]), i) {
				return
			}
			start = -1
		}
		i += size
	}
}

// messages lets the files speak that a pasted message comes from, and notes where:
// those of a stack's frames, and those that have the longest runs of its words.
func (sr *search) messages(ctx context.Context) error {
	m, ok := sr.asMessage()
	if !ok {
		return nil
	}
	said, err := sr.verbatim(ctx, &m)
	if err != nil {
		return err
	}
	inner, isStack := uint32(0), false
	if !m.asks {
		inner, isStack = sr.frames()
	}
	var hits []scored // of all candidates, the best first
	for i := range sr.sc.candidates {
		c := &sr.sc.candidates[i]
		hits = append(hits, c.chunks[:c.n]...)
	}
	sortScored(hits, sr.snap.orderChunks)
	all := hits
	hits = slices.Clone(hits[:min(len(hits), messageChunks)])
	more := func(c uint32) {
		if !slices.ContainsFunc(hits, func(h scored) bool { return h.doc == c }) {
			hits = append(hits, scored{doc: c})
		}
	}
	scores, texts := make([]float32, len(hits)), map[uint32]string{}
	isMessage := len(said) > 0
	repeated, itself := false, false // who has much of it
	read := func(may func(has func(word int) bool) bool) error {
		for i, h := range hits {
			if scores[i] > 0 || !sr.mayRun(&m, h.doc, may) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			f := sr.snap.fileOfChunk(h.doc)
			if _, ok := texts[f]; !ok {
				texts[f] = sr.textOfFile(f)
			}
			k, local := sr.snap.segmentOfChunk(h.doc)
			ch := &sr.snap.segments[k].chunks[local]
			score, long := m.runsIn(linesBetween(texts[f], int(ch.startLine), int(ch.endLine)))
			isMessage = isMessage || m.tells(score, long)
			penalty := sr.snap.file(f).class.penalty(sr.query.ofMessage())
			test := sr.snap.file(f).class&^sr.query.asked&classTest != 0
			says := long || score >= minShare*m.total
			repeated, itself = repeated || says && test, itself || says && !test
			scores[i] = score * penalty
		}
		return nil
	}
	// What cannot make the query a message is read only once something else has.
	if !isMessage {
		if err := read(m.mayTell); err != nil || !isMessage {
			return err
		}
	}
	// Tests that repeat a message may be so many that nothing else was read, and what is said need
	// not have the rarest words.
	if len(all) > messageChunks && repeated && !itself {
		for i := range all {
			all[i].score *= sr.snap.file(sr.snap.fileOfChunk(all[i].doc)).class.penalty(sr.query.ofMessage())
		}
		sortScored(all, sr.snap.orderChunks)
	}
	for _, h := range all[:min(len(all), messageChunks)] { // the same where they were not sorted anew
		more(h.doc)
	}
	for _, c := range said {
		more(c)
	}
	scores = make([]float32, len(hits))
	if err := read(m.mayScore); err != nil {
		return err
	}
	most := slices.Max(scores)
	for i, score := range scores {
		if score == 0 {
			continue
		}
		f := sr.snap.fileOfChunk(hits[i].doc)
		if isStack && f != inner { // what only has its words is not where it happened
			score *= outerFrame
		}
		sr.saysMessage(f, hits[i].doc, score/most)
	}
	return nil
}

// saysMessage notes that a chunk of a file has so much of the message.
func (sr *search) saysMessage(f, chunk uint32, share float32) {
	sr.pasted = true
	c := sr.sc.candidateOf(sr.snap, f)
	if share > c.signals[sigMessage] {
		c.signals[sigMessage], c.messageChunk = share, chunk
	}
}

// frame is a line of a stack as most languages write it: a file, and a line behind ":" or "("
// (.NET's begins with "line"), or behind ", line" (Python), " on line" (PHP), " line" (Perl) or
// ": line" (bash, whose scripts may have no ending).
var frame = regexp.MustCompile(`([\w@./\\-]*[\w-]\.[A-Za-z]{1,5})(?:"?(?: ?,| on|:)? ?\bline |:|\()(\d{1,7})|([\w@./\\-]*/[\w-]+): line (\d{1,7}):`)

const (
	maxFrames = 32
	// outerFrame is what a frame says beside the next inner one.
	outerFrame float32 = .7
)

// frames lets the files of a stack speak, the innermost first, which readStack has seen to. inner
// is the file of the innermost frame that lies in the workspace; ok is false if none does, or if
// there is but one frame, which may be where the line of a log was written.
func (sr *search) frames() (inner uint32, ok bool) {
	share := float32(1)
	found := frame.FindAllStringSubmatch(sr.req.Query.Text, maxFrames)
	for _, m := range found {
		if m[1] == "" { // a script of bash
			m[1], m[2] = m[3], m[4]
		}
		line, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		f, known := sr.fileNamed(strings.ReplaceAll(m[1], `\`, "/"))
		if !known {
			continue
		}
		if chunk, known := sr.snap.chunkAtLine(f, uint32(line)); known && sr.keepsChunk(chunk) {
			if share == 1 {
				inner, ok = f, len(found) > 1
			}
			sr.saysMessage(f, chunk, share)
			share *= outerFrame
		}
	}
	return inner, ok
}

// fileNamed is the file whose path agrees with most of the end of another machine's
// path; ok is false if none or several do.
func (sr *search) fileNamed(path string) (f uint32, ok bool) {
	most := 0
	for k, seg := range sr.snap.segments {
		for i := range seg.files {
			n := commonEnd(seg.files[i].path, path)
			if n == 0 || n < most || !sr.keeps(sr.snap.fileBase[k]+uint32(i)) {
				continue
			}
			f, ok = sr.snap.fileBase[k]+uint32(i), n > most
			most = n
		}
	}
	return f, ok
}

// commonEnd counts the names at the end that two paths share.
func commonEnd(a, b string) int {
	n := 0
	for {
		i, j := strings.LastIndexByte(a, '/'), strings.LastIndexByte(b, '/')
		if a[i+1:] != b[j+1:] || a[i+1:] == "" {
			return n
		}
		n++
		if i < 0 || j < 0 {
			return n
		}
		a, b = a[:i], b[:j]
	}
}

// mayBeIn answers false only if a file with these trigrams has no piece of the message.
func (m *messageQuery) mayBeIn(set trigramSet) bool {
	return len(m.pieces) == 0 || slices.ContainsFunc(m.pieces, set.mayContain)
}

// tells answers whether what runsIn found makes the query a message.
func (m *messageQuery) tells(score float32, long bool) bool {
	if m.asks {
		return false
	}
	return long || m.plain == 0 && !m.strict && score >= minShare*m.total
}

// isLong answers whether a run of so many words says that the query is a message.
func (m *messageQuery) isLong(words, telling int) bool {
	return words >= minRun+m.plain && telling >= minTelling+m.plain
}

// mayTell answers whether a text may have runs that tell, by which words of the query it
// has: its runs are no longer than those that it has in a row.
func (m *messageQuery) mayTell(has func(word int) bool) bool {
	score, long := float32(0), false
	m.rows(has, func(from, to, telling int) {
		long = long || m.isLong(to-from, telling)
		for _, x := range m.idf[from:to] {
			score += x
		}
	})
	return m.tells(score, long)
}

// mayScore is mayTell for runs that count.
func (m *messageQuery) mayScore(has func(word int) bool) (may bool) {
	m.rows(has, func(from, to, telling int) { may = may || to-from > 1 && telling > 0 })
	return may
}

// rows calls each for the words [from, to) that a text has in a row, and how many of them
// tell.
func (m *messageQuery) rows(has func(word int) bool, each func(from, to, telling int)) {
	for i := 0; i < len(m.words); i++ {
		from, telling := i, 0
		for ; i < len(m.words) && has(i); i++ {
			if m.telling[i] {
				telling++
			}
		}
		if i > from {
			each(from, i, telling)
		}
	}
}

// mayRun asks may about the words of a chunk, without reading it: first those that the
// trigrams of its file allow, then those in the postings. Where these have a word only as
// a part of an identifier in mixed case, it is no word of a message.
func (sr *search) mayRun(m *messageQuery, chunk uint32, may func(has func(word int) bool) bool) bool {
	set := sr.snap.file(sr.snap.fileOfChunk(chunk)).trigrams
	if !m.mayBeIn(set) || !may(func(i int) bool { return !m.simple[i] || set.mayContain(m.words[i]) }) {
		return false
	}
	k, local := sr.snap.segmentOfChunk(chunk)
	docs := sr.docsOf(m, k)
	return may(func(i int) bool {
		of := &docs[i]
		return of[0].has(local) || of[1].has(local) || !m.simple[i]
	})
}

// docsOf are the chunks of a segment that have each word, see messageQuery.docs.
func (sr *search) docsOf(m *messageQuery, k int) [][2]list {
	if m.docs[k] == nil {
		text := &sr.snap.segments[k].text
		m.docs[k] = make([][2]list, len(m.words))
		for i, w := range m.words {
			// The second one has it as an identifier of several words.
			m.docs[k][i] = [2]list{text.list(sr.an.Stem(w)), text.list(w)}
		}
	}
	return m.docs[k]
}

// isSimple: sets of trigrams know of no case but ASCII's, and the index cuts at digits, and
// leaves single letters of an identifier out.
func isSimple(word string) bool {
	return len(word) > 1 && strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// runsIn is how much of a message a text has, and whether one run is long enough to
// say that the query is one.
func (m *messageQuery) runsIn(text string) (score float32, long bool) {
	// runs[i] is the length of the run that ends with word i of the query and the last
	// word of the text, best[i] the longest that ended there.
	runs, next := make([]int, len(m.words)), make([]int, len(m.words))
	best := make([]int, len(m.words))
	var last []int // places of the last word
	lastEnd := 0
	eachWord(text, func(w string, end int) bool {
		places := m.at[w]
		near := end-len(w)-lastEnd <= maxGap
		for _, i := range places {
			next[i] = 1
			if i > 0 && near {
				next[i] += runs[i-1]
			}
			best[i] = max(best[i], next[i])
		}
		for _, i := range last {
			runs[i] = 0
		}
		for _, i := range places {
			runs[i], next[i] = next[i], 0
		}
		last, lastEnd = places, end
		return true
	})
	for i := len(best) - 1; i >= 0; {
		n := best[i]
		if n < 2 {
			i--
			continue
		}
		sum, telling := float32(0), 0
		for j := i - n + 1; j <= i; j++ {
			sum += m.idf[j]
			if m.telling[j] {
				telling++
			}
		}
		if telling > 0 {
			score += sum * float32(n-1) / float32(n)
		}
		long = long || m.isLong(n, telling)
		i -= n
	}
	return score, long
}

// textOfFile is the present text of a file, "" if it is gone.
func (sr *search) textOfFile(f uint32) string {
	m := sr.snap.file(f)
	if sr.ix.options.Text == nil {
		return m.text
	}
	text, err := sr.ix.options.Text(m.path)
	if err != nil {
		return "" // its change is on its way
	}
	return text
}

// linesBetween are the lines from first to last, from 1 and inclusive.
func linesBetween(text string, first, last int) string {
	start := 0
	for line := 1; line <= last; line++ {
		if line == first {
			text = text[start:]
			start = 0
		}
		next := strings.IndexByte(text[start:], '\n')
		if next < 0 {
			start = len(text)
			break
		}
		start += next + 1
	}
	return text[:start]
}

// saysItself are the classes of files that say what they say themselves. What tests, examples and
// prose have of a message is repeated from elsewhere, and so is what is compiled or brought along.
const saysItself = classCompat | classFace | classTypes | classBench | classForeign

// ofMessage are the classes that are not lowered where the query is a message.
func (a *analyzed) ofMessage() fileClass { return a.asked | saysItself }

// hasMessage is whether the query's runs are what speaks for a candidate.
func (sr *search) hasMessage(c *candidate) bool {
	const clear = .5 // of the best
	return c.signals[sigMessage] >= clear
}
