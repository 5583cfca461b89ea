package store

import (
	"encoding/binary"
	"errors"

	"quarry/index/syntax"
)

// The blobs of the store are sequences of unsigned varints; strings are their
// length and their bytes. A blob that ends early is damage, never a panic.

var errBlob = errors.New("a record of the index is damaged; run quarry index --rebuild")

type encoder struct{ b []byte }

func (e *encoder) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) string(s string) { e.uint(uint64(len(s))); e.b = append(e.b, s...) }

type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads the length of a list whose items take at least one byte each, so a
// damaged length cannot ask for more memory than the blob has bytes.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) string() string { return string(d.bytes()) }

// bytes are those of a string; they are valid as long as the blob.
func (d *decoder) bytes() []byte {
	n := d.count()
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) err() error {
	if d.bad || len(d.b) != 0 {
		return errBlob
	}
	return nil
}

func (e *encoder) span(s syntax.Span) {
	e.uint(uint64(s.Start))
	e.uint(uint64(s.End - s.Start))
	e.uint(uint64(s.StartLine))
	e.uint(uint64(s.EndLine - s.StartLine))
}

func (d *decoder) span() syntax.Span {
	s := syntax.Span{Start: uint32(d.uint())}
	s.End = s.Start + uint32(d.uint())
	s.StartLine = uint32(d.uint())
	s.EndLine = s.StartLine + uint32(d.uint())
	return s
}

func encodeInts(list []int) []byte {
	var e encoder
	for _, v := range list {
		e.uint(uint64(v))
	}
	return e.b
}

func decodeInts(b []byte) ([]int, error) {
	d := decoder{b: b}
	var list []int
	for len(d.b) > 0 && !d.bad {
		list = append(list, int(d.uint()))
	}
	return list, d.err()
}

func encodeImports(list []syntax.Import) []byte {
	var e encoder
	e.uint(uint64(len(list)))
	for _, i := range list {
		e.string(i.Path)
		e.string(i.Alias)
		e.uint(uint64(len(i.Names)))
		for _, n := range i.Names {
			e.string(n)
		}
		e.span(i.Span)
	}
	return e.b
}

func decodeImports(b []byte) ([]syntax.Import, error) {
	d := decoder{b: b}
	var list []syntax.Import
	for n := d.count(); n > 0 && !d.bad; n-- {
		i := syntax.Import{Path: d.string(), Alias: d.string()}
		for m := d.count(); m > 0 && !d.bad; m-- {
			i.Names = append(i.Names, d.string())
		}
		i.Span = d.span()
		list = append(list, i)
	}
	return list, d.err()
}

// Reference is all uses of one name, in one way, inside one declaration.
type Reference struct {
	Kind            syntax.RefKind
	Name, Qualifier string
	// From is the ordinal of the declaration around it, -1 at file level, and
	// Container the type it is a member of, or is itself; "" if none.
	From      int
	Container string
	// Line is that of the first use; Count how many uses there are.
	Line, Count uint32
}

var refKinds = []syntax.RefKind{syntax.RefCall, syntax.RefInherit, syntax.RefUse}

func refKindNumber(k syntax.RefKind) uint64 {
	for i, have := range refKinds {
		if have == k {
			return uint64(i)
		}
	}
	return uint64(len(refKinds) - 1)
}

// mergeRefs merges the uses of one name in one declaration.
func mergeRefs(refs []syntax.Ref, symbols []syntax.Symbol) []Reference {
	type key struct {
		kind            syntax.RefKind
		name, qualifier string
		from            int
	}
	at := make(map[key]int, len(refs)/2) // most names come back
	list := make([]Reference, 0, len(refs)/2)
	for _, r := range refs {
		k := key{r.Kind, r.Name, r.Qualifier, r.From}
		if i, ok := at[k]; ok {
			list[i].Count++
			continue
		}
		at[k] = len(list)
		list = append(list, Reference{r.Kind, r.Name, r.Qualifier, r.From, containerAt(symbols, r.From), r.Span.StartLine, 1})
	}
	return list
}

func containerAt(symbols []syntax.Symbol, at int) string {
	if at < 0 || at >= len(symbols) {
		return ""
	}
	if s := &symbols[at]; s.Container != "" || !IsType(s.Kind) {
		return s.Container
	}
	return symbols[at].Name // a reference in the type's own body
}

// IsType answers whether a declaration of this kind is a type.
func IsType(k syntax.Kind) bool {
	switch k {
	case syntax.KindClass, syntax.KindStruct, syntax.KindInterface, syntax.KindEnum, syntax.KindType:
		return true
	}
	return false
}

// encodeReferences writes each string once: names and qualifiers repeat.
func encodeReferences(list []Reference) []byte {
	var e encoder
	at := map[string]uint64{}
	var table []string
	for _, r := range list {
		for _, s := range [...]string{r.Name, r.Qualifier, r.Container} {
			if _, ok := at[s]; !ok {
				at[s] = uint64(len(table))
				table = append(table, s)
			}
		}
	}
	e.uint(uint64(len(table)))
	for _, s := range table {
		e.string(s)
	}
	e.uint(uint64(len(list)))
	for _, r := range list {
		e.uint(refKindNumber(r.Kind))
		e.uint(at[r.Name])
		e.uint(at[r.Qualifier])
		e.uint(uint64(r.From + 1))
		e.uint(at[r.Container])
		e.uint(uint64(r.Line))
		e.uint(uint64(r.Count))
	}
	return e.b
}

// decodeReferences reads what encodeReferences wrote; keep, if it is not nil, chooses
// the references by their names, and from by the ordinals of the symbols that they stand in.
func decodeReferences(b []byte, keep func(name []byte) bool, from func(symbol int) bool) ([]Reference, error) {
	d := decoder{b: b}
	table := make([]entry, d.count())
	for i := range table {
		table[i].raw = d.bytes()
		table[i].kept = keep == nil || keep(table[i].raw)
	}
	pick := func() *entry {
		if i := d.uint(); i < uint64(len(table)) {
			return &table[i]
		}
		d.bad = true
		return &entry{}
	}
	var list []Reference
	n := d.count()
	if keep == nil && from == nil {
		list = make([]Reference, 0, n)
	}
	for ; n > 0 && !d.bad; n-- {
		kind := d.uint()
		if kind >= uint64(len(refKinds)) {
			d.bad = true
			break
		}
		name, qualifier, symbol, container := pick(), pick(), int(d.uint())-1, pick()
		line, count := uint32(d.uint()), uint32(d.uint())
		if name.kept && (from == nil || from(symbol)) {
			list = append(list, Reference{refKinds[kind], name.string(), qualifier.string(), symbol, container.string(), line, count})
		}
	}
	return list, d.err()
}

// entry is a string of a table, which becomes one when it is asked for.
type entry struct {
	raw  []byte
	text string
	kept bool
}

func (e *entry) string() string {
	if e.text == "" {
		e.text = string(e.raw)
	}
	return e.text
}

// decodeNames answers the distinct names that references have.
func decodeNames(b []byte) (names []string, err error) {
	d := decoder{b: b}
	table := make([][]byte, d.count())
	for i := range table {
		table[i] = d.bytes()
	}
	used := make([]bool, len(table))
	for n := d.count(); n > 0 && !d.bad; n-- {
		for field := range 7 { // as of a Reference
			if v := d.uint(); field == 1 && v < uint64(len(table)) && !used[v] {
				used[v] = true
				names = append(names, string(table[v]))
			}
		}
	}
	return names, d.err()
}
