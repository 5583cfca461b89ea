package patch

import (
	"strings"
)

// fileDiff is what a diff says of one file.
type fileDiff struct {
	// old and new are the names of both sides; both are "" if none is given.
	old, new name
	create   bool
	// refused is why the file cannot be changed so, whatever its hunks.
	refused *Refusal
	hunks   []*hunk
	// over says that words followed its hunks, so that no further hunk begins
	// without a header.
	over bool
}

// hunk is a run of lines that belong together.
type hunk struct {
	number int
	// line is the first line of the old side, as the header states it from 1; 0
	// if it does not. Models seldom get it right.
	line    int
	section string
	body    []bodyLine
	// counted says that the header's counts are those of the body: such a hunk was
	// not written by a model.
	counted bool

	wantOld, wantNew int // lines still to come by the header, when it has counts
	hasCounts        bool
}

// bodyLine is one line of a hunk.
type bodyLine struct {
	op   byte // ' ', '-' or '+'
	text string
	// bare says that it had no marker: a context line, or words after the diff.
	bare bool
	// last says that the diff says it has no line ending.
	last bool
}

func (l bodyLine) old() bool   { return l.op != '+' }
func (l bodyLine) blank() bool { return strings.TrimSpace(l.text) == "" }

// reader turns an answer into what it says of each file.
type reader struct {
	files  []*fileDiff
	file   *fileDiff
	hunk   *hunk
	blanks int // blank lines of which it is not known whether the hunk goes on
}

// read finds the diff in an answer. It is generous with everything that is not
// the text of lines: headers, fences, words around.
func read(text string) ([]*fileDiff, *Refusal) {
	r := &reader{}
	for _, p := range sections(text) {
		if err := r.section(p); err != nil {
			return nil, err
		}
	}
	r.endHunk()
	var files []*fileDiff
	hunks := 0
	for _, f := range r.files {
		if len(f.hunks) > 0 || f.refused != nil || f.create {
			files = append(files, f)
			hunks += len(f.hunks)
		}
	}
	if len(files) == 0 {
		return nil, refuse(NoDiff, "there is no unified diff in it; write --- a/FILE, +++ b/FILE, @@, then lines that begin with a blank, - or +")
	}
	return merged(files), nil
}

// merged joins what is said of one file in several places.
func merged(files []*fileDiff) []*fileDiff {
	var out []*fileDiff
	for _, f := range files {
		for _, g := range out {
			if g.old == f.old && g.new == f.new && !g.create && !f.create && g.refused == nil && f.refused == nil {
				g.hunks = append(g.hunks, f.hunks...)
				f = nil
				break
			}
		}
		if f != nil {
			out = append(out, f)
		}
	}
	for _, f := range out {
		for i, h := range f.hunks {
			h.number = i + 1
		}
	}
	return out
}

func (r *reader) section(p section) *Refusal {
	r.endHunk()
	if p.name != "" {
		r.startFile(name{}, cleanName(p.name))
	}
	for i := 0; i < len(p.lines); i++ {
		l := p.lines[i]
		next := ""
		if i+1 < len(p.lines) {
			next = p.lines[i+1]
		}
		switch {
		case strings.HasPrefix(l, "***************"):
			return refuse(NoDiff, "this is a context diff; write a unified diff, whose lines begin with a blank, - or +")
		case strings.HasPrefix(l, "diff --git "):
			r.startFile(gitNames(l))
		case r.isHeader(p.lines, i):
			if strings.HasPrefix(l, "--- ") && strings.HasPrefix(next, "+++ ") {
				r.header(cleanName(l[4:]), cleanName(next[4:]))
				i++
			} else if strings.HasPrefix(l, "--- ") {
				r.header(cleanName(l[4:]), name{})
			} else {
				r.header(name{}, cleanName(l[4:]))
			}
		case strings.HasPrefix(l, "*** "):
			r.marker(l)
		case hunkStart(l):
			r.startHunk(l)
		case !p.fenced && r.hunk != nil && strings.HasPrefix(l, "```"): // code follows the diff
			r.endHunk()
			r.file.over = true
		case r.hunk == nil && r.extended(l):
		case r.hunk != nil:
			r.body(l)
		case strings.HasPrefix(l, "+"), strings.HasPrefix(l, "-"), strings.HasPrefix(l, " ") && strings.TrimSpace(l) != "":
			if r.file == nil && p.fenced {
				r.startFile(name{}, name{})
			}
			if r.file != nil && !r.file.over {
				r.startHunk("@@")
				r.body(l)
			}
		}
	}
	return nil
}

// isHeader tells a file's header from a removed line that begins with "-- " and
// an added one with "++ ".
func (r *reader) isHeader(lines []string, i int) bool {
	l := lines[i]
	at := func(k int) string {
		if i+k < len(lines) {
			return lines[i+k]
		}
		return ""
	}
	isOld, isNew := strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "+++ ")
	switch {
	case !isOld && !isNew:
		return false
	case r.hunk == nil:
		return true
	case isOld && strings.HasPrefix(at(1), "+++ "):
		return hunkStart(at(2)) || !r.hunk.hasCounts || r.hunk.wantOld <= 0
	}
	return hunkStart(at(1)) && len(r.hunk.body) > 0
}

