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
	// OwnGPU is whether models may lie in a GPU's own memory; nil is no.
	OwnGPU func() bool
}

func thisMachine() Machine {
	return Machine{Resident: resident, Free: catalogue.FreeMemory, OnBattery: catalogue.OnBattery, OwnGPU: func() bool { return catalogue.ThisMachine().OwnGPU() }}
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

// words are what a user is told of all that is saved by so many processes within a budget, and of what undoes it.
func (v saving) words(processes int, of int64, s settings.Settings) []lsp.Saving {
	list := []lsp.Saving{}
	if v.step > budget.None {
		who := "quarry and its models"
		if processes > 1 {
			who = fmt.Sprintf("%d quarry processes and their models", processes)
		}
		takes := fmt.Sprintf("%s come near the %s that they may take together", who, catalogue.Gigabytes(of))
		for step, what := range stepWords[:v.step] {
			if step+1 == int(budget.Embeddings) && !s.Embedding.Enabled || step+1 == int(budget.Unload) && !OwnsModels(s) {
				continue // there is nothing to do without, or quarry cannot
			}
			list = append(list, lsp.Saving{Kind: kindMemory, What: what, Why: takes, Undo: undoMemory})
		}
	}
	if v.small {
		list = append(list, lsp.Saving{
			Kind: kindMemory, What: WithoutEmbeddings + ", and prompts are half as long", Why: "less than " + catalogue.Gigabytes(smallDevice) + " of memory was free when quarry started",
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
	WithoutEmbeddings + ", and no code is embedded",
	"models leave memory a minute after they were asked last",
}

// reading is what a look found last. others is the user's other quarrys: what they have is in Own, too.
type reading struct {
	budget.Reading
	budget int64
	others budget.Shared
	untold bool // what models have on a server that does not say it
}

// lookAtMemoryEvery is how often memory and battery are looked at. It is also done whenever the
// state of the model or the settings change.
const lookAtMemoryEvery = 30 * time.Second

// keepWithin looks at memory and battery until ctx ends, and does without what has to be.
func (c *Core) keepWithin(ctx context.Context, l look) {
	tick := time.NewTicker(lookAtMemoryEvery)
	defer tick.Stop()
	for {
		c.lookAtMemory(ctx, &l)
		for due := false; !due; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				due = true
			case <-c.lookDue:
				due = true
			case <-c.asked:
				due = c.ledger.Changed()
			}
		}
	}
}

// look is what one look remembers for the next.
type look struct {
	keeper budget.Keeper
	of     settings.Settings // those that keeper knows models of
	had    reading           // of the last look at which what models have was known
	scarce bool              // little was free when this one started, which is known for good once it is judged
	judged bool
	told   bool // the user, of it
}

// memoryDir is where the quarrys of a user tell each other of their memory.
func memoryDir(stateDir string) (string, error) { return stateFolder(stateDir, "memory") }

// Running is what those of the user's quarrys that run now have and do without.
type Running struct {
	Processes int
	// Own is what the processes have, Models what all models have that they ask, in bytes.
	Own, Models int64
	// Untold: of some models that is not known.
	Untold bool
	// Savings are what any of them does without.
	Savings []lsp.Saving
	// Settings are how those who ask the server of the settings ask it.
	Settings settings.Settings
}

// RunningNow looks at the user's running quarrys for one with these settings.
func RunningNow(stateDir string, s settings.Settings) Running {
	r := Running{Settings: s, Savings: []lsp.Saving{}}
	dir, err := memoryDir(stateDir)
	if err != nil {
		return r
	}
	notes := budget.Read(dir)
	battery := false
	for _, n := range notes {
		r.Untold = r.Untold || n.Untold
		battery = battery || n.Battery
	}
	o := budget.Share(notes, serverOf(s))
	r.Processes, r.Own, r.Models = o.Processes, o.Own, o.Models+o.Elsewhere
	v := saving{step: o.Step, small: o.Small}
	r.Settings = v.less(s)
	v.battery = battery
	r.Savings = v.words(o.Processes, o.Budget, s)
	for _, n := range notes { // of those with other settings, what is told of none yet
		v := saving{step: n.Step, small: n.Small}
		for _, more := range v.words(o.Processes, n.Budget, s) {
			if !slices.ContainsFunc(r.Savings, func(have lsp.Saving) bool { return have.What == more.What }) {
				r.Savings = append(r.Savings, more)
			}
		}
	}
	return r
}

// serverOf names the model server of the settings, the same for each way to write it, "" if none is asked.
func serverOf(s settings.Settings) string {
	u, err := model.ParseEndpoint(s.Ollama.URL, true)
	switch {
	case !s.Ollama.Enabled || err != nil:
		return ""
	case model.IsLoopback(u):
		return "this machine:" + u.Port()
	}
	return u.Host
}

// beside takes a place among the user's quarrys and begins with what they do without, so that a model that is in memory
// is not loaded anew. It answers whether little is free now beside what they have.
func (c *Core) beside(s settings.Settings) (scarce bool) {
	var notes []budget.Note
	dir, err := memoryDir(c.stateDir)
	switch {
	case err != nil:
	case c.oneShot:
		notes = inTime(func() []budget.Note { return budget.Read(dir) })
	default:
		if c.ledger, err = budget.Join(dir); err != nil {
			c.ledger = nil
		}
		notes = inTime(c.ledger.Others)
	}
	if err != nil {
		c.log.Debug("memory is counted for this quarry alone", "error", err)
	}
	o := budget.Share(notes, serverOf(s))
	scarce = c.isScarce(o.Own + o.Models + o.Elsewhere)
	c.saving = saving{battery: s.Battery.Save && c.machine.OnBattery()}
	c.saving.step, c.saving.small = asOthers(o, budget.None, scarce && s.Memory.BudgetMB == 0)
	c.reading = reading{budget: Budget(s, catalogue.ThisMachine()), others: o}
	return scarce
}

// inTime is what look finds, nothing where the disk does not answer: an editor waits for the
// start. The first look, behind the start, is not bound to a time. Who still looks then ends
// when the disk answers, or with the process.
func inTime(look func() []budget.Note) []budget.Note {
	found := make(chan []budget.Note, 1)
	go func() { found <- look() }()
	select {
	case notes := <-found:
		return notes
	case <-time.After(startLook):
	}
	select {
	case notes := <-found: // a process that had no processor for so long
		return notes
	default:
		return nil
	}
}

// startLook is how long a start waits for the notes of others, a thousand times what they take.
const startLook = 200 * time.Millisecond

// noteStart notes what is done without from the start. Whether the device is small without the models is judged once
// they are known, and noted then; of steps those tell who have taken them.
func (c *Core) noteStart() {
	if c.saving.battery {
		c.usage.Event(kindBattery, onBattery, true)
		c.usage.Flush() // `quarry status` in a terminal reads it
	}
}

const onBattery = "on battery: longer waits, no embedding"

// asOthers is what is done without because others do, who ask the same server.
func asOthers(o budget.Shared, own budget.Step, small bool) (budget.Step, bool) {
	return max(own, o.Step), small || o.Small
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
		l.had = reading{}
	}
	l.of = s
	l.keeper.Budget = Budget(s, catalogue.ThisMachine())
	own := c.machine.Resident()
	r := reading{budget: l.keeper.Budget, others: budget.Share(c.ledger.Others(), serverOf(s))}
	r.Own = own + r.others.Own + r.others.Elsewhere
	known, err := c.inMemory(ctx, s, &r)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.log.Debug("what models take is not known", "error", err)
		return // the watcher of the model tells
	}
	before := l.keeper.Step()
	step := l.keeper.Look(r.Reading, now.step)
	if known {
		l.had = r
	} else { // engines that begin anew have not asked yet, and others need not count with less for that moment
		r.Completion, r.Embedding, r.untold = l.had.Completion, l.had.Embedding, l.had.untold
	}
	c.usage.Memory(own+r.others.Own, r.Completion+r.Embedding+r.others.Elsewhere)
	if known && !l.judged {
		l.judged, l.scarce = true, c.isScarce(r.Used())
	}
	small := l.scarce && s.Memory.BudgetMB == 0 // a user who has said what quarry may take is believed
	if l.judged && small && !l.told {
		l.told = true
		c.usage.Event(kindMemory, "little was free at the start: no embeddings, shorter prompts", true)
		c.usage.Flush() // `quarry status` in a terminal reads it
		c.notify(lsp.Info, "small device", "Little memory is free: close other programs and restart quarry, or set memory.budgetMB in your settings. Until then search uses no embeddings and prompts are half as long.")
	}
	battery := s.Battery.Save && c.machine.OnBattery()
	if err := c.ledger.Write(budget.Note{
		Own: own, Server: serverOf(s), Completion: completionModels(s), Embedding: s.Embedding.Model, Models: r.Completion + r.Embedding, Untold: r.untold,
		Step: step, Small: small, Battery: battery, Budget: r.budget,
	}); err != nil {
		c.log.Debug("other quarrys do not see what this one has", "error", err)
	}
	next := saving{battery: battery}
	next.step, next.small = asOthers(r.others, step, small)
	c.mu.Lock()
	c.reading = r
	c.mu.Unlock()
	c.limitMemory(s, next, r)
	if next != now {
		// Of steps that others have taken they tell.
		c.save(ctx, s, next, r, max(before, step) > r.others.Step)
	}
}

