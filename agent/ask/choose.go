package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/loop"
	"quarry/agent/prompt"
	"quarry/agent/toolcall"
	"quarry/index/pattern"
)

// A small model that is asked to cite cites nothing, or wrong ones, and it says at
// random whether it knows an answer (bench/models.md). What it can do is read. So it
// is shown numbered pieces of what was looked up and says, in a form that it cannot
// leave, one sentence and the number of the piece that shows it. The names of code in
// the sentence find the place, which it gets right more often than the number; what
// no piece bears out is not shown.

const (
	mostPieces = 8
	// pieceBytes is how much of a piece is shown, piecesBytes of all: a processor
	// reads some 50 tokens a second.
	pieceBytes, piecesBytes = 900, 5400
	// leastPiece is the least room that a piece is shown in, foundBytes how much is looked
	// up to be narrowed down.
	leastPiece, foundBytes = 200, 36_000
	// sentenceTokens bounds the sentence.
	sentenceTokens = 120
	// formsRefused is from how many refused forms on no more is sent: one may be a hiccup.
	formsRefused = 2
	// wholePiece is how many lines a place may have without being narrowed down.
	wholePiece = 20
)

// choice is what the model answers.
type choice struct {
	Best   int    `json:"best"`
	Answer string `json:"answer"`
}

// choose answers a question by a choice between pieces.
func (a *Assistant) choose(ctx context.Context, q agent.Question, w Watch) (Report, error) {
	begin := time.Now()
	var report Report
	step := func(s loop.Step) {
		report.Steps = append(report.Steps, s)
		if w.Step != nil {
			w.Step(s)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.opts.Time, errOutOfTime)
	defer cancel()
	pieces, err := a.pieces(ctx, q, step)
	if err != nil {
		return report, err
	}
	shown := make([]agent.Citation, len(pieces))
	for i, p := range pieces {
		shown[i] = p.Citation
	}
	checker := cite.NewChecker(a.files, func() []agent.Citation { return shown })
	check := func(text string) cite.Checked { return checker.Check(ctx, text) }
	out := loop.Outcome{Stop: loop.Answered}
	p := page{refused: true, check: check}
	if len(pieces) > 0 {
		c, err := a.ask(ctx, q, pieces, step)
		for tooLong(err) && len(pieces) > 1 {
			pieces = pieces[:len(pieces)/2]
			shown = shown[:len(pieces)] // no other can be cited
			c, err = a.ask(ctx, q, pieces, step)
		}
		switch {
		case err != nil && context.Cause(ctx) == errOutOfTime:
			out.Stop, p.refused = loop.OutOfTime, false
		case ctx.Err() != nil:
			return report, ctx.Err()
		case err != nil: // what was looked up is there all the same
			p.failed, p.refused = err.Error(), false
		default:
			p = answerOf(c, q.Text, pieces, check)
		}
	}
	if !p.founded() {
		p.unfound(out, shown, check)
	}
	for _, p := range pieces {
		report.Offered = append(report.Offered, p.shown()...)
	}
	report.Stop = out.Stop
	report.Answer = agent.Answer{Text: p.text, Citations: p.citations, Removed: p.removed, Unfounded: p.unfounded}
	report.FirstShown = time.Since(begin)
	if w.Text != nil {
		w.Text(p.text)
	}
	return report, nil
}

var errOutOfTime = errors.New("the time for the answer is over")

func tooLong(err error) bool {
	var long interface{ PromptTooLong() bool }
	return errors.As(err, &long) && long.PromptTooLong()
}

// pieces are what is looked up for a question, each narrowed to what there is room for.
func (a *Assistant) pieces(ctx context.Context, q agent.Question, step func(loop.Step)) (list []piece, err error) {
	add := func(c agent.Citation, text string, selected bool) {
		if strings.TrimSpace(text) != "" {
			list = append(list, piece{Citation: c, Text: text, selected: selected})
		}
	}
	_, quoted := a.opening(q)
	if len(quoted) > 0 {
		about := q.About.Document.Text
		add(quoted[0], linesOf(about, quoted[0].StartLine, quoted[0].EndLine), true)
	}
	for _, call := range a.lookUp(q, foundBytes) {
		begin := time.Now()
		answer := a.tools.Call(ctx, call.Name, call.Arguments)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := loop.Step{Tool: call.Name, Arguments: call.Arguments, Outcome: "ok", Bytes: len(answer.Data), Took: time.Since(begin)}
		if answer.Error != nil {
			s.Outcome = string(answer.Error.Code)
		}
		step(s)
		var data struct {
			Snippets []struct {
				At   string `json:"at"`
				Text string `json:"text"`
			} `json:"snippets"`
			Path  string `json:"path"`
			Start int    `json:"start_line"`
			End   int    `json:"end_line"`
			Text  string `json:"text"`
		}
		if answer.Error != nil || json.Unmarshal(answer.Data, &data) != nil {
			continue
		}
		if data.Text != "" {
			add(agent.Citation{Path: data.Path, StartLine: data.Start, EndLine: data.End}, data.Text, true)
		}
		for _, s := range data.Snippets {
			if c, ok := cite.Parse(s.At); ok {
				add(c, s.Text, false)
			}
		}
	}
	list = list[:min(len(list), mostPieces)]
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.Text
	}
	w, room := wordsOf(q.Text, texts), piecesBytes
	for i := range list {
		p := &list[i]
		if room < leastPiece {
			return list[:i], nil
		}
		p.Number = i + 1
		p.first, p.whole = p.StartLine, strings.Split(strings.TrimRight(p.Text, "\n"), "\n")
		p.Text, p.numbers = narrowed(p.Text, p.StartLine, min(pieceBytes, room), w)
		p.StartLine, p.EndLine = p.numbers[0], slices.Max(p.numbers)
		room -= len(p.Text)
	}
	return list, nil
}

