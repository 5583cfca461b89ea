package toolcall_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"quarry/agent/toolcall"
)

var update = flag.Bool("update", false, "write testdata/share.golden anew")

var tools = map[string]bool{
	"read_file": true, "list_files": true, "search_text": true, "search_symbols": true, "get_diagnostics": true, "apply_unified_diff": true,
}

func known(name string) bool { return tools[name] }

// show writes what Parse made of a text as the corpus does.
func show(p toolcall.Parsed) string {
	if p.Broken != "" {
		return "broken: " + p.Broken
	}
	if len(p.Calls) == 0 {
		return "answer"
	}
	var lines []string
	for _, c := range p.Calls {
		id := c.ID
		if id == "" {
			id = "-"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", id, c.Name, c.Arguments))
	}
	return strings.Join(lines, "\n")
}

// shape is one text of the corpus. why says why a call is not read.
type shape struct{ name, text, want, why string }

func corpus(t testing.TB) (shapes []shape) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "corpus.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		if a.Files[i+1].Name != "want" {
			t.Fatalf("%s is followed by %s instead of want", a.Files[i].Name, a.Files[i+1].Name)
		}
		want, why, _ := strings.Cut(string(a.Files[i+1].Data), "# ")
		s := shape{a.Files[i].Name, strings.TrimSuffix(string(a.Files[i].Data), "\n"), strings.TrimSpace(want), strings.TrimSpace(why)}
		if s.name == "call/crlf" {
			s.text = strings.ReplaceAll(s.text, "\n", "\r\n")
		}
		shapes = append(shapes, s)
	}
	return shapes
}

// TestCorpus parses every shape, and keeps the share of those that come out as a
// user would read them.
func TestCorpus(t *testing.T) {
	count := map[string][2]int{} // right, of
	missed := ""
	for _, s := range corpus(t) {
		p := toolcall.Parse(s.text, known)
		got := show(p)
		if got != s.want {
			t.Errorf("%s:\n got %s\nwant %s", s.name, got, s.want)
		}
		kind, _, _ := strings.Cut(s.name, "/")
		right := kind == "call" && len(p.Calls) > 0 || kind == "broken" && p.Broken != "" || kind == "answer" && p.Broken == "" && len(p.Calls) == 0
		n := count[kind]
		n[1]++
		if right {
			n[0]++
		} else {
			missed += fmt.Sprintf("not read: %s, %s\n", s.name, s.why)
		}
		if right != (s.why == "") {
			t.Errorf("%s is read: %t, and why it is not: %q", s.name, right, s.why)
		}
		count[kind] = n
		if kind != "call" && len(p.Calls) > 0 {
			t.Errorf("%s runs %v", s.name, p.Calls)
		}
	}
	refused := [2]int{count["broken"][0] + count["answer"][0], count["broken"][1] + count["answer"][1]}
	report := fmt.Sprintf("parsed right %d of %d\nrefused right %d of %d\n%s", count["call"][0], count["call"][1], refused[0], refused[1], missed)
	golden := filepath.Join("testdata", "share.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(report), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if report != string(want) {
		t.Errorf("the share is\n%swant\n%s(-update if it is meant)", report, want)
	}
	if total := count["call"][1] + refused[1]; total < 60 {
		t.Errorf("the corpus has %d shapes, 60 are asked for", total)
	}
}

// Whatever ends a call early, nothing runs: no beginning of an answer that is
// calls only holds a call that the whole does not, and only whole ones.
func TestNoHalfCallRuns(t *testing.T) {
	for _, s := range corpus(t) {
		whole := toolcall.Parse(s.text, known)
		for i := range s.text {
			for k, c := range toolcall.Parse(s.text[:i], known).Calls {
				if k >= len(whole.Calls) && whole.Broken == "" {
					t.Errorf("%s: the first %d bytes hold the call %s, the whole does not", s.name, i, c.Name)
				}
				if k < len(whole.Calls) && string(c.Arguments) != string(whole.Calls[k].Arguments) {
					t.Errorf("%s: the first %d bytes call with %s, the whole with %s", s.name, i, c.Arguments, whole.Calls[k].Arguments)
				}
			}
		}
	}
}

