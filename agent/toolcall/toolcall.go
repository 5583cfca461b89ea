// Package toolcall reads the tool calls in what a model wrote.
//
// Models are asked for one form and write several. Parse takes those that leave
// no doubt:
//
//	{"type":"tool_call","calls":[{"id":"1","name":"read_file","arguments":"{}"}]}
//	<tool_call>{"name":"read_file","arguments":{}}</tool_call>
//	{"name":"read_file","arguments":{}}
//	{"id":"1","type":"function","function":{"name":"read_file","arguments":"{}"}}
//
// also as a list, in a message of OpenAI's interface, in a code fence, and between
// words. The first is the form in which a model.Runtime hands on what a server took out of
// the answer. Arguments are an object, or a string that holds one.
//
// A call is taken whole or not at all, and so is an answer: one call in it that
// cannot be read means that none runs, because what the model meant is then
// unknown. What holds no call is the model's answer to the user. All functions
// are pure.
package toolcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Call asks for one tool.
type Call struct {
	// ID is what the model calls it, often "".
	ID   string
	Name string
	// Arguments is a JSON object without blanks between its parts.
	Arguments json.RawMessage
}

// String is the call as Granite writes it, for a conversation in which quarry
// made the call itself.
func (c Call) String() string {
	return fmt.Sprintf("%s\n{\"name\": %q, \"arguments\": %s}\n%s", openTag, c.Name, c.Arguments, closeTag)
}

// Parsed is what an answer turned out to be.
type Parsed struct {
	// Calls are in the order written; none makes it an answer to the user.
	Calls []Call
	// Broken is why something that looks like a call is none, "" if nothing
	// does. There are no Calls then.
	Broken string
}

// The marks around a call: Granite 4's, which other families share, and
// Granite 3's, which has no end.
const (
	openTag, closeTag = "<tool_call>", "</tool_call>"
	oldTag            = "<|tool_call|>"
)

// maxValues bounds the JSON values looked at between words, each of which is a
// new attempt to decode.
const maxValues = 64

// Parse reads the calls in an answer. known says which names are tools: between
// words, or without a mark that makes it a call, JSON is one only if it names
// one. Where there is a mark, other names are handed on, for an error that the
// model can learn from.
func Parse(text string, known func(name string) bool) Parsed {
	text = AfterThought(text)
	var calls []Call
	var err error
	if strings.Contains(text, openTag) || strings.Contains(text, oldTag) {
		calls, err = tagged(text)
	} else {
		calls, err = bare(text, known)
	}
	if err == nil && len(calls) > 0 && !utf8.ValidString(text) {
		err = fmt.Errorf("the call is not UTF-8")
	}
	if err != nil {
		return Parsed{Broken: err.Error()}
	}
	return Parsed{Calls: calls}
}

// AfterThought is what a model wrote after thinking aloud between <think> and
// </think>; nothing while it still thinks.
func AfterThought(text string) string {
	if !begins(strings.TrimSpace(text), "<think>") || strings.TrimSpace(text) == "" {
		return text
	}
	_, after, _ := strings.Cut(text, "</think>")
	return after
}

// tagged reads what follows each mark. The JSON is decoded rather than its end
// looked for, since an argument may hold a mark.
func tagged(text string) (calls []Call, err error) {
	for {
		body, ok := afterTag(text)
		if !ok {
			return calls, nil
		}
		body, fence := openFence(body)
		n := len(calls)
		for {
			value, rest, err := decode(body)
			if err != nil {
				return nil, fmt.Errorf("what follows %s is not JSON: %w", openTag, err)
			}
			found, err := read(value, true, nil)
			if err != nil {
				return nil, err
			}
			calls, body = append(calls, found...), strings.TrimSpace(rest)
			if !strings.HasPrefix(body, "{") && !strings.HasPrefix(body, "[") {
				break
			}
		}
		if fence {
			body = strings.TrimSpace(strings.TrimPrefix(body, "```"))
		}
		rest, closed := strings.CutPrefix(body, closeTag)
		if !closed && body != "" && !strings.HasPrefix(body, openTag) && !strings.HasPrefix(body, oldTag) {
			return nil, fmt.Errorf("the call is followed by %q instead of %s", head(body), closeTag)
		}
		if len(calls) == n {
			return nil, fmt.Errorf("there is nothing between the tags")
		}
		text = rest
	}
}

