// Package budget decides what quarry does without while it and its models come near the
// memory that they may take together: a Keeper for one of a user's quarrys, by readings that
// others take, and a Ledger by which all of them know of each other. They share one budget:
// the memory of all processes counts, each model once, and what one does without all do who
// ask the same server, since a model that one asked with half of its context and the other
// with all of it would be loaded anew in turns.
//
// Each step saves more than the one before and takes more from the user. A look takes one
// step at most, so that the next one sees what it saved; it goes back over all steps that are not needed
// any more. What a model took before it left memory, or before a step made it smaller,
// counts when going back: a model that is idle is no reason to have it back in full.
package budget

// Step is how much quarry does without.
type Step int

// The steps; each includes those before it.
const (
	// None: nothing.
	None Step = iota
	// Candidates: one alternative where the user asks for several.
	Candidates
	// Context: half the context window, and less code from other places in prompts.
	Context
	// Embeddings: nothing is embedded, and search finds code by its words.
	Embeddings
	// Unload: models leave memory soon after they were asked last.
	Unload
)

// Last is the last step.
const Last = Unload

// enter is the part of the budget, in percent, from which on a step is taken.
var enter = [Last + 1]int64{0, 85, 90, 95, 100}

// margin is how much lower, in percent of the budget, it has to be to go back: what a
// process takes goes up and down by itself.
const margin = 5

// A Reading is what takes memory at a moment, in bytes.
type Reading struct {
	// Own is the processes, Completion the models that complete code, Embedding those that
	// embed.
	Own, Completion, Embedding int64
}

// Used is all of it.
func (r Reading) Used() int64 { return r.Own + r.Completion + r.Embedding }

// A Keeper keeps one budget. The zero value has none, and takes no step.
type Keeper struct {
	// Budget is in bytes, 0 if there is none.
	Budget int64

	step Step
	// whole, less and embedding are what models took when they were in memory last: with all
	// of their context, with half, and for search.
	whole, less, embedding int64
}

// Step is the one of now.
func (k *Keeper) Step() Step { return k.step }

// Forget says that the models are others now.
func (k *Keeper) Forget() { k.whole, k.less, k.embedding = 0, 0, 0 }

// Look takes a reading and answers what to do without from here on. asked is the step by which the models are asked, which
// others may have taken.
func (k *Keeper) Look(r Reading, asked Step) Step {
	if k.Budget <= 0 {
		k.step = None
		return None
	}
	if r.Completion > 0 {
		if max(k.step, asked) < Context {
			k.whole = r.Completion
		} else {
			k.less = r.Completion
		}
	}
	if r.Embedding > 0 {
		k.embedding = r.Embedding
	}
	if k.step < Last && r.Used()*100 >= k.Budget*enter[k.step+1] {
		k.step++
		return k.step
	}
	for k.step > None && k.would(k.step-1, r.Own)*100 < k.Budget*(enter[k.step]-margin) {
		k.step--
	}
	return k.step
}

// would is what all would take at a step with the models in memory.
func (k *Keeper) would(s Step, own int64) int64 {
	n := own
	if s < Context {
		n += max(k.whole, k.less)
	} else {
		n += k.less
	}
	if s < Embeddings {
		n += k.embedding
	}
	return n
}
