package eval

import (
	"context"
	"fmt"
	"math"
	"strings"
)

// Knowing stands for a model that knows every hole: it writes what was taken out, and goes
// on with what follows. What quarry makes wrong of that no model can make right.
type Knowing struct {
	silent
	model string
	holes []TypedHole
}

// NewKnowing is one that is called model.
func NewKnowing(model string, holes []TypedHole) *Knowing {
	return &Knowing{model: model, holes: holes}
}

// Model is the name it was given.
func (k *Knowing) Model() string { return k.model }

// goesOn is how much of what follows it writes, in bytes, and at most so many of one piece.
const goesOn, pieceBytes = 300, 4

// Generate writes the hole whose text before and behind the cursor the prompt has most of.
func (k *Knowing) Generate(_ context.Context, prompt string, maxTokens int, _ []string, _ int, emit func(string, float64) bool) (int, error) {
	before, after, _ := strings.Cut(prompt, suffix)
	answer, longest := "", 0
	for _, h := range k.holes {
		text := h.Document.Text[:h.Offset]
		n := 0
		for n < min(len(text), len(before)) && text[len(text)-1-n] == before[len(before)-1-n] {
			n++
		}
		n += commonPrefix(h.Document.Text[h.Offset:], after)
		if n > longest {
			rest := h.Document.Text[h.Offset+len(h.Closers):]
			longest, answer = n, h.Want+rest[:min(len(rest), goesOn)]
		}
	}
	for n := 0; n < maxTokens && answer != ""; n++ {
		size := min(pieceBytes, len(answer))
		if !emit(answer[:size], math.NaN()) {
			break
		}
		answer = answer[size:]
	}
	return 0, nil
}

// mostLost is how many right answers may be lost: the suite has 640.
const mostLost = 2

// Lost are the holes that plain FIM has right, and quarry has not.
func (r *TypedReport) Lost() []Filling {
	var lost []Filling
	for _, f := range r.Fillings {
		if f.Plain.Line && !f.Ours.Line {
			lost = append(lost, f)
		}
	}
	return lost
}

// TooManyLost says how many right answers [Knowing] wrote in vain, "" where that may be.
func (r *TypedReport) TooManyLost() string {
	if n := len(r.Lost()); n > mostLost {
		return fmt.Sprintf("%d of %d right answers are lost, and %d may be", n, len(r.Fillings), mostLost)
	}
	return ""
}
