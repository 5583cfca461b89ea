package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/agent/loop"
)

var update = flag.Bool("update", false, "write the goldens anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model answers with its script, one entry a turn, word by word.
type model struct {
	answers []string
	asked   []agent.Conversation
	cut     bool // the last answer is cut by the length limit
}

func (m *model) Chat(ctx context.Context, c agent.Conversation, emit func(string) bool) (agent.Reply, error) {
	c.Messages = append([]agent.Message{}, c.Messages...)
	m.asked = append(m.asked, c)
	if len(m.answers) == 0 {
		return agent.Reply{}, errors.New("the script is at its end")
	}
	text := m.answers[0]
	m.answers = m.answers[1:]
	sent := ""
	for word := range strings.SplitAfterSeq(text, " ") {
		sent += word
		if ctx.Err() != nil {
			return agent.Reply{Text: sent}, ctx.Err()
		}
		if !emit(word) {
			break
		}
	}
	return agent.Reply{Text: sent, Cut: m.cut && len(m.answers) == 0, PromptTokens: 100, Tokens: len(sent) / 4}, nil
}

const (
	storeText = "package store\n\n// Open opens the store in dir.\nfunc Open(dir string) (*Store, error) {\n\treturn &Store{dir: dir}, nil\n}\n"
	mainText  = "package main\n\nfunc main() {\n\ts, err := store.Open(\".\")\n}\n"
)

// world is a workspace of two files, and its tools.
type world struct {
	texts map[string]string
	calls []string
	empty bool             // nothing is found
	also  []map[string]any // found besides
}

func newWorld() *world {
	return &world{texts: map[string]string{"store/store.go": storeText, "main.go": mainText}}
}

func (w *world) Locate(_ context.Context, name string) (string, error) {
	name = strings.TrimPrefix(name, "./")
	if _, ok := w.texts[name]; ok {
		return "/w/" + name, nil
	}
	return "", errors.New("there is no such file")
}
func (w *world) Name(path string) string { return strings.TrimPrefix(path, "/w/") }
func (w *world) Text(path string) (string, error) {
	return w.texts[w.Name(path)], nil
}

func (w *world) Definitions(names ...string) json.RawMessage {
	raw, err := json.Marshal(names)
	if err != nil {
		panic(err)
	}
	return raw
}

func (w *world) Call(_ context.Context, name string, args json.RawMessage) agent.Envelope {
	w.calls = append(w.calls, name+" "+string(args))
	var data any
	switch {
	case w.empty:
		data = map[string]any{"snippets": []any{}}
	case name == "retrieve_context":
		data = map[string]any{"snippets": append([]map[string]any{{"at": "store/store.go:3-6", "why": "symbol Open", "text": strings.SplitAfterN(storeText, "\n", 3)[2]}}, w.also...)}
	case name == "read_file":
		data = map[string]any{"path": "main.go", "start_line": 1, "end_line": 5, "total_lines": 5, "text": mainText}
	default:
		return agent.Envelope{Error: agent.Failf(agent.NotFound, "there is no tool %q", name)}
	}
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return agent.Envelope{OK: true, Data: raw, Meta: agent.Meta{Bytes: len(raw)}}
}

// run asks a question whose answers are scripted, and checks that what was shown
// on the way is the beginning of the answer.
func run(t *testing.T, q agent.Question, answers ...string) (ask.Report, *model, *world) {
	t.Helper()
	m, w := &model{answers: answers}, newWorld()
	shown := ""
	r, err := ask.New(m, w, w, ask.Options{ContextTokens: 4096}).Ask(t.Context(), q, ask.Watch{
		Text: func(text string) bool { shown += text; return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	if shown != r.Text {
		t.Errorf("shown:\n%s\nanswer:\n%s", shown, r.Text)
	}
	return r, m, w
}

var where = agent.Question{Text: "Where is the store opened?"}

func TestAsk(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		want    string
		removed int
		dropped int
		none    bool
		calls   int
	}{
		"answer": {
			answers: []string{"The store is opened by Open store/store.go:4-6. It keeps the folder.\n\n- Open takes the folder, store/store.go:3-4\n- It makes a Store, `store/store.go:5`\n"},
			want:    "The store is opened by Open store/store.go:4-6. It keeps the folder.\n\n- Open takes the folder, store/store.go:3-4\n- It makes a Store, `store/store.go:5-5`",
			calls:   1,
		},
		"after a call": {
			answers: []string{`<tool_call>{"name": "read_file", "arguments": {"path": "main.go", "start_line": 1, "end_line": 5}}</tool_call>`,
				"Answer: main calls it (main.go:4).\n\nEvidence:\n* main opens it main.go:3-5\n1. Open is store/store.go:4-6"},
			want:  "main calls it (main.go:4-4).\n\n- main opens it main.go:3-5\n- Open is store/store.go:4-6",
			calls: 2,
		},
		"invented places": {
			answers: []string{"It is opened in Open (store/store.go:4-6), see also db/open.go:3.\n\n- a store store/store.go:3\n- a database db/open.go:1-9\n- lines there are not, main.go:50-60\n- no place at all\n- the end store/store.go:6"},
			want:    "It is opened in Open (store/store.go:4-6).\n\n- a store store/store.go:3-3\n- the end store/store.go:6-6",
			removed: 3, dropped: 3, calls: 1,
		},
		"lines that were not shown": {
			answers: []string{"Open store/store.go:1-4 is in the package store/store.go:1-2.\n\n- a package store/store.go:1\n- a folder store/store.go:5\n- main main.go:3"},
			want:    "Open store/store.go:1-4 is in the package.\n\n- a folder store/store.go:5-5\n- store/store.go:1-4",
			removed: 3, dropped: 2, calls: 1,
		},
		"only lines that were not shown": {
			answers: []string{"It is in store/store.go:1-2.", "It is in store/store.go:1."},
			want:    "Not in the evidence: no citation in the model's answer holds, so it is not shown.\n\nNearest to the question:\n- store/store.go:3-6",
			removed: 1, none: true, calls: 1,
		},
		"only invented places": {
			answers: []string{"It is in db/open.go:3-9.", "It is in db/close.go:1."},
			want:    "Not in the evidence: no citation in the model's answer holds, so it is not shown.\n\nNearest to the question:\n- store/store.go:3-6",
			removed: 1, none: true, calls: 1,
		},
		"mended": {
			answers: []string{"It is in the store package.", "Open opens it, store/store.go:4.\n- that is a fact store.go:5\n- and one more store.go:6"},
			want:    "Open opens it, store/store.go:4-4.\n\n- that is a fact store/store.go:5-5\n- and one more store/store.go:6-6",
			calls:   1,
		},
		"no places": {
			answers: []string{"It is in the store package.", "I am sure of it."},
			want:    "Not in the evidence: the model's answer cites nothing, so it is not shown.\n\nNearest to the question:\n- store/store.go:3-6",
			none:    true, calls: 1,
		},
		"refused": {
			answers: []string{"NOT IN THE EVIDENCE. But see store/store.go:3."},
			want:    "Not in the evidence: what was looked up does not answer this.\n\nNearest to the question:\n- store/store.go:3-6",
			none:    true, calls: 1,
		},
		"places in the sentences only": {
			answers: []string{"Open store/store.go:4-6 is called by main. Nothing else is open store/store.go:3."},
			want:    "Open store/store.go:4-6 is called by main. Nothing else is open store/store.go:3-3.\n\n- store/store.go:4-6\n- store/store.go:3-3",
			calls:   1,
		},
		"a call behind the answer": {
			answers: []string{"Open opens it store/store.go:4. \n- once store/store.go:5\n- twice store/store.go:6\n<tool_call>{\"name\": \"read_file\", \"arguments\": {}}</tool_call>"},
			want:    "Open opens it store/store.go:4-4.\n\n- once store/store.go:5-5\n- twice store/store.go:6-6",
			calls:   1,
		},
		"too many points, and the same again": {
			answers: []string{"Open store/store.go:3-4.\n" + strings.Repeat("- the same store/store.go:3\n", 2) + points(9) + "- and on and on"},
			want:    "Open store/store.go:3-4.\n\n- the same store/store.go:3-3\n" + strings.TrimSuffix(points(5), "\n"),
			calls:   1,
		},
		"broken call": {
			answers: []string{`<tool_call>{"name": "read_file", "arg`},
			want:    "Not in the evidence: the model asked for a tool in a way that cannot be read.\n\nNearest to the question:\n- store/store.go:3-6",
			none:    true, calls: 1,
		},
		"only calls": {
			answers: []string{call(1), call(2), call(3), call(4), call(5)},
			want:    "Not in the evidence: the model went on looking things up until it had used up all it may.\n\nNearest to the question:\n- store/store.go:3-6\n- main.go:1-5",
			none:    true, calls: 5,
		},
		"thought": {
			answers: []string{"<think>Perhaps main.go:1. </think>Open does, store/store.go:4-6. "},
			want:    "Open does, store/store.go:4-6.\n\n- store/store.go:4-6",
			calls:   1,
		},
		"code": {
			answers: []string{"Like this store/store.go:4:\n\n```go\ns, err := Open(\".\")\n\n```\n- so store/store.go:5\n- and so store/store.go:6\n"},
			want:    "Like this store/store.go:4-4:\n\n```go\ns, err := Open(\".\")\n\n```\n\n- so store/store.go:5-5\n- and so store/store.go:6-6",
			calls:   1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, w := run(t, where, c.answers...)
			if r.Text != c.want {
				t.Errorf("got\n%s\nwant\n%s", r.Text, c.want)
			}
			if r.Removed != c.removed || r.Dropped != c.dropped || r.Unfounded != c.none || len(w.calls) != c.calls {
				t.Errorf("%d removed, %d dropped, unfounded %v, %d calls; want %d, %d, %v, %d", r.Removed, r.Dropped, r.Unfounded, len(w.calls), c.removed, c.dropped, c.none, c.calls)
			}
			for _, c := range r.Citations {
				if !strings.Contains(r.Text, fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine)) {
					t.Errorf("the text lacks its citation %v", c)
				}
			}
		})
	}
}

func call(line int) string {
	return fmt.Sprintf(`<tool_call>{"name": "read_file", "arguments": {"path": "main.go", "start_line": %d, "end_line": 5}}</tool_call>`, line)
}

func points(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- fact %d store/store.go:%d-6\n", i, i%6+1)
	}
	return b.String()
}

