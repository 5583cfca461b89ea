package completion

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"path"
	"slices"
	"strings"
	"sync"
)

// Files are those of the workspace.
type Files interface {
	// Paths are the files of a folder of the workspace. known is false before it is known
	// which there were at the start; of those that come later the Repository is told.
	Paths(root string) (list []string, known bool)
	// FileText is the present text of one. It refuses what is no completion's business.
	FileText(root, path string) (string, error)
	// Allows answers whether FileText would refuse one, whatever is known of it, now.
	Allows(root, path string) bool
}

// Repository is what the model-free engine knows of files that are not open. It reads
// them when the engine is asked for the first time in a folder of the workspace, and so
// costs nothing where a model answers; whoever follows the workspace tells it what
// changes. It may outlive the Engines that use it, and is safe for concurrent use.
type Repository struct {
	files Files // nil: only what is added
	// alike is nil but for who asks once.
	alike Alike

	mu sync.RWMutex
	// corpus is nil until something is learned. Guarded by mu.
	corpus *corpus
	// unread are the files of each folder that are still to be read, the next last.
	// Guarded by mu.
	unread map[string][]string
	// beside are the folders whose own files were learned. Guarded by mu.
	beside map[fileKey]bool
	// from is the folder that the files were last arranged around. Guarded by mu.
	from fileKey
}

// Alike answers the files of a folder of the workspace whose code is most like a text, other
// than the one at path, the best first.
type Alike func(root, path, text string) []string

// NewRepository is one that reads files.
func NewRepository(files Files) *Repository { return &Repository{files: files} }

// NewBriefRepository is one for a process that asks once and ends, whose user waits for all
// that is read: the files that are most likely to go on as the code at the cursor does, and a
// bounded number of them.
func NewBriefRepository(files Files, alike Alike) *Repository {
	return &Repository{files: files, alike: alike}
}

const (
	// maxRepoTokens is about 8 MB of source, in 40 MB of memory.
	maxRepoTokens = 2 << 20
	// briefTokens is the same for who asks once.
	briefTokens = 128 << 10
	// linesAround is how many lines above the cursor files are compared with.
	linesAround = 8
)

// fileKey names a file among those of all workspace folders.
type fileKey struct{ root, path string }

func (d *Document) key() fileKey { return fileKey{d.Root, d.Path} }

