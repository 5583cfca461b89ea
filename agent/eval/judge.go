package eval

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"quarry/index/lang"
)

// Limits of an attempt, in tokens.
const (
	// Aim is what an answer may cost, and Limit after how much nobody goes on.
	Aim   = 1500
	Limit = 6000
)

// bytesPerToken is how long a token is taken to be, as quarry's answers are measured; the
// same for all tools.
const bytesPerToken = 3

func tokensOf(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// Outcome is one task worked on by one script.
type Outcome struct {
	Task       string `json:"task"`
	Repository string `json:"repository"`
	Half       string `json:"half"`
	Kind       Kind   `json:"kind"`
	// Found says that the place, or all of them, stood in the answers within Limit.
	Found bool `json:"found"`
	// Tokens and Calls are of all answers until then, or until the script gave up.
	Tokens int `json:"tokens"`
	Calls  int `json:"calls"`
	// Named is how many tokens it took until an answer named the place, as a range of lines
	// that has some of it, 0 for never. Where all places are wanted it is left out.
	Named int `json:"named,omitempty"`
	// Shown are the lines with the symbol's name, no comments, that were listed as places
	// where all are wanted, and Right those of them that the task means, of Places.
	Shown  int `json:"shown,omitempty"`
	Right  int `json:"right,omitempty"`
	Places int `json:"places"`
	// Read and Written are the model's own tokens, as its server counts them; a script has none.
	Read    int `json:"read,omitempty"`
	Written int `json:"written,omitempty"`
	// Steps are the calls.
	Steps []string `json:"steps"`
}

// attempt counts what one script is answered on one task.
type attempt struct {
	Outcome
	task  *Task
	tree  *tree
	word  *regexp.Regexp
	shown map[hit]bool
}

func begin(t *Task, tree *tree, half string) *attempt {
	a := &attempt{task: t, tree: tree, shown: map[hit]bool{}}
	a.Outcome = Outcome{Task: t.ID, Repository: t.Repository, Half: half, Kind: t.Kind, Places: len(t.Places)}
	if t.Symbol != "" {
		a.word = wordOf(t.name())
	}
	return a
}

// wordOf matches a name as rg -w does.
func wordOf(name string) *regexp.Regexp {
	return regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `($|\W)`)
}

// took counts the answer of one call and looks for the places in it. path is the file that
// the call read, "" if it read none. It answers whether the attempt is over.
func (a *attempt) took(step, path, answer string) (over bool) {
	a.Calls++
	a.Steps = append(a.Steps, step)
	a.Tokens += tokensOf(answer)
	text := path + "\n" + decoded(answer)
	within := a.Tokens <= Limit
	if !a.task.Kind.wantsAll() {
		for _, p := range a.task.Places {
			if strings.Contains(text, p.Has) && strings.Contains(text, p.path) {
				a.Found = within
			}
		}
		if a.Named == 0 && within && (a.Found || a.names(text)) {
			a.Named = a.Tokens
		}
		return a.Found || !within
	}
	if within {
		a.note(text)
	}
	a.Shown, a.Right = len(a.shown), 0
	for _, p := range a.task.Places {
		if a.shown[hit{p.path, p.start}] {
			a.Right++
		}
	}
	a.Found = a.Right == len(a.task.Places)
	return a.Found || !within
}

var (
	cited   = regexp.MustCompile(`([^\s"'(),:;]+):(\d+)(?:-(\d+))?`)
	hunk    = regexp.MustCompile(`^@@ -(\d+)`)
	oldFile = regexp.MustCompile(`^--- a/(.*)$`)
)

// widest is the longest range that names a place: a longer one names a file.
const widest = 120

// names answers whether an answer names a place of the task.
func (a *attempt) names(text string) bool {
	for _, m := range cited.FindAllStringSubmatch(text, -1) {
		start, _ := strconv.Atoi(m[2]) // digits
		end := start
		if m[3] != "" {
			end, _ = strconv.Atoi(m[3])
		}
		for _, p := range a.task.Places {
			if m[1] == p.path && start <= p.end && p.start <= end && end-start < widest {
				return true
			}
		}
	}
	return false
}

// note keeps the lines that an answer lists: those that a diff takes away, else those
// that it names as path:line.
func (a *attempt) note(text string) {
	list := func(name string, line int) {
		lines := a.tree.lines(name)
		if line < 1 || line > len(lines) || !a.word.MatchString(lines[line-1]) {
			return
		}
		// Whether a comment is to say the new name is for taste: it counts for nobody.
		if l := strings.TrimSpace(lines[line-1]); !lang.Of(lang.Detect(name, nil)).Comment.Starts(l) && !strings.HasPrefix(l, "* ") {
			a.shown[hit{name, line}] = true
		}
	}
	if strings.Contains(text, "\n--- a/") || strings.HasPrefix(text, "--- a/") {
		name, at := "", 0
		for _, l := range strings.Split(text, "\n") {
			if m := oldFile.FindStringSubmatch(l); m != nil {
				name, at = m[1], 0
			} else if m := hunk.FindStringSubmatch(l); m != nil {
				at, _ = strconv.Atoi(m[1]) // digits
			} else if at > 0 && strings.HasPrefix(l, "-") {
				list(name, at)
				at++
			} else if at > 0 && strings.HasPrefix(l, " ") {
				at++
			}
		}
		return
	}
	for _, m := range cited.FindAllStringSubmatch(text, -1) {
		if m[3] == "" || m[3] == m[2] {
			line, _ := strconv.Atoi(m[2]) // digits
			list(m[1], line)
		}
	}
}

// decoded are the strings of an answer in JSON, one after the other, or the answer itself.
func decoded(answer string) string {
	var v any
	if json.Unmarshal([]byte(answer), &v) != nil {
		return answer
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, key := range sortedKeys(v) {
				walk(v[key])
			}
		}
	}
	walk(v)
	return b.String()
}
