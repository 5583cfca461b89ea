package report

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quarry/agent"
	"quarry/agent/prompt"
	"quarry/retrieval/overview"
	"quarry/retrieval/workspace"
)

// Request is what a report is to be about.
type Request struct {
	// Name is what the repository is called, Prompt what the user asks for in Markdown, "" for an
	// outline alone.
	Name, Prompt string
	// Chat writes the answers; without one the places that bear on each question stand there.
	Chat agent.Chat
	// ContextTokens is the model's context length; MaxTokens bounds an answer.
	ContextTokens, MaxTokens int
	Temperature              float64
}

// Report is a report, and how it came about.
type Report struct {
	// Text is Markdown.
	Text string `json:"report"`
	// Engine is model or outline, the latter too if no model answered.
	Engine string `json:"engine"`
	// Calls of the model there were, failed ones too, with the server's counts of tokens.
	Calls        int `json:"calls"`
	PromptTokens int `json:"prompt_tokens"`
	Tokens       int `json:"tokens"`
	// Placed counts the points whose place was found by the names of code in them, since the model
	// had named none.
	Placed int `json:"placed,omitempty"`
	// Dropped counts the points that were left out because nothing proves them.
	Dropped int `json:"dropped"`
	// Warnings say what the report lacks; a report without any is whole.
	Warnings []string `json:"warnings"`
	Coverage Coverage `json:"coverage"`
	// Backend says what was looked up by.
	Backend []string `json:"backend"`
	// Incomplete is what the index did not know yet; absent if nothing.
	Incomplete *workspace.Missing `json:"incomplete,omitempty"`
}

// The engines.
const (
	ByModel   = "model"
	ByOutline = "outline"
)

// maxRounds is how often the model writes: a draft, and what is better with what was wrong
// named.
const maxRounds = 3

//go:embed prompts
var promptFiles embed.FS

var prompts = prompt.Templates(promptFiles, "prompts")

// ErrEmpty says that there is nothing to report about.
var ErrEmpty = errors.New("no file is indexed here; `quarry index` says what was left out and why")

// Write makes a report.
func Write(ctx context.Context, src Source, r Request) (Report, error) {
	ctx = workspace.Question(ctx)
	o, err := overview.Make(ctx, src, "")
	if err != nil {
		return Report{}, err
	}
	if o.Files == 0 {
		return Report{}, ErrEmpty
	}
	list, backend, missing, err := sections(ctx, src, Questions(r.Prompt))
	if err != nil {
		return Report{}, err
	}
	if missing == nil {
		missing = o.Missing
	}
	out := Report{Engine: ByOutline, Warnings: []string{}, Backend: backend, Incomplete: missing}
	if r.Chat != nil && len(list) > 0 {
		w := writer{Report: &out, request: r, sections: list, about: o}
		if err := w.write(ctx); err != nil {
			return Report{}, err
		}
	}
	if missing != nil {
		out.Warnings = append(out.Warnings, "the index is incomplete: "+missing.String())
	}
	out.render(r, list, o)
	return out, nil
}

// render puts the report together.
func (out *Report) render(r Request, list []Section, o *overview.Overview) {
	p := &page{}
	p.heading(1, "Report: "+r.Name)
	switch {
	case out.Engine == ByModel:
		fmt.Fprintf(p, "The answers were written by a model from the places they name, which were checked; the rest is from the index. %s of the model, %d tokens read and %d written.\n",
			counted(out.Calls, "call"), out.PromptTokens, out.Tokens)
		if out.Placed > 0 {
			fmt.Fprintf(p, "\nThe model named no place for %s; quarry found it by the names of code in the sentence.\n", counted(out.Placed, "point"))
		}
	case out.Calls > 0:
		fmt.Fprintln(p, "An outline from the index. A model was asked and gave no answer. Every line names its place.")
	default:
		fmt.Fprintln(p, "An outline from the index, made without a model. Every line names its place.")
	}
	for _, s := range list {
		p.heading(2, s.Title)
		if s.Answer != "" {
			for point := range strings.SplitSeq(s.Answer, "\n") {
				p.item("%s", point)
			}
			continue
		}
		if len(s.Evidence) == 0 {
			fmt.Fprintln(p, "Nothing in the repository was found for this.")
			continue
		}
		fmt.Fprint(p, "The places nearest to this:\n\n")
		for _, e := range s.Evidence {
			p.item("%s %s", e.Place, code(clip(firstLine(e), 160)))
		}
	}
	p.outline(o)
	out.Coverage = coverage(p.String(), o)
	p.coverage(out.Coverage, out.Incomplete)
	if len(out.Warnings) > 0 {
		p.heading(2, "Warnings")
		for _, w := range out.Warnings {
			p.item("%s", w)
		}
	}
	out.Text = p.String()
}

