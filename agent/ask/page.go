package ask

import (
	"fmt"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/loop"
	"quarry/agent/toolcall"
	"quarry/index/pattern"
)

// mostPoints is how many points of evidence an answer has.
const mostPoints = 6

// page is what may be shown of an answer. compose makes it of all that the model
// has written so far; what it makes of a beginning is the beginning of what it
// makes of the whole, so that text can be shown as it comes.
//
// To that end the text is cut into units that are complete when what follows them
// has begun: a sentence, a point of evidence, a line of code. A unit is checked,
// and shown or dropped, as a whole. A point without a citation that stands is dropped,
// since it proves nothing; a sentence only loses the citations that do not stand.
type page struct {
	text      string
	citations []agent.Citation
	removed   int // citations that do not stand
	dropped   int // points without any that does
	points    int
	// refused says that the model found no answer, unfounded that the user is
	// told so.
	refused, unfounded bool
	// failed is why the model gave no answer, "" if it did.
	failed string
	// enough says that nothing more would be shown.
	enough bool

	check func(text string) cite.Checked
	out   strings.Builder
	last  unitKind
	gap   string // what separates the next sentence from the last unit
	seen  map[string]bool
	twice int
}

type unitKind int

const (
	nothing unitKind = iota
	sentence
	point
	codeLine
)

var (
	pointMark = pattern.Lazy(`^\s*(?:[-*•+]|\d{1,2}[.)])\s+`)
	// mayBecomePoint is a line of which it cannot be told yet.
	mayBecomePoint = pattern.Lazy(`^\s*(?:[-*•+]|\d{1,2}[.)]?)?$`)
	label          = pattern.Lazy(`(?i)^[*#\s]*(?:short )?answer[*]*:[*]*\s*`)
	heading        = pattern.Lazy(`(?i)^[*#\s]*(?:(?:short )?answer|evidence|sources?|references|citations|places)[*\s]*:?[*\s]*$`)
	refusal        = pattern.Lazy(`(?i)^[^\pL]*not in the evidence\b`)
	sentenceEnd    = pattern.Lazy(`[.!?:][)\]"'*` + "`" + `]*\s`)
)

// compose reads what a model has written; done says that it is all.
func compose(check func(string) cite.Checked, text string, done bool) page {
	p := page{check: check, seen: map[string]bool{}}
	text = toolcall.AfterThought(strings.ReplaceAll(text, "\r\n", "\n"))
	if at := toolcall.Begin(text); at < len(text) {
		if parsed := toolcall.Parse(text[at:], known); !done || len(parsed.Calls) > 0 || parsed.Broken != "" || toolcall.Shaped(text[at:]) {
			text, done = text[:at], false
		}
	}
	if p.refused = refusal().MatchString(text); p.refused {
		return p
	}
	inCode := false
	for line := range strings.Lines(text) {
		line, whole := strings.CutSuffix(line, "\n")
		whole = whole || done
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			if whole {
				inCode = !inCode
				p.code(line)
			}
		case inCode:
			if whole {
				p.code(line)
			}
		case strings.TrimSpace(line) == "":
			if whole && p.last == sentence {
				p.gap = "\n\n"
			}
		case !whole && (mayBecomePoint().MatchString(line) || pointMark().MatchString(line)):
		case pointMark().MatchString(line):
			p.point(line[len(pointMark().FindString(line)):])
		default:
			p.prose(line, whole)
		}
	}
	if inCode && done {
		p.code("```")
	}
	if len(p.citations) > 0 {
		p.text = p.out.String()
	}
	return p
}

// founded answers whether something that was shown proves the answer.
func (p *page) founded() bool { return len(p.citations) > 0 }

// prose takes the sentences of a line.
func (p *page) prose(line string, whole bool) {
	if heading().MatchString(line) {
		return
	}
	line = strings.TrimLeft(line[len(label().FindString(line)):], " \t")
	for strings.TrimSpace(line) != "" {
		end := len(line)
		if m := sentenceEnd().FindStringIndex(line); m != nil {
			end = m[1]
		} else if !whole {
			return
		}
		p.sentence(strings.TrimSpace(line[:end]))
		line = line[end:]
	}
	if whole && p.last == sentence && p.gap == " " {
		p.gap = "\n"
	}
}