// header begins the file that --- and +++ name, or completes the one that a git
// header began.
func (r *reader) header(old, new name) {
	r.endHunk()
	if f := r.file; f != nil && len(f.hunks) == 0 && !f.over && (f.new.path != "" || f.old.path != "") && r.files[len(r.files)-1] == f && (samePath(f, old) || samePath(f, new)) {
		if old.path != "" || old.null {
			f.old = old
		}
		if new.path != "" || new.null {
			f.new = new
		}
	} else {
		r.startFile(old, new)
	}
	f := r.file
	if f.old.null {
		f.create = true
	}
	if f.new.null && f.refused == nil {
		f.refused = refuse(Unsupported, "it deletes the file, which is not for a proposal to do; leave the file and remove the lines, or ask the user to delete it")
	}
}

func samePath(f *fileDiff, n name) bool {
	return n.path != "" && (n.path == f.new.path || n.path == f.old.path)
}

func (r *reader) startFile(old, new name) {
	r.endHunk()
	r.file = &fileDiff{old: old, new: new}
	r.files = append(r.files, r.file)
}

// marker reads the "*** ..." lines of the patch format that some models were
// trained on.
func (r *reader) marker(l string) {
	verb, rest, _ := strings.Cut(strings.TrimPrefix(l, "*** "), ":")
	n := cleanName(rest)
	switch verb {
	case "Update File":
		r.startFile(n, n)
		return
	case "Add File":
		r.startFile(name{null: true}, n)
		r.file.create = true
		return
	case "Delete File":
		r.header(n, name{null: true})
		return
	case "Move to":
		if r.file != nil {
			r.file.refused = refuse(Unsupported, "it renames the file; change the lines where the file is")
			return
		}
	}
	if r.hunk != nil && !strings.HasPrefix(l, "*** End") && !strings.HasPrefix(l, "*** Begin") {
		r.body(l)
		return
	}
	r.endHunk()
}

// extended reads the lines between git's header and the hunks.
func (r *reader) extended(l string) bool {
	if r.file == nil {
		return false
	}
	unsupported := func(text string) bool {
		r.file.refused = refuse(Unsupported, "%s", text)
		return true
	}
	switch {
	case strings.HasPrefix(l, "new file mode "):
		r.file.create = true
	case strings.HasPrefix(l, "deleted file mode "):
		return unsupported("it deletes the file, which is not for a proposal to do; leave the file and remove the lines, or ask the user to delete it")
	case strings.HasPrefix(l, "rename "), strings.HasPrefix(l, "copy "), strings.HasPrefix(l, "similarity index "):
		return unsupported("it renames or copies the file; change the lines where the file is")
	case strings.HasPrefix(l, "old mode "), strings.HasPrefix(l, "new mode "):
		return unsupported("it changes the file's mode, which an edit cannot")
	case strings.HasPrefix(l, "Binary files "), strings.HasPrefix(l, "GIT binary patch"):
		return unsupported("it changes a binary file")
	case strings.HasPrefix(l, "index "), strings.HasPrefix(l, "dissimilarity index "):
	default:
		return false
	}
	return true
}

func (r *reader) startHunk(l string) {
	r.endHunk()
	if r.file == nil {
		r.startFile(name{}, name{})
	}
	r.hunk = parseHunkHeader(l)
}

// body takes a line of the open hunk. A hunk whose counts are met goes on with
// a marked line, since counts are often wrong, but not after a blank line.
func (r *reader) body(l string) {
	h := r.hunk
	full := h.hasCounts && h.wantOld <= 0 && h.wantNew <= 0
	switch {
	case l == "":
		r.blanks++
		if !full && h.hasCounts {
			r.flushBlanks()
		}
		return
	case l[0] == '\\' && strings.Contains(l, "ewline"):
		if n := len(h.body); n > 0 && r.blanks == 0 {
			h.body[n-1].last = true
		}
		return
	case full && (r.blanks > 0 || l[0] != '+' && l[0] != '-' && l[0] != ' '):
		r.endHunk()
		r.file.over = true
		return
	}
	r.flushBlanks()
	switch l[0] {
	case '+', '-', ' ':
		h.add(bodyLine{op: l[0], text: l[1:]})
	default:
		h.add(bodyLine{op: ' ', text: l, bare: true})
	}
}

func (r *reader) flushBlanks() {
	for ; r.blanks > 0; r.blanks-- {
		r.hunk.add(bodyLine{op: ' ', bare: true})
	}
}

func (h *hunk) add(l bodyLine) {
	l.text = strings.TrimPrefix(l.text, byteOrderMark) // the document keeps its own
	h.body = append(h.body, l)
	if l.op != '+' {
		h.wantOld--
	}
	if l.op != '-' {
		h.wantNew--
	}
}

// endHunk files the open hunk if it changes something. Bare lines behind a blank
// one at its end are words about the diff.
func (r *reader) endHunk() {
	h := r.hunk
	r.hunk, r.blanks = nil, 0
	if h == nil {
		return
	}
	h.counted = h.hasCounts && h.wantOld == 0 && h.wantNew == 0
	if !h.counted {
		h.trimWords()
	}
	for _, l := range h.body {
		if l.op != ' ' {
			r.file.hunks = append(r.file.hunks, h)
			return
		}
	}
}

func (h *hunk) trimWords() {
	marked := len(h.body)
	for marked > 0 && h.body[marked-1].bare {
		marked--
	}
	for i := marked; i < len(h.body); i++ {
		if h.body[i].blank() {
			h.body = h.body[:i]
			return
		}
	}
}
