package settings

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"quarry/index/glob"
)

// Source is where a layer comes from; it decides which keys it may set.
type Source int

// The sources, weakest first.
const (
	UserFile Source = iota
	Editor
	Environment
	CommandLine
)

// Problem is a key or value that was not taken, or not for what it may be meant.
type Problem struct {
	// Key is the dotted key as the user wrote it, or "" when the whole layer
	// could not be read.
	Key    string
	Reason string
}

func (p Problem) String() string {
	if p.Key == "" {
		return p.Reason
	}
	return p.Key + ": " + p.Reason
}

// Ignored tells the user of problems, the first of them: a repository may have made them up by the
// thousand.
func Ignored(problems []Problem) string {
	const most = 30
	var b strings.Builder
	b.WriteString("quarry ignores these settings:")
	for _, p := range problems[:min(len(problems), most)] {
		b.WriteString("\n" + p.String())
	}
	if more := len(problems) - most; more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return b.String()
}

// mostText is the longest text that a setting has, in bytes. A prefix of embedded code stands in
// each request, many times over, and a repository may have chosen it.
const mostText = 8 << 10

// mostEntries is how many entries of a list count. Each file is held against each glob: as many as
// a repository's own rule files may have take half a millisecond.
const mostEntries = 20_000

var errTooLong = fmt.Errorf("a text of it is too long: %d bytes at most", mostText)

// brief is text without its middle where it is too long for a message.
func brief(text string) string {
	const head, tail = 160, 80
	if len(text) <= head+tail {
		return text
	}
	return strings.ToValidUTF8(text[:head], "") + "…" + strings.ToValidUTF8(text[len(text)-tail:], "")
}

// Apply sets what raw, a JSON object, names. An empty raw and null set nothing.
// The object may hold the settings directly, or under the key "quarry" among
// those of other servers, as editors that keep all settings in one place send
// them, or with "quarry." before each key.
func (s *Settings) Apply(src Source, raw []byte) []Problem {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var layer map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // one that no float64 holds costs its own setting only
	err := d.Decode(&layer)
	if !json.Valid(raw) { // more stands behind the object, or it is none
		err = json.Unmarshal(raw, &layer)
	}
	if err != nil {
		return []Problem{{Reason: fmt.Sprintf("settings are not a JSON object: %v", err)}}
	}
	if inner, ok := layer["quarry"]; ok {
		if inner == nil {
			return nil
		}
		object, ok := inner.(map[string]any)
		if !ok {
			return []Problem{{"quarry", "must be an object"}}
		}
		layer = object
	}
	for key, value := range layer {
		if short, ok := strings.CutPrefix(key, "quarry."); ok {
			delete(layer, key)
			layer[short] = value
		}
	}
	var problems []Problem
	applyObject(reflect.ValueOf(s).Elem(), layer, "", src, &problems)
	return problems
}

// ApplyEditor sets what the layers an editor sent name, weakest first, over what the user said.
// They may forbid more than the user, not less: of the fields tagged `merge:"forbid"` a false
// stays false, and what a list leaves out stays left out.
func (s *Settings) ApplyEditor(layers ...[]byte) []Problem {
	own := *s // no layer writes into a list, so this one keeps its own
	var problems []Problem
	for _, layer := range layers {
		problems = append(problems, s.Apply(Editor, layer)...)
	}
	forbidden := map[string]reflect.Value{}
	walk(reflect.ValueOf(&own).Elem(), "", func(key string, field reflect.Value, tag reflect.StructTag) {
		if tag.Get("merge") == "forbid" {
			forbidden[key] = field
		}
	})
	walk(reflect.ValueOf(s).Elem(), "", func(key string, field reflect.Value, _ reflect.StructTag) {
		switch was, ok := forbidden[key]; {
		case !ok:
		case field.Kind() == reflect.Bool:
			field.SetBool(was.Bool() && field.Bool())
		default:
			list := slices.Clone(was.Interface().([]string))
			has := make(map[string]bool, len(list))
			for _, text := range list {
				has[text] = true
			}
			for _, text := range field.Interface().([]string) {
				if !has[text] {
					has[text] = true
					list = append(list, text)
				}
			}
			field.Set(reflect.ValueOf(list))
		}
	})
	return problems
}

