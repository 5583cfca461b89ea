package engines

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

	// Strange: quarry did not bring it, and it may be somebody's `ollama pull` that is under way.
	Strange bool `json:"strange,omitempty"`

	notes []*pulled // quarry's own on it
}

// String is a leftover in words.
func (l Leftover) String() string {
	size := ""
	if l.Bytes > 0 {
		size = " (" + catalogue.Gigabytes(l.Bytes) + ")"
	}
	switch {
	case l.Name != "":
		return l.Name + " is " + l.What + size
	case l.Strange:
		return l.What + size
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
		case model.IsTrial(u.Name): // a pull has none: it came as a file
			if l.Resume = m.reimport(u.Of); l.Resume == "" {
				l.What = "the trial of " + u.Of + ", of an import that was ended"
			}
		}
		list = append(list, l)
	}
	files, err := download.FindLeft(m.files())
	for _, f := range files {
		if f.Busy {
			continue
		}
		l := Leftover{Path: f.Path, Bytes: f.Bytes, Removable: true, What: "a file that no catalogue names any more"}
		if of := m.fetchedFor(f); len(of) > 0 {
			names := make([]string, len(of))
			for i, e := range of {
				names[i] = e.Name
			}
			all := strings.Join(names, " or ")
			l.Of, l.Resume = names[0], fetching(of[0])
			l.What = fmt.Sprintf("%s of %s of %s", catalogue.Gigabytes(f.Bytes), catalogue.Gigabytes(of[0].Download), all)
			if f.Whole {
				l.What = all + ", whole, which failed its trial or was not tried"
			}
		}
		list = append(list, l)
	}
	return list, err
}

// forName is behind the path of a file that several entries name, and has the name of the one for which it was fetched last.
const forName = ".for"

// noteFor notes for which of several entries a file is fetched. A disk that takes no note keeps no file from coming.
func (m *Models) noteFor(path string, e catalogue.Entry) {
	if len(m.Catalogue.BySum(e.SHA256)) > 1 && !download.Locked(path) && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = replaceFile(path+forName, []byte(e.Name))
	}
}

// fetchedFor are the entries for which a file was fetched: several where more than one names it and no note says which.
func (m *Models) fetchedFor(f download.Left) []catalogue.Entry {
	of := m.Catalogue.BySum(f.SHA256)
	name, err := os.ReadFile(f.Path + forName)
	if at := slices.IndexFunc(of, func(e catalogue.Entry) bool { return e.Name == string(name) }); err == nil && at >= 0 {
		return of[at : at+1]
	}
	if fetched := slices.DeleteFunc(slices.Clone(of), func(e catalogue.Entry) bool { return e.URL == "" }); len(fetched) > 0 {
		return fetched
	}
	return of
}

