// Package listing keeps what the last whole walk of a workspace's folder met in a file
// beside the database: each file with its size and times, as git's own index has them, each
// folder, and what was left out. A start compares the folder with it and asks the database
// only about what differs; files that are left out for what is in them are not read again
// to find that out, and folders that are as they were are not read either.
//
// It only ever says that something is as it was. It belongs to one state of one database;
// what that has changed since is read from there. A List is immutable.
package listing

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"sort"
	"strings"

	"quarry/index/fault"
	"quarry/index/snapshot"
	"quarry/index/walk"
)

// Head says what a listing belongs to.
type Head struct {
	Identity   string        `json:"identity"`
	Generation int64         `json:"generation"`
	MadeBy     string        `json:"made_by"`
	Program    string        `json:"program"` // the quarry that wrote it
	Skipped    string        `json:"skipped"` // a hash of all that was left out
	Reasons    []walk.Reason `json:"reasons"`
}

// Kind is what an entry is.
type Kind byte

// The kinds.
const (
	Indexed Kind = iota // a file that the database has
	Unfit               // a file that is left out for what is in it
	Left                // left out by rules
	Folder              // a folder that was entered
)

// Entry is one thing that was met.
type Entry struct {
	Path    string
	Kind    Kind
	ID      int64  // of an indexed file
	Size    int64  // of a file, in bytes
	ModTime int64  // of a file
	Changed int64  // of a file as walk.Entry.Changed, of a folder as walk.Folder.Changed
	Rules   uint64 // of a folder, as walk.Folder.Rules
	Reason  walk.Reason
}

// List is the entries in the order of a walk.
type List struct {
	Head Head

	kinds, reasons []byte  // reasons in Head.Reasons
	ids            []int64 // of a folder its rules
	sizes          []int64 // of a folder where it ends
	times, changed []int64
	starts         []uint32
	text           string // the paths; path i ends where starts[i+1] says
}

// 1: without folders and what rules leave out. 2: without Entry.Changed, so that a file
// written under its old time was not looked at.
const version = 3

