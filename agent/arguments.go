package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxArgumentBytes bounds the arguments of one call.
const maxArgumentBytes = 1 << 20

// arguments checks what a model wrote against the tool's schema and fills in
// defaults. A null stands for an argument left out. Whether the arguments are
// valid is the schema's to say; the words are for a small model: which argument,
// what is expected, what it wrote.
func (t *tool) arguments(raw json.RawMessage) (args json.RawMessage, warnings []string, err error) {
	if len(raw) > maxArgumentBytes {
		return nil, nil, Failf(TooLarge, "the arguments have %d bytes, more than %d; make several smaller calls", len(raw), maxArgumentBytes)
	}
	given := map[string]any{}
	if len(bytes.TrimSpace(raw)) > 0 {
		dec := json.NewDecoder(bytes.NewReader(raw))
		err := dec.Decode(&given)
		if err == nil {
			if _, err = dec.Token(); err == io.EOF {
				err = nil
			} else {
				err = fmt.Errorf("more follows the closing brace")
			}
		}
		var mistyped *json.UnmarshalTypeError
		switch {
		case errors.As(err, &mistyped) && strings.HasPrefix(mistyped.Value, "number "):
			return nil, nil, Failf(InvalidArguments, "%s is too large. %s", clip(mistyped.Value, 60), t.usage())
		case err != nil:
			return nil, nil, Failf(InvalidArguments, "the arguments are not one JSON object (%v). %s", err, t.usage())
		}
	}
	if given == nil {
		given = map[string]any{} // the arguments were null
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := t.schema.Properties[name]; known {
			if given[name] == nil {
				delete(given, name)
			}
			continue
		}
		if meant := t.meant(name, given); meant != "" && given[name] != nil {
			given[meant] = given[name]
			warnings = append(warnings, clip(fmt.Sprintf("there is no argument %q; it was read as %q", name, meant), maxMessageBytes))
		} else {
			warnings = append(warnings, clip(fmt.Sprintf("there is no argument %q; it was ignored", name), maxMessageBytes))
		}
		delete(given, name)
	}
	if len(warnings) > 3 {
		warnings = append(warnings[:3], fmt.Sprintf("%d more arguments were ignored", len(warnings)-3))
	}
	if err := t.resolved.ApplyDefaults(&given); err != nil {
		return nil, nil, fmt.Errorf("fill in the defaults of %s: %w", t.Name, err)
	}
	if err := t.resolved.Validate(given); err != nil {
		faults := faultsOf(t.schema, given, "")
		if len(faults) == 0 {
			faults = []string{err.Error()}
		}
		return nil, nil, Failf(InvalidArguments, "%s. %s", strings.Join(faults[:min(mostFaults, len(faults))], "; "), t.usage())
	}
	args, err = json.Marshal(given)
	return args, warnings, err
}

// meant is the only argument that was not given and whose name goes on after a name that there
// is not, such as symbol_id after symbol, "" if there is none. Models shorten names, and a
// question about one symbol without it would be another question. What begins the name of a yes or
// no says nothing of it: "include" is a pattern to other tools, and not include_hidden.
func (t *tool) meant(name string, given map[string]any) (meant string) {
	for property, schema := range t.schema.Properties {
		if given[property] != nil || schema.Type == "boolean" || !strings.HasPrefix(property, name+"_") {
			continue
		}
		if meant != "" {
			return ""
		}
		meant = property
	}
	return meant
}

// decodeArguments puts valid arguments into a struct. Whole numbers that no int
// holds are the one thing the schemas let through.
func decodeArguments[T any](args json.RawMessage) (v T, err error) {
	var mistyped *json.UnmarshalTypeError
	switch err := json.Unmarshal(args, &v); {
	case errors.As(err, &mistyped):
		return v, Failf(InvalidArguments, "%s is too large a number", mistyped.Field)
	case err != nil:
		return v, fmt.Errorf("decode the arguments: %w", err)
	}
	return v, nil
}

// usage is the tool's arguments in one line.
func (t *tool) usage() string {
	var required, optional []string
	for _, name := range t.schema.Required {
		required = append(required, name+" ("+expected(t.schema.Properties[name])+")")
	}
	for _, name := range slices.Sorted(maps.Keys(t.schema.Properties)) {
		if !slices.Contains(t.schema.Required, name) {
			optional = append(optional, name+" ("+expected(t.schema.Properties[name])+")")
		}
	}
	var parts []string
	if len(required) > 0 {
		parts = append(parts, strings.Join(required, ", "))
	}
	if len(optional) > 0 {
		parts = append(parts, "optional "+strings.Join(optional, ", "))
	}
	return "Arguments of " + t.Name + ": " + strings.Join(parts, "; ")
}

// mostFaults is how many faults of a call are said.
const mostFaults = 3

// faultsOf says in words what is wrong with a value. where is its name, "" for
// the arguments as a whole.
func faultsOf(s *jsonschema.Schema, value any, where string) (faults []string) {
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	if !hasType(s.Type, value) || !inRange(s, value) || len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		return []string{fmt.Sprintf("%s must be %s, not %s", where, expected(s), quoted(value))}
	}
	if isObject {
		for _, name := range s.Required {
			if _, ok := object[name]; !ok {
				faults = append(faults, within(where, name)+" is missing")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if v, ok := object[name]; ok {
				faults = append(faults, faultsOf(s.Properties[name], v, within(where, name))...)
			}
		}
	}
	if isList && s.Items != nil {
		for i, v := range list {
			if len(faults) >= mostFaults {
				break
			}
			faults = append(faults, faultsOf(s.Items, v, fmt.Sprintf("%s[%d]", where, i))...)
		}
	}
	return faults
}

func within(where, name string) string {
	if where == "" {
		return name
	}
	return where + "." + name
}

func hasType(name string, value any) bool {
	switch v := value.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func inRange(s *jsonschema.Schema, value any) bool {
	n, ok := value.(float64)
	return !ok || (s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum)
}

// expected describes what a schema takes.
func expected(s *jsonschema.Schema) string {
	if len(s.Enum) > 0 {
		names := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			names[i] = fmt.Sprint(v)
		}
		return "one of " + strings.Join(names, ", ")
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	switch s.Type {
	case "integer":
		switch {
		case s.Minimum != nil && s.Maximum != nil:
			return "a whole number from " + number(*s.Minimum) + " to " + number(*s.Maximum)
		case s.Minimum != nil:
			return "a whole number, at least " + number(*s.Minimum)
		}
		return "a whole number"
	case "boolean":
		return "true or false"
	case "array":
		if s.Items != nil && s.Items.Type == "object" {
			return "a list of objects" + strings.TrimPrefix(expected(s.Items), "an object")
		}
		return "a list of strings"
	case "object":
		var names []string
		for _, name := range s.Required {
			names = append(names, name+" ("+expected(s.Properties[name])+")")
		}
		return "an object with " + strings.Join(names, ", ")
	}
	return "a string"
}

// quoted is a value as a message shows it.
func quoted(value any) string {
	raw, err := encode(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	text := string(raw)
	if utf8.RuneCountInString(text) > 40 {
		text = clip(text, 60)
	}
	return text
}