// isScarce is whether little memory is free; taken is what quarrys and their models have of it. A command that asks once has
// nothing to judge.
func (c *Core) isScarce(taken int64) bool { return !c.oneShot && scarce(c.machine.Free(), taken) }

func scarce(free, taken int64) bool { return free > 0 && free+taken < smallDevice }

// Small is whether a quarry that starts does with less because little memory is free. A user who has said what they may take
// is believed.
func Small(s settings.Settings, free, taken int64) bool {
	return s.Memory.BudgetMB == 0 && scarce(free, taken)
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
	names := once(completionModels(s), r.others.Completion)
	all := once(names, append([]string{s.Embedding.Model}, r.others.Embedding...))
	sizes, told, err := c.machine.modelsMemory(ctx, e.runtime, s, all...)
	if err != nil {
		return false, err
	}
	r.untold = !told
	for at, n := range sizes {
		if at < len(names) {
			r.Completion += n
		} else {
			r.Embedding += n
		}
	}
	return true, nil
}

// modelsMemory is what models take of this machine's memory; told is false if the server does not say so. One that is no Ollama
// says what weights have, and not whether a GPU has them in memory of its own.
func (m Machine) modelsMemory(ctx context.Context, runtime *model.Runtime, s settings.Settings, names ...string) (bytes []int64, told bool, err error) {
	bytes, told, err = runtime.InMemory(ctx, names...)
	if !OwnsModels(s) && m.OwnGPU != nil && m.OwnGPU() && slices.Max(append(bytes, 0)) > 0 {
		bytes, told = make([]int64, len(names)), false
	}
	return bytes, told, err
}

