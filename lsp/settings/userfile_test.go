package settings_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/index/systest"
	"quarry/lsp/settings"
)

// One setting changes, and not a byte of the rest.
func TestSetInFile(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"no file":          {"", "{\n  \"model\": \"new\"\n}\n"},
		"empty object":     {"{}\n", "{\n  \"model\": \"new\"\n}\n"},
		"replaced":         {"{ \"model\" : \"old\",\n\t\"log\": 1 }", "{ \"model\" : \"new\",\n\t\"log\": 1 }"},
		"added":            {"{\n    \"ollama\": {\"url\": \"x\",   \"keepAlive\": \"5m\"}\n}", "{\n    \"model\": \"new\",\n    \"ollama\": {\"url\": \"x\",   \"keepAlive\": \"5m\"}\n}"},
		"flattened":        {`{"quarry.model": "old", "other.model": "theirs"}`, `{"quarry.model": "new", "other.model": "theirs"}`},
		"among others'":    {`{"gopls": {"model": 1}, "quarry": {"logLevel": "warn"}}`, `{"gopls": {"model": 1}, "quarry": {"model": "new","logLevel": "warn"}}`},
		"a nested model":   {`{"embedding": {"model": "e"}}`, `{"model": "new","embedding": {"model": "e"}}`},
		"a key in a value": {`{"a": "\"model\": 1", "model": null}`, `{"a": "\"model\": 1", "model": "new"}`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "quarry", "settings.json")
			if c.before != "" {
				if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.before), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			if err := settings.SetInFile(path, "model", "new"); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); string(got) != c.after {
				t.Errorf("the file is\n%s\nnot\n%s", got, c.after)
			}
			s := settings.Default()
			if problems := s.ApplyFile(path); s.Model != "new" {
				t.Errorf("the model is %q afterwards: %v", s.Model, problems)
			}
			if info, err := os.Stat(path); err != nil || c.before != "" && runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 { // Windows has no such modes
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if left, _ := filepath.Glob(path + ".*"); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A setting of a group goes into the group.
func TestSetInFileOfAGroup(t *testing.T) {
	for before, after := range map[string]string{
		`{}`:                               "{\n  \"embedding.model\": \"new\"\n}",
		`{"embedding": {"enabled": true}}`: `{"embedding": {"model": "new","enabled": true}}`,
		`{"embedding": {"model": "old"}}`:  `{"embedding": {"model": "new"}}`,
		`{"embedding.model": "old", "model": "kept"}`: `{"embedding.model": "new", "model": "kept"}`,
		`{"quarry": {"embedding": {}}}`:               "{\"quarry\": {\"embedding\": {\n  \"model\": \"new\"\n}}}",
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := settings.SetInFile(path, "embedding.model", "new"); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != after {
			t.Errorf("%s became\n%s\nnot\n%s", before, got, after)
		}
		s := settings.Default()
		if problems := s.ApplyFile(path); s.Embedding.Model != "new" {
			t.Errorf("%s: the model is %q afterwards: %v", before, s.Embedding.Model, problems)
		}
	}
}

// Comments and commas at ends are taken as in editors' settings, and stay where they stand.
func TestFileWithComments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	for before, after := range map[string]string{
		"{\"model\": \"old\", // mine\n}\n":                                        "{\"model\": \"new\", // mine\n}\n",
		"// quarry\n{\n  /* of the team */ \"logLevel\": \"warn\",\n}\n":           "// quarry\n{\n  \"model\": \"new\",\n  /* of the team */ \"logLevel\": \"warn\",\n}\n",
		"{\"model\": \"old\"} // mine":                                             "{\"model\": \"new\"} // mine",
		"{\n  \"quarry\": { // all of it\n    \"model\": \"old\", // {\n  },\n}\n": "{\n  \"quarry\": { // all of it\n    \"model\": \"new\", // {\n  },\n}\n",
	} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		s := settings.Default()
		if problems := s.ApplyFile(path); len(problems) > 0 {
			t.Errorf("%s: %v", before, problems)
		}
		if err := settings.SetInFile(path, "model", "new"); err != nil {
			t.Errorf("%s: %v", before, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != after {
			t.Errorf("%s became\n%s\nnot\n%s", before, got, after)
		}
		if problems := s.ApplyFile(path); len(problems) > 0 || s.Model != "new" {
			t.Errorf("%s: the model is %q afterwards: %v", before, s.Model, problems)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("[", 900_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := settings.Default()
	if problems := s.ApplyFile(path); len(problems) == 0 {
		t.Error("brackets without end are taken")
	}
}

// What is no JSON object stays as it is, and the message says where it stands.
func TestSetInFileLeavesOtherFilesAlone(t *testing.T) {
	for _, text := range []string{`{"model": "old"; // mine` + "\n}", `["model"]`, `{"quarry": 3}`} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := settings.SetInFile(path, "model", "new")
		if err == nil || !strings.Contains(err.Error(), "settings.json") || !strings.Contains(err.Error(), "JSON object") {
			t.Errorf("%s: %v", text, err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// A settings file that is a link, as dotfile managers make them, stays one.
func TestSetInFileFollowsLinks(t *testing.T) {
	systest.NeedLinks(t)
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "settings.json")
	if err := os.WriteFile(target, []byte(`{"model": "old"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := settings.SetInFile(link, "model", "new"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != `{"model": "new"}` {
		t.Errorf("the target is %s", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
}

// What the user's file said last holds while it cannot be read: a comma too many lifts nothing that was forbidden.
func TestFileThatBreaksWhileAServerRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	var last settings.LastFile
	apply := func(text string) (s settings.Settings, problems string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s = settings.Default()
		for _, p := range last.Apply(&s, path) {
			problems += p.String() + "\n"
		}
		return s, problems
	}
	if s, problems := apply(""); problems != "" || len(s.Index.Exclude) != 0 {
		t.Errorf("an empty file at the start: %q", problems)
	}
	if s, problems := apply(`{,}`); problems == "" || strings.Contains(problems, "what they were before holds") || len(s.Index.Exclude) != 0 {
		t.Errorf("a broken file at the start: %q", problems)
	}
	const good = `{"index": {"exclude": ["private"]}, "ollama": {"enabled": false}}`
	for _, broken := range []string{
		`{"index": {"exclude": ["private"];}}`, "# mine\n" + good, "", " \n", good[:20], `["private"]`, strings.Repeat(" ", 2<<20),
	} {
		if s, problems := apply(good); problems != "" || len(s.Index.Exclude) != 1 {
			t.Fatalf("%q", problems)
		}
		for range 2 { // and goes on to
			s, problems := apply(broken)
			if len(s.Index.Exclude) != 1 || s.Ollama.Enabled || !strings.Contains(problems, "; what they were before holds until it is mended") {
				t.Errorf("%.20q: %v, %t, %q", broken, s.Index.Exclude, s.Ollama.Enabled, problems)
			}
		}
	}
	if s, problems := apply("\ufeff" + good); problems != "" || len(s.Index.Exclude) != 1 {
		t.Errorf("as Notepad writes it: %q", problems)
	}
	if s, problems := apply("{}"); problems != "" || len(s.Index.Exclude) != 0 || !s.Ollama.Enabled {
		t.Errorf("taken back: %q", problems)
	}
	if _, problems := apply(good); problems != "" {
		t.Fatal(problems)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s := settings.Default()
	if problems := last.Apply(&s, path); problems != nil || len(s.Index.Exclude) != 0 {
		t.Errorf("removed: %v", problems)
	}
}
