package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonEntries are values in a file of JSON, with comments and commas at ends or without.
type jsonEntries []jsonEntry

type jsonEntry struct {
	Key   []string
	Value any // as encoding/json takes it
}

// mended is a program's name that goes only where the path of one stands that is not there
// any more.
type mended string

// jsonObject is an object whose members keep their order.
type jsonObject []jsonMember

type jsonMember struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		name, err := compact(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := compact(m.Value)
		if err != nil {
			return nil, err
		}
		b.WriteString([]string{"{", ","}[min(i, 1)])
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// compact is v as JSON without blanks, and with &, < and > as they are.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

func (list jsonEntries) put(text []byte) ([]byte, []kept, error) {
	text, mark := cutMark(text)
	if _, err := parseJSON(text); err != nil { // nothing, or comments alone?
		nl := newline(text)
		rest := bytes.TrimRight(text, blanks)
		if len(rest) > 0 {
			rest = append(slices.Clip(rest), nl...)
		}
		if empty := append(slices.Clip(rest), "{}"+nl...); validJSON(empty) && slices.ContainsFunc(list, jsonEntry.adds) {
			text = empty
		}
	}
	var memory []kept
	for _, e := range list.within(text) {
		if !e.adds() && !e.dangles(text) {
			continue
		}
		var k kept
		var err error
		if text, k, err = e.put(text); err != nil {
			return nil, nil, err
		}
		if k.Key != nil {
			memory = append(memory, k)
		}
	}
	return slices.Concat(mark, text), memory, nil
}

// within are the entries of list, and instead of an object that text has already, those of
// its members: what else the user has put into it stays.
func (list jsonEntries) within(text []byte) jsonEntries {
	var out jsonEntries
	for _, e := range list {
		o, isObject := e.Value.(jsonObject)
		if isObject {
			path, err := walkJSON(text, e.Key)
			isObject = err == nil && path.found != nil && path.found.Value.Kind() == '{'
		}
		if !isObject {
			out = append(out, e)
			continue
		}
		var members jsonEntries
		for _, m := range o {
			members = append(members, jsonEntry{append(slices.Clip(e.Key), m.Name), m.Value})
		}
		out = append(out, members.within(text)...)
	}
	return out
}

// adds reports whether the entry goes into a text that has none.
func (e jsonEntry) adds() bool {
	_, only := e.Value.(mended)
	return !only
}

// dangles reports whether text has the path of a program at the entry's key that is not there.
func (e jsonEntry) dangles(text []byte) bool {
	path, err := walkJSON(text, e.Key)
	if err != nil || path.found == nil || path.found.Value.Kind() != '"' {
		return false
	}
	program := path.found.Value.(hujson.Literal).String()
	return filepath.IsAbs(program) && !isThere(program)
}

// unwanted are those of an earlier setup's entries that list has not.
func (list jsonEntries) unwanted(of []kept) []kept {
	return slices.DeleteFunc(slices.Clone(of), func(k kept) bool {
		return slices.ContainsFunc(list, func(e jsonEntry) bool {
			n := min(len(e.Key), len(k.Key))
			return e.adds() && equalKeys(e.Key[:n], k.Key[:n])
		})
	})
}

func validJSON(text []byte) bool {
	_, err := parseJSON(text)
	return err == nil
}

// parseJSON reads the text of a whole file. Its last line may be a comment without an end,
// which editors take and hujson does not.
func parseJSON(text []byte) (hujson.Value, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		if ended, again := hujson.Parse(slices.Concat(text, []byte("\n"))); again == nil {
			return ended, nil
		}
	}
	return v, err // that says where text is wrong
}

