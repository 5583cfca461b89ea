package setup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlTable is a table of values in a file of TOML.
type tomlTable struct {
	Key    []string
	Values []tomlValue
}

type tomlValue struct {
	Name string
	Text string // the value as TOML
}

// text is the table as it is written, without the end of its last line.
func (t tomlTable) text() string {
	out := "[" + strings.Join(t.Key, ".") + "]"
	for _, v := range t.Values {
		out += "\n" + v.Name + " = " + v.Text
	}
	return out
}

// quoteTOML is s as a basic string of TOML, or a literal one if that reads better.
func quoteTOML(s string) string {
	if strings.Contains(s, `\`) && !strings.ContainsAny(s, "'\n") {
		return "'" + s + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func (t tomlTable) put(text []byte) ([]byte, []kept, error) {
	text, mark := cutMark(text)
	now, err := decodeTOML(text)
	if err != nil {
		return nil, nil, err
	}
	want, err := decodeTOML([]byte(t.text()))
	if err != nil {
		return nil, nil, err
	}
	k := kept{Key: t.Key, Made: len(t.Key) - 1}
	out := text
	if old, there := lookup(now, t.Key); there {
		mine, _ := lookup(want, t.Key)
		missing := t.missing(old, mine)
		if len(missing) == 0 {
			return slices.Concat(mark, text), nil, nil
		}
		from, to := tableRange(text, t.Key, false)
		if from == to {
			return nil, nil, fmt.Errorf("%s is not written as a table of its own; make it\n%s", strings.Join(t.Key, "."), t.text())
		}
		k.Was = string(text[from:to])
		out = t.renew(text, missing)
	} else {
		out = appendLines(text, t.text())
	}
	if _, err := decodeTOML(out); err != nil {
		return nil, nil, fmt.Errorf("the table cannot be added to what is there (%w); write what is around it as tables of their own, and add by hand\n%s", err, t.text())
	}
	return slices.Concat(mark, out), []kept{k}, nil
}

// missing are those of t's values that a table does not have, or has otherwise. What else
// it has is the user's.
func (t tomlTable) missing(table, mine any) []tomlValue {
	now, _ := table.(map[string]any)
	want, _ := mine.(map[string]any)
	return slices.DeleteFunc(slices.Clone(t.Values), func(v tomlValue) bool {
		return reflect.DeepEqual(now[v.Name], want[v.Name])
	})
}

// renew writes values into the table where it stands in text.
func (t tomlTable) renew(text []byte, values []tomlValue) []byte {
	nl := newline(text)
	for i, v := range t.Values {
		if !slices.Contains(values, v) {
			continue
		}
		inside, behind := false, 0
		var old *tomlItem
		for _, item := range readTOML(text) {
			header := item.kind != unstable.KeyValue
			if header {
				inside = item.kind == unstable.Table && equalKeys(item.key, t.Key)
			}
			switch {
			case !inside:
			case !header && equalKeys(item.key, []string{v.Name}):
				old = &item
			case header || i > 0 && equalKeys(item.key, []string{t.Values[i-1].Name}):
				behind = lineEnd(text, item.to-1)
			}
		}
		line := v.Name + " = " + v.Text
		switch {
		case old != nil:
			text = splice(text, old.from, old.to, line)
		case text[behind-1] != '\n':
			text = splice(text, behind, behind, nl+line)
		default:
			text = splice(text, behind, behind, line+nl)
		}
	}
	return text
}

func (t tomlTable) format() string { return "toml" }

func takeTOML(text []byte, of []kept) ([]byte, error) {
	text, mark := cutMark(text)
	if _, err := decodeTOML(text); err != nil {
		return nil, err
	}
	out := bytes.Clone(text)
	for _, k := range slices.Backward(of) {
		if from, to := tableRange(out, k.Key, false); k.Was != "" && from < to {
			out = splice(out, from, to, k.Was)
			continue
		}
		for { // tables below it too
			from, to := tableRange(out, k.Key, true)
			if from == to {
				break
			}
			out = cutLines(out, from, to)
		}
	}
	if _, err := decodeTOML(out); err != nil {
		return nil, fmt.Errorf("without quarry's table it would not be TOML any more (%w); remove it by hand", err)
	}
	return slices.Concat(mark, out), nil
}

func decodeTOML(text []byte) (map[string]any, error) {
	var v map[string]any
	err := toml.Unmarshal(text, &v)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		row, _ := at.Position()
		return nil, fmt.Errorf("it is not TOML: line %d: %s", row, strings.TrimPrefix(at.Error(), "toml: "))
	}
	if err != nil {
		return nil, fmt.Errorf("it is not TOML: %w", err)
	}
	return v, nil
}

func lookup(table map[string]any, key []string) (any, bool) {
	var at any = table
	for _, name := range key {
		m, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = m[name]; !ok {
			return nil, false
		}
	}
	return at, true
}

// tomlItem is an expression of a file of TOML, with the range of its lines.
type tomlItem struct {
	kind     unstable.Kind
	key      []string
	from, to int // of the text of a key and its value; of the line of a header
	value    tomlNode
}

// tomlNode is a value.
type tomlNode struct {
	kind     unstable.Kind
	text     string   // of a string
	elements []string // of an array: strings, names of tables, "" for anything else
	spans    [][2]int // of an array, where the strings are
	comments []int    // of an array, where each begins
}

// readTOML lists the tables, keys and values of text, in order. Text must be TOML.
func readTOML(text []byte) []tomlItem {
	p := unstable.Parser{KeepComments: true}
	p.Reset(text)
	var items []tomlItem
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		item := tomlItem{kind: e.Kind}
		at := -1
		for it := e.Key(); it.Next(); {
			if at < 0 {
				at = int(it.Node().Raw.Offset)
			}
			item.key = append(item.key, string(it.Node().Data))
		}
		if e.Kind == unstable.KeyValue {
			item.from, item.to = int(e.Raw.Offset), int(e.Raw.Offset+e.Raw.Length)
			v := e.Value()
			item.value = tomlNode{kind: v.Kind, text: string(v.Data)}
			if v.Kind == unstable.Array {
				collect(v, &item.value)
			}
		} else {
			item.from, item.to = lineStart(text, at), lineEnd(text, at)
		}
		items = append(items, item)
	}
	return items
}

func collect(v *unstable.Node, into *tomlNode) {
	for it := v.Children(); it.Next(); {
		switch n := it.Node(); n.Kind {
		case unstable.Comment:
			into.comments = append(into.comments, int(n.Raw.Offset))
			collect(n, into) // several comments stand in each other
		case unstable.String:
			into.elements = append(into.elements, string(n.Data))
			into.spans = append(into.spans, [2]int{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)})
		default:
			into.elements = append(into.elements, nameOf(n))
			into.spans = append(into.spans, [2]int{})
		}
	}
}

// tableRange is the lines of the first table at key, or also of one below it, without
// comments after its last value; two equal offsets if there is none.
func tableRange(text []byte, key []string, below bool) (from, to int) {
	inside := false
	for _, item := range readTOML(text) {
		header := item.kind != unstable.KeyValue
		if inside && header {
			break
		}
		if header && len(item.key) >= len(key) && equalKeys(item.key[:len(key)], key) && (below || len(item.key) == len(key)) {
			inside, from = true, item.from
		}
		if inside {
			to = lineEnd(text, max(item.from, item.to-1))
		}
	}
	return from, to
}

// nameOf is the value of the key name in a table within an array.
func nameOf(n *unstable.Node) string {
	if n.Kind != unstable.InlineTable {
		return ""
	}
	for it := n.Children(); it.Next(); {
		pair := it.Node()
		if pair.Kind != unstable.KeyValue {
			continue
		}
		if key := pair.Key(); key.Next() && string(key.Node().Data) == "name" && key.IsLast() {
			return string(pair.Value().Data)
		}
	}
	return ""
}
