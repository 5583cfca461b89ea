package retrieval

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"quarry/index/fault"
	"quarry/index/syntax"
)

// Declaration is a declaration that was found by its name.
type Declaration struct {
	Path string
	// Name is as written, Container the dotted path of what it is declared in.
	Name, Container string
	Kind            syntax.Kind
	// Distance is 0 for the very name that was asked for; the larger, the less it
	// is that.
	Distance int
}

// How far a name is from the one asked for, in steps of Declaration.Distance;
// what only helps where the user is not looking counts half a step.
const (
	farCase     = 2  // the same but for case and underscores
	farPrefix   = 4  // starts with it
	farPart     = 6  // contains it
	farMisspelt = 8  // within an edit or two of it
	farElse     = 10 // declared in something else than was asked for
	farAside    = 1  // a test, an example, vendored or generated
)

// minPart is the length from which a name is looked for inside of others.
const minPart = 3

// Declared finds declarations by name, the nearest first, at most limit. The name
// may say what it is declared in, as any language writes it: Store.Open,
// Store::open, (*Store).Open. kinds, if not empty, are the only ones that count;
// else headings and configuration keys do not.
func (s *Snapshot) Declared(name string, kinds []syntax.Kind, limit int) []Declaration {
	defer s.look()
	defer s.release(fault.Expect())
	want := wantName(name)
	key := want.key
	if key == "" {
		return nil
	}
	var found []Declaration
	type place struct {
		segment int
		def     uint32
	}
	met := map[place]bool{}
	visit := func(k, far int) func(*def) {
		return func(d *def) {
			seg := s.segments[k]
			if met[place{k, d.at}] || s.dead[k].has(int(d.file)) || !wanted(d.kind, kinds) {
				return
			}
			met[place{k, d.at}] = true
			f := &seg.files[d.file]
			found = append(found, want.measure(Declaration{f.path, d.name, d.container, d.kind, far}, f.class))
		}
	}
	// Each step looks further only while there is room: a full answer of nearer
	// names is complete.
	for k, seg := range s.segments {
		seg.lookup(key, visit(k, 0))
	}
	if len(found) < limit {
		s.prefixed(key, limit, func(k int, d *def) { visit(k, farPrefix)(d) })
	}
	if len(found) < limit && len(key) >= minPart {
		for k, seg := range s.segments {
			seg.containing(key, visit(k, farPart))
		}
	}
	if len(found) == 0 && len(key) > minPart {
		for k, seg := range s.segments {
			near := visit(k, farMisspelt)
			seg.similar(key, 1+len(key)/8, func(d *def, _ int) { near(d) })
		}
	}
	// Of equal names, what the rest of the workspace leans on comes first.
	rank := func(d *Declaration) float32 {
		if n, ok := s.graph.node(d.Path); ok {
			return s.graph.rank[n]
		}
		return 0
	}
	slices.SortFunc(found, func(a, b Declaration) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name),
			cmp.Compare(rank(&b), rank(&a)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Container, b.Container))
	})
	runtime.KeepAlive(s)
	return slices.Clip(found[:min(limit, len(found))])
}

// wantedName is a name that is looked for.
type wantedName struct{ container, last, key string }

func wantName(name string) wantedName {
	container, last := cutQualified(name)
	return wantedName{container, last, flatName(last)}
}

// measure adds to the distance of a declaration, which is how its key was found, what
// its name, its container and its file's class make of it.
func (w *wantedName) measure(d Declaration, r fileClass) Declaration {
	if d.Distance == 0 && d.Name != w.last {
		d.Distance = farCase
	}
	if w.container != "" && !endsIn(d.Container, w.container) && !endsIn(pathAsContainer(d.Path), w.container) {
		d.Distance += farElse
	}
	if r&(classTest|classExample|classVendored|classGenerated|classBench) != 0 {
		d.Distance += farAside
	}
	return d
}

// NameKey is what declarations are looked up by in name: its last part without
// separators in lower case.
func NameKey(name string) (last, key string) {
	want := wantName(name)
	return want.last, want.key
}

// Nearest orders declarations as Snapshot.Declared does, but for what only a snapshot
// knows: at most limit of those whose name has the key of name in it.
func Nearest(name string, kinds []syntax.Kind, list []Declaration, limit int) []Declaration {
	want := wantName(name)
	var found []Declaration
	for _, d := range list {
		key := flatName(d.Name)
		switch {
		case !wanted(d.Kind, kinds):
			continue
		case key == want.key:
			d.Distance = 0
		case strings.HasPrefix(key, want.key):
			d.Distance = farPrefix
		case len(want.key) >= minPart && strings.Contains(key, want.key):
			d.Distance = farPart
		default:
			continue
		}
		found = append(found, want.measure(d, classOf(d.Path, "")))
	}
	slices.SortFunc(found, nearer)
	return slices.Clip(found[:min(limit, len(found))])
}

// nearer orders declarations by how well they answer a name.
func nearer(a, b Declaration) int {
	return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.Container, b.Container))
}

func wanted(kind syntax.Kind, kinds []syntax.Kind) bool {
	if len(kinds) == 0 {
		return kind != syntax.KindSection
	}
	return slices.Contains(kinds, kind)
}

// containing calls visit for every declaration whose key has part inside.
func (s *segment) containing(part string, visit func(*def)) {
	mask := letterMask(part)
	for i, k := range s.keys {
		if k.letters&mask != mask || !strings.Contains(s.key(s.byKey[k.first]), part) {
			continue
		}
		end := len(s.byKey)
		if i+1 < len(s.keys) {
			end = int(s.keys[i+1].first)
		}
		for _, d := range s.byKey[k.first:end] {
			visit(s.def(d))
		}
	}
}

// cutQualified cuts a name into what it is declared in, dotted, and the rest;
// arguments and type parameters behind it are dropped. Unlike splitName, which
// tells names from words, it takes whatever it is given for a name.
func cutQualified(name string) (container, last string) {
	name = strings.TrimSpace(name)
	for i, r := range name {
		if i > 0 && strings.ContainsRune("(<[", r) {
			name = name[:i]
			break
		}
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:#/\\()*&>, \t", r) })
	for i, p := range parts {
		parts[i] = strings.TrimSuffix(p, "-") // of ->
	}
	if len(parts) == 0 {
		return "", ""
	}
	return strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
}

// endsIn answers whether the last components of a dotted path are part, in any
// case.
func endsIn(dotted, part string) bool {
	dotted, part = strings.ToLower(dotted), strings.ToLower(part)
	return dotted == part || strings.HasSuffix(dotted, "."+part)
}

// pathAsContainer is the folder of a file as a container: what packages and
// modules are named by.
func pathAsContainer(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return strings.ReplaceAll(path[:i], "/", ".")
	}
	return ""
}