func applyObject(into reflect.Value, layer map[string]any, prefix string, src Source, problems *[]Problem) {
	keys := make([]string, 0, len(layer))
	for key := range layer {
		keys = append(keys, key)
	}
	slices.Sort(keys) // so that the warning reads the same every time
	for _, key := range keys {
		value, full := layer[key], join(prefix, key)
		// Editors flatten nested keys as they like: "ollama.keepAlive".
		head, rest, dotted := strings.Cut(key, ".")
		if dotted {
			key, value = head, map[string]any{rest: value}
			full = join(prefix, head)
		}
		field, i := fieldByKey(into, key)
		switch {
		case strings.HasPrefix(key, "$"):
			// "$schema" and the like belong to the user's editor.
		case i < 0:
			*problems = append(*problems, Problem{brief(full), "no such setting" + suggestion(into, prefix, key)})
		case value == nil:
			// null is how VS Code says "not set".
		case field.Kind() == reflect.Struct:
			object, ok := value.(map[string]any)
			if !ok {
				*problems = append(*problems, Problem{full, "must be an object"})
				continue
			}
			applyObject(field, object, full, src, problems)
		case src == Editor && into.Type().Field(i).Tag.Get("scope") == "user":
			*problems = append(*problems, Problem{full, "not taken from the editor, because a workspace could have set it; put it into " + displayPath(UserFilePath())})
		default:
			if err := setField(field, into.Type().Field(i).Tag, value); err != nil {
				*problems = append(*problems, Problem{full, brief(err.Error())})
			}
		}
	}
}

// ApplyEnvironment sets what the environment names: QUARRY_ and the key in
// capitals with underscores (QUARRY_COMPLETION_MAX_TOKENS), and OLLAMA_HOST,
// which QUARRY_OLLAMA_URL overrides.
func (s *Settings) ApplyEnvironment(lookup func(string) (string, bool)) []Problem {
	var problems []Problem
	if host, ok := lookup("OLLAMA_HOST"); ok && host != "" {
		s.Ollama.URL = host
	}
	walk(reflect.ValueOf(s).Elem(), "", func(key string, field reflect.Value, tag reflect.StructTag) {
		name := EnvironmentName(key)
		text, ok := lookup(name)
		if !ok || text == "" {
			return
		}
		if err := setText(field, tag, text); err != nil {
			problems = append(problems, Problem{name, err.Error()})
		}
	})
	return problems
}

// EnvironmentName is the variable that sets the dotted key.
func EnvironmentName(key string) string {
	var b strings.Builder
	b.WriteString("QUARRY_")
	previous := '.'
	for _, r := range key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r) && !unicode.IsUpper(previous) && previous != '.':
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
		previous = r
	}
	return b.String()
}

// UserFilePath is where the user's own settings are: settings.json in quarry's
// folder of the platform's configuration folder, "" if the platform names none.
func UserFilePath() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "quarry", "settings.json")
}

// ApplyFile sets what the file at path names. A missing file sets nothing.
func (s *Settings) ApplyFile(path string) []Problem { return new(LastFile).Apply(s, path) }

// LastFile is what the user's file said when it could be read last. A comma too many, or an editor that has written half of
// it, must not lift what the user forbids while a server runs. It is safe for concurrent use.
type LastFile struct {
	mu   sync.Mutex
	path string
	raw  []byte // an object, nil before there was one; guarded by mu, as is path
}

// Apply sets what the file at path names, or where that is no object what it named before. A missing file sets nothing.
func (l *LastFile) Apply(s *Settings, path string) []Problem {
	l.mu.Lock()
	defer l.mu.Unlock()
	if path != l.path {
		l.path, l.raw = path, nil
	}
	raw, err := ReadUserFile(path)
	raw = plainJSON(raw)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		l.raw = nil
		return nil
	}
	var problems []Problem
	var object map[string]json.RawMessage
	switch {
	case err != nil:
		problems = []Problem{{Reason: fmt.Sprintf("read settings: %v", err)}}
	case len(bytes.TrimSpace(raw)) == 0 && l.raw != nil:
		problems = []Problem{{Reason: "settings are empty (in " + displayPath(path) + "): write {} for none"}}
	case len(raw) > 0 && json.Unmarshal(raw, &object) != nil:
		problems = s.applyFile(raw, path)
	default:
		if len(raw) > 0 {
			l.raw = raw
		}
		return s.applyFile(raw, path)
	}
	if l.raw == nil {
		return problems
	}
	for i := range problems {
		problems[i].Reason += "; what they were before holds until it is mended"
	}
	return append(problems, s.applyFile(l.raw, path)...)
}