// firstLine is what is declared at a place, or its first line that says something.
func firstLine(e Evidence) string {
	if e.Symbol != "" {
		return e.Symbol
	}
	for line := range strings.SplitSeq(e.Text, "\n") {
		if strings.TrimSpace(line) != "" {
			return line
		}
	}
	return ""
}

// writer has a model write the sections.
type writer struct {
	*Report
	request  Request
	sections []Section
	about    *overview.Overview
	// evidence is what the model is shown, by number from 1.
	evidence []Evidence
	// shown says of each section whether any of its evidence is among that.
	shown []bool
}

// promptData is what the prompts are made of.
type promptData struct {
	Name string
	// Numbered are the sections.
	Numbered, Evidence []numbered
	Faults             []string
}

type numbered struct {
	N  int
	At string
	// Text are the lines.
	Text string
}

// charsPerToken estimates what the evidence takes of the model's context, on the careful side.
const charsPerToken = 3

// write has the model write a draft, and again while that has faults that it can mend. The best
// of the drafts stays, and what came of one that broke off.
func (w *writer) write(ctx context.Context) error {
	data := w.material()
	if len(w.evidence) == 0 {
		return nil // nothing could be proved
	}
	messages := []agent.Message{
		{Role: "system", Text: prompt.Text(prompts, "report.system.tmpl", data)},
		{Role: "user", Text: prompt.Text(prompts, "report.user.tmpl", data)},
	}
	best := draft{sections: make([]answer, len(w.sections))}
	for w.Calls < maxRounds {
		reply, err := w.request.Chat.Chat(ctx, agent.Conversation{Messages: messages, MaxTokens: w.request.MaxTokens, Temperature: w.request.Temperature}, func(string) bool { return true })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.Calls++
		w.PromptTokens += reply.PromptTokens
		w.Tokens += reply.Tokens
		d := w.check(reply)
		if err == nil || d.points > 0 {
			w.Engine = ByModel
			if w.Calls == 1 || d.isBetter(best) {
				best = d
			}
		}
		if err != nil {
			w.Warnings = append(w.Warnings, fmt.Sprintf("call %d of the model failed: %v", w.Calls, err))
			break
		}
		// A model that was told and does the same cannot get better.
		if len(d.faults) == 0 || slices.Equal(d.faults, data.Faults) {
			break
		}
		data.Faults = d.faults
		// The conversation grows by the last draft alone, so that it fits.
		messages = append(messages[:2:2], agent.Message{Role: "assistant", Text: prompt.Own(reply.Text)},
			agent.Message{Role: "user", Text: prompt.Text(prompts, "report.again.tmpl", data)})
	}
	w.take(best)
	return nil
}

// take makes a draft the report's, and warns of what it lacks.
func (w *writer) take(d draft) {
	w.Dropped, w.Placed = d.dropped, d.placed
	if d.dropped > 0 {
		w.Warnings = append(w.Warnings, fmt.Sprintf("%s without proof left out", counted(d.dropped, "point")))
	}
	if d.cut {
		w.Warnings = append(w.Warnings, "the model's answer was longer than it may be, and its end is missing")
	}
	for i, s := range d.sections {
		title := w.sections[i].Title
		w.sections[i].Answer = s.text
		switch {
		case s.text != "":
		case s.declined:
			w.Warnings = append(w.Warnings, fmt.Sprintf("the model found no answer to %q in the evidence; the places nearest to it stand there", title))
		default:
			w.Warnings = append(w.Warnings, fmt.Sprintf("%q has no answer that the evidence proves; the places nearest to it stand there", title))
		}
	}
}

