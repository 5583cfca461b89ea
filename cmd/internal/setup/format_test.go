package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

var tools = jsonEntries{{[]string{"mcp", "quarry"}, jsonObject{{"command", []string{"quarry", "mcp"}}, {"enabled", true}}}}

// Real shapes of configuration, with what becomes of them: all but quarry's entry stays
// byte for byte.
func TestJSONShapes(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"nothing", "", "{\n  \"mcp\": {\n    \"quarry\": {\n      \"command\": [\"quarry\", \"mcp\"],\n      \"enabled\": true\n    }\n  }\n}\n"},
		{"comments alone", "// Zed settings\n//\n", "// Zed settings\n//\n{\n  \"mcp\": {\n    \"quarry\": {\n      \"command\": [\"quarry\", \"mcp\"],\n      \"enabled\": true\n    }\n  }\n}\n"},
		{"no comma at the end, a comment there",
			"{\n\t\"theme\": \"One\", // dark\n\t\"mcp\": { \"a\": {} } // last\n\t// to do: more\n}\n",
			"{\n\t\"theme\": \"One\", // dark\n\t\"mcp\": { \"a\": {}, \"quarry\": {\"command\": [\"quarry\", \"mcp\"], \"enabled\": true} } // last\n\t// to do: more\n}\n"},
		{"the list itself is new",
			"{\n    \"b\" : 1 // one\n    /* two */ }",
			"{\n    \"b\" : 1, // one\n    /* two */\n    \"mcp\": {\n        \"quarry\": {\n            \"command\": [\"quarry\", \"mcp\"],\n            \"enabled\": true\n        }\n    }\n }"},
		{"commas at ends", "{\n  \"mcp\": {\n    \"a\": {}, // first\n  },\n}\n",
			"{\n  \"mcp\": {\n    \"a\": {}, // first\n    \"quarry\": {\n      \"command\": [\"quarry\", \"mcp\"],\n      \"enabled\": true\n    },\n  },\n}\n"},
		{"one line", `{"mcp":{"a":{}},"z":1}`, `{"mcp":{"a":{}, "quarry": {"command": ["quarry", "mcp"], "enabled": true}},"z":1}`},
		{"empty object with a comment", "{\n  \"mcp\": {\n    // none yet\n  }\n}\n",
			"{\n  \"mcp\": {\n    // none yet\n    \"quarry\": {\n      \"command\": [\"quarry\", \"mcp\"],\n      \"enabled\": true\n    }\n  }\n}\n"},
		{"carriage returns", "{\r\n  \"a\": 1\r\n}\r\n",
			"{\r\n  \"a\": 1,\r\n  \"mcp\": {\r\n    \"quarry\": {\r\n      \"command\": [\"quarry\", \"mcp\"],\r\n      \"enabled\": true\r\n    }\r\n  }\r\n}\r\n"},
		{"a comment at the end, its line without one", "{\n  \"mcp\": {}\n}\n// vim: ft=jsonc", "{\n  \"mcp\": {\"quarry\": {\"command\": [\"quarry\", \"mcp\"], \"enabled\": true}}\n}\n// vim: ft=jsonc"},
		{"byte order mark", "\ufeff{\"mcp\": {}}", "\ufeff{\"mcp\": {\"quarry\": {\"command\": [\"quarry\", \"mcp\"], \"enabled\": true}}}"},
		{"what the user put into the entry", `{"mcp": {"quarry": {"command": ["quarry", "mcp"], /* mine */ "environment": {"A": "b"}, "enabled": true}}}`,
			`{"mcp": {"quarry": {"command": ["quarry", "mcp"], /* mine */ "environment": {"A": "b"}, "enabled": true}}}`},
		{"an entry with another command and more", `{"mcp": {"quarry": {"command": ["/old"], "timeout": 3, }}}`,
			`{"mcp": {"quarry": {"command": ["quarry", "mcp"], "timeout": 3, "enabled": true, }}}`},
		{"another entry of the name", "{\"mcp\": {\"quarry\": {\"command\": [\"/old\"]}, \"b\": {}}}", "{\"mcp\": {\"quarry\": {\"command\": [\"quarry\", \"mcp\"], \"enabled\": true}, \"b\": {}}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, memory, err := tools.put([]byte(c.before))
			if err != nil {
				t.Fatal(err)
			}
			if string(after) != c.after {
				t.Errorf("written\n%s\nwant\n%s", after, c.after)
			}
			if again, more, err := tools.put(after); err != nil || !bytes.Equal(again, after) || len(more) > 0 {
				t.Errorf("a second time: %v, %v\n%s", err, more, again)
			}
			back, err := takeJSON(after, memory)
			if err != nil {
				t.Fatal(err)
			}
			if words := strings.Fields; strings.Contains(c.before, "{") && strings.Join(words(string(back)), " ") != strings.Join(words(c.before), " ") {
				t.Errorf("taken back\n%q\nwant\n%q", back, c.before)
			}
		})
	}
}

