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
	"quarry/model/catalogue"
)

// remedies are the commands that help with a model that is not there, best first, and with a
// download.
func (c *Core) remedies(note lsp.NoteModel, phase model.Phase, e *generation) []lsp.Remedy {
	list := []lsp.Remedy{}
	add := func(title, command string, args ...string) {
		list = append(list, lsp.Remedy{Title: title, Command: command, Arguments: append([]string{}, args...)})
	}
	switch p := c.downloads.state(); {
	case p == nil:
	case p.paused && p.by == lsp.CommandPull:
		add("Resume the download of "+p.name, p.by, p.name)
		add("Cancel the download of "+p.name, lsp.CommandCancel)
	case p.paused:
		add("Resume the download of "+p.name, p.by)
		add("Cancel the download of "+p.name, lsp.CommandCancel)
	default:
		add("Pause the download of "+p.name, lsp.CommandPause)
		add("Cancel the download of "+p.name, lsp.CommandCancel)
	}
	if note.State != lsp.ModelNone {
		return list
	}
	ollama := e.runtime != nil && e.runtime.PullsModels() && note.Host == ""
	switch {
	case !ollama:
	case phase == model.Unreachable:
		if _, err := exec.LookPath("ollama"); err == nil {
			add("Start Ollama", lsp.CommandStartOllama)
		}
	case phase == model.Missing, phase == model.Unsuitable:
		advice := e.advice.Load()
		if advice == nil {
			advice = &advised{}
		}
		best := advice.Completion
		switch {
		case best.Name == "":
		case best.Installed:
			add("Set up "+best.Name+", which Ollama has", lsp.CommandSetup)
		default:
			add("Set up "+best.Name+sized(best.Entry), lsp.CommandSetup)
		}
		if phase == model.Missing && !model.SameModel(best.Name, note.Name) {
			add("Pull "+note.Name+sized(advice.configured), lsp.CommandPull, note.Name)
		}
		add("Use another model", lsp.CommandUse)
	}
	add("What still works", lsp.CommandWithout)
	return list
}

// sized is a model's download in words behind its name, nothing if it is not known.
func sized(e catalogue.Entry) string {
	if e.Download == 0 {
		return ""
	}
	return " (" + catalogue.Gigabytes(e.Download) + ")"
}

// adviceTimeout bounds the look at what Ollama has.
const adviceTimeout = 3 * time.Second

// advise finds out what would suit this machine in place of a model that cannot be asked.
func (c *Core) advise(e *generation, phase model.Phase) {
	if !e.runtime.PullsModels() {
		return
	}
	m, err := NewModels(e.settings, c.stateDir)
	if err != nil {
		c.log.Warn("no advice on models", "error", err) // a catalogue of the user's own that cannot be read
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, adviceTimeout)
	defer cancel()
	var unsuited []string
	if phase == model.Unsuitable {
		unsuited = append(unsuited, e.settings.Model)
	}
	if advice, _, err := m.Advise(ctx, unsuited...); err == nil {
		configured, _ := m.Catalogue.Find(e.settings.Model)
		e.advice.Store(&advised{advice, configured})
	}
}

// startTimeout is how long a server may take from its start to its first answer.
const startTimeout = 30 * time.Second

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
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for e.runtime.State().Phase == model.Unreachable || e.runtime.State().Phase == model.Unknown {
		e.runtime.Look()
		select {
		case err := <-ended:
			return fmt.Errorf("Ollama ended at once: see %s for its own words (%v)", name, err)
		case <-ctx.Done():
			return fmt.Errorf("Ollama does not answer yet: see %s, where it writes why", name)
		case <-tick.C:
		}
	}
	return nil
}
