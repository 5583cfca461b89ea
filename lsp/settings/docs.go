package settings

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Schema is the JSON schema (draft 2020-12) of the user's file and of what the
// editor sends. Its own keyword x-merge says how an editor's layers go together:
// forbid, as ApplyEditor has it, or union.
func Schema() []byte {
	d := Default()
	schema := objectSchema(reflect.ValueOf(&d).Elem())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "quarry settings"
	out, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("settings schema: %v", err)) // maps of plain values always encode
	}
	return append(out, '\n')
}

func objectSchema(v reflect.Value) map[string]any {
	properties := map[string]any{}
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		if field.Kind() == reflect.Struct {
			properties[tag.Get("json")] = objectSchema(field)
			continue
		}
		property := map[string]any{"description": tag.Get("doc"), "default": field.Interface()}
		switch field.Kind() {
		case reflect.Bool:
			property["type"] = "boolean"
		case reflect.Int:
			property["type"] = "integer"
		case reflect.Float64:
			property["type"] = "number"
		case reflect.Slice:
			property["type"] = "array"
			property["items"] = map[string]any{"type": "string"}
		case reflect.Map:
			property["type"] = "object"
			property["additionalProperties"] = map[string]any{"type": "string"}
		default: // a string, or a type that is written as one
			property["type"] = "string"
		}
		if enum := tag.Get("enum"); enum != "" {
			property["enum"] = strings.Split(enum, ",")
		}
		if merge := tag.Get("merge"); merge != "" {
			property["x-merge"] = merge
		}
		for tagName, name := range map[string]string{"min": "minimum", "max": "maximum"} {
			if n, err := strconv.ParseFloat(tag.Get(tagName), 64); err == nil {
				property[name] = n
			}
		}
		properties[tag.Get("json")] = property
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// Table is the option table of docs/settings.md in Markdown, and that of the profiles.
func Table() string {
	var b strings.Builder
	b.WriteString("| Setting | Default | Range | Meaning |\n|---|---|---|---|\n")
	d := Default()
	walk(reflect.ValueOf(&d).Elem(), "", func(key string, field reflect.Value, tag reflect.StructTag) {
		value, _ := json.Marshal(field.Interface()) // plain values always encode
		allowed := strings.ReplaceAll(tag.Get("enum"), ",", ", ")
		if tag.Get("min") != "" {
			allowed = tag.Get("min") + " to " + tag.Get("max")
		}
		doc := tag.Get("doc")
		if tag.Get("scope") == "user" {
			doc += " *User only.*"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", key, value, allowed, doc)
	})
	return b.String() + profileTable()
}