func TestJSONThatIsRefused(t *testing.T) {
	for text, reason := range map[string]string{
		"{\n  \"a\": 1\n  \"b\": 2\n}": "line 3",
		"{\"mcp\": [\n]}":              `"mcp" is not an object`,
		"[]":                           "the whole file is not an object",
		"{\n\n \"mcp\": \"off\" }":     "line 3",
		"{\"a\": 1} trailing":          "it is not JSON",
		"{\"mcp\": {\"quarry\": {\"command\": 1}": "it is not JSON",
	} {
		if out, _, err := tools.put([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, %q; want %q", text, err, out, reason)
		}
	}
}

// Whatever the file: what is written means the file with the entry, a second time changes
// nothing, and taking the entry out after another edit leaves that edit.
func TestJSONKeepsAllElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := drawObject(rt, 2)
		if !validJSON([]byte(before)) {
			rt.Fatalf("the test drew no JSON: %s", before)
		}
		after, memory, err := tools.put([]byte(before))
		if err != nil {
			if !strings.Contains(err.Error(), "not an object") {
				rt.Fatalf("%s\n%v", before, err)
			}
			return
		}
		want := decodeJSON(rt, before)
		servers, _ := want["mcp"].(map[string]any)
		if servers == nil {
			servers = map[string]any{}
		}
		replaced, had := servers["quarry"]
		entry, hadObject := replaced.(map[string]any) // what the user put into it stays
		if entry == nil {
			entry = map[string]any{}
		}
		entry["command"], entry["enabled"] = []any{"quarry", "mcp"}, true
		servers["quarry"] = entry
		want["mcp"] = servers
		if got := decodeJSON(rt, string(after)); !reflect.DeepEqual(got, want) {
			rt.Fatalf("%s\nbecame\n%s", before, after)
		}
		if (!had || hadObject) && comments(before) != comments(string(after)) {
			rt.Fatalf("a comment is lost\n%s\nbecame\n%s", before, after)
		}
		later, _, err := jsonEntries{{[]string{"later"}, 1}}.put(after)
		if err != nil {
			rt.Fatal(err)
		}
		back, err := takeJSON(later, memory)
		if err != nil {
			rt.Fatalf("%s\n%v", later, err)
		}
		want = decodeJSON(rt, before)
		want["later"] = float64(1)
		if got := decodeJSON(rt, string(back)); !reflect.DeepEqual(got, want) {
			rt.Fatalf("had %v\n%s\nedited\n%s\ntaken back\n%s", replaced, before, later, back)
		}
		if comments(before) != comments(string(back)) {
			rt.Fatalf("a comment is lost\n%s\ntaken back\n%s", later, back)
		}
	})
}

func comments(text string) int { return strings.Count(text, "/*c*/") + strings.Count(text, "//c\n") }