// ModelsMemory is what the models of the settings have of this machine's memory; told is false if their server does not say so.
func ModelsMemory(ctx context.Context, s settings.Settings) (taken int64, told bool, err error) {
	runtime, err := model.New(ModelOptions(s))
	if err != nil {
		return 0, false, err
	}
	defer runtime.Close()
	names := completionModels(s)
	if s.Embedding.Enabled && s.Embedding.Model != "" {
		names = once(names, []string{s.Embedding.Model})
	}
	bytes, told, err := thisMachine().modelsMemory(ctx, runtime, s, names...)
	for _, n := range bytes {
		taken += n
	}
	return taken, told, err
}

// once are the names of a list and those of another, each model once however it is written.
func once(names, more []string) []string {
	for _, name := range more {
		if !slices.ContainsFunc(names, func(n string) bool { return model.SameModel(n, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// completionModels are those that the settings have complete code, each once however they write it.
func completionModels(s settings.Settings) []string {
	return once([]string{s.Model}, slices.Sorted(maps.Values(s.Completion.Models)))
}

// save goes on with other savings; noted is whether a step is this quarry's own, and so its to note.
func (c *Core) save(ctx context.Context, s settings.Settings, next saving, r reading, noted bool) {
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
		if noted {
			c.usage.Event(kindMemory, what, next.step > budget.None)
		}
	}
	if next.battery != was.battery {
		what := "at the cable again"
		if next.battery {
			what = onBattery
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
		limit = max(leastOwn, min(all/4, all-r.Completion-r.Embedding-r.others.Own-r.others.Elsewhere))
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
		ModelBytes: uint64(c.reading.Completion + c.reading.Embedding), OthersBytes: uint64(c.reading.others.Own), BudgetBytes: uint64(c.reading.budget), Step: int(c.saving.step), ModelsUntold: c.reading.untold,
	}
}

// savings are what a user is told of what is done without.
func (c *Core) savings() []lsp.Saving {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.reading
	of := r.budget
	if r.others.Step == c.saving.step && r.others.Budget > 0 {
		of = r.others.Budget
	}
	return c.saving.words(1+r.others.Processes, of, c.settings)
}
