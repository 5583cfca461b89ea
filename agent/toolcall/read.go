package toolcall

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// read finds the calls in a JSON value. marked says that something besides its
// shape makes it a call; then a value that is none is an error, and so is a call
// that is not whole. Without it, only JSON that is exactly a call of a known tool
// is one.
func read(value json.RawMessage, marked bool, known func(string) bool) ([]Call, error) {
	if value[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil {
			return nil, err
		}
		return readList(list, marked, known)
	}
	fields, err := object(value)
	if err != nil {
		if marked || names(string(value), known) {
			return nil, err
		}
		return nil, nil
	}
	for _, key := range []string{"calls", "tool_calls"} {
		inner, ok := fields[key]
		if !ok {
			continue
		}
		var list []json.RawMessage
		if kind := text(fields["type"]); json.Unmarshal(inner, &list) != nil || key == "calls" && kind != "tool_call" && kind != "tool_calls" {
			break
		}
		if len(list) == 0 {
			return nil, nil // a message that happens to have the field
		}
		return readList(list, true, known)
	}
	return readCall(fields, marked, known)
}

// readList reads a list of calls: all of them or none.
func readList(list []json.RawMessage, marked bool, known func(string) bool) (calls []Call, err error) {
	for _, item := range list {
		if item[0] != '{' {
			if marked {
				return nil, fmt.Errorf("the list of calls holds %s", head(string(item)))
			}
			return nil, nil
		}
		fields, err := object(item)
		if err != nil {
			return nil, err
		}
		found, err := readCall(fields, marked, known)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			if len(calls) > 0 {
				return nil, fmt.Errorf("the list holds calls and something else")
			}
			return nil, nil
		}
		calls = append(calls, found...)
	}
	return calls, nil
}

// readCall reads one call from an object's fields.
func readCall(fields map[string]json.RawMessage, marked bool, known func(string) bool) ([]Call, error) {
	none := func(why string) ([]Call, error) {
		if marked {
			return nil, fmt.Errorf("%s", why)
		}
		return nil, nil
	}
	outer := fields
	if inner, ok := fields["function"]; ok {
		if inner[0] != '{' {
			return none("the call's function is not an object")
		}
		var err error
		if fields, err = object(inner); err != nil {
			return nil, err
		}
		marked = marked || text(outer["type"]) == "function"
	}
	name := text(fields["name"])
	if name == "" {
		return none("the call has no name")
	}
	if !marked {
		if !known(name) {
			return nil, nil
		}
		for key := range fields {
			switch key {
			case "id", "type", "name", "arguments", "parameters", "index":
			default:
				return nil, nil
			}
		}
	}
	args, ok := fields["arguments"]
	if parameters, both := fields["parameters"]; both {
		if ok {
			return nil, fmt.Errorf("the call of %s has both arguments and parameters", name)
		}
		args, ok = parameters, true
	}
	if !ok && !marked {
		return nil, nil // {"name":"list_files"} may be about anything
	}
	whole, err := arguments(args)
	if err != nil {
		return nil, fmt.Errorf("the arguments of %s: %w", name, err)
	}
	id := text(fields["id"])
	if outerID := text(outer["id"]); outerID != "" {
		id = outerID
	}
	return []Call{{ID: id, Name: name, Arguments: whole}}, nil
}

// arguments makes what a call gives an object. Nothing, null and "" are an empty
// one.
func arguments(value json.RawMessage) (json.RawMessage, error) {
	if len(value) > 0 && value[0] == '"' {
		value = json.RawMessage(text(value))
	}
	value = bytes.TrimSpace(value)
	if len(value) == 0 || string(value) == "null" {
		return json.RawMessage("{}"), nil
	}
	if value[0] != '{' {
		return nil, fmt.Errorf("%s is not an object", head(string(value)))
	}
	if _, err := object(value); err != nil {
		return nil, err
	}
	return compact(value)
}

// object reads the fields of a JSON object, and refuses one that names a field
// twice: who checks it and who uses it might not take the same.
func object(value json.RawMessage) (map[string]json.RawMessage, error) {
	if !json.Valid(value) {
		return nil, fmt.Errorf("%s is not JSON", head(string(value)))
	}
	d := json.NewDecoder(bytes.NewReader(value))
	if _, err := d.Token(); err != nil { // the brace
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if _, twice := fields[name]; !ok || twice {
			return nil, fmt.Errorf("%q is there twice", name)
		}
		var field json.RawMessage
		if err := d.Decode(&field); err != nil {
			return nil, err
		}
		fields[name] = field
	}
	return fields, nil
}

// text is a JSON string's value, "" for anything else.
func text(value json.RawMessage) string {
	var s string
	if len(value) == 0 || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}