// afterTag is what follows the first mark.
func afterTag(text string) (body string, ok bool) {
	at, length := strings.Index(text, openTag), len(openTag)
	if i := strings.Index(text, oldTag); i >= 0 && (at < 0 || i < at) {
		at, length = i, len(oldTag)
	}
	if at < 0 {
		return "", false
	}
	return strings.TrimSpace(text[at+length:]), true
}

// openFence takes a code fence off the beginning.
func openFence(text string) (body string, fence bool) {
	rest, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text, false
	}
	_, body, _ = strings.Cut(rest, "\n")
	return body, true
}

// bare reads calls that stand without a mark, with words around them or not.
func bare(text string, known func(string) bool) (calls []Call, err error) {
	var broken, doubt error
	text = withoutCode(text)
	for range maxValues {
		i := strings.IndexAny(text, "{[")
		if i < 0 {
			break
		}
		value, rest, err := decode(text[i:])
		if err != nil {
			switch {
			case names(text[i:], known):
				broken = fmt.Errorf("the call is not JSON: %w", err)
			case begins(text[i:], text[i:i+1]+`"`):
				doubt = fmt.Errorf("the call stands in JSON that is not whole: %w", err)
			}
			text = text[i+1:]
			continue
		}
		found, err := read(value, false, known)
		if err != nil {
			broken = err
		}
		calls, text = append(calls, found...), rest
	}
	if broken == nil && len(calls) > 0 {
		broken = doubt
	}
	if broken != nil {
		return nil, broken
	}
	return calls, nil
}

// Shaped answers whether text begins with a JSON object that has a name and
// arguments. If the name is no tool's that is no call, but no answer to a user
// either.
func Shaped(text string) bool {
	value, _, err := decode(text)
	if err != nil || value[0] != '{' {
		return false
	}
	var call struct {
		Name      string
		Arguments map[string]json.RawMessage
	}
	return json.Unmarshal(value, &call) == nil && call.Name != "" && call.Arguments != nil
}

// withoutCode is text without the fenced blocks that are marked as code of some
// language: a program that holds a call is not one.
func withoutCode(text string) string {
	if !strings.Contains(text, "```") {
		return text
	}
	var kept strings.Builder
	code, inside := false, false
	for line := range strings.Lines(text) {
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && inside:
			inside, code = false, false
		case fence && !strings.Contains(info, "```"):
			inside, code = true, !callFence(info)
			if beginsJSON(info) {
				kept.WriteString(info + "\n")
			}
		case !code:
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func beginsJSON(info string) bool {
	info = strings.TrimSpace(info)
	return strings.HasPrefix(info, "{") || strings.HasPrefix(info, "[")
}

// callFence answers whether a fence with this info string may hold a call, or
// begins one itself.
func callFence(info string) bool {
	if beginsJSON(info) {
		return true
	}
	switch strings.ToLower(strings.TrimSpace(info)) {
	case "", "json", "jsonc", "tool_call", "tool_calls", "tool", "xml", "text", "plaintext":
		return true
	}
	return false
}

// names answers whether broken JSON would have been a call: it begins as one of
// the wrappers does, or gives a known name.
func names(text string, known func(string) bool) bool {
	text = strings.TrimLeft(text, "[{ \t\r\n")
	for _, key := range []string{`"type"`, `"calls"`, `"tool_calls"`, `"function"`, `"id"`, `"name"`} {
		rest, ok := strings.CutPrefix(text, key)
		if !ok {
			continue
		}
		switch key {
		case `"calls"`, `"tool_calls"`:
			return true
		}
		for len(rest) > 0 { // some string soon after is a tool's name
			i := strings.IndexByte(rest, '"')
			if i < 0 || i > 40 {
				return key == `"type"` && strings.HasPrefix(strings.TrimLeft(rest, ": "), `"tool_call`)
			}
			word, after, ok := strings.Cut(rest[i+1:], `"`)
			if !ok {
				return false
			}
			if word == "tool_call" || known(word) {
				return true
			}
			rest = after
		}
	}
	return false
}

// decode reads the JSON value that text begins with.
func decode(text string) (value json.RawMessage, rest string, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&value); err != nil {
		return nil, "", err
	}
	return value, text[d.InputOffset():], nil
}

// head is the beginning of a text, for a message.
func head(text string) string {
	const most = 20
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// compact takes the blanks out of a JSON value.
func compact(value []byte) (json.RawMessage, error) {
	var b bytes.Buffer
	err := json.Compact(&b, value)
	return b.Bytes(), err
}
