package walk

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Rules stay in memory once they are read, and nobody tells of each change of a file that
// has some: of git's own list in a folder that comes later, of the user's list for all
// repositories, of any in a process that only reads the index. So the files are asked again
// whether they are what was read, once for each Refresh, when a question needs them: a few
// calls of the system for each folder on the way to a file.

// Racy is how fresh a file's time may be to be believed: within the file system's
// granularity it could change again without showing.
const Racy = 100 * time.Millisecond

// reader reads files of rules and notes which, and as they were. Those of ignoreFiles that
// a folder does not have are not noted.
type reader struct {
	root    string // the folder whose rules are read
	sources []source
}

// source is a file that says what is left out, as it was.
type source struct {
	name   string
	follow bool // as in readRules
	limit  int  // of bytes; 0 where only what is there counts, and not what is in it
	stamp  stamp
	read   time.Time // before it was read
	sum    [sha256.Size]byte
	cut    bool
}

// stamp tells the states of a file apart; the zero stamp says that there is none.
type stamp struct {
	device, inode uint64
	mode          uint32
	size          int64
	changed       int64 // ns since 1970
}

// text is readRules.
func (r *reader) text(name string, follow bool, limit int) (text []byte, more bool, err error) {
	if isElsewhere(runtime.GOOS, r.root, name) {
		return nil, false, &fs.PathError{Op: "read", Path: name, Err: errElsewhere}
	}
	s := source{name: name, follow: follow, limit: min(limit, maxRuleFile) + 1}
	text, more, err = s.take()
	r.sources = append(r.sources, s)
	return text, more, err
}

var errElsewhere = errors.New("on another machine, or a device")

// isElsewhere answers whether a name that a repository's files give leads to another
// machine, or to a device: Windows logs in there by itself, and so would tell a stranger
// who the user is. A root on a share has its rules there.
func isElsewhere(goos, root, name string) bool {
	if goos != "windows" {
		return false
	}
	share := func(name string) string {
		parts := strings.SplitN(strings.ReplaceAll(name, "/", `\`), `\`, 5)
		if len(parts) < 4 || parts[0] != "" || parts[1] != "" {
			return ""
		}
		return strings.ToLower(parts[2] + `\` + parts[3])
	}
	return strings.HasPrefix(strings.ReplaceAll(name, "/", `\`), `\\`) && (share(name) == "" || share(name) != share(root))
}

// kind notes what is at a name: a folder, nothing, or something else.
func (r *reader) kind(name string) {
	r.sources = append(r.sources, source{name: name, follow: true, stamp: stampOf(name, true)})
}

// missing notes what a folder has not.
func (r *reader) missing(dir string) {
	for _, name := range rulesOf(dir, r.sources) {
		r.sources = append(r.sources, source{name: name})
	}
}

// rulesOf are the names of what would have rules in a folder, without those in known.
func rulesOf(dir string, known []source) (names []string) {
	for _, file := range [...]string{".git", ignoreFiles[0], ignoreFiles[1], ignoreFiles[2]} {
		name := filepath.Join(dir, file)
		if !slices.ContainsFunc(known, func(s source) bool { return s.name == name }) {
			names = append(names, name)
		}
	}
	return names
}

func (s *source) take() (text []byte, more bool, err error) {
	s.read, s.stamp = time.Now(), stampOf(s.name, s.follow)
	text, more, err = readRules(s.name, s.follow, s.limit-1)
	s.sum, s.cut = sha256.Sum256(text), more
	return text, more, err
}

// differs answers whether the file says something else than it did. A time that changed,
// or may have without showing, is no proof.
func (s *source) differs() bool {
	now := stampOf(s.name, s.follow)
	if s.limit == 0 {
		return now != s.stamp
	}
	if now == s.stamp && s.read.UnixNano()-now.changed >= int64(Racy) {
		return false
	}
	before := *s
	_, _, _ = s.take() // what cannot be read says nothing, now as before
	return s.sum != before.sum || s.cut != before.cut
}

func differ(sources []source) bool {
	changed := false
	for i := range sources {
		changed = sources[i].differs() || changed
	}
	return changed
}

// Refresh has the next question about each folder ask its files whether they say what was
// read. Whoever answers somebody calls it first.
func (r *Root) Refresh() { r.round.Add(1) }

// Look asks for the rules of the root and above it now.
func (r *Root) Look() {
	r.Refresh()
	r.mu.Lock()
	defer r.unlock()
	r.levelOf("")
}

// OnChange has f called when a question finds the rules of a folder, and so of all below,
// changed; "" is the root. f must return at once. It is set before anything is asked.
func (r *Root) OnChange(f func(dir string)) { r.onChange = f }

// unlock ends a question. mu is held.
func (r *Root) unlock() {
	changed := r.changed
	r.changed = nil
	r.mu.Unlock()
	for _, dir := range changed {
		if r.onChange != nil {
			r.onChange(dir)
		}
	}
}

// current answers whether the rules of a folder are still what its files say; if not, all
// rules are forgotten. mu is held.
func (r *Root) current(l *level) bool {
	round := r.round.Load()
	if l.round == round {
		return true
	}
	l.round = round
	changed := differ(l.sources)
	for _, name := range rulesOf(filepath.Join(r.dir, filepath.FromSlash(l.dir)), l.sources) {
		changed = changed || stampOf(name, false) != stamp{}
	}
	if changed {
		r.forget(l.dir)
	}
	return !changed
}

// currentAbove sees to it that the rules of the folders above the root are what their
// files say. mu is held.
func (r *Root) currentAbove() {
	round := r.round.Load()
	if r.aboveRound == round {
		return
	}
	r.aboveRound = round
	if differ(r.aboveSources) {
		r.forget("")
	}
}

// forget drops all rules, since those of a folder changed. mu is held.
func (r *Root) forget(dir string) {
	r.reset()
	if !slices.Contains(r.changed, dir) {
		r.changed = append(r.changed, dir)
	}
}

// reset reads the rules above the root and forgets all others. mu is held.
func (r *Root) reset() {
	above := &reader{root: r.dir}
	r.aboveRound = r.round.Load()
	r.above = levelsAbove(r.dir, above)
	r.aboveSources = above.sources
	r.levels, r.cached = map[string]*level{}, 0
}
