// Package eval measures fixes and explanations by what compilers and linters say.
//
// A suite lists breakages of real trees: the smallest text that is replaced so that a
// checker reports a problem as people meet it. For each the tree is copied, broken and
// checked; the first diagnostic that the breakage brought is what the assistant gets, as
// an editor would give it. Nobody types a message by hand.
//
// A fix is right if the checker then reports nothing that it did not report before the
// breakage, and nothing in the file tells it to keep quiet. It keeps the code if no token
// of the original outside the broken place is lost, so that deleting the code in question
// is not a fix. Fixed is both.
package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Suite is a list of breakages and the trees they are of.
type Suite struct {
	Repositories []Repository `json:"repositories"`
	Breakages    []Breakage   `json:"breakages"`
}

// Repository is a tree below the corpus.
type Repository struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	// Half is fit, on which quarry may be tuned, or held, on which it is judged.
	Half string `json:"half"`
	// In is the folder of the tree that is worked in, "" for the tree.
	In string `json:"in,omitempty"`
	// Without are folders that are not copied, below In: generated code.
	Without []string `json:"without,omitempty"`
	// Arguments are what the checkers by name are given besides their own.
	Arguments map[string][]string `json:"arguments,omitempty"`
}

// Breakage is a change that a checker reports.
type Breakage struct {
	ID         string `json:"id"`
	Repository string `json:"repository"`
	Checker    string `json:"checker"`
	// Kind says in a few words what is wrong; no two are alike in a language.
	Kind string `json:"kind"`
	// File holds From once, which becomes To.
	File string `json:"file"`
	From string `json:"from"`
	To   string `json:"to"`
	// Cause is the rubric of an explanation: of each group it must have one word.
	Cause [][]string `json:"cause"`
}

// Load reads suite.json of a folder.
func Load(dir string) (Suite, error) {
	file := filepath.Join(dir, "suite.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		return Suite{}, fmt.Errorf("read the suite: %w; name the folder with suite.json", err)
	}
	var s Suite
	if err := json.Unmarshal(raw, &s); err != nil {
		return Suite{}, fmt.Errorf("read %s: %w", file, err)
	}
	seen := map[string]bool{}
	for _, b := range s.Breakages {
		_, known := checkers[b.Checker]
		switch {
		case seen[b.ID] || b.ID == "":
			return s, fmt.Errorf("read %s: there are two breakages %q", file, b.ID)
		case !known:
			return s, fmt.Errorf("read %s: %s has the checker %q, which there is not", file, b.ID, b.Checker)
		case b.From == b.To || b.From == "":
			return s, fmt.Errorf("read %s: %s breaks nothing", file, b.ID)
		case s.Repository(b.Repository).Name == "":
			return s, fmt.Errorf("read %s: %s is of %q, which is not in the list", file, b.ID, b.Repository)
		}
		seen[b.ID] = true
	}
	return s, nil
}

// Repository is one by its name, the zero value if there is none.
func (s Suite) Repository(name string) Repository {
	for _, r := range s.Repositories {
		if r.Name == name {
			return r
		}
	}
	return Repository{}
}

// Choose is the breakages of one half ("" for both), every nth of each language; only, if
// not empty, has the ids, languages or repositories of those wanted.
func (s Suite) Choose(half string, every int, only []string) []Breakage {
	var list []Breakage
	seen := map[string]int{}
	for _, b := range s.Breakages {
		r := s.Repository(b.Repository)
		wanted := func(name string) bool { return name == b.ID || name == b.Repository || name == r.Language }
		if half != "" && r.Half != half || len(only) > 0 && !slices.ContainsFunc(only, wanted) {
			continue
		}
		if seen[r.Language]%max(every, 1) == 0 {
			list = append(list, b)
		}
		seen[r.Language]++
	}
	return list
}

// broken is a tree that was copied and broken.
type broken struct {
	dir string
	// original and text are the file before and after the breakage.
	original, text string
	// before is what the checker says of the unbroken tree, problems what the breakage
	// brought, those of its file first.
	before, problems []Diagnostic
}

// breakTree copies a breakage's tree into dir, which must not exist, breaks and checks it.
func (s Suite) breakTree(b Breakage, corpus, dir string, run Runner) (*broken, error) {
	r := s.Repository(b.Repository)
	if err := copyTree(filepath.Join(corpus, b.Repository, filepath.FromSlash(r.In)), dir, r.Without); err != nil {
		return nil, fmt.Errorf("copy the tree of %s: %w; fetch it with testdata/fixes/fetch.sh", b.ID, err)
	}
	file := filepath.Join(dir, filepath.FromSlash(b.File))
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("break %s: %w", b.ID, err)
	}
	t := &broken{dir: dir, original: string(raw)}
	if n := strings.Count(t.original, b.From); n != 1 {
		return nil, fmt.Errorf("break %s: its text is %d times in %s", b.ID, n, b.File)
	}
	t.text = strings.Replace(t.original, b.From, b.To, 1)
	if t.before, err = run.check(s, b, dir); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(t.text), 0o644); err != nil {
		return nil, err
	}
	now, err := run.check(s, b, dir)
	if err != nil {
		return nil, err
	}
	t.problems = added(t.before, now)
	here := slices.IndexFunc(t.problems, func(d Diagnostic) bool { return d.File == b.File })
	if here < 0 {
		return nil, fmt.Errorf("break %s: %s reports nothing in %s", b.ID, b.Checker, b.File)
	}
	t.problems = t.problems[here:]
	return t, nil
}

// copyTree copies the files below a folder; links are left out.
func copyTree(from, to string, without []string) error {
	if _, err := os.Stat(to); err == nil {
		return errors.New("it is there already")
	}
	return filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && slices.Contains(without, filepath.ToSlash(name)):
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !e.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o644)
	})
}
