package diagnostics

import (
	"context"
	"fmt"
	"strings"

	"quarry/agent"
	"quarry/index/lang"
	"quarry/index/pattern"
	"quarry/index/syntax"
)

// doubts are the checks that an answer did not pass, in words for the user.
type doubts []string

func (d *doubts) unless(ok bool, format string, args ...any) {
	if !ok {
		*d = append(*d, fmt.Sprintf(format, args...))
	}
}

// confidence is the package's scale.
func (d doubts) confidence() agent.Confidence {
	switch len(d) {
	case 0:
		return agent.High
	case 1:
		return agent.Medium
	}
	return agent.Low
}

// sentence is what is added to a reason, "" if there is no doubt.
func (d doubts) sentence() string {
	if len(d) == 0 {
		return ""
	}
	return "Check it: " + strings.Join(d, "; ") + "."
}

// common are the checks of every answer.
func (s *answer) common() (d doubts) {
	d.unless(len(s.citations) > 0, "it cites nothing")
	d.unless(s.removed == 0, "%s it cited could not be found", countLocations(s.removed))
	d.unless(!s.again, "a first answer was refused")
	d.unless(!s.cut, "the answer was cut off")
	return d
}

func countLocations(n int) string {
	if n == 1 {
		return "a location"
	}
	return fmt.Sprintf("%d locations", n)
}

var quoted = pattern.Lazy("`([^`\n]{1,80})`")

// unknownQuoted is a name between backticks that stands neither in the code that
// the model was shown nor in the workspace, "" if there is none.
func (a *Assistant) unknownQuoted(ctx context.Context, s *answer, sc promptContext) string {
	known := sc.doc.Text + " " + sc.Message + " " + sc.Goal + " " + s.evidence
	for _, m := range quoted().FindAllStringSubmatch(s.text, -1) {
		if strings.ContainsAny(m[1], " /") {
			continue // code that is proposed, or a path, which is checked elsewhere
		}
		for _, n := range namesIn(m[1]) {
			if !a.known(ctx, n, known) {
				return n
			}
		}
	}
	return ""
}

// unknownCall is a function that a change calls although neither the file nor the
// workspace has a word of that name, "" if there is none.
func (a *Assistant) unknownCall(ctx context.Context, sc promptContext, c agent.FileChange, after string, evidence string) string {
	language := sc.Language
	if c.Path != sc.doc.Path {
		language = lang.Detect(c.Path, nil)
	}
	file, err := syntax.Analyze(language, []byte(after))
	if err != nil {
		return ""
	}
	known := sc.doc.Text + " " + sc.Message + " " + evidence
	declared := map[string]bool{}
	for _, s := range file.Symbols {
		declared[s.Name] = true
	}
	for _, r := range file.Refs {
		if r.Kind == syntax.RefCall && !declared[r.Name] && isNew(c.Edits, int(r.Span.Start)) && !a.known(ctx, r.Name, known) {
			return r.Name
		}
	}
	return ""
}

// isNew says whether a byte of the text after edits is theirs.
func isNew(edits []agent.TextEdit, at int) bool {
	shift := 0
	for _, e := range edits {
		start := e.Start + shift
		// A name that an edit continues is new, too.
		if at >= start-1 && at < start+len(e.New) {
			return true
		}
		shift += len(e.New) - (e.End - e.Start)
	}
	return false
}

// known says whether a name stands in text or in the workspace.
func (a *Assistant) known(ctx context.Context, name, text string) bool {
	return hasWord(text, name) || a.parts.Occurs == nil || a.parts.Occurs(ctx, name)
}

// hasWord says whether a name stands in text as a whole word.
func hasWord(text, name string) bool {
	isPart := func(s string) bool { return aName().MatchString(s) || s != "" && s[0] >= '0' && s[0] <= '9' }
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		if !(i > 0 && isPart(text[i-1:i])) && !(end < len(text) && isPart(text[end:end+1])) {
			return true
		}
		at = i + 1
	}
}
