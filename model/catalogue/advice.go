package catalogue

import (
	"cmp"
	"fmt"
	"slices"

	"quarry/model"
)

// Advice is which models suit a machine, and why.
type Advice struct {
	Machine Machine `json:"machine"`
	// Budget is what models, their server and quarry may take together, in bytes; 0 if not
	// known.
	Budget     int64  `json:"budget"`
	Completion Choice `json:"completion"`
	// Search is the model that embeds beside the other. Its Name is "" where both do not
	// fit at once.
	Search Choice `json:"search"`
}

// A Choice is a model that is recommended.
type Choice struct {
	Entry
	// Installed: Ollama has it.
	Installed bool `json:"installed"`
	// Why is a clause about the model.
	Why string `json:"why"`
	// tight: it takes more than models may.
	tight bool
}

// Suits is a clause that says how far the model suits a machine, and why.
func (c Choice) Suits(machine string) string {
	if c.tight {
		return fmt.Sprintf("%s comes nearest to fitting %s: %s", c.Name, machine, c.Why)
	}
	return fmt.Sprintf("%s suits %s: %s", c.Name, machine, c.Why)
}

// modelShare is how much of a budget models may take; quarry and the server take the rest.
const modelShare = 0.8

// Wants is what the settings name, which is kept where it serves.
type Wants struct {
	Completion, Search string
	// Unsuited are models that are known not to complete code. None of them is recommended for it.
	Unsuited []string
	// Completes are installed models that are known to complete code, although neither the catalogue nor the settings name them.
	Completes []string
}

// Advise recommends a model for completion, and one for search beside it if both fit into
// budget, in bytes, at once; 0 is a budget that is not known. What Ollama has serves before what
// would have to be fetched, and what the settings name before the rest.
func (c *List) Advise(m Machine, budget int64, have []model.Installed, wants Wants) Advice {
	a := Advice{Machine: m, Budget: budget}
	room := int64(modelShare * float64(budget))
	fits := func(bytes int64) bool { return budget == 0 || bytes <= room }

	takes := func(e Entry) string {
		if budget == 0 {
			return fmt.Sprintf("it takes about %s, and how much memory this machine has is not known", Gigabytes(e.Memory))
		}
		return fmt.Sprintf("it takes about %s of the %s that models may take here", Gigabytes(e.Memory), Gigabytes(room))
	}
	candidates := slices.DeleteFunc(c.of(ForCompletion, have, append([]string{wants.Completion}, wants.Completes...)), func(x Choice) bool {
		return slices.ContainsFunc(wants.Unsuited, func(name string) bool { return model.SameModel(name, x.Name) })
	})
	if m.slow() {
		slices.SortStableFunc(candidates, func(x, y Choice) int { return cmp.Compare(x.Memory, y.Memory) })
	}
	fitting := slices.DeleteFunc(slices.Clone(candidates), func(x Choice) bool { return !fits(x.Memory) })
	first := func(want func(Choice) bool) bool {
		at := slices.IndexFunc(fitting, want)
		if at >= 0 {
			a.Completion = fitting[at]
		}
		return at >= 0
	}
	switch {
	case first(func(x Choice) bool { return x.Installed && model.SameModel(x.Name, wants.Completion) }):
		a.Completion.Why = "Ollama has it, your settings name it, and " + takes(a.Completion.Entry)
	case first(func(x Choice) bool { return x.Installed }):
		a.Completion.Why = "Ollama has it already, and " + takes(a.Completion.Entry)
	case first(func(Choice) bool { return true }):
		a.Completion.Why = takes(a.Completion.Entry)
		if m.slow() {
			a.Completion.Why += fmt.Sprintf(", and on %d processors without a GPU a small model answers soonest", m.Processors)
		}
	case len(candidates) > 0:
		a.Completion = slices.MinFunc(candidates, func(x, y Choice) int { return cmp.Compare(x.Memory, y.Memory) })
		a.Completion.tight = true
		a.Completion.Why = fmt.Sprintf("it is the smallest; it takes about %s, more than the %s that models may take here", Gigabytes(a.Completion.Memory), Gigabytes(room))
	}

	beside := c.of(ForSearch, have, []string{wants.Search})
	if at := slices.IndexFunc(beside, func(x Choice) bool { return model.SameModel(x.Name, wants.Search) }); at > 0 {
		beside[0], beside[at] = beside[at], beside[0]
	}
	if len(beside) == 0 {
		return a
	}
	if both := a.Completion.Memory + beside[0].Memory; fits(both) {
		a.Search = beside[0]
		a.Search.Why = "both fit at once: " + takes(Entry{Memory: both})
	} else {
		a.Search.Why = fmt.Sprintf("two models do not fit at once (about %s of %s): search finds code by its words", Gigabytes(both), Gigabytes(room))
	}
	return a
}

// of are the catalogue's models for a use, and those of others that Ollama has.
func (c *List) of(use string, have []model.Installed, others []string) (list []Choice) {
	installed := func(name string) (model.Installed, bool) {
		at := slices.IndexFunc(have, func(m model.Installed) bool { return model.SameModel(m.Name, name) })
		if at < 0 {
			return model.Installed{}, false
		}
		return have[at], true
	}
	for _, e := range c.Models {
		if _, ok := installed(e.Name); e.Use == use && (ok || e.Fetched()) {
			list = append(list, Choice{Entry: e, Installed: ok})
		}
	}
	for _, name := range others {
		if _, known := c.Find(name); known {
			continue
		}
		if m, ok := installed(name); ok && (use == ForSearch || !m.Embeds()) {
			list = append(list, Choice{Entry: Entry{Name: name, Use: use, Download: m.Bytes, Memory: inMemory(m.Bytes)}, Installed: true})
		}
	}
	return list
}

// inMemory is about what a model of so many bytes takes while it runs, as the catalogue's do.
func inMemory(bytes int64) int64 { return bytes + bytes/3 + 500_000_000 }
