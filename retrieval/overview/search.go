package overview

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// How many places of a kind an answer has.
const (
	maxAnswerFolders  = 6
	maxAnswerEntries  = 4
	maxAnswerUsed     = 3
	maxAnswerCommands = 4
	maxAnswerNeeds    = 3
	maxAnswerNames    = 12
	maxAnswerText     = 240
)

// Answer answers a question about the project as a whole by places: README, manifests, entry
// points, what folders say they are for. It is workspace.Options.Project.
func Answer(ctx context.Context, w *workspace.Workspace, topics []retrieval.Topic) ([]workspace.Result, error) {
	o, err := Make(ctx, w, "")
	if err != nil {
		return nil, err
	}
	a := answerer{ctx: ctx, w: w}
	describe := func() {
		for _, n := range o.Purpose {
			why := "says what this is for"
			if !slices.Contains(topics, retrieval.TopicPurpose) {
				why = "describes the whole"
			}
			if !isReadme(n.Path) { // which shows it
				why += ": " + short(n.Text)
			}
			a.add(n.Place, why)
		}
	}
	// What does it comes before what describes all of it.
	direct := !slices.ContainsFunc(topics, func(t retrieval.Topic) bool {
		return t == retrieval.TopicPurpose || t == retrieval.TopicLayout || t == retrieval.TopicStart
	})
	if !direct {
		describe()
	}
	unsaid := false // how it is done
	for _, t := range topics {
		switch t {
		case retrieval.TopicPurpose:
			if len(a.list) == 0 { // the code alone can tell
				a.used(o, "nothing says what this is for; ")
			}
			a.say(languagesOf(o))
			a.say(foldersOf(o))
		case retrieval.TopicLayout:
			a.guide(t, o)
			a.section(t, o)
			a.say(foldersOf(o))
			n := 0
			for _, f := range o.Folders {
				if f.Purpose.Text != "" && n < maxAnswerFolders {
					n++
					a.add(f.Purpose.Place, fmt.Sprintf("%s/ (%d files): %s", f.Path, f.Files, short(f.Purpose.Text)))
				}
			}
			if n < maxAnswerUsed { // what else is known of the parts
				a.used(o, "")
			}
		case retrieval.TopicStart, retrieval.TopicEntry:
			a.guide(t, o)
			a.section(t, o)
			a.entries(o)
			if t == retrieval.TopicStart {
				a.used(o, "")
			}
		case retrieval.TopicTests, retrieval.TopicBuild, retrieval.TopicRun:
			before := len(a.list)
			commands := commandsFor(t, o)
			for i, c := range commands {
				if i == 1 {
					a.section(t, o)
				}
				if i < maxAnswerCommands {
					a.add(c.Place, short(c.Text))
				}
			}
			a.section(t, o)
			a.guide(t, o)
			if t == retrieval.TopicRun {
				a.entries(o)
			}
			unsaid = unsaid || len(commands) == 0 && len(a.list) == before
			if t == retrieval.TopicTests && len(o.TestFolders) > 0 {
				a.say("tests: " + countsOf(o.TestFolders, "/"))
			}
		case retrieval.TopicNeeds:
			for _, m := range o.Manifests[:min(maxAnswerNeeds, len(o.Manifests))] {
				a.add(m.Place, "needs "+short(strings.Join(m.Needs, ", ")))
			}
		}
	}
	if direct {
		describe()
	}
	if unsaid {
		a.say("no command for that was found")
	}
	return a.list, ctx.Err()
}

// entries adds where programs and packages begin.
func (a *answerer) entries(o *Overview) {
	for _, e := range o.Entries[:min(maxAnswerEntries, len(o.Entries))] {
		a.add(e.Place, "a program or package begins here: "+short(e.Text))
	}
}

// used adds the declarations that most files use.
func (a *answerer) used(o *Overview, before string) {
	for _, d := range o.Used[:min(maxAnswerUsed, len(o.Used))] {
		a.add(d.Place, fmt.Sprintf("%s%s is used in %d files", before, d.Name, d.UsedBy))
	}
}

// guide adds the document that is about a topic by its name.
func (a *answerer) guide(t retrieval.Topic, o *Overview) {
	if p, ok := o.guide(t); ok {
		a.add(p, "a document by this name")
	}
}

// section adds what the README has under a heading about a topic.
func (a *answerer) section(t retrieval.Topic, o *Overview) {
	for _, n := range o.Purpose {
		if !isReadme(n.Path) {
			continue
		}
		file, err := a.w.Locate(a.ctx, n.Path)
		if err != nil {
			continue // gone, or left out by now
		}
		text, err := a.w.Text(file)
		if err != nil {
			continue // likewise
		}
		if s, ok := sectionOf(t, n.Path, text); ok {
			a.add(s.Place, "says so under "+short(s.Text))
		}
	}
}

// answerer collects places, one result a file.
type answerer struct {
	ctx  context.Context
	w    *workspace.Workspace
	list []workspace.Result
}

// add makes a place a result, or one nested under that of its file.
func (a *answerer) add(p Place, why string) {
	path, err := a.w.Locate(a.ctx, p.Path)
	if err != nil {
		return // gone, or left out by now
	}
	for _, root := range a.w.Roots() {
		rel, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		rel = filepath.ToSlash(rel)
		if i := slices.IndexFunc(a.list, func(r workspace.Result) bool { return r.Root == root && r.Path == rel }); i >= 0 {
			if r := &a.list[i]; r.StartLine != p.Start {
				r.More = append(r.More, retrieval.Location{StartLine: p.Start, EndLine: p.End, Score: 1})
				r.Reasons = append(r.Reasons, why)
			}
			return
		}
		a.list = append(a.list, workspace.Result{Root: root, Result: retrieval.Result{
			Path: rel, StartLine: p.Start, EndLine: p.End, Score: 1, Reasons: []string{why}, More: []retrieval.Location{},
		}})
		return
	}
}

// say adds what is known without a place to the first result.
func (a *answerer) say(what string) {
	if len(a.list) > 0 && what != "" {
		a.list[0].Reasons = append(a.list[0].Reasons, what)
	}
}

// short is a text of at most maxAnswerText bytes on one line.
func short(text string) string {
	text = oneLine(text)
	if len(text) <= maxAnswerText {
		return text
	}
	return strings.ToValidUTF8(text[:maxAnswerText], "") + "…"
}

func languagesOf(o *Overview) string {
	if len(o.Languages) == 0 {
		return ""
	}
	return "languages: " + countsOf(o.Languages, "")
}

// foldersOf are the folders of the first level.
func foldersOf(o *Overview) string {
	var list []Count
	for _, f := range o.Folders {
		if !strings.Contains(f.Path, "/") {
			list = append(list, Count{f.Path, f.Files})
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.SortStableFunc(list, func(a, b Count) int { return b.Files - a.Files })
	return "folders: " + countsOf(list, "/")
}

// countsOf are counts in words.
func countsOf(list []Count, end string) string {
	var names []string
	for _, c := range list[:min(maxAnswerNames, len(list))] {
		names = append(names, fmt.Sprintf("%s%s %d files", c.Name, end, c.Files))
	}
	if len(list) > maxAnswerNames {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
