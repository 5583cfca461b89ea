package lsptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"quarry/index/systest"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// TestMarkers plays every scenario of testdata/marker against the real binary,
// once for each editor it names. A scenario is a txtar archive: files of a
// workspace, and before them one command a line. "‸" in a file is the cursor;
// strings are quoted as in Go.
//
//	editors NAME...           who plays it (default: vscode neovim)
//	settings JSON             initializationOptions; after the first open, what the
//	                          editor answers to workspace/configuration
//	model absent|down|nofim   Ollama lacks the model, does not run, or has one
//	                          without fill-in-the-middle (first command)
//	answer STRING...          what the model answers from now on, one piece a string
//	answer-file NAME          the same from a file, cut into words
//	intent STRING             the model wants to write this line: it answers what of
//	                          it follows the text before the cursor
//	broken STRING...          answers break off after these pieces
//	open FILE                 open it and put the cursor on its mark
//	cursor STRING             put the cursor behind this text
//	type STRING               type, asking for ghost text as the editor does
//	backspace N               delete before the cursor
//	complete [manual]         ask for ghost text
//	ghost none|STRING         what is shown in grey behind the cursor
//	ghost-file NAME           the same from a file, without its last line break
//	accept                    press Tab
//	buffer NAME               the document and cursor are as in that file
//	engine NAME               who made the ghost text
//	eventually ghost STRING   asked again and again, for what the server does meanwhile
//	said none|STRING          the only message shown so far contains this
//	prompt has|lacks STRING   of the last prompt
//	await-prompt STRING       type x after x, with the pauses in which the server
//	                          indexes, until a prompt contains this
//	requests N                prompts sent so far
//	stop-model, start-model   end and restart Ollama
//
// Explaining, fixing and asking (marker_assist_test.go). The user answers what they
// are asked: "yes" wants a change, looks at it first where that is asked for, and
// has it applied; "no" discards it; "close" closes the question; "apply" is no
// answer, but the change that the server has the editor make; anything else is the
// choice, or CHOICE of CHOICES, where all that are offered are to be these.
//
//	diagnose STRING MESSAGE   another server says so of the first STRING
//	errors none|STRING...     quarry itself reports these, each as SOURCE at "TEXT": MESSAGE,
//	                          and the cursor is at the first
//	select STRING             select the first STRING
//	reply NAME...             the model answers conversations with these files in
//	                          turn, then with the last one
//	actions none|STRING...    the titles of the code actions, without "(quarry)"
//	choose STRING [ANSWER...] run the first action whose title contains this; one
//	                          answer for each question
//	choose STRING typing STR  the same, typing while the model answers
//	command NAME [STRING...]  run a command with these arguments
//	decide ANSWER...          answer the server's next questions
//	indexed                   wait until the workspace has been read
//	lie                       the editor says it applied changes, and does not
//	page STRING               what is shown to read contains this
//	hover none|STRING         the hover at the cursor contains this
//	exists none|NAME          a buffer of that name is open
func TestMarkers(t *testing.T) {
	systest.NotEmulated(t, "the server is built with the race detector, which qemu's addresses are not for")
	systest.NeedProgram(t, "go")
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "marker", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	// Before the first step's time begins: a slow machine takes long to link.
	if _, err := binary(); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		editors := []string{"vscode", "neovim"}
		for line := range strings.Lines(string(archive.Comment)) {
			if rest, ok := strings.CutPrefix(line, "editors "); ok {
				editors = strings.Fields(rest)
			}
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, editor := range editors {
			t.Run(name+"/"+editor, func(t *testing.T) { play(t, archive, editor) })
		}
	}
}

// scratch is the folder of the binary, which TestMain removes.
var scratch string

// binary builds quarry once, with the race detector as the tests have it.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "quarry")
	out, err := exec.Command("go", "build", "-race", "-tags", "sqlite_fts5", "-o", path, "quarry/cmd/quarry").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build quarry: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "quarry-marker-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// No scenario depends on what memory and current the machine has.
	os.Setenv("QUARRY_MEMORY_BUDGET_MB", "1000000")
	os.Setenv("QUARRY_BATTERY_SAVE", "false")
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// player is a scenario under way.
type player struct {
	t       *testing.T
	archive *txtar.Archive
	profile headless.Profile
	root    string
	model   *modeltest.Server
	stderr  *log
	config  any

	editor   *headless.Editor // started by the first command that needs it
	buffer   *headless.Buffer
	selected [2]int // the range that actions are for, the cursor if it is empty

	replies *replies
}

// stepTimeout is far above what any step takes, for a slow machine.
const stepTimeout = 2 * time.Minute

