//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"quarry/index"
	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// leavings is how often each moment and way is measured.
const leavings = 5

// leaving prints how long a server takes to be gone, from being told to.
func leaving(quarry, tree string, files int) error {
	generated, err := os.MkdirTemp("", "startbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(generated)
	if err := generate(generated, files); err != nil {
		return err
	}
	server, err := modeltest.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	server.SetModels(modeltest.Model{Name: "letters"})
	never, asked := make(chan struct{}), new(atomic.Bool)
	defer close(never)
	server.ScriptEmbed(func(modeltest.Request) modeltest.EmbedAnswer {
		asked.Store(true)
		return modeltest.EmbedAnswer{Hold: never}
	})
	load, _ := os.ReadFile("/proc/loadavg") // of other systems it is not said
	fmt.Printf("load before: %s\n| told to end | by | median ms | longest ms, of %d |\n|---|---|---|---|\n", load, leavings)
	for _, m := range []struct {
		name, tree, ollama string
		after              time.Duration
		until              func(ctx context.Context, e *headless.Editor) (bool, error)
	}{
		{fmt.Sprintf("at once, walking %d files", files), generated, "http://127.0.0.1:1", 0, nil},
		{"0.2 s later", generated, "http://127.0.0.1:1", 200 * time.Millisecond, nil},
		{fmt.Sprintf("1 s into a first index of %d files", files), generated, "http://127.0.0.1:1", time.Second, nil},
		{"1 s into a first index of the tree", tree, "http://127.0.0.1:1", time.Second, nil},
		{"5 s into it", tree, "http://127.0.0.1:1", 5 * time.Second, nil},
		{"after the first commit", tree, "http://127.0.0.1:1", 0, func(ctx context.Context, e *headless.Editor) (bool, error) {
			var status []index.Status
			err := e.Call(ctx, "quarry/index.status", nil, &status)
			return len(status) > 0 && status[0].Files > 0, err
		}},
		{"while a server embeds that never answers", "", server.URL, 0, func(context.Context, *headless.Editor) (bool, error) { return asked.Load(), nil }},
	} {
		for _, way := range []string{"exit", "end of input", "SIGTERM"} {
			var took []time.Duration
			for range leavings {
				asked.Store(false)
				d, err := leaveOnce(quarry, m.tree, m.ollama, way, m.after, m.until)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", m.name, way, err)
				}
				took = append(took, d)
			}
			slices.Sort(took)
			fmt.Printf("| %s | %s | %.0f | %.0f |\n", m.name, way, ms(took[leavings/2]), ms(took[leavings-1]))
		}
	}
	return nil
}

// leaveOnce starts a server without an index, tells it to end and answers how long that took.
func leaveOnce(quarry, tree, ollama, way string, after time.Duration, until func(context.Context, *headless.Editor) (bool, error)) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	state, err := os.MkdirTemp("", "startbench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(state)
	if tree == "" {
		if tree, err = os.MkdirTemp("", "startbench"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(tree)
		if err := generate(tree, perFolder); err != nil {
			return 0, err
		}
	}
	cmd := exec.CommandContext(ctx, quarry, "lsp", "--state-dir", state, "--ollama", ollama, "--embedding-model", "letters", "--log-level", "error")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+state)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	e, err := headless.Connect(ctx, pipes{out, in}, headless.Options{Root: tree})
	if err != nil {
		return 0, err
	}
	time.Sleep(after)
	for due := until == nil; !due; {
		if due, err = until(ctx, e); err != nil {
			return 0, err
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		time.Sleep(time.Millisecond)
	}
	var told time.Time
	switch way {
	case "exit":
		if err := e.Call(ctx, "shutdown", nil, nil); err != nil {
			return 0, err
		}
		told = time.Now()
		err = e.Notify("exit", nil)
	case "SIGTERM":
		told = time.Now()
		err = cmd.Process.Signal(syscall.SIGTERM)
	default:
		told = time.Now()
		err = in.Close()
	}
	if err != nil {
		return 0, err
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return 0, errors.Join(err, ctx.Err())
	}
	return time.Since(told), nil
}

// pipes are a server's output and input.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }

func (p pipes) Close() error { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }
