// Package newcomer measures search by the questions of people who use a program and
// have never seen its code, and by the messages they paste. The questions stand in
// testdata/newcomer; each is answered by spans of lines in a whole checkout of a
// repository.
//
// Half of the repositories may be looked at while search is tuned, the other half is
// held back. Nobody chooses which: HalfOf goes by the name.
package newcomer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quarry/retrieval/eval"
)

// What the whole set is to hold at least.
const (
	WantRepositories = 20
	WantQuestions    = 300
	WantMessages     = 100
)

// Kind is what a question asks for.
type Kind string

// The kinds of question.
const (
	Behaviour    Kind = "behaviour"    // what happens when, and why
	Architecture Kind = "architecture" // where a part is, how parts meet
	Symbol       Kind = "symbol"       // a declaration, by its name or nearly
	Message      Kind = "message"      // pasted: an error, a log line, a stack trace
)

// Kinds has every kind, those in a user's own words first.
var Kinds = []Kind{Behaviour, Architecture, Symbol, Message}

// Half is a part of the set.
type Half string

// The halves.
const (
	Fit  Half = "fit"
	Held Half = "held"
)

// HalfOf is the half that a repository belongs to.
func HalfOf(name string) Half {
	if sum := sha256.Sum256([]byte(name)); sum[0]%2 == 0 {
		return Fit
	}
	return Held
}

// Repository is a project at one commit.
type Repository struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	GitHub   string `json:"github"` // owner/repository
	Commit   string `json:"commit"`
}

// Question is asked of one repository. Each of the answers is right by itself; the
// first is the best.
type Question struct {
	ID      string
	Kind    Kind
	Text    string
	Answers []eval.Span
}

// UnmarshalJSON reads a question of a file in testdata/newcomer/questions.
func (q *Question) UnmarshalJSON(b []byte) error {
	var raw struct {
		ID       string   `json:"id"`
		Kind     Kind     `json:"kind"`
		Question string   `json:"question"`
		Answers  []string `json:"answers"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&raw); err != nil {
		return err
	}
	*q = Question{ID: raw.ID, Kind: raw.Kind, Text: raw.Question}
	for _, a := range raw.Answers {
		s, err := parseAnswer(a)
		if err != nil {
			return fmt.Errorf("%s: %w", raw.ID, err)
		}
		q.Answers = append(q.Answers, s)
	}
	return nil
}

var answerForm = regexp.MustCompile(`^(.+):([0-9]+)-([0-9]+)$`)

func parseAnswer(text string) (eval.Span, error) {
	m := answerForm.FindStringSubmatch(text)
	if m == nil {
		return eval.Span{}, fmt.Errorf("answer %q is not PATH:FIRST-LAST", text)
	}
	first, errFirst := strconv.Atoi(m[2])
	last, errLast := strconv.Atoi(m[3])
	if err := errors.Join(errFirst, errLast); err != nil {
		return eval.Span{}, fmt.Errorf("answer %q: %w", text, err)
	}
	return eval.Span{Path: m[1], StartLine: first, EndLine: last}, nil
}

// Set is the repositories and the questions of each, by its name.
type Set struct {
	Repositories []Repository
	Questions    map[string][]Question
}

// Read reads a folder like testdata/newcomer.
func Read(dir string) (Set, error) {
	s := Set{Questions: map[string][]Question{}}
	if err := readJSON(filepath.Join(dir, "repositories.json"), &s.Repositories); err != nil {
		return s, err
	}
	for _, r := range s.Repositories {
		var list []Question
		if err := readJSON(filepath.Join(dir, "questions", r.Name+".json"), &list); err != nil {
			return s, err
		}
		s.Questions[r.Name] = list
	}
	return s, nil
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read questions: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read questions: %s: %w", path, err)
	}
	return nil
}

// Counts are how much a set holds.
type Counts struct {
	Repositories int `json:"repositories"`
	Questions    int `json:"questions"` // all but messages
	Messages     int `json:"messages"`
}

// Counts of the set.
func (s Set) Counts() Counts {
	c := Counts{Repositories: len(s.Repositories)}
	for _, list := range s.Questions {
		for _, q := range list {
			if q.Kind == Message {
				c.Messages++
			} else {
				c.Questions++
			}
		}
	}
	return c
}

var (
	nameForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	githubForm = regexp.MustCompile(`^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$`)
	commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// Check says what is wrong with the form of the set; it needs no checkout.
func (s Set) Check() (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	names, ids, texts := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, r := range s.Repositories {
		if !nameForm.MatchString(r.Name) || r.Language == "" || !githubForm.MatchString(r.GitHub) || !commitForm.MatchString(r.Commit) {
			wrong("repository %+v: a plain name, a language, owner/repository and 40 hexadecimal digits are wanted", r)
		}
		if names[r.Name] {
			wrong("repository %s stands in the list twice", r.Name)
		}
		names[r.Name] = true
		for _, q := range s.Questions[r.Name] {
			if ids[q.ID] {
				wrong("%s: the id is taken", q.ID)
			}
			ids[q.ID] = true
			if slug, ok := strings.CutPrefix(q.ID, r.Name+"-"); !ok || slug == "" {
				wrong("%s: the id is not %s-SLUG", q.ID, r.Name)
			}
			if !slices.Contains(Kinds, q.Kind) {
				wrong("%s: kind %q is none of %v", q.ID, q.Kind, Kinds)
			}
			text := strings.TrimSpace(q.Text)
			if text == "" {
				wrong("%s: nothing is asked", q.ID)
			}
			key := r.Name + "\x00" + text
			if other, twice := texts[key]; twice {
				wrong("%s asks what %s asks", q.ID, other)
			}
			texts[key] = q.ID
			if len(q.Answers) == 0 {
				wrong("%s: no answer", q.ID)
			}
			for _, a := range q.Answers {
				if !filepath.IsLocal(filepath.FromSlash(a.Path)) || filepath.ToSlash(filepath.Clean(a.Path)) != a.Path {
					wrong("%s: %s is not a plain path in the checkout", q.ID, a.Path)
				}
				if a.StartLine < 1 || a.EndLine < a.StartLine {
					wrong("%s: lines %d-%d of %s are no lines", q.ID, a.StartLine, a.EndLine, a.Path)
				}
			}
		}
	}
	return problems
}
