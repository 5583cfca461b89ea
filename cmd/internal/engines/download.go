package engines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
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
	doing       string // "fetching NAME" or "importing NAME"
	done, total int64
	before      int64 // total when it was paused: Ollama names file by file what it goes on with
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
	next := &pull{name: name, by: by, doing: "fetching " + name}
	if d.now != nil && model.SameModel(d.now.name, name) { // what is there of it stays
		next.done, next.total, next.before = d.now.done, d.now.total, d.now.total
	}
	d.now, d.stop = next, stop
	return true
}

// progress is how far the download is, of the files that are known of by now.
func (d *downloads) progress(doing string, done, total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now.doing, d.now.done, d.now.total = doing, done, max(total, d.now.before)
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

// leave stops what is under way for a reason, or forgets what is paused, whose model it answers.
func (d *downloads) leave(why error) (forgot string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.stop != nil:
		d.stop(why)
	case d.now != nil && !errors.Is(why, lsp.ErrPaused):
		forgot, d.now = d.now.name, nil
	}
	return forgot
}

// PauseDownload implements lsp.Core.
func (c *Core) PauseDownload() { c.downloads.leave(lsp.ErrPaused) }

// CancelDownload implements lsp.Core.
func (c *Core) CancelDownload(ctx context.Context) (left error) {
	forgot := c.downloads.leave(context.Canceled)
	c.changed()
	if forgot == "" {
		return nil // what is under way says it when it has ended
	}
	m, _, err := c.models()
	if err != nil {
		return nil // the status says so
	}
	return m.leftOf(ctx, forgot)
}

// leftOf says what a cancelled download has left and what goes on with it, nil if it left nothing.
func (m *Models) leftOf(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, adviceTimeout)
	defer cancel()
	have, _ := m.List(ctx) // whether Ollama answers or not: quarry's own files are there
	list, _ := m.Leftovers(ctx, have)
	var bytes int64
	for _, l := range list {
		if model.SameModel(l.Of, name) {
			bytes += l.Bytes
		}
	}
	if bytes == 0 {
		return nil
	}
	return fmt.Errorf("%s are kept: pull again to resume, or remove them with `quarry model clean` (%s)", catalogue.Gigabytes(bytes), name)
}

// PausedDownload implements lsp.Core.
func (c *Core) PausedDownload() (command, name string) {
	if p := c.downloads.state(); p != nil && p.paused {
		return p.by, p.name
	}
	return "", ""
}

// fetch brings a model to Ollama and tries it, in sight of the user.
func (c *Core) fetch(ctx context.Context, m *Models, name, by string, report lsp.Fetched) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if !c.downloads.begin(name, by, stop) {
		return errors.New("another model is being downloaded: pause or cancel that first")
	}
	c.changed()
	err := m.Fetch(ctx, name, false, func(doing string, done, total int64) {
		c.downloads.progress(doing, done, total)
		c.changed()
		report(doing, done, total)
	}, func(trial string) error {
		findings, err := m.Try(ctx, trial, name, Doing(report))
		return errors.Join(err, Failed(findings))
	})
	cause := context.Cause(ctx)
	c.downloads.end(errors.Is(cause, lsp.ErrPaused))
	c.lookAgain()
	if err == nil || cause == nil {
		return err
	}
	if errors.Is(cause, context.Canceled) {
		if left := m.leftOf(context.WithoutCancel(ctx), name); left != nil {
			return &lsp.CancelledError{Left: left}
		}
	}
	return cause
}