// linesOf are lines of a text, from 1.
func linesOf(text string, first, last int) string {
	lines := strings.Split(text, "\n")
	last = min(last, len(lines))
	return strings.Join(lines[min(first-1, last):last], "\n")
}

// ask has the model choose.
func (a *Assistant) ask(ctx context.Context, q agent.Question, pieces []piece, step func(loop.Step)) (choice, error) {
	numbers := make([]int, len(pieces)+1)
	for i := range numbers {
		numbers[i] = i
	}
	enum, err := json.Marshal(numbers)
	if err != nil {
		return choice{}, err
	}
	// The sentence comes first: a number that is chosen before anything was said is
	// the first piece's, whatever the sentence then names.
	schema := fmt.Sprintf(`{"type":"object","properties":{"answer":{"type":"string"},"best":{"type":"integer","enum":%s}},"required":["answer","best"],"additionalProperties":false}`, enum)
	begin := time.Now()
	conversation := agent.Conversation{
		Messages: []agent.Message{
			{Role: "system", Text: prompt.Text(prompts, "choose.system.tmpl", nil)},
			{Role: "user", Text: prompt.Text(prompts, "choose.tmpl", map[string]any{"Question": q.Text, "Pieces": pieces})},
		},
		Temperature: a.opts.Temperature, MaxTokens: sentenceTokens,
	}
	all := func(string) bool { return true }
	var reply agent.Reply
	formless := a.formless.Load() >= formsRefused
	if !formless {
		conversation.Format = json.RawMessage(schema)
		reply, err = a.chat.Chat(ctx, conversation, all)
		if err == nil {
			a.formless.Store(0)
		}
		formless = err != nil && !tooLong(err) && ctx.Err() == nil
	}
	if formless { // not every server takes a schema, and each says so in its own words
		conversation.Format = nil
		if free, freeErr := a.chat.Chat(ctx, conversation, all); freeErr == nil || err == nil {
			if reply, err = free, freeErr; err == nil {
				a.formless.Add(1)
			}
		}
	}
	s := loop.Step{Turn: 1, Outcome: "answer", Bytes: len(reply.Text), Took: time.Since(begin), PromptTokens: reply.PromptTokens, Tokens: reply.Tokens}
	switch {
	case tooLong(err):
		return choice{}, err // it is asked with less
	case err != nil:
		s.Outcome = "failed"
		step(s)
		return choice{}, err
	}
	c, ok := parseChoice(reply.Text)
	// Some servers take a schema and do not keep to it.
	if !ok && (formless || !strings.HasPrefix(strings.TrimSpace(reply.Text), "{")) {
		c, ok = inWords(reply.Text)
	}
	if !ok {
		s.Outcome = "broken"
	}
	step(s)
	return c, nil
}

var (
	bestOf = pattern.Lazy(`"best"\s*:\s*(\d{1,3})\b`)
	wordOf = pattern.Lazy(`"answer"\s*:\s*"((?:[^"\\]|\\.)*)`)
)