func (p *page) sentence(text string) {
	c := p.check(text)
	p.removed += c.Removed
	if strings.Trim(c.Text, " .,;:!?-–—()[]*`") == "" || p.again(c.Text) {
		return
	}
	switch p.last {
	case sentence:
		p.out.WriteString(p.gap)
	case point, codeLine:
		p.out.WriteString("\n\n")
	}
	p.put(c, sentence)
	p.gap = " "
}

// point takes a point of evidence.
func (p *page) point(text string) {
	if p.points == mostPoints {
		p.enough = true
		return
	}
	c := p.check(strings.TrimSpace(text))
	p.removed += c.Removed
	if len(c.Citations) == 0 {
		p.dropped++
		return
	}
	if p.again(c.Text) {
		return
	}
	switch p.last {
	case point:
		p.out.WriteString("\n")
	case sentence, codeLine:
		p.out.WriteString("\n\n")
	}
	c.Text = "- " + c.Text
	p.put(c, point)
	p.points++
}

func (p *page) code(line string) {
	c := p.check(line)
	p.removed += c.Removed
	switch p.last {
	case codeLine:
		p.out.WriteString("\n")
	case sentence, point:
		p.out.WriteString("\n\n")
	}
	p.put(c, codeLine)
}

func (p *page) put(c cite.Checked, kind unitKind) {
	p.out.WriteString(c.Text)
	p.last = kind
	for _, location := range c.Citations {
		if !slices.Contains(p.citations, location) {
			p.citations = append(p.citations, location)
		}
	}
}

// again answers whether a unit was there before: a model that has begun to repeat
// itself does not stop.
func (p *page) again(text string) bool {
	if p.seen[text] {
		p.twice++
		p.enough = p.enough || p.twice == 2
		return true
	}
	p.seen[text] = true
	return false
}

// finish ends the page: with the citations of an answer that lists none, with why it
// is not whole, or, for one that nothing proves, with where to look.
func (p *page) finish(out loop.Outcome, nearest []agent.Citation, check func(string) cite.Checked) {
	if !p.founded() {
		p.unfound(out, nearest, check)
		return
	}
	if p.points < 2 {
		p.listLocations()
	}
	if note := early(out); note != "" {
		p.text += "\n\n" + note
	}
}

// listLocations makes points of the citations that the sentences name.
func (p *page) listLocations() {
	separator := "\n\n"
	if p.last == point {
		separator = "\n"
	}
	listed := ""
	if i := strings.Index("\n"+p.text, "\n- "); i >= 0 {
		listed = p.text[i:]
	}
	for _, c := range p.citations {
		ref := fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine)
		if strings.Contains(listed, ref) || p.points == mostPoints {
			continue
		}
		p.text += separator + "- " + cite.Format(c)
		separator = "\n"
		p.points++
	}
}

// early says why an answer is not whole, "" if it is.
func early(out loop.Outcome) string {
	switch {
	case out.Stop == loop.OutOfTime:
		return "The answer ends here because its time was over."
	case out.Stop == loop.Answered && out.Cut:
		return "The answer ends here because it became too long."
	}
	return ""
}

// unfound says that there is no answer, why, and where the user might look.
func (p *page) unfound(out loop.Outcome, nearest []agent.Citation, check func(string) cite.Checked) {
	p.unfounded = true
	why := "what was looked up does not answer this."
	switch {
	case p.failed != "":
		why = "the model gave no answer (" + p.failed + ")."
	case out.Stop == loop.OutOfTime:
		why = "the time was over before there was an answer."
	case out.Stop == loop.LimitHit:
		why = "the model went on looking things up until it had used up all it may."
	case out.Stop == loop.Broken:
		why = "the model asked for a tool in a way that cannot be read."
	case len(nearest) == 0:
		why = "nothing in the workspace was found for this question. Name a file or a symbol that it is about."
	case !p.refused && p.removed > 0:
		why = "no citation in the model's answer holds, so it is not shown."
	case !p.refused:
		why = "the model's answer cites nothing, so it is not shown."
	}
	p.text = "Not in the evidence: " + why
	const most = 3
	p.citations = nil
	for _, c := range nearest {
		if len(p.citations) == most {
			break
		}
		if !slices.Contains(p.citations, c) {
			p.citations = append(p.citations, check(cite.Format(c)).Citations...)
		}
	}
	if len(p.citations) == 0 {
		return
	}
	p.text += "\n\nNearest to the question:"
	for _, c := range p.citations {
		p.text += "\n- " + cite.Format(c)
	}
}
