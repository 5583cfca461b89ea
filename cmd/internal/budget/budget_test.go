package budget

import (
	"slices"
	"testing"
)

// looks are the steps after each of some readings.
func looks(k *Keeper, readings ...Reading) (steps []Step) {
	for _, r := range readings {
		steps = append(steps, k.Look(r, None))
	}
	return steps
}

// Near the budget one step follows the other, each only where those before did not save
// enough.
func TestSteps(t *testing.T) {
	for _, test := range []struct {
		name     string
		budget   int64
		readings []Reading
		want     []Step
	}{
		{"no budget", 0, []Reading{{Own: 1 << 40}}, []Step{None}},
		{"enough", 1000, []Reading{{100, 700, 49}, {100, 700, 49}}, []Step{None, None}},
		{"from 85 percent on", 1000, []Reading{{100, 700, 50}, {100, 700, 50}}, []Step{Candidates, Candidates}},
		{"from 90", 1000, []Reading{{100, 750, 50}, {100, 750, 50}, {100, 650, 50}}, []Step{Candidates, Context, Context}},
		{"from 95", 1000, []Reading{{200, 700, 50}, {200, 700, 50}, {200, 700, 50}, {200, 700, 0}}, []Step{Candidates, Context, Embeddings, Embeddings}},
		{"more than all", 1000, []Reading{{200, 900, 50}, {200, 900, 50}, {200, 850, 50}, {200, 850, 0}, {200, 850, 0}}, []Step{Candidates, Context, Embeddings, Unload, Unload}},
	} {
		if got := looks(&Keeper{Budget: test.budget}, test.readings...); !slices.Equal(got, test.want) {
			t.Errorf("%s: steps %v, want %v", test.name, got, test.want)
		}
	}
}

// What a step saved is no reason to take it back; less work, smaller models or a larger budget are.
func TestBack(t *testing.T) {
	over := []Reading{{200, 900, 50}, {200, 900, 50}, {200, 850, 50}, {200, 850, 0}}
	reach := func() *Keeper {
		k := &Keeper{Budget: 1000}
		if steps := looks(k, over...); steps[len(steps)-1] != Unload {
			t.Fatalf("steps %v", steps)
		}
		return k
	}
	k := reach()
	if got := k.Look(Reading{Own: 200}, None); got != Unload {
		t.Errorf("models that are idle: step %d", got)
	}
	if got := k.Look(Reading{Own: 60}, None); got != Embeddings {
		t.Errorf("when 910 suffice with half the context and no embedding: step %d", got)
	}
	k.Budget = 2000
	if got := k.Look(Reading{Own: 200}, None); got != None {
		t.Errorf("with a larger budget: step %d", got)
	}
	k = reach()
	k.Forget()
	if got := k.Look(Reading{200, 300, 50}, None); got != None {
		t.Errorf("with a smaller model: step %d", got)
	}
	// What goes up and down a little changes nothing.
	k = &Keeper{Budget: 1000}
	if got := looks(k, Reading{100, 760, 0}, Reading{50, 760, 0}, Reading{30, 760, 0}); !slices.Equal(got, []Step{Candidates, Candidates, None}) {
		t.Errorf("around a limit: steps %v", got)
	}
}

// What a model takes is learned by the step that it was loaded with, also where another quarry has taken it.
func TestOthersHaveTakenTheStep(t *testing.T) {
	k := &Keeper{Budget: 1000}
	if got := k.Look(Reading{100, 600, 0}, Context); got != None {
		t.Errorf("step %d", got)
	}
	if got := k.Look(Reading{100, 800, 0}, None); got != Candidates { // the other has ended
		t.Errorf("step %d", got)
	}
	if k.less != 600 || k.whole != 800 {
		t.Errorf("learned %d and %d", k.less, k.whole)
	}
}