// parseChoice reads an answer, one that was cut by the length limit too. ok is false
// if it names no number.
func parseChoice(text string) (c choice, ok bool) {
	if err := json.Unmarshal([]byte(strings.TrimSpace(text)), &c); err == nil {
		return c, true
	}
	m := bestOf().FindStringSubmatch(text)
	if m == nil {
		return choice{}, false
	}
	fmt.Sscan(m[1], &c.Best) // digits
	if m := wordOf().FindStringSubmatch(text); m != nil {
		// A sentence that was cut is dropped behind its last whole one.
		words := m[1]
		if end := strings.LastIndexByte(words, '.'); end > 0 {
			_ = json.Unmarshal([]byte(`"`+words[:end+1]+`"`), &c.Answer) // "" where an escape is cut
		}
	}
	return c, true
}

var numberOf = pattern.Lazy(`\s*\[(\d{1,3})\]`)

// inWords reads an answer that was to have a form and has none: its first sentence, and the
// first number of a piece in it.
func inWords(text string) (c choice, ok bool) {
	text = strings.TrimSpace(toolcall.AfterThought(text))
	if refusal().MatchString(text) {
		return choice{}, true
	}
	c.Answer, _, _ = strings.Cut(text, "\n")
	if m := sentenceEnd().FindStringIndex(c.Answer); m != nil {
		c.Answer = c.Answer[:m[0]+1]
	}
	if m := numberOf().FindStringSubmatch(text); m != nil {
		fmt.Sscan(m[1], &c.Best) // digits
		c.Answer = numberOf().ReplaceAllString(c.Answer, "")
	}
	return c, c.Answer != ""
}

// answerOf is the page of a choice, one without citations if nothing of the evidence
// bears it out: where the sentence names code that is nowhere, or its citation is not
// about the question.
func answerOf(c choice, question string, pieces []piece, check func(string) cite.Checked) page {
	p := page{check: check, seen: map[string]bool{}}
	said := check(strings.Join(strings.Fields(c.Answer), " "))
	p.removed = said.Removed
	sentence := strings.TrimSpace(said.Text)
	best, line := proof(sentence, c.Best, question, pieces)
	if sentence == "" || best == nil {
		p.refused = c.Best == 0
		p.dropped++
		return p
	}
	location, lines := best.from(line)
	foreign := isForeign(question)
	if !best.selected && !isAbout(question, foreign, best, lines) {
		p.refused = true
		p.dropped++
		return p
	}
	if len(asked(sentence)) < 2 { // a name alone
		sentence = "This is the likeliest place:"
	}
	ref := cite.Format(location)
	p.text = sentence + "\n\n- " + ref
	p.citations = check(ref).Citations
	if foreign && !best.selected && !sharesEnough(question, best.Path+" "+lines) {
		p.text += "\n\nChecked: the code that the sentence names stands there. Not checked: whether it is about your question, whose words are not the code's."
	}
	return p
}

// codeName is a name that is none of plain English: with a capital inside, a sign
// that prose lacks, or in back quotes.
var codeName = pattern.Lazy("`[^`]+`|[\\pL_][\\pL\\pN_]*(?:_[\\pL\\pN_]+|[\\p{Ll}\\pN]\\p{Lu}[\\pL\\pN_]*|\\(\\))")

var word = pattern.Lazy(`[\pL_][\pL\pN_]*`)

// proof is the piece that a sentence is about, by the names of code in it, and the
// line of the piece that declares one, 0 if none does; nil if it names code that is
// nowhere. Where it names none, the number that was chosen decides if half of what
// the sentence says, and of what was asked, has the words of that piece.
func proof(sentence string, chosen int, question string, pieces []piece) (best *piece, line int) {
	names, real := namesIn(sentence, question, pieces)
	if !real {
		return nil, 0
	}
	if len(names) == 0 {
		if chosen < 1 || chosen > len(pieces) {
			return nil, 0
		}
		p := &pieces[chosen-1]
		text := p.Path + " " + p.Text
		if !p.selected && 2*shared(question, text) < len(asked(question)) || 2*shared(sentence, text+" "+question) < max(len(asked(sentence)), 2) {
			return nil, 0
		}
		return p, 0
	}
	most := 0
	for i := range pieces {
		p := &pieces[i]
		score, declared := 0, 0
		for _, name := range names {
			has, at := p.has(name)
			if has {
				score += 2
			}
			if at > 0 {
				score += 4
				declared = max(declared, at) // of a type and its method, the method
			}
		}
		if score == 0 {
			continue
		}
		if strings.Contains(sentence, path.Base(p.Path)) {
			score += 3
		}
		if p.Number == chosen {
			score++
		}
		if score > most {
			most, best, line = score, p, declared
		}
	}
	return best, line
}