// material numbers the evidence: of each section the first, then the second ones, as far as
// the context goes.
func (w *writer) material() promptData {
	room := (w.request.ContextTokens - 2*w.request.MaxTokens - 400) * charsPerToken
	d := promptData{Name: prompt.Quote(w.request.Name)}
	for i, s := range w.sections {
		d.Numbered = append(d.Numbered, numbered{N: i + 1, Text: s.Title})
	}
	add := func(e Evidence) (shown bool) {
		if slices.ContainsFunc(w.evidence, func(other Evidence) bool { return other.Place == e.Place }) {
			return true
		}
		n := numbered{len(w.evidence) + 1, e.Place.String(), e.Text}
		if room -= len(n.At) + len(n.Text) + 16; room < 0 && len(w.evidence) > 0 {
			return false
		}
		w.evidence = append(w.evidence, e)
		d.Evidence = append(d.Evidence, n)
		return true
	}
	w.shown = make([]bool, len(w.sections))
	for _, n := range w.about.Purpose {
		add(Evidence{Place: n.Place, Text: n.Text})
	}
	for rank := range sectionEvidence {
		for i, s := range w.sections {
			if rank < len(s.Evidence) && add(s.Evidence[rank]) {
				w.shown[i] = true
			}
		}
	}
	return d
}

// draft is what was made of one answer of the model's.
type draft struct {
	sections []answer
	points   int      // that are proved
	placed   int      // of them, by the names in them alone
	dropped  int      // that are not
	faults   []string // in words for the model
	cut      bool     // by the length limit
}

// answer is what a draft says in a section.
type answer struct {
	// text is a line for each point, "" if none is proved.
	text string
	// declined says that there is none because the model says that the evidence has no answer.
	declined bool
}

// isBetter answers whether a draft says more that is proved.
func (d draft) isBetter(other draft) bool {
	if a, b := d.answered(), other.answered(); a != b {
		return a > b
	}
	return d.points-d.dropped > other.points-other.dropped
}

func (d draft) answered() (n int) {
	for _, s := range d.sections {
		if s.text != "" {
			n++
		}
	}
	return n
}

var (
	sectionHead = regexp.MustCompile(`^\s*#{1,6}\s*(?:\*\*)?(\d{1,2})\b`)
	reference   = regexp.MustCompile(`\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]`)
	anyPlace    = regexp.MustCompile(`\(?[^\s()\[\]]+:\d+(?:-\d+)?\)?`)
)