// put answers text with the entry; the key of what is kept is nil if it was there.
func (e jsonEntry) put(text []byte) ([]byte, kept, error) {
	path, err := walkJSON(text, e.Key)
	if err != nil {
		return nil, kept{}, err
	}
	want, err := compact(e.Value)
	if err != nil {
		return nil, kept{}, err
	}
	if at := path.found; at != nil {
		old := text[at.StartOffset:at.EndOffset]
		if sameJSON(old, want) {
			return text, kept{}, nil
		}
		value := indentJSON(text, want, indentAt(text, path.name), bytes.Contains(old, []byte("\n")))
		return splice(text, at.StartOffset, at.EndOffset, value), kept{Key: e.Key, Made: len(e.Key), Was: string(old)}, nil
	}
	for i := len(e.Key) - 1; i > path.depth; i-- {
		if want, err = compact(jsonObject{{e.Key[i], json.RawMessage(want)}}); err != nil {
			return nil, kept{}, err
		}
	}
	return addMember(text, path, e.Key[path.depth], want), kept{Key: e.Key, Made: path.depth}, nil
}

func (list jsonEntries) format() string { return "json" }

func takeJSON(text []byte, of []kept) ([]byte, error) {
	text, mark := cutMark(text)
	for _, k := range slices.Backward(of) {
		path, err := walkJSON(text, k.Key)
		switch {
		case err != nil:
			return nil, err
		case path.found == nil: // somebody took it out
		case k.Was != "":
			text = splice(text, path.found.StartOffset, path.found.EndOffset, k.Was)
		default:
			text = removeMember(text, path.object, path.member)
			for depth := len(k.Key) - 1; depth > k.Made; depth-- {
				up, err := walkJSON(text, k.Key[:depth])
				if err != nil || up.found == nil || !sameJSON(text[up.found.StartOffset:up.found.EndOffset], []byte("{}")) {
					break
				}
				text = removeMember(text, up.object, up.member)
			}
		}
	}
	return slices.Concat(mark, text), nil
}

// jsonPath is how far a key leads.
type jsonPath struct {
	object *hujson.Value // the innermost object
	depth  int           // how many elements of the key lead to it
	found  *hujson.Value // the value at the key, nil if there is none
	member int           // its number in object
	name   int           // offset of its name
}

func walkJSON(text []byte, key []string) (jsonPath, error) {
	top, err := parseJSON(text)
	if err != nil {
		return jsonPath{}, fmt.Errorf("it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	at := &top
	for depth, name := range key {
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			where := "the whole file"
			if depth > 0 {
				where = fmt.Sprintf("%q", strings.Join(key[:depth], "."))
			}
			return jsonPath{}, fmt.Errorf("line %d: %s is not an object, so that %q cannot go into it", lineOf(text, at.StartOffset), where, name)
		}
		i := len(o.Members) - 1 // of two with one name the last counts
		for ; i >= 0 && o.Members[i].Name.Value.(hujson.Literal).String() != name; i-- {
		}
		if i < 0 {
			return jsonPath{object: at, depth: depth}, nil
		}
		if depth == len(key)-1 {
			return jsonPath{at, depth, &o.Members[i].Value, i, o.Members[i].Name.StartOffset}, nil
		}
		at = &o.Members[i].Value
	}
	return jsonPath{object: at, depth: len(key)}, nil
}

// sameJSON reports whether two texts of JSON mean the same.
func sameJSON(a, b []byte) bool {
	var v, w any
	a, errA := hujson.Standardize(bytes.Clone(a))
	b, errB := hujson.Standardize(bytes.Clone(b))
	return errA == nil && errB == nil && json.Unmarshal(a, &v) == nil && json.Unmarshal(b, &w) == nil && reflect.DeepEqual(v, w)
}

// indentJSON writes value for a place in text whose line begins with indent.
func indentJSON(text, value []byte, indent string, lines bool) string {
	if !lines {
		return spaced(value)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, value, indent, unitOf(text)); err != nil {
		return string(value) // which it is not: compact made it
	}
	short := listOfStrings.ReplaceAllStringFunc(b.String(), func(list string) string {
		return strings.NewReplacer("[ ", "[", " ]", "]").Replace(strings.Join(strings.Fields(list), " "))
	})
	return strings.ReplaceAll(short, "\n", newline(text))
}

// listOfStrings is a list, one string a line, that reads better in one.
var listOfStrings = regexp.MustCompile(`\[\s+"[^" ]*"(,\s+"[^" ]*")*\s+\]`)

// spaced is value on one line, with a blank after each colon and comma.
func spaced(value []byte) string {
	v, err := hujson.Parse(value)
	if err != nil {
		return string(value)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, v.Pack(), "", ""); err != nil {
		return string(value)
	}
	out := strings.NewReplacer("{\n", "{", "[\n", "[", "\n}", "}", "\n]", "]", ",\n", ", ").Replace(b.String())
	return out
}

// unitOf is what one step of indentation is in text.
func unitOf(text []byte) string {
	top, err := parseJSON(text)
	if err != nil {
		return "  "
	}
	if o, ok := top.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		if at := o.Members[0].Name.StartOffset; startsLine(text, at) && indentAt(text, at) != "" {
			return indentAt(text, at)
		}
	}
	return "  "
}