// dropNoteFor takes the note back of a file of which nothing came.
func dropNoteFor(path string) {
	for _, name := range []string{path, path + ".part"} {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
	_ = os.Remove(path + forName)
}

// discard deletes what is there of a file that was fetched.
func discard(path string) error {
	defer dropNoteFor(path)
	return download.Discard(path)
}

// ofPulls is what is left of pulls and imports that quarry has noted: a model that nothing has found to work, and files that
// belong to none. What belongs to none of its notes is not quarry's: see Strangers.
func (m *Models) ofPulls(ctx context.Context, have []model.Installed) (list []Leftover) {
	var ended []*pulled // what was not installed by then
	var busy []string   // files that are being fetched
	for _, p := range m.notedPulls() {
		if p.busy {
			busy = append(busy, p.Files...)
			continue
		}
		at := slices.IndexFunc(have, func(i model.Installed) bool { return model.SameModel(i.Name, p.Name) })
		switch {
		case at < 0 || p.Had || p.Imported:
			ended = append(ended, p)
		case UsedFor(m.settings, p.Name) == "": // else the findings on the model say how it is
			list = append(list, Leftover{
				Name: have[at].Name, Of: p.Name, Bytes: have[at].Bytes, Resume: "quarry model pull " + p.Name, Removable: true,
				What: "fetched, and failed its trial or was not tried", notes: []*pulled{p},
			})
		}
	}
	if len(ended) == 0 {
		return list
	}
	sure, folder, orphans := m.orphans(ctx)
	for _, p := range ended {
		l := Leftover{Of: p.Name, Removable: true, notes: []*pulled{p}}
		l.Resume = "quarry model pull " + p.Name
		if p.Imported {
			l.Resume = m.reimport(p.Name)
		}
		rest := orphans[:0:0]
		for _, o := range orphans {
			switch {
			case slices.Contains(busy, o.Digest):
			case slices.Contains(p.Files, o.Digest):
				l.Path = folder
				l.Files = append(l.Files, o.Files...)
				l.Bytes += o.Bytes
			default:
				rest = append(rest, o)
			}
		}
		orphans = rest
		switch {
		case len(l.Files) > 0:
			l.What = "parts of " + l.Of + " in " + folder + ", which " + pruned
		case sure && len(p.Files) > 0: // nothing is left of it
			p.forget()
			continue
		default:
			l.What = "parts of " + l.Of + " that Ollama may have, which " + pruned
		}
		list = append(list, l)
	}
	return list
}

// reimport is the command that brings a model again that came as a file, "" where that was one of the user's: quarry does not
// know where it is.
func (m *Models) reimport(name string) string {
	switch e, known := m.Catalogue.Find(name); {
	case known && e.URL != "":
		return fetching(e)
	case known && e.Library:
		return "quarry model pull " + e.Name
	}
	return ""
}

// orphans are the files of no model in Ollama's folder, which is known of one on this machine; sure says that Ollama has said
// that it is the one.
func (m *Models) orphans(ctx context.Context) (sure bool, folder string, list []model.Orphan) {
	where, free := m.ollamasDisk(ctx)
	if where.dir == "" || where.guessed && !free {
		return false, "", nil
	}
	folder, list, err := model.FindOrphans(where.dir)
	return err == nil && !where.guessed, folder, list
}

// Strangers are the files of no model in Ollama's folder that quarry has not noted as its own: of an `ollama pull` of the
// user's, which may be under way, or of what another program gave Ollama. ok is false where there are none, where it is not
// certain that the folder is this Ollama's, and while quarry itself brings a model.
func (m *Models) Strangers(ctx context.Context) (l Leftover, ok bool) {
	var ours []string
	for _, p := range m.notedPulls() {
		if p.busy {
			return l, false
		}
		ours = append(ours, p.Files...)
	}
	sure, folder, orphans := m.orphans(ctx)
	if !sure {
		return l, false
	}
	l = Leftover{Path: folder, Removable: true, Strange: true, What: "files of no model in " + folder + " that quarry did not bring, which " + pruned}
	for _, o := range orphans {
		if !slices.Contains(ours, o.Digest) {
			l.Files = append(l.Files, o.Files...)
			l.Bytes += o.Bytes
		}
	}
	return l, len(l.Files) > 0
}

// stillFor is how long files are watched before they are deleted: who fetches a model writes them several times a second.
const stillFor = 2 * time.Second

// areStill fails if one of some files is written to, or belongs to a model by now.
func (m *Models) areStill(ctx context.Context, folder string, files []string) error {
	look := func() (state []string) {
		for _, path := range files {
			if info, err := os.Stat(path); err == nil {
				state = append(state, fmt.Sprint(path, info.Size(), info.ModTime().UnixNano()))
			}
		}
		return state
	}
	before := look()
	if err := m.wait(ctx, stillFor); err != nil {
		return err
	}
	_, orphans, err := model.FindOrphans(folder)
	if err != nil {
		return err
	}
	for _, path := range files {
		if _, err := os.Stat(path); err == nil && !slices.ContainsFunc(orphans, func(o model.Orphan) bool { return slices.Contains(o.Files, path) }) {
			return fmt.Errorf("run `quarry model clean` again: %s now belongs to a model. Nothing was deleted", path)
		}
	}
	if !slices.Equal(before, look()) {
		return fmt.Errorf("try again later: another program is downloading into %s. Nothing was deleted", folder)
	}
	return nil
}

// RemoveLeftover gives the disk space of a leftover back, and answers in words what was done and how many bytes are free again.
// What had a name that means nothing now has it again.
func (m *Models) RemoveLeftover(ctx context.Context, l Leftover) (done string, freed int64, err error) {
	if !l.Removable {
		return "", 0, fmt.Errorf("%s is still needed: run `%s` to try the version that replaces it", l.Name, l.Resume)
	}
	switch {
	case len(l.Files) > 0:
		if err := m.areStill(ctx, l.Path, l.Files); err != nil {
			return "", 0, err
		}
		if err := (model.Orphan{Files: l.Files}).Remove(); err != nil {
			return "", 0, fmt.Errorf("to delete them, restart Ollama without OLLAMA_NOPRUNE: %w", err)
		}
		done, freed = fmt.Sprintf("Deleted the files of %s in %s", cmp.Or(l.Of, "no model"), l.Path), l.Bytes
	case l.Path != "":
		return "Deleted " + l.Path, l.Bytes, discard(l.Path)
	default:
		done = "Left to Ollama: " + l.What
	}
	for _, p := range l.notes {
		p.forget()
	}
	if l.Name == "" {
		return done, freed, nil
	}
	return m.removeModel(ctx, l)
}

// removeModel is RemoveLeftover for a model of Ollama's.
func (m *Models) removeModel(ctx context.Context, l Leftover) (done string, freed int64, err error) {
	done = "Deleted " + l.Name
	if model.IsKept(l.Name) {
		if _, has, err := m.Find(ctx, l.Of); err != nil {
			return "", 0, err
		} else if !has {
			if err := m.Copy(ctx, l.Name, l.Of); err != nil {
				return "", 0, err
			}
			return l.Name + " is " + l.Of + " again", 0, m.Remove(ctx, l.Name)
		}
	}
	have, err := m.List(ctx)
	if err != nil {
		return "", 0, err
	}
	freed = l.Bytes
	at := slices.IndexFunc(have, func(i model.Installed) bool { return model.SameModel(i.Name, l.Name) })
	if at >= 0 && slices.ContainsFunc(have, func(i model.Installed) bool { return i.Digest == have[at].Digest && i.Name != have[at].Name }) {
		freed = 0 // the other has the same files
	}
	return done, freed, m.Remove(ctx, l.Name)
}