func play(t *testing.T, archive *txtar.Archive, editor string) {
	profile, err := headless.LoadProfile(editor)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, archive: archive, profile: profile, root: t.TempDir(), model: modeltest.NewServer(t), stderr: newLog(), replies: newReplies()}
	for _, f := range archive.Files {
		path := filepath.Join(p.root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text, _ := unmark(string(f.Data))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for line := range strings.Lines(string(archive.Comment)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "editors ") {
			continue
		}
		if err := p.step(line); err != nil {
			t.Fatalf("line %d, %s: %v\nserver log:\n%s", n, line, err, p.stderr)
		}
	}
	if p.editor == nil {
		t.Fatal("the scenario opens nothing")
	}
	if code, err := p.editor.Quit(context.Background()); err != nil || code != 0 {
		t.Errorf("quit: exit code %d, %v\nserver log:\n%s", code, err, p.stderr)
	}
	if log := p.stderr.String(); strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic") {
		t.Errorf("server log:\n%s", log)
	}
}

func (p *player) step(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	ctx, cancel := context.WithTimeout(p.t.Context(), stepTimeout)
	defer cancel()
	switch verb {
	case "settings":
		if err := json.Unmarshal([]byte(rest), &p.config); err != nil {
			return err
		}
		if p.editor != nil {
			return p.editor.Configure(p.config)
		}
		return nil
	case "model":
		switch rest {
		case "absent":
			p.model.SetModels(modeltest.Model{Name: "some-other:model"})
		case "down":
			p.model.Stop()
		case "nofim":
			p.model.SetModels(modeltest.Model{Name: modeltest.DefaultModel, NoFIM: true})
		default:
			return fmt.Errorf("unknown state %q", rest)
		}
		return nil
	case "answer", "broken":
		pieces, err := unquoteAll(rest)
		p.answer(func(string) modeltest.Answer {
			return modeltest.Answer{Pieces: pieces, Disconnect: verb == "broken"}
		})
		return err
	case "answer-file":
		text, err := p.file(rest)
		text = strings.TrimSuffix(text, "\n")
		p.answer(func(string) modeltest.Answer { return modeltest.Answer{Pieces: words(text)} })
		return err
	case "intent":
		line, err := strconv.Unquote(rest)
		p.answer(func(prompt string) modeltest.Answer {
			before, _, _ := strings.Cut(prompt, "<|fim_suffix|>")
			typed := strings.TrimLeft(before[strings.LastIndexByte(before, '\n')+1:], " \t")
			after, ok := strings.CutPrefix(line, typed)
			if !ok {
				return modeltest.Answer{}
			}
			return modeltest.Answer{Pieces: words(after)}
		})
		return err
	case "stop-model":
		p.model.Stop()
		return p.stderr.await(ctx, "phase=unreachable")
	case "start-model":
		p.stderr.forget()
		if err := p.model.Restart(); err != nil {
			return err
		}
		return p.stderr.await(ctx, "phase=ready")
	case "open":
		return p.open(ctx, rest)
	case "reply":
		for _, name := range strings.Fields(rest) {
			text, err := p.file(name)
			if err != nil {
				return err
			}
			p.replies.add(text)
		}
		p.answer(func(string) modeltest.Answer { return modeltest.Answer{} })
		return nil
	}
	if p.buffer == nil {
		return errors.New("nothing is open")
	}
	return p.edit(ctx, verb, rest)
}

const middle = "<|fim_middle|>"

// isCompletion tells a prompt for ghost text from the checks of a starting
// runtime, which ask for a single token.
func isCompletion(r modeltest.Request) bool {
	return strings.Contains(r.Prompt, middle) && r.NumPredict() > 1
}

// answer sets what the model says to prompts for ghost text.
func (p *player) answer(f func(prompt string) modeltest.Answer) {
	p.model.Script(func(r modeltest.Request) modeltest.Answer {
		switch {
		case isCompletion(r):
			return f(r.Prompt)
		case isConversation(r):
			return p.replies.next()
		}
		return modeltest.Answer{Pieces: []string{"x"}}
	})
}

// edit plays a step in the open buffer.
func (p *player) edit(ctx context.Context, verb, rest string) error {
	b := p.buffer
	switch verb {
	case "cursor":
		text, err := strconv.Unquote(rest)
		return errors.Join(err, b.Seek(text))
	case "type":
		text, err := strconv.Unquote(rest)
		if err != nil {
			return err
		}
		if err := p.editor.Type(b, text); err != nil {
			return err
		}
		return p.editor.Settle(ctx, b)
	case "backspace":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		b.Ghost = nil
		return p.editor.Replace(b, b.Cursor-n, b.Cursor, "")
	case "complete":
		return p.editor.Complete(ctx, b, rest == "manual")
	case "accept":
		return p.editor.Accept(b)
	case "await-prompt":
		pause := time.NewTicker(600 * time.Millisecond)
		defer pause.Stop()
		for {
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			if err := errors.Join(p.editor.Type(b, "x"), p.editor.Settle(ctx, b)); err != nil {
				return err
			}
			err := p.check(ctx, "prompt", "has "+rest)
			if err == nil || ctx.Err() != nil {
				return err
			}
		}
	case "eventually":
		_, want, _ := strings.Cut(rest, " ")
		for {
			if err := p.editor.Complete(ctx, b, false); err != nil {
				return err
			}
			err := p.check(ctx, "ghost", want)
			if err == nil || ctx.Err() != nil {
				return err
			}
		}
	}
	if done, err := p.assist(ctx, verb, rest); done {
		return err
	}
	return p.check(ctx, verb, rest)
}

