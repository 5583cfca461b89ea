package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry/agent"
	"quarry/completion/eval"
	"quarry/index/lang"
)

// Assistant is what is judged.
type Assistant interface {
	Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error)
	Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error)
}

// Case is a tree that is broken.
type Case struct {
	Breakage Breakage
	// Folder has the tree.
	Folder string
	// Original is the file before the breakage, Problem what the checker says of it now.
	Original string
	Problem  agent.Problem
}

// Open makes the assistant for a case, and what closes it.
type Open func(c Case) (a Assistant, end func() error, err error)

// Outcome is what came of a breakage.
type Outcome struct {
	ID         string `json:"id"`
	Repository string `json:"repository"`
	Language   string `json:"language"`
	Half       string `json:"half"`
	Problem    string `json:"problem"`
	// Proposed says that there is a change; it Applies if it is of the broken file as it
	// was, and Parses if it has no more syntax errors than the file had unbroken.
	Proposed bool `json:"proposed"`
	Applies  bool `json:"applies"`
	Parses   bool `json:"parses"`
	// Right says that the checker has nothing to add to what it said before, Kept that
	// nothing but the broken place is lost; it is Fixed if both hold.
	Right bool `json:"right"`
	Kept  bool `json:"kept"`
	Fixed bool `json:"fixed"`
	// Remains is the first thing that the checker says of the change.
	Remains string   `json:"remains,omitempty"`
	Rules   []string `json:"rules,omitempty"`
	// Explained says that an explanation was asked for and given, Named that it names
	// the cause.
	Explained bool   `json:"explained,omitempty"`
	Named     bool   `json:"named,omitempty"`
	Failed    string `json:"failed,omitempty"`
	// Unanswered says that there was no model to ask.
	Unanswered bool   `json:"unanswered,omitempty"`
	Text       string `json:"text,omitempty"`
	// Usage is what the model's answers took.
	Usage
}

// String is the outcome in one line.
func (o Outcome) String() string {
	word := "no fix"
	switch {
	case o.Failed != "":
		word = "failed: " + o.Failed
	case o.Named:
		word = "cause named"
	case o.Explained:
		word = "cause not named"
	case o.Fixed:
		word = "fixed"
	case o.Right:
		word = "right, but code is lost"
	case o.Remains != "":
		word = "not right: " + o.Remains
	}
	word, _, _ = strings.Cut(word, "\n")
	return fmt.Sprintf("%-26s %6.1f s  %s", o.ID, o.Seconds, word)
}

// Answered are the outcomes of problems to which all answers were there.
func Answered(outcomes []Outcome) []Outcome {
	return slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool { return o.Unanswered })
}

// Task is one run over breakages.
type Task struct {
	Suite  Suite
	Corpus string // a folder with one a repository
	Runner Runner
	Open   Open
	// Explain has the problems explained instead of fixed.
	Explain bool
	// Usage, if not nil, is what the model has used since it was asked last.
	Usage func() Usage
}

// Run breaks a tree, asks, and judges. The error is that of a suite that does not fit
// its trees, or of the context.
func (t Task) Run(ctx context.Context, b Breakage) (out Outcome, err error) {
	r := t.Suite.Repository(b.Repository)
	out = Outcome{ID: b.ID, Repository: b.Repository, Language: r.Language, Half: r.Half}
	scratch, err := os.MkdirTemp(t.Runner.Scratch, "fix")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(scratch)
	run := t.Runner
	run.Context, run.Scratch = ctx, filepath.Join(scratch, "made")
	if err := os.Mkdir(run.Scratch, 0o755); err != nil {
		return out, err
	}
	tree, err := t.Suite.breakTree(b, t.Corpus, filepath.Join(scratch, b.Repository), run)
	if err != nil {
		return out, err
	}
	p := tree.problem(b, r.Language)
	out.Problem = fmt.Sprintf("%s:%d: %s", b.File, tree.problems[0].Line, tree.problems[0].Message)
	assistant, end, err := t.Open(Case{b, tree.dir, tree.original, p})
	if err != nil {
		return out, err
	}
	begin := time.Now()
	if t.Explain {
		t.explain(ctx, b, assistant, p, &out)
	} else {
		t.fix(ctx, b, assistant, p, tree, &out)
	}
	out.Seconds = time.Since(begin).Seconds()
	if t.Usage != nil {
		out.Usage = t.Usage()
	}
	if err := end(); err != nil {
		return out, err
	}
	if err := ctx.Err(); err != nil || t.Explain || !out.Applies {
		return out, err
	}
	return out, t.judge(b, tree, run, &out)
}

func (t Task) explain(ctx context.Context, b Breakage, a Assistant, p agent.Problem, out *Outcome) {
	x, err := a.Explain(ctx, p, func(string) bool { return true })
	if err != nil {
		out.Failed, out.Unanswered = err.Error(), errors.Is(err, eval.ErrNoAnswer)
		return
	}
	out.Text, out.Explained = x.Text, x.Text != ""
	out.Named = out.Explained && names(x.Text, b.Cause)
}

func (t Task) fix(ctx context.Context, b Breakage, a Assistant, p agent.Problem, tree *broken, out *Outcome) {
	change, err := a.Fix(ctx, p)
	if err != nil {
		out.Failed, out.Unanswered = err.Error(), errors.Is(err, eval.ErrNoAnswer)
		return
	}
	if out.Text, out.Proposed = change.Reason, len(change.Files) > 0; !out.Proposed {
		return
	}
	out.Text, out.Rules = change.Diff, change.Rules
	f := change.Files[0]
	out.Applies = len(change.Files) == 1 && f.Path == p.Document.Path && f.Base == agent.HashText(p.Document.Text)
	if out.Applies {
		tree.text = agent.ApplyEdits(tree.text, f.Edits)
	}
	out.Kept = out.Applies && kept(tree.original, p.Document.Text, tree.text)
}

// judge has the checker look at what the change made of the tree.
func (t Task) judge(b Breakage, tree *broken, run Runner, out *Outcome) error {
	out.Parses = parses(out.Language, tree.original, tree.text)
	if err := os.WriteFile(filepath.Join(tree.dir, filepath.FromSlash(b.File)), []byte(tree.text), 0o644); err != nil {
		return err
	}
	now, err := run.check(t.Suite, b, tree.dir)
	if err != nil {
		return err
	}
	left := added(tree.before, now)
	if len(left) > 0 {
		out.Remains = left[0].Message
	} else if silences(tree.original, tree.text) {
		out.Remains = "the checker is told to say nothing"
	}
	out.Right = out.Remains == ""
	out.Fixed = out.Right && out.Kept
	return nil
}

// problem is the first diagnostic as an editor has it.
func (t *broken) problem(b Breakage, language string) agent.Problem {
	d := t.problems[0]
	start, end := d.location(t.text)
	path := filepath.Join(t.dir, filepath.FromSlash(b.File))
	if known := lang.Detect(b.File, []byte(t.text)); known != "" {
		language = known
	}
	return agent.Problem{
		Location: agent.Location{Document: agent.Document{Path: path, Language: language, Text: t.text}, Start: start, End: end},
		Severity: d.Severity, Source: b.Checker, Code: d.Code, Message: d.Message,
	}
}