// lookAgain makes the watcher of the model look at the server now.
func (c *Core) lookAgain() {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime != nil {
		e.runtime.Look()
	}
	for _, o := range e.others.all() {
		o.runtime.Look()
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
	advice, _, err := m.AdviseTried(ctx)
	if err != nil {
		return "", err
	}
	if len(Recommended(advice, s)) == 0 {
		return "", ErrNoneSuits
	}
	before := c.downloads.state()
	goesOn := before != nil && before.paused && before.by == lsp.CommandSetup
	if !goesOn && !agree(setupQuestion(advice, s)) {
		return "", nil
	}
	// What is there serves before what comes, which may be stopped or fail.
	recommended := Recommended(advice, s)
	slices.SortStableFunc(recommended, func(a, b catalogue.Choice) int {
		switch {
		case a.Installed == b.Installed:
			return 0
		case a.Installed:
			return -1
		}
		return 1
	})
	var chosen, does []string
	for _, choice := range recommended {
		if choice.Installed {
			findings, err := m.Try(ctx, choice.Name, choice.Name, Doing(report))
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
		chosen, does = append(chosen, choice.Name), append(does, m.Does(choice.Name))
	}
	if off := s.Unasked(false); off != "" {
		return "your settings name " + strings.Join(chosen, " and ") + ", but " + off, nil
	}
	return strings.Join(does, " and ") + " from now on; " + settings.UserFilePath() + " says so", nil
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

// ErrNoneSuits means that no model that quarry knows can be recommended.
var ErrNoneSuits = errors.New("run `quarry model pull NAME`, then `quarry model use NAME`: no model that quarry knows completes code on this machine")

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
func (c *Core) Models(ctx context.Context) ([]lsp.InstalledModel, error) {
	m, s, err := c.models()
	if err != nil {
		return nil, err
	}
	list, err := m.List(ctx)
	installed := make([]lsp.InstalledModel, len(list))
	for i, have := range list {
		installed[i] = lsp.InstalledModel{Name: have.Name, Size: catalogue.Gigabytes(have.Bytes), Quant: have.Quant, InMemory: InMemory(have.Running), Used: UsedFor(s, have.Name), Embeds: have.Embeds() || m.UseOf(have.Name) == catalogue.ForSearch}
	}
	return installed, err
}

// LeftOfDownloads implements lsp.Core.
func (c *Core) LeftOfDownloads(ctx context.Context) (lines []string, err error) {
	m, _, err := c.models()
	if err != nil {
		return nil, err
	}
	list, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	left, err := m.Leftovers(ctx, list)
	for _, l := range left {
		lines = append(lines, fmt.Sprintf("%s: %s", l, l.Next()))
	}
	return lines, err
}

// SameModel implements lsp.Core.
func (c *Core) SameModel(a, b string) bool { return model.SameModel(a, b) }

// KnownModels implements lsp.Core.
func (c *Core) KnownModels(ctx context.Context) (list []lsp.KnownModel, advice string, err error) {
	m, _, err := c.models()
	if err != nil {
		return nil, "", err
	}
	for _, e := range m.Catalogue.Models {
		list = append(list, lsp.KnownModel{Name: e.Name, Use: e.Use, Download: catalogue.Gigabytes(e.Download), Memory: catalogue.Gigabytes(e.Memory), Licence: e.Licence, About: e.About})
	}
	best, _, err := m.AdviseTried(ctx)
	if best.Completion.Name == "" {
		return list, ErrNoneSuits.Error() + ".", err
	}
	return list, fmt.Sprintf("For this machine: %s; %s.", best.Completion.Name, best.Completion.Why), err
}

// UsedFor says for what the settings have a model asked, "" if for nothing.
func UsedFor(s settings.Settings, name string) string {
	switch {
	case model.SameModel(name, s.Model):
		return "completion"
	case s.Embedding.Enabled && model.SameModel(name, s.Embedding.Model):
		return "search"
	}
	for _, language := range slices.Sorted(maps.Keys(s.Completion.Models)) {
		if model.SameModel(name, s.Completion.Models[language]) {
			return "completion of " + language
		}
	}
	return ""
}

// InMemory says how a model is in memory.
func InMemory(r *model.Running) string {
	if r == nil {
		return "no"
	}
	text := catalogue.Gigabytes(r.Bytes)
	if r.OnGPU > 0 {
		text += fmt.Sprintf(", %d %% on the GPU", 100*r.OnGPU/max(r.Bytes, 1))
	}
	if left := time.Until(r.Until); left > 0 && left < 24*time.Hour {
		text += fmt.Sprintf(", for %s more", cmp.Or(strings.TrimSuffix(left.Round(time.Minute).String(), "0s"), "a moment"))
	}
	return text
}

// unseen is for what says at its start that it may take a while.
func unseen(string, int64, int64) {}

// VerifyModel implements lsp.Core.
func (c *Core) VerifyModel(ctx context.Context, name string) ([]lsp.ModelFinding, error) {
	c.mu.Lock()
	s := c.settings
	c.mu.Unlock()
	found, err := Verify(ctx, s, c.stateDir, name, unseen)
	findings := make([]lsp.ModelFinding, len(found))
	for i, f := range found {
		findings[i] = lsp.ModelFinding(f)
	}
	return findings, err
}

// ImportModel implements lsp.Core.
func (c *Core) ImportModel(ctx context.Context, file, name string, report lsp.Fetched) error {
	m, _, err := c.models()
	if err != nil {
		return err
	}
	_, err = m.Import(ctx, file, name, func(done, total int64) { report("importing "+name, done, total) }, func(trial string) error {
		findings, err := m.Try(ctx, trial, name, Doing(report))
		return errors.Join(err, Failed(findings))
	})
	c.lookAgain()
	return err
}

// KeepModel implements lsp.Core.
func (c *Core) KeepModel(ctx context.Context, name string) (does string, err error) {
	m, _, err := c.models()
	if err != nil {
		return "", err
	}
	findings, err := m.Try(ctx, name, name, unseen)
	if err = errors.Join(err, Failed(findings)); err != nil {
		return "", err
	}
	_, _, err = m.Choose(name)
	return m.Does(name), err
}

// RemoveModel implements lsp.Core.
func (c *Core) RemoveModel(ctx context.Context, name string) error {
	m, _, err := c.models()
	if err != nil {
		return err
	}
	err = m.Remove(ctx, name)
	c.lookAgain()
	return err
}