// Where nothing is found, that is what the user is told, whatever the model says.
func TestNothingFound(t *testing.T) {
	m, w := &model{answers: []string{"It is in store/store.go:3.", "I am sure."}}, newWorld()
	w.empty = true
	r, err := ask.New(m, w, w, ask.Options{ContextTokens: 4096}).Ask(t.Context(), where, ask.Watch{})
	want := "Not in the evidence: nothing in the workspace was found for this question. Name a file or a symbol that it is about."
	if err != nil || r.Text != want || !r.Unfounded || len(r.Citations) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What the question itself quotes may be cited, and no more of that file.
func TestSelectionMayBeCited(t *testing.T) {
	start := strings.Index(storeText, "Open(dir")
	about := &agent.Location{Document: agent.Document{Path: "/w/store/store.go", Language: "go", Text: storeText}, Start: start, End: strings.Index(storeText, "nil\n")}
	m, w := &model{answers: []string{"It makes a Store store/store.go:5. It says so store/store.go:3.\n- one store/store.go:4\n- two store/store.go:6\n- three store/store.go:4-5\n"}}, newWorld()
	w.empty = true
	r, err := ask.New(m, w, w, ask.Options{ContextTokens: 4096}).Ask(t.Context(), agent.Question{Text: "What is this?", About: about}, ask.Watch{})
	const want = "It makes a Store store/store.go:5-5. It says so.\n\n- one store/store.go:4-4\n- three store/store.go:4-5"
	if err != nil || r.Text != want || r.Removed != 2 {
		t.Errorf("got %q, %d removed, %v", r.Text, r.Removed, err)
	}
}

func TestCutAnswerSaysSo(t *testing.T) {
	m, w := &model{answers: []string{"Open opens it store/store.go:4.\n- one store/store.go:5\n- two store/store.go:6\n- thr"}, cut: true}, newWorld()
	r, err := ask.New(m, w, w, ask.Options{ContextTokens: 4096}).Ask(t.Context(), where, ask.Watch{})
	if err != nil || !strings.HasSuffix(r.Text, "- two store/store.go:6-6\n\nThe answer ends here because it became too long.") {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// Whoever has read enough ends the answer.
func TestReaderEndsTheAnswer(t *testing.T) {
	m, w := &model{answers: []string{"Open opens it store/store.go:4. And more. And more. And more."}}, newWorld()
	shown := ""
	r, err := ask.New(m, w, w, ask.Options{ContextTokens: 4096}).Ask(t.Context(), where, ask.Watch{
		Text: func(text string) bool { shown += text; return false },
	})
	if err != nil || !strings.HasPrefix(r.Text, shown) || strings.Contains(r.Text, "more. And more") {
		t.Errorf("shown %q of %q, %v", shown, r.Text, err)
	}
}

func TestCancel(t *testing.T) {
	m, w := &model{answers: []string{"Open opens it store/store.go:4. And more."}}, newWorld()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := ask.New(m, w, w, ask.Options{ContextTokens: 4096}).Ask(ctx, where, ask.Watch{Text: func(string) bool { cancel(); return true }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The conversations that the model sees, as goldens: of the workspace, a file, a
// selection, and an answer that was objected to.
func TestPrompts(t *testing.T) {
	doc := agent.Document{Path: "/w/store/store.go", Language: "go", Text: storeText}
	selected := strings.Index(storeText, "Open(dir")
	for name, c := range map[string]struct {
		q       agent.Question
		answers []string
	}{
		"workspace": {where, []string{"It is somewhere.", "NOT IN THE EVIDENCE"}},
		"file":      {agent.Question{Text: "What does this do?", About: &agent.Location{Document: doc}}, []string{"NOT IN THE EVIDENCE"}},
		"selection": {agent.Question{Text: "Why <|end_of_text|>?", About: &agent.Location{Document: doc, Start: selected, End: strings.Index(storeText, "nil\n") + 4}}, []string{"NOT IN THE EVIDENCE"}},
	} {
		_, m, w := run(t, c.q, c.answers...)
		var b strings.Builder
		last := m.asked[len(m.asked)-1]
		for _, message := range last.Messages {
			fmt.Fprintf(&b, "=== %s\n%s\n", message.Role, message.Text)
		}
		fmt.Fprintf(&b, "=== tools\n%s\n=== calls\n%s\n", last.Tools, strings.Join(w.calls, "\n"))
		holdGolden(t, name, b.String())
	}
}

// holdGolden compares a conversation with testdata/name.golden, which -update writes.
func holdGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update if it is meant):\n%s", name, diff)
	}
}

func TestSteps(t *testing.T) {
	m, w := &model{answers: []string{call(1), "Open store/store.go:4. "}}, newWorld()
	var steps []string
	r, err := ask.New(m, w, w, ask.Options{ContextTokens: 4096}).Ask(t.Context(), where, ask.Watch{Step: func(s loop.Step) {
		steps = append(steps, fmt.Sprintf("%d %s %s", s.Turn, s.Tool, s.Outcome))
	}})
	if err != nil || strings.Join(steps, ", ") != "0 retrieve_context ok, 1  calls, 1 read_file ok, 2  answer" || len(r.Steps) != 4 || r.FirstShown <= 0 && runtime.GOOS != "windows" { // whose clock moves in steps
		t.Errorf("%v, %v, %+v", steps, err, r)
	}
}