// Add takes the newest text of a file; root and path are as in [Document].
func (r *Repository) Add(root, path, text string) {
	t := newTokenText(text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(fileKey{root, path}, t)
}

// add takes a file's tokens. mu is held.
func (r *Repository) add(key fileKey, t *tokenText) {
	if r.corpus == nil {
		r.corpus = newCorpus(maxRepoTokens)
	}
	r.corpus.add(key, t)
}

// Changed is Add for a file of a folder that was read, and does nothing for others.
func (r *Repository) Changed(root, path, text string) {
	r.mu.RLock()
	_, read := r.unread[root]
	r.mu.RUnlock()
	if read {
		r.Add(root, path, text)
	}
}

// read learns the files around a document: those beside it whenever a document of
// another folder comes, and the nearest ones of the workspace until they fill the
// corpus. The nearest are looked at first, and kept longest. What is not read when ctx
// ends is the next request's to read.
func (r *Repository) read(ctx context.Context, req *Request) {
	if r.files == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &req.Document
	if r.alike != nil {
		r.readBriefly(ctx, req)
		return
	}
	folder := fileKey{d.Root, path.Dir(d.Path)}
	if r.unread == nil {
		r.unread, r.beside = map[string][]string{}, map[fileKey]bool{}
	}
	defer func() {
		if r.corpus != nil && r.from != folder {
			r.from = folder
			r.corpus.arrange(func(key fileKey) int {
				switch {
				case key.root != d.Root:
					return -1
				case path.Dir(key.path) == folder.path: // and not below it
					return 2*nearness(key.path, d.Path) + 1
				}
				return 2 * nearness(key.path, d.Path)
			})
		}
	}()
	unread, asked := r.unread[d.Root]
	if asked && r.beside[folder] && len(unread) == 0 {
		return
	}
	all, known := r.files.Paths(d.Root)
	if !known {
		return // the next request may know more
	}
	if !asked {
		unread = slices.Clone(all)
		near := make(map[string]int, len(unread))
		for _, p := range unread {
			near[p] = nearness(p, d.Path)
		}
		slices.SortFunc(unread, func(a, b string) int { return cmp.Or(cmp.Compare(near[a], near[b]), strings.Compare(b, a)) })
		r.unread[d.Root] = unread
	}
	if !r.beside[folder] {
		for _, p := range all {
			if path.Dir(p) == folder.path && !r.readFile(ctx, fileKey{d.Root, p}) {
				return
			}
		}
		r.beside[folder] = true
	}
	r.from = fileKey{} // what comes is no nearer than what is there
	for n := len(unread); n > 0 && (r.corpus == nil || r.corpus.used < r.corpus.limit); n-- {
		if !r.readFile(ctx, fileKey{d.Root, unread[n-1]}) {
			return
		}
		r.unread[d.Root] = unread[:n-1]
	}
	r.unread[d.Root] = nil
}

// readBriefly learns the files whose code is most like that above the cursor, and then those
// nearest to the document. mu is held.
func (r *Repository) readBriefly(ctx context.Context, req *Request) {
	if r.unread[req.Root] != nil {
		return
	}
	at := req.Offset
	for range linesAround {
		at = max(0, strings.LastIndexByte(req.Text[:at], '\n'))
	}
	end := len(req.Text)
	if i := strings.IndexByte(req.Text[req.Offset:], '\n'); i >= 0 {
		end = req.Offset + i
	}
	all, known := r.files.Paths(req.Root)
	if !known {
		return
	}
	near := map[int][]string{}
	for _, p := range all {
		n := nearness(p, req.Path)
		near[n] = append(near[n], p)
	}
	groups := append([][]string{}, r.alike(req.Root, req.Path, req.Text[at:end]))
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(near))) {
		groups = append(groups, near[n])
	}
	var list []string
	var texts []*tokenText
	met := map[string]bool{req.Path: true}
	tokens := 0
	for _, group := range groups {
		for _, p := range group {
			if tokens >= briefTokens || ctx.Err() != nil {
				break
			}
			if met[p] {
				continue
			}
			met[p] = true
			if text, err := r.files.FileText(req.Root, p); err == nil { // else it went, or is not to be read
				t := newTokenText(text)
				tokens += len(t.ids)
				list, texts = append(list, p), append(texts, t)
			}
		}
	}
	for i := len(list) - 1; i >= 0; i-- { // what is learned last is looked at first
		r.add(fileKey{req.Root, list[i]}, texts[i])
	}
	r.unread = map[string][]string{req.Root: {}}
}

// readFile learns a file that is not known yet; the answer is false when ctx ended.
func (r *Repository) readFile(ctx context.Context, key fileKey) bool {
	if ctx.Err() != nil {
		return false
	}
	if r.corpus != nil {
		if _, known := r.corpus.byKey[key]; known {
			return true
		}
	}
	if text, err := r.files.FileText(key.root, key.path); err == nil { // else it went, or is not to be read
		r.add(key, newTokenText(text))
	}
	return true
}

// nearness is how near a file is to another one: of the same kind first, and then by the
// folders they share.
func nearness(file, document string) int {
	n := 0
	if path.Ext(file) == path.Ext(document) {
		n = 1 << 16
	}
	for {
		a, rest, ok := strings.Cut(file, "/")
		b, other, too := strings.Cut(document, "/")
		if !ok || !too || a != b {
			return n
		}
		file, document = rest, other
		n++
	}
}

// Remove is called for a file that is gone.
func (r *Repository) Remove(root, path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.corpus != nil {
		r.corpus.forget(fileKey{root, path})
	}
}

// allows answers whether what was learned of a file may still be copied from it.
func (r *Repository) allows(key fileKey) bool {
	return r.files == nil || r.files.Allows(key.root, key.path)
}

func (r *Repository) occurrences(ids []uint32, skip func(fileKey) bool, yield func(*corpusFile, int)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.corpus != nil {
		r.corpus.occurrences(ids, skip, yield)
	}
}

// corpus is the repository level of the model-free engine: the tokens of many
// files, with every place chained to the last one before it whose preceding
// tokens hash alike, as in the match finders of LZ77. Finding the places that
// agree with a query costs a walk along one chain, however large the
// repository; learning costs some 30 ns a token.
type corpus struct {
	// limit is how many tokens are kept; the files learned first go first.
	limit int
	files []*corpusFile // in order of learning
	byKey map[fileKey]int32
	// heads holds, by hash of chainOrder tokens, the newest place after them.
	heads []position
	shift int // hash bits that are not used
	used  int // tokens in files
}