func decodeJSON(t rapid.TB, text string) map[string]any {
	t.Helper()
	standard, err := hujson.Standardize([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var v map[string]any
	if err := json.Unmarshal(standard, &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

func drawObject(rt *rapid.T, depth int) string {
	blank := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\n\t", "/*c*/", " //c\n", "\n\n  //c\n    "})
	out := "{"
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"mcp", "quarry", "a", "b {", "c,"}), 0, 4, rapid.ID).Draw(rt, "names")
	for i, name := range names {
		value := rapid.SampledFrom([]string{"1", `"//"`, "[1, /*c*/ 2]", "{}", `"}"`}).Draw(rt, "value")
		if depth > 0 && rapid.Bool().Draw(rt, "nested") {
			value = drawObject(rt, depth-1)
		}
		out += blank.Draw(rt, "before") + fmt.Sprintf("%q", name) + blank.Draw(rt, "colon") + ":" + blank.Draw(rt, "value") + value + blank.Draw(rt, "after")
		if i < len(names)-1 || rapid.Bool().Draw(rt, "comma") {
			out += ","
		}
	}
	return out + blank.Draw(rt, "end") + "}"
}

var codexTable = tomlTable{[]string{"mcp_servers", "quarry"}, []tomlValue{{"command", `"quarry"`}, {"args", `["mcp"]`}}}

func TestTOMLShapes(t *testing.T) {
	const table = "[mcp_servers.quarry]\ncommand = \"quarry\"\nargs = [\"mcp\"]\n"
	for _, c := range []struct{ name, before, after string }{
		{"nothing", "", table},
		{"comments and odd blanks", "# codex\nmodel='o3'   # fast\n\n\n[ profiles . \"a b\" ]\n  x = [1,\n 2 ] # end\n", "# codex\nmodel='o3'   # fast\n\n\n[ profiles . \"a b\" ]\n  x = [1,\n 2 ] # end\n\n" + table},
		{"other servers", "[mcp_servers.docs]\ncommand = \"x\"\n", "[mcp_servers.docs]\ncommand = \"x\"\n\n" + table},
		{"no end of line", "model = \"o3\"", "model = \"o3\"\n\n" + table},
		{"carriage returns", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n")},
		{"another entry of the name", "[mcp_servers.quarry]\ncommand = \"/old\" # mine\n\n# next\n[z]\n", "[mcp_servers.quarry]\ncommand = \"quarry\" # mine\nargs = [\"mcp\"]\n\n# next\n[z]\n"},
		{"what the user put into the entry", "[mcp_servers.quarry.env]\nA = \"b\"\n[mcp_servers.quarry]\nstartup_timeout_sec = 20\nargs = [\n  \"old\",\n] # mine\n[mcp_servers.quarry.tools.x]\non = true\n",
			"[mcp_servers.quarry.env]\nA = \"b\"\n[mcp_servers.quarry]\ncommand = \"quarry\"\nstartup_timeout_sec = 20\nargs = [\"mcp\"] # mine\n[mcp_servers.quarry.tools.x]\non = true\n"},
		{"the entry without an end of line", "[mcp_servers.quarry]", strings.TrimSuffix(table, "\n")},
		{"byte order mark", "\ufeffmodel = \"o3\"\n", "\ufeffmodel = \"o3\"\n\n" + table},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, memory, err := codexTable.put([]byte(c.before))
			if err != nil {
				t.Fatal(err)
			}
			if string(after) != c.after {
				t.Errorf("written\n%s\nwant\n%s", after, c.after)
			}
			if again, more, err := codexTable.put(after); err != nil || !bytes.Equal(again, after) || len(more) > 0 {
				t.Errorf("a second time: %v, %v\n%s", err, more, again)
			}
			later := string(after) + "\n# later\n[later]\nx = \"\"\"\n[mcp_servers.quarry]\n\"\"\"\n"
			back, err := takeTOML([]byte(later), memory)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(later, "\n"+strings.TrimPrefix(c.after, strings.TrimSuffix(c.before, "\n")), "", 1); c.name == "other servers" && string(back) != c.before+"\n# later\n[later]\nx = \"\"\"\n[mcp_servers.quarry]\n\"\"\"\n" {
				t.Errorf("taken back\n%s\nwant\n%s", back, want)
			}
			now, err := decodeTOML(bytes.TrimPrefix(back, byteOrderMark))
			if err != nil {
				t.Fatal(err)
			}
			want, err := decodeTOML([]byte(strings.TrimPrefix(c.before, "\ufeff") + "\n[later]\nx = \"\"\"\n[mcp_servers.quarry]\n\"\"\"\n"))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(now, want) {
				t.Errorf("taken back\n%s", back)
			}
		})
	}
}

// What the user has put into quarry's own entry leaves it set up.
func TestTOMLEntryWithMoreOfTheUser(t *testing.T) {
	const text = "[mcp_servers.quarry]\nargs = ['mcp']\ncommand = 'quarry'\nstartup_timeout_sec = 20\n\n[mcp_servers.quarry.tools.x]\non = true\n"
	if after, memory, err := codexTable.put([]byte(text)); err != nil || string(after) != text || len(memory) > 0 {
		t.Errorf("%v, %v\n%s", err, memory, after)
	}
}

