package model

// Preset is how one kind of request samples.
type Preset struct {
	Temperature   float64
	TopP          float64
	RepeatPenalty float64
	// MaxTokens is the limit where the caller names none.
	MaxTokens int
}

// FIMPreset is what a small model completes code best with: little randomness,
// and just enough penalty to keep it from repeating a line for ever.
var FIMPreset = Preset{Temperature: 0.2, TopP: 0.9, RepeatPenalty: 1.05, MaxTokens: 128}

// ChatPreset is what conversations are answered with; their Temperature replaces
// its own. There is no repeat penalty: an answer about code repeats names and
// paths.
var ChatPreset = Preset{Temperature: 0.2, TopP: 0.9, RepeatPenalty: 1, MaxTokens: 512}

// alternative is the preset for the n-th alternative answer, n > 0: warmer with
// every one, since at the preset's own temperature they would be the same.
func (p Preset) alternative(n int) Preset {
	p.Temperature = min(p.Temperature+0.2*float64(n), max(p.Temperature, 0.9))
	return p
}
