package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"quarry/cmd/internal/cli"
	"quarry/model/modeltest"
)

// moreCommands are what tests of one system start besides quarry.
var moreCommands map[string]func()

func TestMain(m *testing.M) {
	// No test depends on what memory and current the machine has, but for those that say so.
	for name, value := range map[string]string{"QUARRY_MEMORY_BUDGET_MB": "1000000", "QUARRY_BATTERY_SAVE": "false"} {
		if _, said := os.LookupEnv(name); !said {
			os.Setenv(name, value)
		}
	}
	// Nor does one on how soon quarry serve answers.
	helloWithin, servedWithin = time.Minute, time.Minute
	if os.Getenv(asNobodyEnv) != "" { // the user may write nothing, so that no commands are set up
		os.Exit(m.Run())
	}
	commands := map[string]func(){"quarry": main}
	maps.Copy(commands, moreCommands)
	testscript.Main(m, commands)
}

// TestScripts runs the command line through the real main. The scripts find a
// scripted Ollama at $FAKE_OLLAMA, and none at $NO_OLLAMA. It completes everything
// with $ANSWER, and answers the turns of conversations in order from the script's
// file chat.txt, where lines of ---- stand between them. Its model "letters" embeds a
// text as how often it has each letter.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name == "emulated" {
				return os.Getenv("QEMU_LD_PREFIX") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			fake, err := modeltest.Start()
			if err != nil {
				return err
			}
			env.Defer(fake.Close)
			const answer = "sum(values) / len(values)"
			turns := conversation{file: filepath.Join(env.WorkDir, "chat.txt")}
			fake.Script(func(r modeltest.Request) modeltest.Answer {
				if strings.Contains(r.Prompt, "<|start_of_role|>") {
					return turns.answer(r)
				}
				return modeltest.Answer{Pieces: []string{"sum(values)", " / ", "len(values)", "\n"}}
			})
			fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "letters"})
			fake.ScriptEmbed(countLetters)
			for name, value := range map[string]string{
				"FAKE_OLLAMA":     fake.URL,
				"NO_OLLAMA":       noOllama,
				"ANSWER":          answer,
				"OLLAMA_HOST":     noOllama,
				"XDG_CONFIG_HOME": filepath.Join(env.WorkDir, "config"),
				"XDG_STATE_HOME":  filepath.Join(env.WorkDir, "state"),
				"AppData":         filepath.Join(env.WorkDir, "config"), // on Windows these two
				"LocalAppData":    filepath.Join(env.WorkDir, "state"),
				"NO_COLOR":        "1",
				// No script depends on what memory and current the machine has.
				"QUARRY_MEMORY_BUDGET_MB": "1000000",
				"QUARRY_BATTERY_SAVE":     "false",
				// The race detector else sleeps a second at the end of every process.
				"GORACE": "atexit_sleep_ms=0",
				// Where an emulator runs the tests, it finds the libraries so (testdata/supply/arm64.sh).
				"QEMU_LD_PREFIX": os.Getenv("QEMU_LD_PREFIX"),
			} {
				env.Setenv(name, value)
			}
			return nil
		},
	})
}

func countLetters(r modeltest.Request) (a modeltest.EmbedAnswer) {
	for _, text := range r.Texts {
		v := make([]float32, 26)
		for _, c := range strings.ToLower(text) {
			if 'a' <= c && c <= 'z' {
				v[c-'a']++
			}
		}
		a.Vectors = append(a.Vectors, v)
	}
	return a
}

// conversation answers turns of conversations from a file.
type conversation struct {
	file string
	turn atomic.Int32 // how many were answered
}

func (c *conversation) answer(r modeltest.Request) modeltest.Answer {
	if r.NumPredict() == 1 { // a step of a long prompt is read
		return modeltest.Answer{Pieces: []string{" "}}
	}
	text, err := os.ReadFile(c.file)
	if err != nil {
		return modeltest.Answer{ErrorLine: err.Error()}
	}
	turns := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n----\n")
	n := int(c.turn.Add(1))
	if n > len(turns) {
		return modeltest.Answer{ErrorLine: fmt.Sprintf("%s has no answer to turn %d", c.file, n)}
	}
	return modeltest.Answer{Pieces: strings.SplitAfter(turns[n-1], " ")}
}

// noOllama is where nobody listens: a port that the system gives to nobody.
const noOllama = "http://127.0.0.1:1"

// P2: the death of the client's process ends the server, even while its end of
// the pipe stays open in a child.
func TestDeathOfTheClientEndsTheServer(t *testing.T) {
	t.Setenv("QUARRY_STATE_DIR", t.TempDir())
	client := exec.Command("quarry", "lsp", "--ollama", "127.0.0.1:1") // which waits for its own standard input
	if _, err := client.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	defer toServer.Close()
	code := make(chan int, 1)
	var out, stderr strings.Builder
	go func() {
		code <- run(context.Background(), []string{"lsp", "--ollama", "127.0.0.1:1"}, in, &out, &stderr)
	}()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":%d,"capabilities":{}}}`, client.Process.Pid)
	if _, err := fmt.Fprintf(toServer, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := client.Wait(); err == nil || runtime.GOOS != "windows" && client.ProcessState.Exited() {
		t.Fatal("the client ended by itself: ", err)
	}
	select {
	case got := <-code:
		if got != cli.ExitFailed {
			t.Errorf("exit code %d, want %d", got, cli.ExitFailed)
		}
	case <-time.After(time.Minute):
		t.Error("the server outlives its client")
	}
}

func TestParseLocation(t *testing.T) {
	for arg, want := range map[string]location{
		"a.go:3:7":      {"a.go", 3, 7},
		`C:\x\a.go:1:1`: {`C:\x\a.go`, 1, 1},
		"a:b:12:5":      {"a:b", 12, 5},
	} {
		if got, err := parseLocation(arg); err != nil || got != want {
			t.Errorf("parsePlace(%q) = %v, %v; want %v", arg, got, err, want)
		}
	}
	for _, arg := range []string{"", "a.go", "a.go:3", "a.go:0:1", "a.go:1:0", "a.go:x:1", "a.go:1:"} {
		if got, err := parseLocation(arg); err == nil {
			t.Errorf("parsePlace(%q) = %v, want an error", arg, got)
		}
	}
}