func TestTOMLThatIsRefused(t *testing.T) {
	for text, reason := range map[string]string{
		"a = 1\nb = \n":       "line 2",
		"[a]\nx = 1\nx = 2\n": "it is not TOML",
		"mcp_servers = { docs = { command = \"x\" } }": "add by hand",
		"mcp_servers.quarry.command = \"old\"\n":       "not written as a table of its own",
	} {
		if out, _, err := codexTable.put([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, %q; want %q", text, err, out, reason)
		}
	}
}

// helixFor is quarry in a Helix whose Go has two servers, whose Markdown has one and whose
// SQL none.
func helixFor() helixServers {
	return helixServers{
		table: tomlTable{[]string{"language-server", "quarry"}, []tomlValue{{"command", `"quarry"`}, {"args", `["lsp"]`}}},
		servers: func(language string) ([]string, bool, error) {
			switch language {
			case "go":
				return []string{"gopls", "golangci-lint-lsp"}, true, nil
			case "markdown":
				return []string{"marksman"}, true, nil
			case "sql":
				return nil, true, nil
			}
			return nil, false, nil
		},
	}
}

func TestHelixShapes(t *testing.T) {
	const server = "[language-server.quarry]\ncommand = \"quarry\"\nargs = [\"lsp\"]\n"
	const goEntry = "[[language]]\nname = \"go\"\nlanguage-servers = [\"gopls\", \"golangci-lint-lsp\", \"quarry\"]\n"
	const markdown = "[[language]]\nname = \"markdown\"\nlanguage-servers = [\"marksman\", \"quarry\"]\n"
	const sql = "[[language]]\nname = \"sql\"\nlanguage-servers = [\"quarry\"]\n"
	for _, c := range []struct{ name, before, after string }{
		{"nothing", "", server + "\n" + goEntry + "\n" + markdown + "\n" + sql},
		{"a list of servers",
			"# mine\n[[language]]\nname = \"go\"\nauto-format=true\nlanguage-servers = [ # two\n  { name = \"gopls\", except-features = [\"format\"] }, # one\n  'efm', # three\n]\nindent = { tab-width = 4, unit = \"\\t\" }\n\n[language.config]\nx = 1\n",
			"# mine\n[[language]]\nname = \"go\"\nauto-format=true\nlanguage-servers = [ # two\n  { name = \"gopls\", except-features = [\"format\"] }, # one\n  'efm', \"quarry\", # three\n]\nindent = { tab-width = 4, unit = \"\\t\" }\n\n[language.config]\nx = 1\n\n" + server + "\n" + markdown + "\n" + sql},
		{"no list of servers", "[[language]]\nname = \"go\" # Go\nauto-format = true\n\n[[language]]\nname = \"markdown\"\nlanguage-servers = []\n",
			"[[language]]\nname = \"go\" # Go\nlanguage-servers = [\"gopls\", \"golangci-lint-lsp\", \"quarry\"]\nauto-format = true\n\n[[language]]\nname = \"markdown\"\nlanguage-servers = [\"quarry\"]\n\n" + server + "\n" + sql},
		{"a debugger of its own, which has a name",
			"[[language]]\nname = \"go\"\nlanguage-servers = [{ name = \"gopls\", except-features = [\"inlay-hints\"] }]\n\n[language.debugger]\nname = \"go\"\ntransport = \"tcp\"\n\n[[language.debugger.templates]]\nname = \"sql\"\nlanguage-servers = [\"x\"]\n\n[[language]]\nname = \"markdown\"\n[language.formatter]\nname = \"go\"\n",
			"[[language]]\nname = \"go\"\nlanguage-servers = [{ name = \"gopls\", except-features = [\"inlay-hints\"] }, \"quarry\"]\n\n[language.debugger]\nname = \"go\"\ntransport = \"tcp\"\n\n[[language.debugger.templates]]\nname = \"sql\"\nlanguage-servers = [\"x\"]\n\n[[language]]\nname = \"markdown\"\nlanguage-servers = [\"marksman\", \"quarry\"]\n[language.formatter]\nname = \"go\"\n\n" + server + "\n" + sql},
		{"byte order mark", "\ufeff[[language]]\nname = \"go\"\nlanguage-servers = [\"gopls\", \"mine\"]\n",
			"\ufeff[[language]]\nname = \"go\"\nlanguage-servers = [\"gopls\", \"mine\", \"quarry\"]\n\n" + server + "\n" + markdown + "\n" + sql},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, memory, err := helixFor().put([]byte(c.before))
			if err != nil {
				t.Fatal(err)
			}
			if string(after) != c.after {
				t.Errorf("written\n%s\nwant\n%s", after, c.after)
			}
			if again, more, err := helixFor().put(after); err != nil || !bytes.Equal(again, after) || len(more) > 0 {
				t.Errorf("a second time: %v, %v\n%s", err, more, again)
			}
			back, err := takeHelix(after, memory)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(back)) != strings.TrimSpace(c.before) {
				t.Errorf("taken back\n%s\nwant\n%s", back, c.before)
			}
			rest, mark := cutMark(after)
			entry := strings.Replace(sql, "\nlanguage", "\nauto-format = true\nlanguage", 1)
			later := string(mark) + "theme = 1 # later\n" + strings.Replace(string(rest), sql, entry, 1)
			back, err = takeHelix([]byte(later), memory)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(back); !strings.HasPrefix(text, string(mark)+"theme = 1 # later\n") || !strings.Contains(text, "name = \"sql\"\nauto-format = true\nlanguage-servers = []\n") || strings.Contains(text, "quarry") {
				t.Errorf("taken back after an edit\n%s", back)
			}
		})
	}
}

