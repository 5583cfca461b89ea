package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry/index"
	"quarry/lsp/headless"
)

const (
	burst      = 12  // keystrokes before a pause
	strokes    = 144 // into the idle server
	strokesAll = 600 // at most, while the first index is being made
	rhythm     = 120 * time.Millisecond
	burstPause = 1500 * time.Millisecond // long enough for indexing to go on
)

const typed = "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfor i := range 10 {\n\t\tfmt.Println(i)\n\t}\n\t\n}\n"

// keystrokes types into a running server until its first index of dir is made, and
// again when it is at rest. For each keystroke it times the change with an
// empty request behind it, which is what the read loop adds, and then ghost text
// asked for by hand, without a model.
func keystrokes(server, dir string) error {
	state, err := os.MkdirTemp("", "indexbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	busy, err := typeInto(server, dir, state, strokesAll, ended)
	if err != nil {
		return err
	}
	x, err := index.Open(index.Config{Dir: dir, StateDir: state})
	if err != nil {
		return err
	}
	st, err := x.Status(context.Background())
	if err != nil {
		return err
	}
	fmt.Printf("the index had %d files after %d keystrokes, when the typing ended\n", st.Files, len(busy[0]))
	if err := errors.Join(x.Settle(context.Background()), x.Close()); err != nil {
		return err
	}
	idle, err := typeInto(server, dir, state, strokes, never)
	if err != nil {
		return err
	}
	for i, what := range []string{"change handled", "ghost text"} {
		b, c := busy[i], idle[i]
		slices.Sort(b)
		slices.Sort(c)
		fmt.Printf("%-15s idle p50 %.2f p95 %.2f ms, first index p50 %.2f p95 %.2f ms, p95 ratio %.2f\n", what,
			ms(c[len(c)/2]), ms(c[len(c)*95/100]), ms(b[len(b)/2]), ms(b[len(b)*95/100]), float64(b[len(b)*95/100])/float64(c[len(c)*95/100]))
	}
	return nil
}

// typeInto types n keystrokes, fewer if enough says so. It answers the times of the
// changes and of the ghost texts.
func typeInto(server, dir, state string, n int, enough func(*headless.Editor) bool) (took [2][]time.Duration, err error) {
	ctx := context.Background()
	profile, err := headless.LoadProfile("vscode")
	if err != nil {
		return took, err
	}
	cmd := exec.Command(server, "lsp")
	cmd.Dir = dir
	config, err := os.MkdirTemp("", "indexbench")
	if err != nil {
		return took, err
	}
	defer os.RemoveAll(config)
	// No model, and nothing of the user's own settings.
	cmd.Env = append(os.Environ(), "QUARRY_STATE_DIR="+state, "XDG_CONFIG_HOME="+config, "OLLAMA_HOST=http://127.0.0.1:9")
	e, err := headless.StartProcess(ctx, cmd, headless.Options{Profile: profile, Root: dir})
	if err != nil {
		return took, err
	}
	defer func() {
		_, quit := e.Quit(ctx)
		err = errors.Join(err, quit)
	}()
	b, err := e.Open("typed.go", "go", typed)
	if err != nil {
		return took, err
	}
	b.Cursor = strings.Index(typed, "\n\t\n}") + len("\n\t")
	// The first keystroke comes when the server has been at work for a moment.
	time.Sleep(burstPause)
	text := "fmt.Println(len(os.Args), i)\n\tif err != nil { return }\n\t"
	for i := range n {
		if enough(e) {
			break
		}
		start := time.Now()
		if err := e.Replace(b, b.Cursor, b.Cursor, string(text[i%len(text)])); err != nil {
			return took, err
		}
		var answer any
		var refused *headless.ResponseError
		if err := e.Call(ctx, "quarry/nothing", nil, &answer); err != nil && !errors.As(err, &refused) {
			return took, err
		}
		took[0] = append(took[0], time.Since(start))
		start = time.Now()
		if err := e.Complete(ctx, b, true); err != nil {
			return took, err
		}
		took[1] = append(took[1], time.Since(start))
		time.Sleep(rhythm)
		if (i+1)%burst == 0 {
			time.Sleep(burstPause)
		}
	}
	return took, nil
}

func never(*headless.Editor) bool { return false }

// ended answers whether work that the server showed is done.
func ended(e *headless.Editor) bool {
	for _, p := range e.Progressed() {
		var value struct{ Kind string }
		if json.Unmarshal(p.Value, &value) == nil && value.Kind == "end" {
			return true
		}
	}
	return false
}

// absolute makes a path usable from another folder.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
