package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// SetInFile sets the setting of a dotted key in the settings file at path, which is
// made if there is none. Everything else in the file stays as it is, byte for byte; a
// file that is no JSON object is left alone.
func SetInFile(path, key string, value any) error {
	raw, err := ReadUserFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := setInObject(raw, key, value)
	if err != nil {
		return fmt.Errorf("%s: %w", displayPath(path), err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil { // a link stays one
		path = real
	}
	mode := fs.FileMode(0o600) // a new one is the user's alone
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := MakeFolder(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return ReplaceFile(path, text, mode)
}

// maxUserFile is the size in bytes of the largest file of the user's that is read: many
// times what anybody writes.
const maxUserFile = 1 << 20

// ReadUserFile reads what the user wrote for quarry. A pipe in its place would be waited
// for, and a device has no end: only a file of a fitting size is read.
func ReadUserFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file; remove it, or put a file there", displayPath(path))
	case info.Size() > maxUserFile:
		return nil, fmt.Errorf("%s has %d MB, more than quarry reads (1 MB); shorten it", displayPath(path), info.Size()>>20)
	}
	raw, err := os.ReadFile(path)
	return bytes.TrimPrefix(raw, []byte("\ufeff")), err // which Windows' Notepad writes
}

// mostBrackets bounds the brackets of a text whose comments are looked for: the parser that does
// calls itself for each.
const mostBrackets = 10_000

// plainJSON is JSON with comments and commas at ends, as editors' settings have them, with blanks
// in their place: each byte of the rest stands where it stood. What is neither stays as it is.
func plainJSON(raw []byte) []byte {
	if bytes.Count(raw, []byte("{"))+bytes.Count(raw, []byte("[")) > mostBrackets {
		return raw
	}
	// A comment may be the last line of a file and have no end, which hujson does not take.
	plain, err := hujson.Standardize(append(bytes.Clone(raw), '\n'))
	if err != nil {
		return raw
	}
	return plain[:len(raw)]
}

// setInObject is the JSON object raw, which may have comments, with value for key.
func setInObject(raw []byte, key string, value any) ([]byte, error) {
	plain := plainJSON(raw)
	written, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	group, rest, _ := strings.Cut(key, ".")
	name, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return fmt.Appendf(nil, "{\n  %s: %s\n}\n", name, written), nil
	}
	if !json.Valid(plain) {
		var object map[string]any
		return nil, fmt.Errorf("settings are not a JSON object: %w", json.Unmarshal(plain, &object))
	}
	members, open, err := membersOf(plain)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		switch m.key {
		case key, "quarry." + key:
			return bytes.Join([][]byte{raw[:m.start], written, raw[m.end:]}, nil), nil
		case "quarry", group: // group is key itself where nothing is nested
			within := key
			if m.key == group {
				within = rest
			}
			inner, err := setInObject(raw[m.start:m.end], within, value)
			if err != nil {
				return nil, err
			}
			return bytes.Join([][]byte{raw[:m.start], inner, raw[m.end:]}, nil), nil
		}
	}
	// The new one is the first, with the white space that stood before the first.
	blank := []byte("\n  ")
	tail := raw[open:]
	var after []byte
	if len(members) > 0 {
		blank = tail[:len(tail)-len(bytes.TrimLeft(tail, " \t\r\n"))]
		after = []byte(",")
	} else {
		tail = append([]byte("\n"), bytes.TrimLeft(tail, " \t\r\n")...) // which may be a comment
	}
	return bytes.Join([][]byte{raw[:open], blank, name, []byte(": "), written, after, tail}, nil), nil
}

// member is a member of an object, its value at [start, end) of the object's text.
type member struct {
	key        string
	start, end int
}

// membersOf are the members of a valid JSON object, and the offset behind its brace.
func membersOf(raw []byte) (list []member, open int, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, 0, errors.New("settings are not a JSON object")
	}
	open = int(d.InputOffset())
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, 0, err
		}
		key, _ := t.(string) // of an object every other token is
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, 0, err
		}
		end := int(d.InputOffset())
		list = append(list, member{key, end - len(value), end})
	}
	return list, open, nil
}
