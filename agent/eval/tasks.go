// Package eval asks whether an agent is better off with quarry's tools than with ripgrep
// and reading: both work on the same tasks by a script, and what their tools answer is
// counted until the right place stands in it.
//
// A script is no model. It tells nothing about what a model makes of an answer, only
// whether the place is in it, after how many calls and at what length.
package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a task wants.
type Kind string

// The kinds. Of the first three any one place is enough, of the others all are needed.
const (
	Find    Kind = "find"
	Explain Kind = "explain"
	Fix     Kind = "fix"
	Impact  Kind = "change-impact"
	Rename  Kind = "rename"
)

// Kinds are all of them, in the order of reports.
var Kinds = []Kind{Find, Explain, Fix, Impact, Rename}

// wantsAll says that a task is done only when every place is known.
func (k Kind) wantsAll() bool { return k == Impact || k == Rename }

// Repository is a tree that tasks are about.
type Repository struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	// Half is fit or held. Nothing is tuned on the held half.
	Half string `json:"half"`
	// Without are paths of the published tree that its sources are built into; a checkout
	// has none of them.
	Without []string `json:"without,omitempty"`
}

// Place is where what a task asks for stands.
type Place struct {
	// At is path:line or path:line-line, 1-based and inclusive.
	At string `json:"at"`
	// Has is a text of one line there that an agent must have seen. Where all places are
	// wanted it is left out: each is one line, which names the symbol.
	Has string `json:"has,omitempty"`

	path       string
	start, end int
}

// Task is a question of an agent's user, with the answer as somebody found it by reading.
type Task struct {
	ID         string `json:"id"`
	Repository string `json:"repository"`
	Kind       Kind   `json:"kind"`
	Question   string `json:"question"`
	// Symbol is the declaration that the question names, and To its new name.
	Symbol string  `json:"symbol,omitempty"`
	To     string  `json:"to,omitempty"`
	Places []Place `json:"places"`
}

// name is the symbol without what it is declared in.
func (t *Task) name() string {
	return t.Symbol[strings.LastIndexAny(t.Symbol, ".:")+1:]
}

// Set is the repositories and their tasks.
type Set struct {
	Repositories []Repository `json:"repositories"`
	Tasks        []Task       `json:"tasks"`
}

var placeForm = regexp.MustCompile(`^([^:]+):(\d+)(?:-(\d+))?$`)

// Read reads a set. That the places are there, Check says.
func Read(file string) (Set, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return Set{}, err
	}
	var s Set
	if err := json.Unmarshal(raw, &s); err != nil {
		return Set{}, fmt.Errorf("%s: %w", file, err)
	}
	var errs []error
	wrong := func(id, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: task %s: %s", file, id, fmt.Sprintf(format, args...)))
	}
	ids := map[string]bool{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if ids[t.ID] {
			wrong(t.ID, "there are two of this name")
		}
		ids[t.ID] = true
		if !slices.Contains(Kinds, t.Kind) {
			wrong(t.ID, "kind %q is none of %v", t.Kind, Kinds)
		}
		if !slices.ContainsFunc(s.Repositories, func(r Repository) bool { return r.Name == t.Repository }) {
			wrong(t.ID, "there is no repository %q", t.Repository)
		}
		if t.Question == "" || len(t.Places) == 0 || t.Kind.wantsAll() != (t.Symbol != "") || (t.Kind == Rename) != (t.To != "") {
			wrong(t.ID, "question, places, symbol or to does not fit its kind")
		}
		for j := range t.Places {
			p := &t.Places[j]
			m := placeForm.FindStringSubmatch(p.At)
			if m == nil {
				wrong(t.ID, "%q is no place", p.At)
				continue
			}
			p.path = m[1]
			p.start, _ = strconv.Atoi(m[2]) // digits
			p.end = p.start
			if m[3] != "" {
				p.end, _ = strconv.Atoi(m[3])
			}
			if t.Kind.wantsAll() != (p.Has == "") || t.Kind.wantsAll() && p.end != p.start {
				wrong(t.ID, "%s: each place of a %s is one line without has, each of the others has one", p.At, t.Kind)
			}
		}
	}
	for _, r := range s.Repositories {
		if r.Name == "" || !filepath.IsLocal(r.Name) || r.Half != "fit" && r.Half != "held" {
			errs = append(errs, fmt.Errorf("%s: repository %q: a name and the half, fit or held, are wanted", file, r.Name))
		}
	}
	return s, errors.Join(errs...)
}

// check answers why the places of a task are not in a tree, nil if they are.
func (t *Task) check(tree *tree) error {
	for _, p := range t.Places {
		want := p.Has
		if want == "" {
			want = t.name()
		}
		lines := tree.lines(p.path)
		found := false
		for n := p.start; n <= min(p.end, len(lines)); n++ {
			found = found || strings.Contains(lines[n-1], want)
		}
		if !found {
			return fmt.Errorf("task %s: %s has no %q: the tree is another one than the tasks are of", t.ID, p.At, want)
		}
	}
	return nil
}