func TestReadHealth(t *testing.T) {
	for out, want := range map[string][]string{
		"Configured language servers:\n  \x1b[0;31m✘\x1b[m gopls: 'gopls' not found in $PATH\n  \x1b[0;32m✓\x1b[m efm: /usr/bin/efm\n  ✓ quarry: /usr/bin/quarry\nConfigured debug adapter:\n  ✘ dlv\n": {"gopls", "efm"},
		"Configured language servers: None\nConfigured debug adapter: None\n":             nil,
		"Configured language server: gopls\nBinary for language server: /usr/bin/gopls\n": {"gopls"},
	} {
		got, known, err := readHealth(out)
		if err != nil || !known || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v, %v; want %q", out, got, known, err, want)
		}
	}
	if _, known, err := readHealth("Language 'x' not found\n"); known || err != nil {
		t.Errorf("a language that Helix does not know: %v, %v", known, err)
	}
	if _, _, err := readHealth("usage: hx"); err == nil {
		t.Error("an answer that says nothing of servers is taken for one")
	}
}

func TestLisp(t *testing.T) {
	b := block{lispBlock, "(require 'quarry)"}
	const own = ";; quarry setup: begin\n(require 'quarry)\n;; quarry setup: end\n"
	const before = ";;; init.el -*- lexical-binding: t -*-\n(setq x '(?\\( ?\\\" ?a \"(;\\\"\" [1 2]) y ?\\C-\\M-x) ; (\n(provide 'init)\n;;; init.el ends here\n"
	after, _, err := b.put([]byte(before))
	if err != nil || string(after) != before+"\n"+own {
		t.Fatalf("%v\n%s", err, after)
	}
	if again, _, err := b.put(after); err != nil || !bytes.Equal(again, after) {
		t.Errorf("a second time: %v\n%s", err, again)
	}
	for _, text := range []string{`(if (eq c ?\\) (foo))`, `(list ?\\)`, `(list ?\C-\\)`, `(list ?\C-\M-\) ?\^) ?\s-\( ?\s)`, `(list ?\^\\)`, `[?\\ ?\; ?\" ?\C-" ?-]`} {
		if _, _, err := b.put([]byte(text + "\n")); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	later := append([]byte("(setq later t)\n"), bytes.Replace(after, []byte("(require 'quarry)"), []byte("(require 'quarry) ; kept"), 1)...)
	if back, err := takers["lisp"](append(later, "(setq more t)\n"...), nil); err != nil || string(back) != "(setq later t)\n"+before+"(setq more t)\n" {
		t.Errorf("taken back: %v\n%s", err, back)
	}
	newer := block{lispBlock, "(require 'quarry)\n(setq a 1)"}
	if out, _, err := newer.put(after); err != nil || string(out) != before+"\n"+strings.Replace(own, "\n;; quarry setup: end", "\n(setq a 1)\n;; quarry setup: end", 1) {
		t.Errorf("other lines: %v\n%s", err, out)
	}
	for text, reason := range map[string]string{
		"(a\n  (b)\n":                   "line 1",
		"(a))\n":                        "closes nothing",
		"(a\n  [b)]\n":                  "line 2",
		"\n(a \"b)\n":                   "line 2: a string has no end",
		";; quarry setup: begin\n(x)\n": "has lost its end",
		own + own:                       "twice",
		"(":                             "add by hand\n(require 'quarry)",
	} {
		if out, _, err := b.put([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, %q; want %q", text, err, out, reason)
		}
	}
}
