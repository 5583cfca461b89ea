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
	"quarry/index/pattern"
)

// A small model that is asked to cite cites nothing, or wrong ones, and it says at
// random whether it knows an answer (bench/models.md). What it can do is read. So it
// is shown numbered pieces of what was looked up and says, in a form that it cannot
// leave, one sentence and the number of the piece that shows it. The names of code in
// the sentence find the place, which it gets right more often than the number; what
// no piece bears out is not shown.

const (
	mostPieces = 6
	// pieceBytes is how much of a piece is shown, piecesBytes of all: a processor
	// reads some 50 tokens a second.
	pieceBytes, piecesBytes = 1200, 5000
	// sentenceTokens bounds the sentence.
	sentenceTokens = 120
	// wholePiece is how many lines a place may have without being narrowed down.
	wholePiece = 20
)

// piece is a piece of evidence under its number.
type piece struct {
	agent.Citation
	Number int
	Text   string // as it is shown
	// selected says that the question is about it.
	selected bool
}

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
		case err != nil:
			return report, err
		default:
			p = answerOf(c, q.Text, pieces, check)
		}
	}
	if !p.founded() {
		p.unfound(out, shown, check)
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

// pieces are what is looked up for a question.
func (a *Assistant) pieces(ctx context.Context, q agent.Question, step func(loop.Step)) (list []piece, err error) {
	room := piecesBytes
	add := func(c agent.Citation, text string, selected bool) {
		if len(list) == mostPieces || room <= 0 || strings.TrimSpace(text) == "" {
			return
		}
		text = strings.TrimRight(beginning(text, min(pieceBytes, room)), "\n")
		room -= len(text)
		c.EndLine = min(c.EndLine, c.StartLine+strings.Count(text, "\n"))
		list = append(list, piece{c, len(list) + 1, text, selected})
	}
	opening, quoted := a.opening(q)
	if len(quoted) > 0 {
		about := q.About.Document.Text
		add(quoted[0], linesOf(about, quoted[0].StartLine, quoted[0].EndLine), true)
	}
	for _, call := range a.lookUp(q, a.budget(opening, nil)) {
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
	return list, nil
}

// beginning is the beginning of a text in whole lines, at most n bytes; at least its
// first line as far as that goes.
func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if end := strings.LastIndexByte(text[:n], '\n'); end > 0 {
		return text[:end]
	}
	return strings.ToValidUTF8(text[:n], "")
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
	reply, err := a.chat.Chat(ctx, agent.Conversation{
		Messages: []agent.Message{
			{Role: "system", Text: prompt.Text(prompts, "choose.system.tmpl", nil)},
			{Role: "user", Text: prompt.Text(prompts, "choose.tmpl", map[string]any{"Question": q.Text, "Pieces": pieces})},
		},
		Format: json.RawMessage(schema), Temperature: a.opts.Temperature, MaxTokens: sentenceTokens,
	}, func(string) bool { return true })
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
	location := best.from(line)
	if !best.selected && !isAbout(question, best, location) {
		p.refused = true
		p.dropped++
		return p
	}
	ref := cite.Format(location)
	p.text = sentence + "\n\n- " + ref
	p.citations = check(ref).Citations
	return p
}

// codeName is a name that is none of plain English: with a capital inside, a sign
// that prose lacks, or in back quotes.
var codeName = pattern.Lazy("`[^`]+`|[\\pL_][\\pL\\pN_]*(?:_[\\pL\\pN_]+|[\\p{Ll}\\pN]\\p{Lu}[\\pL\\pN_]*|\\(\\))")

var word = pattern.Lazy(`[\pL_][\pL\pN_]*`)

// declares matches what stands before a name in a line that declares it, and defines what
// stands behind it, in most languages.
var (
	declares = pattern.Lazy(`(?:\b(?:func|function|def|fn|class|struct|interface|enum|trait|impl|type|const|let|var|val|fun|module|object|public|private|protected|static|void|int|bool|boolean|string|String|float|double|long|auto)\b[^=;{(]*[^\pL\pN_]|^\s*|\)\s*)$`)
	defines  = pattern.Lazy(`^\s*(?:[({<:=\[]|$)`)
)

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
		if strings.ContainsAny(quoted, "/.") { // a path
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

// has answers whether a piece has a name, and the line of the piece, from 1, that
// declares it, 0 if none does.
func (p *piece) has(name string) (has bool, line int) {
	for i, text := range strings.Split(p.Text, "\n") {
		if !strings.Contains(text, name) {
			continue
		}
		for _, at := range word().FindAllStringIndex(text, -1) {
			if text[at[0]:at[1]] != name {
				continue
			}
			has = true
			if defines().MatchString(text[at[1]:]) && declares().MatchString(text[:at[0]]) {
				return true, i + 1
			}
		}
	}
	return has, 0
}

// from is the place of what a line of the piece declares: to the next line that is
// indented no more and closes nothing, at most wholePiece lines; all of the piece
// where line is 0, as far as that goes.
func (p *piece) from(line int) agent.Citation {
	c := p.Citation
	lines := strings.Split(p.Text, "\n")
	first, last := max(line, 1), len(lines)
	if line > 0 {
		depth := indentOf(lines[line-1])
		for i := line; i < len(lines); i++ {
			body := strings.TrimSpace(lines[i])
			if body == "" || indentOf(lines[i]) > depth {
				continue
			}
			if last = i; strings.Trim(body, "})];, ") == "" || body == "end" {
				last = i + 1
				break
			}
			if body != "{" && !strings.HasPrefix(body, ")") {
				break
			}
			last = len(lines)
		}
	}
	last = min(last, first+wholePiece-1)
	for last > first && strings.TrimSpace(lines[last-1]) == "" {
		last--
	}
	c.StartLine, c.EndLine = p.StartLine+first-1, p.StartLine+last-1
	return c
}

// isAbout answers whether lines of a piece are about what is asked: all names in the
// question stand in the piece, and a third of its other words in the lines. A small
// model answers what nothing in its evidence answers; mostly it then names code with
// none of the question's words.
func isAbout(question string, p *piece, location agent.Citation) bool {
	piece := strings.ToLower(p.Path + " " + p.Text)
	for i, at := range word().FindAllStringIndex(question, -1) {
		name := question[at[0]:at[1]]
		if i > 0 && len(name) >= 3 && strings.ToLower(name) != name && !strings.Contains(piece, strings.ToLower(name)) {
			return false
		}
	}
	lines := strings.Split(p.Text, "\n")[location.StartLine-p.StartLine : location.EndLine-p.StartLine+1]
	return 3*shared(question, p.Path+" "+strings.Join(lines, "\n")) >= len(asked(question))
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// asking are words of questions that say nothing of what is asked about.
var asking = map[string]bool{
	"what": true, "when": true, "where": true, "which": true, "does": true, "code": true, "function": true, "file": true, "that": true, "this": true,
	"with": true, "from": true, "into": true, "have": true, "there": true, "they": true, "then": true, "than": true, "method": true, "class": true,
	"implemented": true, "happens": true, "happen": true, "handled": true, "defined": true, "used": true, "done": true, "made": true, "something": true,
}

// stem is how much of a word must be the same.
const stem = 4

// asked are the words of a question or sentence that say what it is about.
func asked(text string) (words []string) {
	for _, w := range word().FindAllString(strings.ToLower(text), -1) {
		if len(w) >= stem && !asking[w] && !slices.Contains(words, w) {
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
		if strings.Contains(text, w[:max(stem, len(w)*2/3)]) {
			n++
		}
	}
	return n
}