func (s *Settings) applyFile(raw []byte, path string) []Problem {
	problems := s.Apply(UserFile, raw)
	for i := range problems {
		problems[i].Reason += " (in " + displayPath(path) + ")"
	}
	return problems
}

func displayPath(path string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return "~" + string(filepath.Separator) + rest
		}
	}
	return path
}

// setField sets field from a decoded JSON value.
func setField(field reflect.Value, tag reflect.StructTag, value any) error {
	switch v := value.(type) {
	case string:
		if field.Kind() == reflect.String || isText(field) {
			return setText(field, tag, v)
		}
	case bool:
		if field.Kind() == reflect.Bool {
			field.SetBool(v)
			return nil
		}
	case json.Number:
		n, err := v.Float64()
		switch kind := field.Kind(); {
		case kind != reflect.Float64 && kind != reflect.Int:
		case err != nil:
			return fmt.Errorf("%s is no number that a computer holds", v)
		case kind == reflect.Int && n != float64(int(n)):
			return fmt.Errorf("%v is not a whole number", n)
		default:
			return setNumber(field, tag, n)
		}
	case map[string]any:
		if field.Kind() == reflect.Map {
			return setMap(field, v)
		}
	case []any:
		if field.Kind() == reflect.Slice {
			list := make([]string, 0, len(v))
			for _, item := range v {
				text, ok := item.(string)
				if !ok {
					return fmt.Errorf("must be a list of strings, has %v", item)
				}
				list = append(list, text)
			}
			return setList(field, tag, list)
		}
	}
	return fmt.Errorf("must be %s, is %v", typeName(field), value)
}

// setText sets field from the text an environment variable or JSON string has.
func setText(field reflect.Value, tag reflect.StructTag, text string) error {
	if u, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch field.Kind() {
	case reflect.String:
		if enum := tag.Get("enum"); enum != "" && !slices.Contains(strings.Split(enum, ","), text) {
			return fmt.Errorf("%q is not one of %s", text, strings.ReplaceAll(enum, ",", ", "))
		}
		if len(text) > mostText {
			return errTooLong
		}
		field.SetString(text)
		return nil
	case reflect.Bool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is not true or false", text)
		}
		field.SetBool(v)
		return nil
	case reflect.Slice:
		return setList(field, tag, elements(text, tag.Get("glob") != ""))
	case reflect.Map:
		pairs := map[string]any{}
		for _, pair := range elements(text, false) {
			key, value, _ := strings.Cut(pair, "=")
			pairs[key] = value
		}
		return setMap(field, pairs)
	case reflect.Int:
		if v, err := strconv.Atoi(text); err == nil {
			return setNumber(field, tag, float64(v))
		}
		return fmt.Errorf("%q is not a whole number", text)
	default:
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return setNumber(field, tag, v)
		}
		return fmt.Errorf("%q is not a number", text)
	}
}

