package engines

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/cmd/internal/budget"
	"quarry/index/addresses"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
)

// Machine is what is looked at of the machine, replaceable in tests.
type Machine struct {
	// Resident is what this process takes, Free what others may still have, both in bytes.
	Resident, Free func() int64
	OnBattery      func() bool
}

func thisMachine() Machine {
	return Machine{Resident: resident, Free: catalogue.FreeMemory, OnBattery: catalogue.OnBattery}
}

// resident is what the system says of this process, where it says nothing what Go knows.
func resident() int64 {
	if raw, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(raw)); len(fields) > 1 {
			if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				return pages * int64(os.Getpagesize())
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// saving is what is done without.
type saving struct {
	step    budget.Step
	battery bool // this machine runs on it
	small   bool // little memory was free when quarry started
}

// smallDevice is how many bytes free, without quarry and its models, are few: the smallest
// model of the catalogue and the process fit there, and nothing else.
const smallDevice = 2_000_000_000

// less is the settings with what is saved. It never asks for more than they do.
func (v saving) less(s settings.Settings) settings.Settings {
	if v.battery && s.Completion.Debounce > 0 {
		s.Completion.Debounce *= 2
	}
	if v.step >= budget.Candidates {
		s.Completion.Candidates, s.Completion.TwoRounds = 1, false
	}
	if v.step >= budget.Context || v.small {
		s.Ollama.ContextSize = min(s.Ollama.ContextSize, max(leastContext, s.Ollama.ContextSize/2))
		s.Completion.ContextTokens = min(s.Completion.ContextTokens, max(leastSnippets, s.Completion.ContextTokens/2))
	}
	if v.step >= budget.Embeddings || v.small {
		s.Embedding.Enabled = false
	}
	if keep := settings.Duration(briefly); v.step >= budget.Unload && (s.Ollama.KeepAlive < 0 || s.Ollama.KeepAlive > keep) {
		s.Ollama.KeepAlive = keep
	}
	return s
}

const (
	// leastContext is the context window, in tokens, that still holds a prompt worth its
	// answer, leastSnippets what of it other places may have.
	leastContext, leastSnippets = 2048, 256
	// briefly is how long a model stays in memory when there is too little of it.
	briefly = time.Minute
)

// words are what a user is told of all that is saved, and of what undoes it.
func (v saving) words(r reading, s settings.Settings) []lsp.Saving {
	list := []lsp.Saving{}
	if v.step > budget.None {
		takes := fmt.Sprintf("quarry and its models come near the %s that they may take together", catalogue.Gigabytes(r.budget))
		for step, what := range stepWords[:v.step] {
			if step+1 == int(budget.Embeddings) && !s.Embedding.Enabled {
				continue // there is nothing to do without
			}
			list = append(list, lsp.Saving{Kind: kindMemory, What: what, Why: takes, Undo: undoMemory})
		}
	}
	if v.small {
		list = append(list, lsp.Saving{
			Kind: kindMemory, What: "search finds code by its words only, and prompts are half as long", Why: "less than " + catalogue.Gigabytes(smallDevice) + " of memory was free when quarry started",
			Undo: "other programs closed and quarry started again, or memory.budgetMB in your settings",
		})
	}
	if v.battery {
		list = append(list, lsp.Saving{
			Kind: kindBattery, What: "ghost text waits longer for your next key, and no code is embedded", Why: "this machine runs on its battery", Undo: undoBattery,
		})
	}
	return list
}

// The kinds of savings, and what undoes them.
const (
	kindMemory, kindBattery = "memory", "battery"
	// KindElsewhere is of events that say of an answer that it came from another machine.
	KindElsewhere = "remote"

	undoElsewhere = "ollama.allowRemote false in your settings"

	undoMemory  = "a smaller model (`quarry setup model`), or a larger memory.budgetMB in your settings"
	undoBattery = "its cable, or battery.save false in your settings"
)

// UndoOf is what undoes an event of a kind that usage keeps, "" if nothing of the user's does.
func UndoOf(kind string) string {
	switch kind {
	case kindMemory:
		return undoMemory
	case kindBattery:
		return undoBattery
	case KindElsewhere:
		return undoElsewhere
	}
	return ""
}

// stepWords say what each step does without, in their order.
var stepWords = [budget.Last]string{
	"one alternative instead of several",
	"half the context window, and less code from other places in prompts",
	"search finds code by its words only, and no code is embedded",
	"models leave memory a minute after they were asked last",
}

// reading is what a look found last.
type reading struct {
	budget.Reading
	budget int64
}

// lookAtMemoryEvery is how often memory and battery are looked at. It is also done whenever the
// state of the model or the settings change.
const lookAtMemoryEvery = 30 * time.Second

// keepWithin looks at memory and battery until ctx ends, and does without what has to be.
func (c *Core) keepWithin(ctx context.Context) {
	tick := time.NewTicker(lookAtMemoryEvery)
	defer tick.Stop()
	var l look
	for {
		c.lookAtMemory(ctx, &l)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-c.lookDue:
		}
	}
}