// check plays a step that changes nothing.
func (p *player) check(ctx context.Context, verb, rest string) error {
	b := p.buffer
	switch verb {
	case "ghost", "ghost-file":
		want := ""
		var err error
		switch {
		case verb == "ghost-file":
			want, err = p.file(rest)
			want = strings.TrimSuffix(want, "\n")
		case rest != "none":
			want, err = strconv.Unquote(rest)
		}
		got := ""
		if b.Ghost != nil {
			got = b.Ghost.Suffix(b)
		}
		return errors.Join(err, same("ghost text", want, got))
	case "buffer":
		want, err := p.file(rest)
		if err != nil {
			return err
		}
		got := b.Text.String()
		if strings.Contains(want, "‸") {
			got = got[:b.Cursor] + "‸" + got[b.Cursor:]
		}
		return same("buffer", want, got)
	case "engine":
		var why lsp.Explanation
		err := p.editor.Call(ctx, lsp.MethodExplainCompletion, map[string]any{"textDocument": map[string]any{"uri": b.URI}}, &why)
		return errors.Join(err, same("engine", rest, why.Engine))
	case "said":
		if rest == "none" {
			return same("messages", []string(nil), p.editor.Shown())
		}
		want, err := strconv.Unquote(rest)
		if err != nil {
			return err
		}
		has := func() bool {
			return slices.ContainsFunc(p.editor.Shown(), func(m string) bool { return strings.Contains(m, want) })
		}
		if err := p.editor.Await(ctx, has); err != nil {
			return fmt.Errorf("%w; shown so far: %q", err, p.editor.Shown())
		}
		if shown := p.editor.Shown(); len(shown) != 1 {
			return fmt.Errorf("%d messages were shown: %q", len(shown), shown)
		}
		return nil
	case "prompt":
		mode, quoted, _ := strings.Cut(rest, " ")
		part, err := strconv.Unquote(quoted)
		prompts := p.prompts()
		if err != nil {
			return err
		}
		if len(prompts) == 0 {
			return errors.New("no prompt was sent")
		}
		if last := prompts[len(prompts)-1]; strings.Contains(last, part) != (mode == "has") {
			return fmt.Errorf("the last prompt is:\n%s", last)
		}
		return nil
	case "requests":
		return same("requests", rest, strconv.Itoa(len(p.prompts())))
	}
	return errors.New("unknown command")
}

// prompts are the fill-in-the-middle prompts sent so far, without the canary.
func (p *player) prompts() []string {
	var list []string
	for _, r := range p.model.Prompts() {
		if isCompletion(r) {
			list = append(list, r.Prompt)
		}
	}
	return list
}

func (p *player) open(ctx context.Context, name string) error {
	if p.editor == nil {
		path, err := binary()
		if err != nil {
			return err
		}
		cmd := exec.Command(path, "lsp", "--log-level=info", "--ollama="+p.model.URL)
		cmd.Stderr = p.stderr
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+p.root, "XDG_STATE_HOME="+p.t.TempDir(),
			"GORACE=atexit_sleep_ms=0") // else every process sleeps a second at its end
		p.editor, err = headless.StartProcess(ctx, cmd, headless.Options{
			// Settings from before the start hold from the first keystroke on.
			Profile: p.profile, Root: p.root, InitializationOptions: p.config, ProcessID: os.Getpid(),
		})
		if err != nil {
			return err
		}
		// Typing begins when the model's state is known, as it does for a
		// user: otherwise a scenario would depend on the machine's speed.
		if err := p.stderr.await(ctx, "phase=ready", "phase=unreachable", "phase=missing", "phase=failing", "phase=unsuitable"); err != nil {
			return err
		}
	}
	marked, err := p.file(name)
	if err != nil {
		return err
	}
	text, cursor := unmark(marked)
	p.buffer, err = p.editor.Open(name, headless.LanguageID(name), text)
	p.buffer.Cursor = cursor
	return err
}

func (p *player) file(name string) (string, error) {
	for _, f := range p.archive.Files {
		if f.Name == name {
			return string(f.Data), nil
		}
	}
	return "", fmt.Errorf("the scenario has no file %s", name)
}

func unmark(text string) (unmarked string, cursor int) {
	before, after, _ := strings.Cut(text, "‸")
	return before + after, len(before) % (len(text) + 1)
}
