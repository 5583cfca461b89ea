package setup

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// helixLanguages are those that quarry parses, by Helix's names for them. Markdown has
// what quarry answers, too.
var helixLanguages = strings.Fields(`bash c c-sharp cpp css dockerfile elixir go hcl html java javascript jsx kotlin lua
	markdown php protobuf python ruby rust scala sql swift toml tsx typescript yaml`)

// helixServers is quarry beside the servers that a language has in Helix already. A list
// of servers in languages.toml takes the place of Helix's own, so that it must name those.
type helixServers struct {
	table tomlTable
	// servers are those of a language; false if Helix does not know it.
	servers func(language string) ([]string, bool, error)
}

// How much of a language's entry is quarry's, in kept.Made.
const (
	madeEntry = iota
	madeLine
	madeElement
)

func (h helixServers) put(text []byte) ([]byte, []kept, error) {
	text, mark := cutMark(text)
	text, memory, err := h.table.put(text)
	if err != nil {
		return nil, nil, err
	}
	var added []string
	for _, name := range helixLanguages {
		at, there := findLanguage(text, name)
		if there && at.has("quarry") {
			continue
		}
		k := kept{Key: []string{"language", name}, Made: madeElement}
		if there && at.servers != nil {
			if text, err = at.addElement(text); err != nil {
				return nil, nil, err
			}
			memory = append(memory, k)
			continue
		}
		servers, known, err := h.servers(name)
		if err != nil {
			return nil, nil, err
		}
		if !known {
			continue
		}
		line := "language-servers = " + quoteAll(append(servers, "quarry"))
		if there {
			k.Made, k.Was = madeLine, line
			end := lineEnd(text, at.name.to)
			if nl := newline(text); end == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
				line = nl + line
			} else {
				line += nl
			}
			text = splice(text, end, end, line)
		} else {
			k.Made = madeEntry
			added = append(added, fmt.Sprintf("[[language]]\nname = %q\n%s", name, line))
		}
		memory = append(memory, k)
	}
	if len(added) > 0 {
		text = appendLines(text, strings.Join(added, "\n\n"))
	}
	if _, err := decodeTOML(text); err != nil {
		return nil, nil, fmt.Errorf("quarry's lines would not be TOML beside what is there (%w)", err)
	}
	return slices.Concat(mark, text), memory, nil
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteTOML(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func (h helixServers) format() string { return "helix" }

func takeHelix(text []byte, of []kept) ([]byte, error) {
	i := slices.IndexFunc(of, func(k kept) bool { return k.Key[0] == "language" })
	if i < 0 {
		i = len(of)
	}
	text, mark := cutMark(text)
	text, err := takeTOML(text, of[:i])
	if err != nil {
		return nil, err
	}
	for _, k := range slices.Backward(of[i:]) {
		at, there := findLanguage(text, k.Key[1])
		if !there || at.servers == nil || !at.has("quarry") {
			continue // somebody took it out
		}
		switch {
		case k.Made == madeEntry && at.keys == 2:
			text = cutLines(text, at.from, at.to)
		case k.Made == madeLine && string(text[at.servers.from:at.servers.to]) == k.Was:
			text = splice(text, at.servers.from, lineEnd(text, at.servers.to), "")
		default:
			text = at.removeElement(text, "quarry")
		}
	}
	if _, err := decodeTOML(text); err != nil {
		return nil, fmt.Errorf("without quarry's lines it would not be TOML any more (%w); remove them by hand", err)
	}
	return slices.Concat(mark, text), nil
}

// languageEntry is a [[language]] of languages.toml.
type languageEntry struct {
	from, to int // of its lines
	keys     int
	name     tomlItem
	servers  *tomlItem // nil if it has none of its own
}

// findLanguage is the last entry of a language: it is the one that Helix goes by. Keys of
// the tables below it, as of [language.debugger], which has a name too, are none of it.
func findLanguage(text []byte, name string) (found languageEntry, ok bool) {
	var at languageEntry
	inside, below := false, false
	end := func() {
		if inside && at.name.value.text == name {
			found, ok = at, true
		}
		inside = false
	}
	for _, item := range readTOML(text) {
		switch {
		case item.kind == unstable.ArrayTable && equalKeys(item.key, []string{"language"}):
			end()
			inside, below, at = true, false, languageEntry{from: item.from, to: item.to}
			continue
		case item.kind != unstable.KeyValue && (len(item.key) < 2 || item.key[0] != "language"):
			end()
		case inside && item.kind != unstable.KeyValue: // a table of the language
			at.keys, below = at.keys+1, true
		case inside && below:
		case inside && equalKeys(item.key, []string{"name"}):
			at.keys, at.name = at.keys+1, item
		case inside && equalKeys(item.key, []string{"language-servers"}):
			at.keys, at.servers = at.keys+1, &item
		case inside:
			at.keys++
		}
		if inside {
			at.to = lineEnd(text, max(item.from, item.to-1))
		}
	}
	end()
	return found, ok
}

// has reports whether a server is among those of the entry, alone or with features.
func (l languageEntry) has(server string) bool {
	return l.servers != nil && slices.Contains(l.servers.value.elements, server)
}

// addElement puts quarry behind the other servers of the entry.
func (l languageEntry) addElement(text []byte) ([]byte, error) {
	v := l.servers.value
	if v.kind != unstable.Array {
		return nil, fmt.Errorf("line %d: language-servers is not a list", lineOf(text, l.servers.from))
	}
	at := l.servers.to - 1 // the bracket
	for {
		at = trimEnd(text, at)
		if text[at-1] == ',' {
			at--
			continue
		}
		i := slices.IndexFunc(v.comments, func(c int) bool { return c < at && !bytes.Contains(text[c:at], []byte("\n")) })
		if i < 0 {
			break
		}
		at = v.comments[i]
	}
	if text[at-1] == '[' && len(v.elements) == 0 {
		return splice(text, at, at, `"quarry"`), nil
	}
	return splice(text, at, at, `, "quarry"`), nil
}

func (l languageEntry) removeElement(text []byte, server string) []byte {
	v := l.servers.value
	i := slices.Index(v.elements, server)
	from, to := v.spans[i][0], v.spans[i][1]
	if before := trimEnd(text, from); text[before-1] == ',' {
		return splice(text, before-1, to, "")
	}
	if rest := bytes.TrimLeft(text[to:], blanks); rest[0] == ',' {
		to = len(text) - len(bytes.TrimLeft(rest[1:], " \t"))
	}
	return splice(text, from, to, "")
}

// ansi are the colours that Helix writes even into a pipe.
var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// askHelix answers the servers of a language by what `hx --health` says.
func askHelix(m Machine) func(language string) ([]string, bool, error) {
	return func(language string) ([]string, bool, error) {
		program := m.find("hx", "helix")
		if program == "" {
			return nil, false, errors.New("Helix is not on the PATH as hx or helix, and only it knows which servers a language has already; install it first")
		}
		out, err := m.Output(program, "--health", language)
		if err != nil {
			return nil, false, fmt.Errorf("%s --health %s: %w", program, language, err)
		}
		return readHealth(string(out))
	}
}

// readHealth reads what Helix says of one language.
func readHealth(out string) (servers []string, known bool, err error) {
	inside := false
	for line := range strings.Lines(ansi.ReplaceAllString(out, "")) {
		line = strings.TrimRight(line, blanks)
		rest, heads := strings.CutPrefix(line, "Configured language server")
		switch {
		case heads:
			inside, known = true, true
			// Older versions name the only one in the same line.
			if _, name, _ := strings.Cut(rest, ":"); strings.TrimSpace(name) != "" && strings.TrimSpace(name) != "None" {
				servers = append(servers, strings.TrimSpace(name))
			}
		case inside && strings.HasPrefix(line, " "):
			name, _, _ := strings.Cut(strings.TrimLeft(line, " ✓✘"), ":")
			if name != "quarry" {
				servers = append(servers, name)
			}
		default:
			inside = false
		}
	}
	if !known && !strings.Contains(out, "not found") {
		return nil, false, fmt.Errorf("`hx --health` answers in a form that quarry does not know: %.80q", out)
	}
	return servers, known, nil
}