// look is what one look remembers for the next.
type look struct {
	keeper budget.Keeper
	of     settings.Settings // those that keeper knows models of
	judged bool              // whether the device is small is known for good
}

// lookSoon asks for a look.
func (c *Core) lookSoon() {
	select {
	case c.lookDue <- struct{}{}:
	default: // one is due
	}
}

func (c *Core) lookAtMemory(ctx context.Context, l *look) {
	c.mu.Lock()
	s, now := c.settings, c.saving
	c.mu.Unlock()
	if s.Model != l.of.Model || s.Embedding.Model != l.of.Embedding.Model || s.Ollama != l.of.Ollama || !maps.Equal(s.Completion.Models, l.of.Completion.Models) {
		l.keeper.Forget()
	}
	l.of = s
	l.keeper.Budget = Budget(s, catalogue.ThisMachine())
	r := reading{budget.Reading{Own: c.machine.Resident()}, l.keeper.Budget}
	known, err := c.inMemory(ctx, s, &r)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.log.Debug("what models take is not known", "error", err)
		return // the watcher of the model tells
	}
	c.usage.Memory(r.Own, r.Completion+r.Embedding)
	next := saving{step: l.keeper.Look(r.Reading), battery: s.Battery.Save && c.machine.OnBattery(), small: now.small}
	if known && !l.judged {
		l.judged = true
		next.small = c.isSmall(s, r.Used())
		if next.small {
			c.notify(lsp.Info, "small device", "Little memory is free: close other programs and restart quarry, or set memory.budgetMB in your settings. Until then search uses words only and prompts are half as long.")
		}
	}
	if s.Memory.BudgetMB > 0 {
		next.small = false
	}
	c.mu.Lock()
	c.reading = r
	c.mu.Unlock()
	c.limitMemory(s, next, r)
	if next != now {
		c.save(ctx, s, next, r)
	}
}

// isSmall is whether a user who has not said what quarry may take has little memory free;
// taken is what quarry and its models have of it.
func (c *Core) isSmall(s settings.Settings, taken int64) bool {
	free := c.machine.Free()
	return !c.oneShot && s.Memory.BudgetMB == 0 && free > 0 && free+taken < smallDevice
}

// inMemory reads what the models take; known is false while the model is still being loaded.
func (c *Core) inMemory(ctx context.Context, s settings.Settings, r *reading) (known bool, err error) {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime == nil {
		return true, nil
	}
	switch e.runtime.State().Phase {
	case model.Unknown, model.Loading:
		return false, nil
	case model.Ready:
	default:
		return true, nil // a server that does not answer has nothing in memory
	}
	names := completionModels(s)
	sizes, err := e.runtime.InMemory(ctx, append(names, s.Embedding.Model)...)
	if err != nil {
		return false, err
	}
	for _, n := range sizes[:len(names)] {
		r.Completion += n
	}
	r.Embedding = sizes[len(names)]
	return true, nil
}