// check cuts an answer into sections and points, and keeps the points that name evidence: their
// numbers become places. Places that the model writes itself are taken out, since it was shown
// numbers. A section without an answer is a fault only if the model could have given one and
// did not say that there is none.
func (w *writer) check(reply agent.Reply) draft {
	d := draft{sections: make([]answer, len(w.sections)), cut: reply.Cut}
	bodies := make([][]string, len(w.sections))
	headed := make([]bool, len(w.sections))
	at := -1
	if len(w.sections) == 1 {
		at = 0 // a single question needs no heading
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(reply.Text, "\r\n", "\n"), "\n") {
		if m := sectionHead.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			if at = n - 1; at < 0 || at >= len(bodies) {
				at = -1
			} else {
				headed[at] = true
			}
			continue
		}
		if at >= 0 && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			bodies[at] = append(bodies[at], line)
		}
	}
	wrong := map[int]bool{}
	var unproved []string
	for i, body := range bodies {
		var points []string
		claims := 0 // that nothing proves
		all := pointsOf(body)
		for _, point := range all {
			if !reference.MatchString(point) {
				if n, ok := w.byNames(point, i); ok {
					point += fmt.Sprintf(" [%d]", n)
					d.placed++
				}
			}
			if kept, ok := w.point(point, wrong); ok {
				points = append(points, kept)
				continue
			}
			if declines(point) {
				continue
			}
			claims++
			unproved = append(unproved, clip(point, 80))
		}
		points = slices.Compact(points)
		d.points += len(points)
		d.sections[i] = answer{strings.Join(points, "\n"), len(points) == 0 && claims == 0 && (headed[i] || len(all) > 0)}
	}
	d.dropped = len(unproved)
	for i, s := range d.sections {
		switch {
		case s.text != "" || s.declined || !w.shown[i]:
		case !headed[i] && len(pointsOf(bodies[i])) == 0:
			d.faults = append(d.faults, fmt.Sprintf("section %d is missing; begin it with ## %d", i+1, i+1))
		default:
			d.faults = append(d.faults, fmt.Sprintf("no point of section %d names its evidence", i+1))
		}
	}
	for n := range wrong {
		d.faults = append(d.faults, fmt.Sprintf("there is no evidence [%d]; the last is [%d]", n, len(w.evidence)))
	}
	// A point or two that prove nothing are left out; many say that the model did not cite.
	if len(unproved) > 2 && len(unproved) > d.points {
		d.faults = append(d.faults, fmt.Sprintf("%d points name no evidence, such as: %s", len(unproved), unproved[0]))
	}
	if len(d.faults) > 0 && d.cut {
		d.faults = append(d.faults, "the answer was too long and its end is missing; write at most two items in a section")
	}
	slices.Sort(d.faults)
	return d
}

var (
	negation = regexp.MustCompile(`(?i)\b(?:no|not|none|nothing|neither|cannot|lacks|unclear|unknown)\b|n['’]t\b`)
	sources  = regexp.MustCompile(`(?i)\b(?:evidence|information|provided|mention(?:s|ed)?|specif(?:y|ies|ied)|stated?|unclear|unknown)\b`)
)

// declines answers whether a point that names no evidence says that there is none, as in "The
// evidence does not say". It claims nothing then.
func declines(point string) bool { return negation.MatchString(point) && sources.MatchString(point) }

// pointsOf are the list items of a section; text without any is a point for each paragraph.
func pointsOf(lines []string) (list []string) {
	open := false
	for _, line := range lines {
		text := strings.TrimSpace(mark.ReplaceAllString(line, ""))
		switch {
		case text == "" || strings.HasPrefix(text, "```"):
			open = false
		case mark.MatchString(line) || !open:
			list = append(list, text)
			open = true
		default:
			list[len(list)-1] += " " + text
		}
	}
	return list
}

// point is a point with its places; ok says that it has one. The numbers of one that names
// evidence that there is not, and no other, are noted in wrong.
func (w *writer) point(text string, wrong map[int]bool) (kept string, ok bool) {
	var places []string
	var none []int
	said := reference.ReplaceAllStringFunc(text, func(ref string) string {
		for number := range strings.FieldsFuncSeq(ref, func(r rune) bool { return r < '0' || r > '9' }) {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > len(w.evidence) {
				none = append(none, n)
				continue
			}
			if place := w.evidence[n-1].Place.String(); !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
		return ""
	})
	said = anyPlace.ReplaceAllString(said, "")
	said = strings.TrimSpace(strings.Join(strings.Fields(said), " "))
	said = strings.ReplaceAll(strings.ReplaceAll(said, " .", "."), " ,", ",")
	if len(places) == 0 {
		for _, n := range none {
			wrong[n] = true
		}
	}
	if len(places) == 0 || !strings.ContainsFunc(said, func(r rune) bool { return r >= 'a' && r <= 'z' || r > 127 }) {
		return "", false
	}
	return strings.Join(strings.Fields(said+" "+strings.Join(places, ", ")), " "), true
}