// elements are those of a list in an environment variable: commas part them, but for those within the braces and brackets of
// globs, where each that is open is closed. Spaces around an element are not its own.
func elements(text string, globs bool) (list []string) {
	var opened []rune
	escaped := false
	parts := strings.FieldsFunc(text, func(r rune) bool {
		switch last := len(opened) - 1; {
		case !globs:
		case escaped:
			escaped = false
			return false
		case r == '\\':
			escaped = true
		case last >= 0 && (r == '}' && opened[last] == '{' || r == ']' && opened[last] == '['):
			opened = opened[:last]
		case last >= 0 && opened[last] == '[':
		case r == '{', r == '[':
			opened = append(opened, r)
		}
		return r == ',' && len(opened) == 0
	})
	if len(opened) > 0 {
		return elements(text, false)
	}
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// setList sets field to the good part of a list: a bad glob does not switch the others off.
func setList(field reflect.Value, tag reflect.StructTag, list []string) error {
	var err error
	if n := len(list); n > mostEntries {
		list, err = list[:mostEntries], fmt.Errorf("it has %d entries, of which the first %d count", n, mostEntries)
	}
	if tag.Get("glob") != "" {
		list = slices.DeleteFunc(list, func(text string) bool {
			_, bad := glob.Compile(text)
			switch {
			case bad != nil:
				err = fmt.Errorf("%q is not a glob: %w", text, bad)
			case err == nil && strings.HasPrefix(text, "!"): // which re-includes in a .gitignore, whose order this list does not have
				err = fmt.Errorf("%q re-includes nothing: remove it, or write %q for names that begin with an exclamation mark", text, `\`+text)
			}
			return bad != nil
		})
	}
	// Globs have a bound of their own.
	if tag.Get("glob") == "" && slices.ContainsFunc(list, func(text string) bool { return len(text) > mostText }) {
		return errTooLong
	}
	if tag.Get("merge") == "union" { // a layer may add to what the user leaves out, not take it in
		list = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(field.Interface().([]string)), list...))))
	}
	field.Set(reflect.ValueOf(list))
	return err
}

// setMap sets field to the good part of pairs of texts.
func setMap(field reflect.Value, pairs map[string]any) error {
	var err error
	good := maps.Clone(field.Interface().(map[string]string)) // layers add up, and so do dotted keys
	if good == nil {
		good = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		if text, ok := pairs[key].(string); ok && key != "" && text != "" {
			good[key] = text
		} else if err == nil {
			err = fmt.Errorf("%q must have a text, has %v", key, pairs[key])
		}
	}
	field.Set(reflect.ValueOf(good))
	return err
}

func setNumber(field reflect.Value, tag reflect.StructTag, v float64) error {
	if math.IsNaN(v) {
		return errors.New("must be a number")
	}
	if lo, err := strconv.ParseFloat(tag.Get("min"), 64); err == nil && v < lo {
		return fmt.Errorf("%v is below the least value %v", v, lo)
	}
	if hi, err := strconv.ParseFloat(tag.Get("max"), 64); err == nil && v > hi {
		return fmt.Errorf("%v is above the greatest value %v", v, hi)
	}
	if field.Kind() == reflect.Int {
		field.SetInt(int64(v))
	} else {
		field.SetFloat(v)
	}
	return nil
}

// walk calls visit for every setting in the order of the struct.
func walk(v reflect.Value, prefix string, visit func(key string, field reflect.Value, tag reflect.StructTag)) {
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		key := join(prefix, tag.Get("json"))
		if v.Field(i).Kind() == reflect.Struct {
			walk(v.Field(i), key, visit)
			continue
		}
		visit(key, v.Field(i), tag)
	}
}

func fieldByKey(v reflect.Value, key string) (reflect.Value, int) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("json") == key {
			return v.Field(i), i
		}
	}
	return reflect.Value{}, -1
}

// suggestion names the setting that key most likely means: the same letters in
// another case, or one that begins alike or is a letter away.
func suggestion(v reflect.Value, prefix, key string) string {
	for i := range v.NumField() {
		have := v.Type().Field(i).Tag.Get("json")
		if strings.EqualFold(have, key) || len(key) >= 4 && (strings.HasPrefix(strings.ToLower(have), strings.ToLower(key[:4])) || aLetterAway(have, key)) {
			return fmt.Sprintf("; did you mean %q?", join(prefix, have))
		}
	}
	return ""
}

// aLetterAway is whether a becomes b by a letter that comes, goes, is another or changes places with the next.
func aLetterAway(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	at := 0
	for at < len(b) && a[at] == b[at] {
		at++
	}
	if len(a) > len(b) {
		return a[at+1:] == b[at:]
	}
	return at == len(a) || a[at+1:] == b[at+1:] || at+1 < len(a) && a[at] == b[at+1] && a[at+1] == b[at] && a[at+2:] == b[at+2:]
}

func isText(field reflect.Value) bool {
	_, ok := field.Addr().Interface().(encoding.TextUnmarshaler)
	return ok
}

func typeName(field reflect.Value) string {
	switch {
	case isText(field):
		return `a duration such as "30m"`
	case field.Kind() == reflect.Bool:
		return "true or false"
	case field.Kind() == reflect.Int:
		return "a whole number"
	case field.Kind() == reflect.Float64:
		return "a number"
	case field.Kind() == reflect.Slice:
		return "a list of strings"
	case field.Kind() == reflect.Map:
		return "an object of strings"
	}
	return "a string"
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}
