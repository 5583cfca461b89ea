package engines

import (
	"context"
	"fmt"
	"path/filepath"

	"quarry/model"
	"quarry/model/catalogue"
	"quarry/model/download"
)

// A Leftover is what a download has left that did not come to its end, or whose model failed its trial.
type Leftover struct {
	// Name is a model of Ollama's; else Path is a file of quarry's.
	Name string `json:"name,omitempty"`
	Path string `json:"path,omitempty"`
	// Of is the model that was to come, "" if no catalogue knows the file.
	Of    string `json:"of,omitempty"`
	Bytes int64  `json:"bytes"`
	What  string `json:"what"`
	// Resume is the command that goes on with it, "" if there is none. What is Removable is what RemoveLeftover removes: all but
	// what is needed still.
	Resume    string `json:"resume,omitempty"`
	Removable bool   `json:"removable"`
}

// files is the folder of downloads.
func (m *Models) files() string { return filepath.Join(m.stateDir, "models") }

// Leftovers are those among the models that Ollama has, and in the folder of downloads. What somebody fetches now is not among
// the files; of Ollama's models it is.
func (m *Models) Leftovers(have []model.Installed) ([]Leftover, error) {
	var list []Leftover
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

// RemoveLeftover gives the disk space of a leftover back. What had a name that means nothing now has it again.
func (m *Models) RemoveLeftover(ctx context.Context, l Leftover) error {
	if !l.Removable {
		return fmt.Errorf("%s is needed: `%s` tries what came after it", l.Name, l.Resume)
	}
	if l.Path != "" {
		return download.Discard(l.Path)
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
