package engines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/catalogue"
)

// downloads is the model that is fetched for the user, one at a time.
type downloads struct {
	mu   sync.Mutex
	now  *pull                   // nil if there is none; guarded by mu
	stop context.CancelCauseFunc // nil while it is paused; guarded by mu
}

// pull is a download that is under way, or paused.
type pull struct {
	name        string
	by          string // the command that goes on with it
	done, total int64
	paused      bool
}

// percent is how far it is.
func (p *pull) percent() int { return int(100 * p.done / max(p.total, 1)) }

// begin answers false if another download is under way.
func (d *downloads) begin(name, by string, stop context.CancelCauseFunc) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		return false
	}
	d.now, d.stop = &pull{name: name, by: by}, stop
	return true
}

func (d *downloads) progress(done, total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now.done, d.now.total = done, total
}

// end leaves a paused download in sight.
func (d *downloads) end(paused bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop = nil
	if d.now.paused = paused; !paused {
		d.now = nil
	}
}

// state is the download of now, nil if there is none.
func (d *downloads) state() *pull {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil {
		return nil
	}
	now := *d.now
	return &now
}

// leave stops what is under way for a reason, or forgets what is paused.
func (d *downloads) leave(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.stop != nil:
		d.stop(why)
	case !errors.Is(why, lsp.ErrPaused):
		d.now = nil
	}
}

// PauseDownload implements lsp.Core.
func (c *Core) PauseDownload() { c.downloads.leave(lsp.ErrPaused) }

// CancelDownload implements lsp.Core.
func (c *Core) CancelDownload() {
	c.downloads.leave(context.Canceled)
	c.changed()
}

// fetch brings a model to Ollama and tries it, in sight of the user.
func (c *Core) fetch(ctx context.Context, m *Models, name, by string, report lsp.Fetched) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if !c.downloads.begin(name, by, stop) {
		return errors.New("another model is being downloaded: pause or cancel that first")
	}
	err := m.Fetch(ctx, name, false, func(doing string, done, total int64) {
		c.downloads.progress(done, total)
		c.changed()
		report(doing, done, total)
	}, func(trial string) error {
		findings, err := m.Try(ctx, trial, name)
		return errors.Join(err, Failed(findings))
	})
	cause := context.Cause(ctx)
	c.downloads.end(errors.Is(cause, lsp.ErrPaused))
	c.lookAgain()
	if err != nil && cause != nil {
		return cause
	}
	return err
}

// lookAgain makes the watcher of the model look at the server now.
func (c *Core) lookAgain() {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime != nil {
		e.runtime.Look()
	}
	c.changed()
}

// models looks after the models of the Ollama of the settings of now.
func (c *Core) models() (*Models, settings.Settings, error) {
	c.mu.Lock()
	s := c.settings
	c.mu.Unlock()
	m, err := NewModels(s, c.stateDir)
	return m, s, err
}

// PullModel implements lsp.Core.
func (c *Core) PullModel(ctx context.Context, name string, report lsp.Fetched) error {
	m, _, err := c.models()
	if err != nil {
		return err
	}
	return c.fetch(ctx, m, name, lsp.CommandPull, report)
}

// SetupModel implements lsp.Core.
func (c *Core) SetupModel(ctx context.Context, agree func(question string) bool, report lsp.Fetched) (string, error) {
	m, s, err := c.models()
	if err != nil {
		return "", err
	}
	advice, _, err := m.Advise(ctx)
	if err != nil {
		return "", err
	}
	before := c.downloads.state()
	goesOn := before != nil && before.paused && before.by == lsp.CommandSetup
	if !goesOn && !agree(setupQuestion(advice, s)) {
		return "", nil
	}
	var chosen []string
	for _, choice := range Recommended(advice, s) {
		if choice.Installed {
			findings, err := m.Try(ctx, choice.Name, choice.Name)
			err = errors.Join(err, Failed(findings))
			if err != nil {
				return "", err
			}
		} else if err := c.fetch(ctx, m, choice.Name, lsp.CommandSetup, report); err != nil {
			return "", err
		}
		if _, _, err := m.Choose(choice.Name); err != nil {
			return "", err
		}
		does := "completes code"
		if choice.Use == catalogue.ForSearch {
			does = "embeds code for search"
		}
		chosen = append(chosen, choice.Name+" "+does)
	}
	return strings.Join(chosen, " and ") + " from now on; " + settings.UserFilePath() + " says so", nil
}

// Recommended are the models of an advice that the settings want at all.
func Recommended(advice catalogue.Advice, s settings.Settings) (list []catalogue.Choice) {
	for _, c := range []catalogue.Choice{advice.Completion, advice.Search} {
		if c.Name != "" && (c.Use == catalogue.ForCompletion || s.Embedding.Enabled) {
			list = append(list, c)
		}
	}
	return list
}

// setupQuestion says what will be done, and why.
func setupQuestion(advice catalogue.Advice, s settings.Settings) string {
	var do []string
	for _, c := range Recommended(advice, s) {
		verb := "use"
		if !c.Installed {
			verb = "fetch (" + catalogue.Gigabytes(c.Download) + ") and use"
		}
		do = append(do, fmt.Sprintf("%s %s: %s.", verb, c.Name, c.Why))
	}
	text := strings.Join(do, " And ")
	return strings.ToUpper(text[:1]) + text[1:] + " This machine: " + advice.Machine.String() + "."
}

// Models implements lsp.Core.
func (c *Core) Models(ctx context.Context) ([]string, error) {
	m, _, err := c.models()
	if err != nil {
		return nil, err
	}
	list, err := m.List(ctx)
	names := make([]string, len(list))
	for i, have := range list {
		names[i] = have.Name
	}
	return names, err
}