// Compare is the order of a walk: that of the paths' components, a folder before what is
// in it.
func Compare(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// New makes a list of entries, in any order.
func New(head Head, entries []Entry) *List {
	slices.SortFunc(entries, func(a, b Entry) int { return Compare(a.Path, b.Path) })
	l := &List{Head: head, starts: []uint32{0}}
	l.Head.Reasons = nil
	var text strings.Builder
	var open []int // folders, each in the one before
	end := func(at int, path string) {
		for len(open) > 0 {
			top := open[len(open)-1]
			if dir := entries[top].Path; dir == "" && path != "" || strings.HasPrefix(path, dir+"/") {
				return
			}
			l.sizes[top] = int64(at)
			open = open[:len(open)-1]
		}
	}
	for i := range entries {
		e := &entries[i]
		end(i, e.Path)
		reason, id := 0, e.ID
		switch e.Kind {
		case Folder:
			open = append(open, i)
			id = int64(e.Rules)
		case Unfit, Left:
			if reason = slices.Index(l.Head.Reasons, e.Reason); reason < 0 {
				reason = len(l.Head.Reasons)
				l.Head.Reasons = append(l.Head.Reasons, e.Reason)
			}
		}
		l.kinds, l.reasons = append(l.kinds, byte(e.Kind)), append(l.reasons, byte(reason))
		l.ids, l.sizes, l.times = append(l.ids, id), append(l.sizes, e.Size), append(l.times, e.ModTime)
		l.changed = append(l.changed, e.Changed)
		text.WriteString(e.Path)
		l.starts = append(l.starts, uint32(text.Len()))
	}
	end(len(entries), "")
	l.text = text.String()
	return l
}

// Len is how many entries there are.
func (l *List) Len() int { return len(l.kinds) }

// Path is that of an entry.
func (l *List) Path(i int) string { return l.text[l.starts[i]:l.starts[i+1]] }

// Kind is what an entry is.
func (l *List) Kind(i int) Kind { return Kind(l.kinds[i]) }

// IsFile answers whether an entry is a file that rules do not leave out.
func (l *List) IsFile(i int) bool { return l.Kind(i) <= Unfit }

// ID is that of an indexed file.
func (l *List) ID(i int) int64 { return l.ids[i] }

// IsAs answers whether a file has the size and the times of an entry.
func (l *List) IsAs(i int, e walk.Entry) bool {
	return l.sizes[i] == e.Size && l.times[i] == e.ModTime && l.changed[i] == e.Changed
}

// Reason is why an entry is left out.
func (l *List) Reason(i int) walk.Reason { return l.Head.Reasons[l.reasons[i]] }

// Met implements walk.Known.
func (l *List) Met(i int) walk.Met {
	m := walk.Met{Path: l.Path(i)}
	switch l.Kind(i) {
	case Left:
		m.Reason = l.Reason(i)
	case Folder:
		m.Folder, m.End = &walk.Folder{Path: m.Path, Changed: l.changed[i], Rules: uint64(l.ids[i])}, int(l.sizes[i])
	}
	return m
}

// Find implements walk.Known.
func (l *List) Find(folder string) int {
	i := sort.Search(l.Len(), func(i int) bool { return Compare(l.Path(i), folder) >= 0 })
	if i < l.Len() && l.Kind(i) == Folder && l.Path(i) == folder {
		return i
	}
	return -1
}

// errList says that a file is no listing.
var errList = errors.New("this is no listing")

// Write makes the file with the list, over the one there is.
func (l *List) Write(name string) error {
	head, err := json.Marshal(l.Head)
	if err != nil {
		return err
	}
	var numbers, starts []byte
	for _, list := range [][]int64{l.ids, l.sizes, l.times, l.changed} {
		for _, n := range list {
			numbers = binary.LittleEndian.AppendUint64(numbers, uint64(n))
		}
	}
	for _, n := range l.starts {
		starts = binary.LittleEndian.AppendUint32(starts, n)
	}
	sections := [][]byte{head, numbers, l.kinds, l.reasons, starts, []byte(l.text)}
	return snapshot.Write(name, version, len(sections), slices.Values(sections))
}

// Read reads a file that Write made.
func Read(name string) (*List, error) {
	f, err := snapshot.Open(name, version)
	if err != nil {
		return nil, err
	}
	if len(f.Sections) != 6 {
		return nil, errList
	}
	var l *List
	failed := fault.Guard(func() { l, err = listOf(f.Sections) })
	runtime.KeepAlive(f) // they lie in it
	if failed != nil {
		return nil, failed
	}
	return l, err
}

func listOf(sections [][]byte) (*List, error) {
	l := &List{kinds: slices.Clone(sections[2]), reasons: slices.Clone(sections[3]), text: string(sections[5])}
	if err := json.Unmarshal(sections[0], &l.Head); err != nil {
		return nil, err
	}
	n := len(l.kinds)
	numbers, starts := sections[1], sections[4]
	if len(numbers) != 32*n || len(l.reasons) != n || len(starts) != 4*(n+1) {
		return nil, errList
	}
	for _, list := range []*[]int64{&l.ids, &l.sizes, &l.times, &l.changed} {
		*list = make([]int64, n)
		for i := range *list {
			(*list)[i] = int64(binary.LittleEndian.Uint64(numbers[8*i:]))
		}
		numbers = numbers[8*n:]
	}
	l.starts = make([]uint32, n+1)
	for i := range l.starts {
		l.starts[i] = binary.LittleEndian.Uint32(starts[4*i:])
	}
	for i := range n {
		if l.Kind(i) == Folder && (l.sizes[i] <= int64(i) || l.sizes[i] > int64(n)) {
			return nil, errList
		}
	}
	return l, nil
}