// completionModels are those that the settings have complete code, each once however they write it.
func completionModels(s settings.Settings) []string {
	names := []string{s.Model}
	for _, name := range slices.Sorted(maps.Values(s.Completion.Models)) {
		if !slices.ContainsFunc(names, func(n string) bool { return model.SameModel(n, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// save goes on with other savings.
func (c *Core) save(ctx context.Context, s settings.Settings, next saving, r reading) {
	c.mu.Lock()
	if c.closed || ctx.Err() != nil {
		c.mu.Unlock()
		return
	}
	was := c.saving
	c.saving = next
	before, after := was.less(c.settings), next.less(c.settings)
	c.restart(before, after, was, next)
	c.mu.Unlock()
	if next.step != was.step {
		what := fmt.Sprintf("%s of %s: all is done again", catalogue.Gigabytes(r.Used()), catalogue.Gigabytes(r.budget))
		if next.step > budget.None {
			what = fmt.Sprintf("%s of %s: %s", catalogue.Gigabytes(r.Used()), catalogue.Gigabytes(r.budget), stepWords[next.step-1])
		}
		c.log.Info("memory", "step", next.step, "used", r.Used(), "budget", r.budget)
		c.usage.Event(kindMemory, what, next.step > budget.None)
	}
	if next.small != was.small && next.small {
		c.usage.Event(kindMemory, "little was free at the start: words only, shorter prompts", true)
	}
	if next.battery != was.battery {
		what := "at the cable again"
		if next.battery {
			what = "on battery: longer waits, no embedding"
		}
		c.usage.Event(kindBattery, what, next.battery)
	}
	c.usage.Flush() // `quarry status` in a terminal reads it
	if before.Embedding.Enabled && !after.Embedding.Enabled {
		c.unload(ctx, s.Embedding.Model)
	}
	c.changed()
}

// unload drops a model from memory that is not asked any more.
func (c *Core) unload(ctx context.Context, name string) {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime == nil || e.runtime.State().Phase == model.Unreachable {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	if err := e.runtime.Unload(ctx, name); err != nil && ctx.Err() == nil {
		c.log.Debug("unload", "model", name, "error", err)
	}
}

// limitMemory tells Go's runtime how much this process should take: what index.memoryMB says,
// else a quarter of the budget, near it what models leave. It frees memory sooner then.
func (c *Core) limitMemory(s settings.Settings, v saving, r reading) {
	if os.Getenv("GOMEMLIMIT") != "" && s.Index.MemoryMB == 0 {
		return // the user's own
	}
	limit := int64(math.MaxInt64)
	switch all := Budget(s, catalogue.ThisMachine()); {
	case s.Index.MemoryMB > 0:
		limit = int64(s.Index.MemoryMB) * 1e6
	case all == 0:
	case v.step > budget.None || v.small:
		limit = max(leastOwn, min(all/4, all-r.Completion-r.Embedding))
	default:
		limit = max(leastOwn, all/4)
	}
	limit = min(limit, addresses.Heap())
	c.mu.Lock()
	changed := limit != c.memoryLimit
	c.memoryLimit = limit
	c.mu.Unlock()
	if changed {
		debug.SetMemoryLimit(limit)
	}
}

// leastOwn is what a process with a large workspace needs, in bytes: under a lower limit Go's
// runtime would do nothing but collect garbage.
const leastOwn = 256_000_000

// Memory implements lsp.Core.
func (c *Core) Memory() lsp.MemoryStatus {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.mu.Lock()
	defer c.mu.Unlock()
	return lsp.MemoryStatus{
		HeapBytes: m.HeapAlloc, ResidentBytes: uint64(c.machine.Resident()),
		ModelBytes: uint64(c.reading.Completion + c.reading.Embedding), BudgetBytes: uint64(c.reading.budget), Step: int(c.saving.step),
	}
}

// savings are what a user is told of what is done without.
func (c *Core) savings() []lsp.Saving {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.saving.words(c.reading, c.settings)
}
