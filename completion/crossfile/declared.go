package crossfile

import (
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// declared is what one look-up sees of the workspace: its folders as they are at that
// moment, and the names it has asked for.
type declared struct {
	folders []*workspace.Searchable
	names   map[string]*name
	traits  map[file]traits
}

// file is a file of a folder of the workspace, and declaration one in it.
type file struct {
	in *workspace.Searchable
	id retrieval.FileID
}

type declaration struct {
	in *workspace.Searchable
	id retrieval.DeclarationID
}

// fileKey names a file by the folder of the workspace it is in and its path there.
type fileKey struct{ root, path string }

func (f file) key() fileKey { return fileKey{f.in.Root, f.in.Snapshot.Path(f.id)} }

// name is what is known of a name in all folders.
type name struct {
	declared, members []declaration
	asked             bool // for its members
}

// traits are those of a file.
type traits struct {
	key    fileKey
	family string
	test   bool
}

func see(folders []*workspace.Searchable) *declared {
	return &declared{folders: folders, names: map[string]*name{}, traits: map[file]traits{}}
}

// name finds what a name declares.
func (d *declared) name(text string) *name {
	n := d.names[text]
	if n == nil {
		n = &name{}
		for _, f := range d.folders {
			n.declared = of(f, n.declared, f.Snapshot.DeclarationsOf(text))
		}
		d.names[text] = n
	}
	return n
}

// members finds what is declared inside declarations of a name.
func (d *declared) members(text string) []declaration {
	n := d.name(text)
	if !n.asked {
		n.asked = true
		for _, f := range d.folders {
			n.members = of(f, n.members, f.Snapshot.MembersOf(text))
		}
	}
	return n.members
}

func of(f *workspace.Searchable, list []declaration, ids []retrieval.DeclarationID) []declaration {
	list = slices.Grow(list, len(ids))
	for _, id := range ids {
		list = append(list, declaration{f, id})
	}
	return list
}

// usedBy is how many files use a name.
func (d *declared) usedBy(text string) (n int) {
	for _, f := range d.folders {
		n += f.Snapshot.UsedBy(text)
	}
	return n
}

// traitsOf are those of a file.
func (d *declared) traitsOf(f file) traits {
	t, ok := d.traits[f]
	if !ok {
		t = traits{key: f.key(), family: lang.Family(f.in.Snapshot.Language(f.id))}
		t.test = lang.IsTest(t.key.path)
		d.traits[f] = t
	}
	return t
}

// at finds a file.
func (d *declared) at(key fileKey) (file, bool) {
	for _, f := range d.folders {
		if f.Root == key.root {
			id, ok := f.Snapshot.FileAt(key.path)
			return file{f, id}, ok
		}
	}
	return file{}, false
}

// maxBeside bounds how many files of a large folder are looked at.
const maxBeside = 64

// beside are the other files in the folder of a path, those nearest to it in name.
func (d *declared) beside(key fileKey) (list []file) {
	for _, f := range d.folders {
		if f.Root != key.root {
			continue
		}
		all := f.Snapshot.FilesIn(path.Dir(key.path))
		i, _ := slices.BinarySearchFunc(all, key.path, func(id retrieval.FileID, path string) int {
			return strings.Compare(f.Snapshot.Path(id), path)
		})
		from := max(0, min(i-maxBeside/2, len(all)-maxBeside))
		for _, id := range all[from:min(from+maxBeside, len(all))] {
			if f.Snapshot.Path(id) != key.path {
				list = append(list, file{f, id})
			}
		}
	}
	return list
}

func lastName(container string) string {
	return container[strings.LastIndexByte(container, '.')+1:]
}