// addMember puts a member at the end of the object that path leads to.
func addMember(text []byte, path jsonPath, name string, value []byte) []byte {
	object := path.object
	o := object.Value.(*hujson.Object)
	open, shut := object.StartOffset, object.EndOffset-1
	lines := bytes.Contains(text[open:shut], []byte("\n")) || len(o.Members) == 0 && path.depth == 0
	nl, unit := newline(text), unitOf(text)
	indent := indentAt(text, open) + unit
	if len(o.Members) > 0 && startsLine(text, o.Members[0].Name.StartOffset) {
		indent = indentAt(text, o.Members[0].Name.StartOffset)
	}
	quoted, _ := compact(name) // a string has JSON
	member := string(quoted) + ": " + indentJSON(text, value, indent, lines)

	at := trimEnd(text, shut)
	comma := len(o.Members) > 0
	if comma && o.Members[len(o.Members)-1].Value.AfterExtra != nil { // they end with one
		comma = false
		member += ","
	}
	switch {
	case lines:
		member = nl + indent + member
		if !bytes.Contains(text[at:shut], []byte("\n")) {
			member += nl + indentAt(text, open)
		}
	case len(o.Members) > 0:
		member = " " + member
	}
	text = splice(text, at, at, member)
	if comma {
		end := o.Members[len(o.Members)-1].Value.EndOffset
		text = splice(text, end, end, ",")
	}
	return text
}

// removeMember takes member number i out of object.
func removeMember(text []byte, object *hujson.Value, i int) []byte {
	o := object.Value.(*hujson.Object)
	m := o.Members[i]
	from, to := m.Name.StartOffset, m.Value.EndOffset
	afterComma := to + len(m.Value.AfterExtra) + 1
	switch {
	case i < len(o.Members)-1 || m.Value.AfterExtra != nil: // a comma follows
		text = append(text[:len(text):len(text)], "\n"...) // a last line without an end is one too
		end := lineEnd(text, afterComma)
		if startsLine(text, from) && len(bytes.TrimSpace(text[afterComma:end])) == 0 {
			text = splice(text, lineStart(text, from), min(end, len(text)-1), "")
		} else {
			for afterComma < len(text) && (text[afterComma] == ' ' || text[afterComma] == '\t') {
				afterComma++
			}
			text = splice(text, from, afterComma, "")
		}
		return text[:len(text)-1]
	case i > 0:
		before := o.Members[i-1].Value
		text = splice(text, trimEnd(text, from), to, "")
		comma := before.EndOffset + len(before.AfterExtra)
		return splice(text, comma, comma+1, "")
	}
	text = splice(text, trimEnd(text, from), to, "")
	if at := trimEnd(text, from); text[at-1] == '{' {
		if rest := bytes.TrimLeft(text[at:], blanks); rest[0] == '}' { // blanks alone between the braces
			return splice(text, at, len(text)-len(rest), "")
		}
	}
	return text
}
