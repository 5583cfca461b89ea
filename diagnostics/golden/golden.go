// Package golden runs the suite of tasks by which quarry's assistance is judged:
// where is X implemented, explain this error, fix it, complete with a helper from
// another file.
//
// A task is scored by what can be decided without reading the answer: whether a
// change fits the file and leaves no new syntax error, whether the places that
// are named stand and are the right ones, and whether something was shown that
// nothing in the workspace proves. The suite is a folder with tasks.json and the
// workspace that the tasks are about.
package golden

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quarry/agent"
	"quarry/completion"
	"quarry/index/lang"
)

// Kind is what a task asks for.
type Kind string

// The kinds.
const (
	Where    Kind = "where"
	Explain  Kind = "explain"
	Fix      Kind = "fix"
	Complete Kind = "complete"
)

// Task is one task of a suite. Paths are relative to its workspace.
type Task struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Repository is the folder of a corpus that the task is about, "" for the
	// suite's own workspace.
	Repository string `json:"repository,omitempty"`
	// Question is what Where asks.
	Question string `json:"question,omitempty"`
	// File, Line (from 1), Part of the line, Message and Source are the problem of
	// Explain and Fix.
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Part    string `json:"part,omitempty"`
	Message string `json:"message,omitempty"`
	Source  string `json:"source,omitempty"`
	// After is the text of File behind which Complete has its cursor.
	After string `json:"after,omitempty"`
	// Places are path:first-last; an answer is right that names a place which has a
	// line of one of them.
	Locations []string `json:"places,omitempty"`
	// Want is what the file must hold after a change, all of it.
	Want []string `json:"want,omitempty"`
	// Unanswerable says that the workspace has no answer; saying so is right.
	Unanswerable bool `json:"unanswerable,omitempty"`
}

// Engines are what is judged.
type Engines interface {
	Ask(ctx context.Context, q agent.Question, emit func(text string) bool) (agent.Answer, error)
	Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error)
	Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error)
	Complete(ctx context.Context, req completion.Request) (completion.Result, error)
}

// Offering are engines that know what a small model was shown for the question that was
// asked last.
type Offering interface {
	Offered() []agent.Citation
}

// Outcome is what came of a task.
type Outcome struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Shown says that the user saw an answer or a change; what was withheld
	// because nothing proves it is not.
	Shown bool `json:"shown"`
	Right bool `json:"right"`
	// Changed says that there is a change; it Applies if it fits the file as it is
	// and touches no other, and Parses if it adds no syntax error.
	Changed bool `json:"changed,omitempty"`
	Applies bool `json:"applies,omitempty"`
	Parses  bool `json:"parses,omitempty"`
	// Rules names what had to be forgiven to place the change.
	Rules []string `json:"rules,omitempty"`
	// Citations were shown, Invalid of them name no lines of a file, Removed were
	// named by the model and taken out before.
	Citations int `json:"citations,omitempty"`
	Invalid   int `json:"invalid,omitempty"`
	Removed   int `json:"removed,omitempty"`
	// Offered says that a line of a place that answers was among what the model was shown
	// to choose from.
	Offered bool `json:"offered,omitempty"`
	// Unanswerable is the task's.
	Unanswerable bool `json:"unanswerable,omitempty"`
	// Unanswered says that the model's answers were to come from a file, which lacks one.
	Unanswered bool `json:"unanswered,omitempty"`
	// Hallucinated says that what was shown names a place that is none, or answers
	// what the workspace does not hold.
	Hallucinated bool    `json:"hallucinated,omitempty"`
	Failed       string  `json:"failed,omitempty"`
	Seconds      float64 `json:"seconds"`
	Text         string  `json:"text,omitempty"`
}

// Suite is a folder of tasks.
type Suite struct {
	Workspace string // absolute
	Tasks     []Task
}

// Load reads a suite.
func Load(dir string) (Suite, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "tasks.json"))
	if err != nil {
		return Suite{}, fmt.Errorf("read the suite: %w; name the folder with tasks.json", err)
	}
	var s Suite
	if err := json.Unmarshal(raw, &s.Tasks); err != nil {
		return Suite{}, fmt.Errorf("read %s: %w", filepath.Join(dir, "tasks.json"), err)
	}
	s.Workspace, err = filepath.Abs(filepath.Join(dir, "workspace"))
	return s, err
}