// namesIn are the names of code in a sentence: what looks like one, and capitalised
// words inside it that a piece declares. real is false if one of the former stands in
// no piece and not in the question: the model made it up.
func namesIn(sentence, question string, pieces []piece) (names []string, real bool) {
	known := word().FindAllString(question, -1)
	for i := range pieces {
		known = append(append(known, word().FindAllString(pieces[i].Text, -1)...), word().FindAllString(pieces[i].Path, -1)...)
	}
	for _, quoted := range codeName().FindAllString(sentence, -1) {
		if strings.Contains(quoted, "/") || isFile(strings.Trim(quoted, "`"), pieces) {
			continue
		}
		if i := strings.LastIndexByte(quoted, '.'); i >= 0 { // a member; what it is one of may stand elsewhere
			if name := word().FindString(quoted[i+1:]); slices.Contains(known, name) {
				names = append(names, name)
			}
			continue
		}
		for _, name := range word().FindAllString(quoted, -1) {
			if !slices.Contains(known, name) {
				return nil, false
			}
			names = append(names, name)
		}
	}
	for _, at := range word().FindAllStringIndex(sentence, -1) {
		name := sentence[at[0]:at[1]]
		if first, _ := utf8.DecodeRuneInString(name); at[0] > 0 && unicode.IsUpper(first) && slices.ContainsFunc(pieces, func(p piece) bool { _, line := p.has(name); return line > 0 }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// isFile answers whether a name is that of a piece's file.
func isFile(name string, pieces []piece) bool {
	return slices.ContainsFunc(pieces, func(p piece) bool { return path.Base(p.Path) == name })
}

// isAbout answers whether lines of a piece are about what is asked: all names in the
// question stand in the piece, and a third of its other words in the lines. A small
// model answers what nothing in its evidence answers; mostly it then names code with
// none of the question's words. Those of a question in another language than the code's
// are no sign, nor are its capitals, which German's nouns have: only what is written
// as code must stand in the piece then.
func isAbout(question string, foreign bool, p *piece, lines string) bool {
	piece := strings.ToLower(p.Path + " " + p.Text)
	if foreign {
		for _, quoted := range codeName().FindAllString(question, -1) {
			if name := word().FindString(quoted); name != "" && !strings.Contains(piece, strings.ToLower(name)) {
				return false
			}
		}
		return true
	}
	for i, at := range word().FindAllStringIndex(question, -1) {
		name := question[at[0]:at[1]]
		if i > 0 && len(name) >= 3 && strings.ToLower(name) != name && !strings.Contains(piece, strings.ToLower(name)) {
			return false
		}
	}
	return sharesEnough(question, p.Path+" "+lines)
}

// sharesEnough is whether a text has a third of the words that a question is about.
func sharesEnough(question, text string) bool {
	return 3*shared(question, text) >= len(asked(question))
}

// english are words of which a question in English has one, and few in another language do.
var english = map[string]bool{
	"the": true, "are": true, "does": true, "did": true, "where": true, "what": true, "how": true, "which": true, "when": true, "why": true, "who": true, "whose": true,
	"of": true, "this": true, "that": true, "with": true, "from": true, "can": true, "should": true, "would": true, "and": true, "to": true, "find": true, "show": true,
	"explain": true, "list": true, "code": true,
}

// isForeign is whether a question is in another language than English, as far as its words tell.
func isForeign(question string) bool {
	words := word().FindAllString(strings.ToLower(question), -1)
	return len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return english[w] })
}

// asking are words of questions that say nothing of what is asked about.
var asking = map[string]bool{
	"what": true, "when": true, "where": true, "which": true, "does": true, "code": true, "function": true, "file": true, "that": true, "this": true,
	"with": true, "from": true, "into": true, "have": true, "there": true, "they": true, "then": true, "than": true, "method": true, "class": true,
	"implemented": true, "happens": true, "happen": true, "handled": true, "defined": true, "used": true, "done": true, "made": true, "something": true,
}

// stem is the least of a word that must be the same.
const stem = 4

// stemOf is how much of a word must be the same.
func stemOf(word string) string { return word[:max(stem, len(word)*2/3)] }

// askedBytes is how much of a question says what it is about: as much as a small model reads.
const askedBytes = 16 << 10

// asked are the words of a question or sentence that say what it is about.
func asked(text string) (words []string) {
	seen := map[string]bool{}
	for _, w := range word().FindAllString(strings.ToLower(text[:min(len(text), askedBytes)]), -1) {
		if len(w) >= stem && !asking[w] && !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

// shared is how many words of a question or sentence, or words that begin like them,
// a text has.
func shared(question, text string) (n int) {
	text = strings.ToLower(text)
	for _, w := range asked(question) {
		if strings.Contains(text, stemOf(w)) {
			n++
		}
	}
	return n
}
