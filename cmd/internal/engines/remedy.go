package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"quarry/lsp"
	"quarry/model"
)

// remedies are the commands that help with a model that is not there, best first.
func (c *Core) remedies(note lsp.NoteModel, phase model.Phase, runtime *model.Runtime) []lsp.Remedy {
	list := []lsp.Remedy{}
	if note.State != lsp.ModelNone {
		return list
	}
	add := func(title, command string, args ...string) {
		list = append(list, lsp.Remedy{Title: title, Command: command, Arguments: append([]string{}, args...)})
	}
	ollama := runtime != nil && runtime.PullsModels() && note.Host == ""
	pull := func(name string) {
		title := "Pull " + name
		if size := model.DownloadSize(name); size > 0 {
			title += " (" + gigabytes(size) + ")"
		}
		add(title, lsp.CommandPull, name)
	}
	switch {
	case !ollama:
	case phase == model.Unreachable:
		if _, err := exec.LookPath("ollama"); err == nil {
			add("Start Ollama", lsp.CommandStartOllama)
		}
	case phase == model.Missing:
		pull(note.Name)
		add("Use another model", lsp.CommandUse)
	case phase == model.Unsuitable:
		add("Use another model", lsp.CommandUse)
		pull(runtime.Instead())
	}
	add("What still works", lsp.CommandWithout)
	return list
}

func gigabytes(bytes int64) string { return fmt.Sprintf("%.1f GB", float64(bytes)/1e9) }

// patienceToStart is how long a server may take from its start to its first answer.
const patienceToStart = 30 * time.Second

// StartOllama implements lsp.Core: it starts `ollama serve`, which stays when quarry
// ends, and waits for its first answer.
func (c *Core) StartOllama(ctx context.Context) error {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime == nil {
		return e.refused
	}
	path, err := exec.LookPath("ollama")
	if err != nil {
		return errors.New("there is no ollama on the PATH: install it from https://ollama.com/download")
	}
	dir := c.stateDir
	if dir == "" {
		if dir, err = os.UserCacheDir(); err != nil {
			return err
		}
		dir = filepath.Join(dir, "quarry")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(dir, "ollama.log")
	log, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(path, "serve")
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+e.runtime.Host())
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Ollama: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // as long as Ollama runs; it may outlive quarry
	ctx, cancel := context.WithTimeout(ctx, patienceToStart)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for e.runtime.State().Phase == model.Unreachable || e.runtime.State().Phase == model.Unknown {
		e.runtime.Look()
		select {
		case err := <-ended:
			return fmt.Errorf("Ollama ended at once (%v): its own words are in %s", err, name)
		case <-ctx.Done():
			return fmt.Errorf("Ollama was started and does not answer yet: its own words are in %s", name)
		case <-tick.C:
		}
	}
	return nil
}

// PullModel implements lsp.Core.
func (c *Core) PullModel(ctx context.Context, name string, report func(done, total int64)) error {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime == nil {
		return e.refused
	}
	if name == "" {
		name = e.runtime.Model()
	}
	defer c.changed()
	defer c.pulling.Store(nil)
	return e.runtime.Pull(ctx, name, func(done, total int64) {
		c.pulling.Store(&pull{name, done, total})
		c.changed()
		report(done, total)
	})
}

// pull is a download that is under way.
type pull struct {
	name        string
	done, total int64
}

// Models implements lsp.Core.
func (c *Core) Models(ctx context.Context) ([]string, error) {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime == nil {
		return nil, e.refused
	}
	return e.runtime.Installed(ctx)
}