// Split makes a suite of the tasks of each repository, in order; corpus is where the
// repositories are.
func (s Suite) Split(corpus string) ([]Suite, error) {
	var list []Suite
	at := map[string]int{}
	for _, t := range s.Tasks {
		i, met := at[t.Repository]
		if !met {
			dir := s.Workspace
			if t.Repository != "" {
				if corpus == "" {
					return nil, fmt.Errorf("the tasks are about repositories such as %s; name the folder that has them", t.Repository)
				}
				var err error
				if dir, err = filepath.Abs(filepath.Join(corpus, t.Repository)); err != nil {
					return nil, err
				}
			}
			i = len(list)
			at[t.Repository] = i
			list = append(list, Suite{Workspace: dir})
		}
		list[i].Tasks = append(list[i].Tasks, t)
	}
	return list, nil
}

// Run carries one task out. An engine that fails makes a failed outcome; the error
// is that of a suite that does not fit its workspace, or of ctx.
func (s Suite) Run(ctx context.Context, t Task, e Engines) (Outcome, error) {
	out := Outcome{ID: t.ID, Kind: t.Kind, Unanswerable: t.Unanswerable}
	begin := time.Now()
	var err error
	switch t.Kind {
	case Where:
		s.where(ctx, t, e, &out)
	case Explain, Fix:
		var p agent.Problem
		if p, err = s.problem(t); err != nil {
			return out, err
		}
		if t.Kind == Explain {
			s.explain(ctx, t, e, p, &out)
		} else {
			s.fix(ctx, t, e, p, &out)
		}
	case Complete:
		err = s.complete(ctx, t, e, &out)
	default:
		err = fmt.Errorf("the task %s is of the kind %q, which there is not", t.ID, t.Kind)
	}
	out.Seconds = time.Since(begin).Seconds()
	out.Hallucinated = out.Hallucinated || out.Invalid > 0
	if err == nil {
		err = ctx.Err()
	}
	return out, err
}

func (s Suite) where(ctx context.Context, t Task, e Engines, out *Outcome) {
	a, err := e.Ask(ctx, agent.Question{Text: t.Question}, func(string) bool { return true })
	if err != nil {
		out.Failed = err.Error()
		return
	}
	out.Text, out.Removed, out.Shown = a.Text, a.Removed, !a.Unfounded
	if o, ok := e.(Offering); ok {
		out.Offered = hits(t.Locations, o.Offered())
	}
	out.judge(s, a.Citations)
	if t.Unanswerable {
		out.Right, out.Hallucinated = a.Unfounded, !a.Unfounded
		return
	}
	out.Right = out.Shown && hits(t.Locations, a.Citations)
}

func (s Suite) explain(ctx context.Context, t Task, e Engines, p agent.Problem, out *Outcome) {
	x, err := e.Explain(ctx, p, func(string) bool { return true })
	if err != nil {
		out.Failed = err.Error()
		return
	}
	out.Text, out.Removed, out.Shown = x.Text, x.Removed, x.Text != ""
	out.judge(s, x.Citations)
	out.Right = hits(t.Locations, x.Citations)
}

// judge holds the places that were shown against the files.
func (o *Outcome) judge(s Suite, places []agent.Citation) {
	o.Citations = len(places)
	for _, c := range places {
		text, err := os.ReadFile(filepath.Join(s.Workspace, filepath.FromSlash(c.Path)))
		if err != nil || c.StartLine < 1 || c.EndLine < c.StartLine || c.EndLine > strings.Count(string(text), "\n") {
			o.Invalid++
		}
	}
}

// hits answers whether one of the places cited has a line of one that is wanted.
func hits(wanted []string, cited []agent.Citation) bool {
	for _, w := range wanted {
		var first, last int
		name, lines, _ := strings.Cut(w, ":")
		if _, err := fmt.Sscanf(lines, "%d-%d", &first, &last); err != nil {
			continue // a test reads every place
		}
		for _, c := range cited {
			if c.Path == name && c.StartLine <= last && c.EndLine >= first {
				return true
			}
		}
	}
	return false
}

// document is a file of the workspace.
func (s Suite) document(name string) (agent.Document, error) {
	path := filepath.Join(s.Workspace, filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	return agent.Document{Path: path, Language: lang.Detect(name, text), Text: string(text)}, err
}

// problem is what an Explain or Fix is about.
func (s Suite) problem(t Task) (agent.Problem, error) {
	doc, err := s.document(t.File)
	if err != nil {
		return agent.Problem{}, err
	}
	start := 0
	for range t.Line - 1 {
		start += strings.IndexByte(doc.Text[start:], '\n') + 1
	}
	line, _, _ := strings.Cut(doc.Text[start:], "\n")
	at := strings.Index(line, t.Part)
	if at < 0 {
		return agent.Problem{}, fmt.Errorf("the task %s is about %q, which line %d of %s does not hold", t.ID, t.Part, t.Line, t.File)
	}
	return agent.Problem{
		Location: agent.Location{Document: doc, Start: start + at, End: start + at + len(t.Part)},
		Severity: agent.SeverityError, Source: t.Source, Message: t.Message,
	}, nil
}