// position is a token of a file; file counts from 1, so that the zero position is none.
type position struct{ file, at int32 }

type corpusFile struct {
	key fileKey
	// tokenText is nil once the file was forgotten.
	*tokenText
	// prev chains each token's place to the one before it in its chain.
	prev []position
}

const (
	// chainOrder is how many tokens before a place are hashed: with two, the
	// chains of common pairs grow long; four miss the start of new lines.
	chainOrder = 3
	// maxChain bounds the walk; the newest places come first.
	maxChain = 512
)

func newCorpus(limit int) *corpus {
	width := max(bits.Len(uint(limit))-2, 8) // a quarter of the tokens start a chain of their own
	return &corpus{limit: limit, byKey: map[fileKey]int32{}, heads: make([]position, 1<<width), shift: 32 - width}
}

// add puts the newest text of a file into the corpus.
func (c *corpus) add(key fileKey, t *tokenText) {
	c.forget(key)
	if len(t.ids) == 0 || len(t.ids) > c.limit {
		return
	}
	for i := 0; c.used+len(t.ids) > c.limit; i++ {
		if f := c.files[i]; f.tokenText != nil {
			c.forget(f.key)
		}
	}
	c.sweep()
	// Lexing leaves room to grow, up to half of what it takes.
	t.ids, t.start, t.end = slices.Clone(t.ids), slices.Clone(t.start), slices.Clone(t.end)
	c.insert(&corpusFile{key: key, tokenText: t})
}

func (c *corpus) insert(f *corpusFile) {
	c.files = append(c.files, f)
	n := int32(len(c.files))
	c.byKey[f.key] = n - 1
	c.used += len(f.ids)
	if f.prev == nil {
		f.prev = make([]position, len(f.ids))
	}
	for p := chainOrder; p < len(f.ids); p++ {
		h := c.hash(f.ids[p-chainOrder : p])
		f.prev[p], c.heads[h] = c.heads[h], position{n, int32(p)}
	}
}

// forget drops a file. The chains lead over its places until the next sweep.
func (c *corpus) forget(key fileKey) {
	i, ok := c.byKey[key]
	if !ok {
		return
	}
	c.used -= len(c.files[i].ids)
	// What a chain needs to be walked stays; the text goes.
	c.files[i].tokenText = nil
	delete(c.byKey, key)
}

// sweep rebuilds the chains when most files in them are gone.
func (c *corpus) sweep() {
	if gone := len(c.files) - len(c.byKey); gone < 64 || gone < len(c.byKey) {
		return
	}
	c.rebuild()
}

// rebuild learns anew what there is, in the order it is in.
func (c *corpus) rebuild() {
	files := c.files
	clear(c.heads)
	c.files, c.used = nil, 0
	for _, f := range files {
		if f.tokenText != nil {
			c.insert(f)
		}
	}
}

// arrange has the files with the greatest rank looked at first, as if they had been learned
// last.
func (c *corpus) arrange(rank func(fileKey) int) {
	ranks := make(map[fileKey]int, len(c.files))
	for _, f := range c.files {
		ranks[f.key] = rank(f.key)
	}
	slices.SortStableFunc(c.files, func(a, b *corpusFile) int { return cmp.Compare(ranks[a.key], ranks[b.key]) })
	c.rebuild()
}

func (c *corpus) hash(ids []uint32) uint32 {
	h := uint32(0)
	for _, id := range ids {
		h = (h + id) * 0x9E3779B1
		h ^= h >> 15
	}
	return h >> c.shift
}

// occurrences calls yield for places whose preceding tokens probably are the last
// of ids, but not in files that skip answers true for.
func (c *corpus) occurrences(ids []uint32, skip func(fileKey) bool, yield func(*corpusFile, int)) {
	if len(ids) < chainOrder {
		return
	}
	p := c.heads[c.hash(ids[len(ids)-chainOrder:])]
	for n := 0; p.file != 0 && n < maxChain; n++ {
		f := c.files[p.file-1]
		if f.tokenText != nil && !skip(f.key) {
			yield(f, int(p.at))
		}
		p = f.prev[p.at]
	}
}
