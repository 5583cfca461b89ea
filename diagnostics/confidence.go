package diagnostics

import (
	"context"
	"fmt"
	"sort"
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

// mostNames is how many names of one answer are looked for, each in a document and in the
// workspace: an answer has no room for as many.
const mostNames = 200

// unknownQuoted is a name between backticks that stands neither in the code that
// the model was shown nor in the workspace, "" if there is none, or once ctx has ended.
func (a *Assistant) unknownQuoted(ctx context.Context, s *answer, sc promptContext) string {
	known := a.knownIn(sc.doc.Text + " " + sc.Message + " " + sc.Goal + " " + s.evidence)
	for _, m := range quoted().FindAllStringSubmatch(s.text, -1) {
		if strings.ContainsAny(m[1], " /") {
			continue // code that is proposed, or a path, which is checked elsewhere
		}
		for _, n := range namesIn(m[1]) {
			if ok, more := known(ctx, n); !more {
				return ""
			} else if !ok {
				return n
			}
		}
	}
	return ""
}

// unknownCall is a function that a change calls although neither the file nor the
// workspace has a word of that name, "" if there is none, or once ctx has ended.
func (a *Assistant) unknownCall(ctx context.Context, sc promptContext, c agent.FileChange, after string, evidence string) string {
	language := sc.Language
	if c.Path != sc.doc.Path {
		language = lang.Detect(c.Path, nil)
	}
	file, err := syntax.Analyze(language, []byte(after))
	if err != nil {
		return ""
	}
	known := a.knownIn(sc.doc.Text + " " + sc.Message + " " + evidence)
	isNew := newIn(c.Edits)
	declared := map[string]bool{}
	for _, s := range file.Symbols {
		declared[s.Name] = true
	}
	for _, r := range file.Refs {
		if r.Kind != syntax.RefCall || declared[r.Name] || !isNew(int(r.Span.Start)) {
			continue
		}
		if ok, more := known(ctx, r.Name); !more {
			return ""
		} else if !ok {
			return r.Name
		}
	}
	return ""
}

// newIn says of bytes of the text after edits whether they are theirs. The edits are in order.
func newIn(edits []agent.TextEdit) func(at int) bool {
	starts := make([]int, len(edits)) // in the text after them
	shift := 0
	for i, e := range edits {
		starts[i] = e.Start + shift
		shift += len(e.New) - (e.End - e.Start)
	}
	return func(at int) bool {
		// A name that an edit continues is new, too. Of the edits that begin there the last ends last.
		i := sort.SearchInts(starts, at+2) - 1
		return i >= 0 && at < starts[i]+len(edits[i].New)
	}
}

// knownIn looks for names in a text and then in the workspace, each once. more is false once
// there were enough, or ctx has ended.
func (a *Assistant) knownIn(text string) func(ctx context.Context, name string) (known, more bool) {
	looked := map[string]bool{}
	return func(ctx context.Context, name string) (known, more bool) {
		if looked[name] { // and was known
			return true, true
		}
		if len(looked) == mostNames || ctx.Err() != nil {
			return false, false
		}
		looked[name] = true
		return hasWord(text, name) || a.parts.Occurs == nil || a.parts.Occurs(ctx, name), true
	}
}

// hasWord says whether a name stands in text as a whole word.
func hasWord(text, name string) bool {
	isPart := func(c byte) bool {
		return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		if !(i > 0 && isPart(text[i-1])) && !(end < len(text) && isPart(text[end])) {
			return true
		}
		at = i + 1
	}
}
