package walk

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"
)

// A walk can begin with what an earlier one met. Of a folder in which no name came or
// went since, whose rules are the same ones, and of which the names alone decide what is
// left out, nothing is read but the size and time of each file.

// now is the time, but in tests.
var now = time.Now

// Folder is a folder that a walk entered.
type Folder struct {
	Path string // "" is the root
	// Changed is a time, in ns since 1970, that no name in it came or went after; 0 if none is
	// known, or it does not tell whether the same is left out.
	Changed int64
	// Rules is a hash of the rules in force in it.
	Rules uint64
}

// Met is one thing that a walk met: a file that may be read, a folder that was entered,
// or what was left out.
type Met struct {
	Path   string
	Reason Reason // why it was left out; "" of files and folders
	// Folder is the folder's, nil of all else; what is in it ends before End.
	Folder *Folder
	End    int
}

// Known is what an earlier walk of a whole root met, in its order.
type Known interface {
	// Met is what is at a place.
	Met(at int) Met
	// Find is the place of a folder, -1 if it is not there.
	Find(folder string) int
}

func (w *walker) find(folder string) int {
	if w.v.Known == nil {
		return -1
	}
	return w.v.Known.Find(folder)
}

// isAsKnown answers whether the same names of a folder may be read as before.
func (w *walker) isAsKnown(parent *level, dir string, at int) bool {
	f := w.v.Known.Met(at).Folder
	return f.Changed != 0 && f.Rules == w.inForce(parent) && w.times.of(dir) == f.Changed
}

// again visits a folder that is as it is known. It has no rules of its own, so that those
// of its parent are in force in it.
func (w *walker) again(ctx context.Context, parent *level, at int) error {
	known := w.v.Known.Met(at)
	folder := *known.Folder
	for i := at + 1; i < known.End; {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := w.v.Known.Met(i)
		switch {
		case m.Folder != nil:
			if _, err := w.walk(ctx, parent, m.Path, i); err != nil {
				return err
			}
			i = m.End
			continue
		case m.Reason != "":
			w.v.Skip(Skip{m.Path, m.Reason})
		default:
			e := Entry{Path: m.Path}
			reason, there := w.times.stat(&e)
			switch {
			case !there: // a document that was never saved
			case reason == "" && e.Size > w.maxSize:
				reason = TooLarge
				fallthrough
			case reason != "":
				w.v.Skip(Skip{m.Path, reason})
				folder.Changed = 0 // it is to be looked at again
			default:
				if err := w.v.File(e); err != nil {
					return err
				}
			}
		}
		i++
	}
	if w.v.Folder != nil {
		w.v.Folder(folder)
	}
	return nil
}

// isPlain answers whether the name alone decides, under the same rules, if an entry is
// left out, and for good. It is not so of a folder that some file in it or beside it marks
// as made by a build, of a file that could not be read or was too large, and of what says
// itself what is left out.
func (e *listed) isPlain() bool {
	base := path.Base(e.Path)
	switch e.reason {
	case TooLarge, Unreadable:
		return false
	}
	_, marked := markedDirs[base]
	return !(e.isDir && marked) && !strings.EqualFold(base, ".git") && !slices.Contains(ignoreFiles[:], base)
}
