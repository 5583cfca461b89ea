package engines

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"quarry/model"
	"quarry/model/catalogue"
	"quarry/model/download"
)

// A Leftover is what a download has left that did not come to its end, or whose model failed its trial.
type Leftover struct {
	// Name is a model of Ollama's, else Path a file of quarry's or, with Files, a folder of Ollama's; neither is there where
	// only Ollama knows what it has.
	Name  string   `json:"name,omitempty"`
	Path  string   `json:"path,omitempty"`
	Files []string `json:"files,omitempty"`
	// Of is the model that was to come, "" if that is not known.
	Of    string `json:"of,omitempty"`
	Bytes int64  `json:"bytes"`
	What  string `json:"what"`
	// Resume is the command that goes on with it, "" if there is none. What is Removable is what RemoveLeftover removes: all but
	// what is needed still.
	Resume    string `json:"resume,omitempty"`
	Removable bool   `json:"removable"`

	notes []string // the names in quarry's own notes on it
}

// String is a leftover in words.
func (l Leftover) String() string {
	size := ""
	if l.Bytes > 0 {
		size = " (" + catalogue.Gigabytes(l.Bytes) + ")"
	}
	if l.Name != "" {
		return l.Name + " is " + l.What + size
	}
	return "of a download: " + l.What + size
}

// Next is what to do about it.
func (l Leftover) Next() string {
	clean := "`quarry model clean` removes it"
	switch {
	case l.Resume == "":
		return clean
	case !l.Removable:
		return "`" + l.Resume + "` goes on"
	}
	return "`" + l.Resume + "` goes on, " + clean
}

// pruned says when Ollama itself clears up.
const pruned = "Ollama deletes at its next start unless OLLAMA_NOPRUNE is set"

// files is the folder of downloads.
func (m *Models) files() string { return filepath.Join(m.stateDir, "models") }

// Leftovers are those among the models that Ollama has, and in the folder of downloads. What somebody fetches now is not among
// the files; of Ollama's models it is.
func (m *Models) Leftovers(ctx context.Context, have []model.Installed) ([]Leftover, error) {
	list := m.ofPulls(ctx, have)
	for _, u := range model.FindUnfinished(have) {
		l := Leftover{Name: u.Name, Of: u.Of, Bytes: u.Bytes, Resume: "quarry model pull " + u.Of, Removable: !u.Untried, What: "the trial of " + u.Of + ", of a download that was ended"}
		switch {
		case u.Untried:
			l.What = "the one before " + u.Of + ", which was fetched and not tried"
		case u.Kept:
			l.What = u.Of + " as it was before a download that was ended"
		}
		list = append(list, l)
	}
	files, err := download.FindLeft(m.files())
	for _, f := range files {
		if f.Busy {
			continue
		}
		e, known := m.Catalogue.BySum(f.SHA256)
		l := Leftover{Path: f.Path, Of: e.Name, Bytes: f.Bytes, Removable: true, What: "a file that no catalogue names any more"}
		if known {
			l.What, l.Resume = fmt.Sprintf("%s of %s of %s", catalogue.Gigabytes(f.Bytes), catalogue.Gigabytes(e.Download), e.Name), "quarry model pull "+e.Name
			if f.Whole {
				l.What = e.Name + ", whole, which failed its trial or was not tried"
			}
			if e.Library {
				l.Resume += " --direct"
			}
		}
		list = append(list, l)
	}
	return list, err
}

// ofPulls is what Ollama's own downloads have left: a model that nothing has found to work, and files that belong to none.
func (m *Models) ofPulls(ctx context.Context, have []model.Installed) (list []Leftover) {
	var ended []string // what was not installed by then
	noted, busy := false, false
	for _, p := range m.notedPulls() {
		if noted = true; p.busy {
			busy = true
			continue
		}
		at := slices.IndexFunc(have, func(i model.Installed) bool { return model.SameModel(i.Name, p.Name) })
		switch {
		case at < 0 || p.Had:
			ended = append(ended, p.Name)
		case UsedFor(m.settings, p.Name) == "": // else the findings on the model say how it is
			list = append(list, Leftover{
				Name: have[at].Name, Of: p.Name, Bytes: have[at].Bytes, Resume: "quarry model pull " + p.Name, Removable: true,
				What: "fetched, and failed its trial or was not tried", notes: []string{p.Name},
			})
		}
	}
	if busy {
		return list // what belongs to no model is being fetched
	}
	at, ok := disk{dir: m.Folder(ctx)}, true
	if at.dir == "" {
		at, ok = m.ollamasDisk(ctx)
	}
	if at.guessed && !noted {
		return list // it may be another Ollama's
	}
	of, resume := strings.Join(ended, ", "), ""
	if len(ended) > 0 {
		resume = "quarry model pull " + ended[0]
	}
	left, err := model.Orphans{}, error(nil)
	if ok {
		left, err = model.FindOrphans(at.dir)
	}
	switch {
	case len(left.Files) > 0:
		what := "files of no model"
		if of != "" {
			what = "parts of " + of
		}
		list = append(list, Leftover{
			Path: left.Folder, Files: left.Files, Of: of, Bytes: left.Bytes, Resume: resume, Removable: true,
			What: what + " in " + left.Folder + ", which " + pruned, notes: ended,
		})
	case len(ended) == 0:
	case ok && err == nil && !at.guessed: // nothing is left of them
		for _, name := range ended {
			m.forgetPull(name)
		}
	default:
		list = append(list, Leftover{Of: of, Resume: resume, Removable: true, What: "parts of " + of + " that Ollama may have, which " + pruned, notes: ended})
	}
	return list
}

// RemoveLeftover gives the disk space of a leftover back. What had a name that means nothing now has it again.
func (m *Models) RemoveLeftover(ctx context.Context, l Leftover) error {
	if !l.Removable {
		return fmt.Errorf("%s is needed: `%s` tries what came after it", l.Name, l.Resume)
	}
	switch {
	case len(l.Files) > 0:
		if err := (model.Orphans{Files: l.Files}).Remove(); err != nil {
			return fmt.Errorf("restart Ollama without OLLAMA_NOPRUNE, which deletes them: %w", err)
		}
	case l.Path != "":
		return download.Discard(l.Path)
	}
	for _, name := range l.notes {
		m.forgetPull(name)
	}
	if l.Name == "" {
		return nil
	}
	if model.IsKept(l.Name) {
		if _, has, err := m.Find(ctx, l.Of); err != nil {
			return err
		} else if !has {
			if err := m.Copy(ctx, l.Name, l.Of); err != nil {
				return err
			}
		}
	}
	return m.Remove(ctx, l.Name)
}