// What stands before Begin of a text that is still being written is never part of
// a call.
func TestBeginHoldsCallsBack(t *testing.T) {
	for _, s := range corpus(t) {
		p := toolcall.Parse(s.text, known)
		if len(p.Calls) == 0 || strings.HasPrefix(s.text, "<think>") {
			continue
		}
		for i := range s.text {
			at := toolcall.Begin(s.text[:i])
			if shown := s.text[:at]; strings.ContainsAny(shown, `"<`) || strings.Contains(shown, "```") {
				t.Errorf("%s: %q would be shown", s.name, shown)
				break
			}
		}
	}
	for _, text := range []string{"plain words, x[i] and f(y)", "see [a/b.go:1-2] and {x}", "a < b", "`code`."} {
		if at := toolcall.Begin(text); at != len(text) {
			t.Errorf("Begin(%q) = %d", text, at)
		}
	}
}

// P14: a model that writes fence after fence, as small ones do, is read in time that grows with the text.
func TestBeginOfFences(t *testing.T) {
	bare, words := strings.Repeat("```\n", 2000), strings.Repeat("``` abc\n", 2000)
	for text, want := range map[string]int{
		bare: 0, bare + "abc": len(bare) + 3, bare + `{"name": `: 0,
		words: len(words), words + "abc": len(words) + 3, words + `{"name": `: len(words),
	} {
		if at := toolcall.Begin(text); at != want {
			t.Errorf("%d bytes that end with %q: Begin = %d, want %d", len(text), text[len(text)-9:], at, want)
		}
	}
}

func TestCallReadsBack(t *testing.T) {
	c := toolcall.Call{Name: "search_text", Arguments: json.RawMessage(`{"query":"</tool_call>"}`)}
	p := toolcall.Parse(c.String(), known)
	if len(p.Calls) != 1 || p.Calls[0].Name != c.Name || string(p.Calls[0].Arguments) != string(c.Arguments) {
		t.Errorf("%s reads back as %+v", c, p)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := toolcall.Parse(text, known)
		if p.Broken != "" && len(p.Calls) > 0 {
			t.Fatalf("broken, and %d calls", len(p.Calls))
		}
		for _, c := range p.Calls {
			var args map[string]any
			if c.Name == "" || json.Unmarshal(c.Arguments, &args) != nil || args == nil {
				t.Fatalf("the call %q has arguments %q", c.Name, c.Arguments)
			}
			if !known(c.Name) {
				continue
			}
			again := toolcall.Parse(c.String(), known)
			if len(again.Calls) != 1 || string(again.Calls[0].Arguments) != string(c.Arguments) {
				t.Fatalf("%s reads back as %+v", c, again)
			}
		}
		if at := toolcall.Begin(text); at < 0 || at > len(text) {
			t.Fatalf("Begin = %d of %d", at, len(text))
		}
	})
}

// A path or a text that is not UTF-8 would come out of the JSON as another one, with
// characters that stand for the wrong bytes: nothing runs.
func TestCallOfInvalidUTF8(t *testing.T) {
	const call = `{"name": "read_file", "arguments": {"path": "caf%s.go"}}`
	for name, text := range map[string]string{
		"tagged":   "<tool_call>\n" + call + "\n</tool_call>",
		"bare":     call,
		"fenced":   "```json\n" + call + "\n```",
		"a second": "<tool_call>\n{\"name\": \"list_files\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n" + call + "\n</tool_call>",
	} {
		if p := toolcall.Parse(fmt.Sprintf(text, "é"), known); len(p.Calls) == 0 || p.Broken != "" {
			t.Errorf("%s: %d calls of a text that is UTF-8, broken %q", name, len(p.Calls), p.Broken)
		}
		if p := toolcall.Parse(fmt.Sprintf(text, "\xe9"), known); len(p.Calls) != 0 || !strings.Contains(p.Broken, "UTF-8") {
			t.Errorf("%s: %d calls, broken %q; want none, because the text is not UTF-8", name, len(p.Calls), p.Broken)
		}
	}
}
