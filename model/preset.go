package model

import "strings"

// Preset is how one kind of request samples.
type Preset struct {
	Temperature   float64
	TopP          float64
	RepeatPenalty float64
	// MaxTokens is the limit where the caller names none.
	MaxTokens int
}

// FIMPreset is what a small model completes code with best: little randomness, and just enough
// penalty to keep it from repeating a line for ever.
var FIMPreset = Preset{Temperature: 0.2, TopP: 0.9, RepeatPenalty: 1.05, MaxTokens: 128}

// ChatPreset is what conversations are answered with; the Temperature of a conversation
// replaces its own. There is no repeat penalty, because an answer about code repeats names and
// paths.
var ChatPreset = Preset{Temperature: 0.2, TopP: 0.9, RepeatPenalty: 1, MaxTokens: 512}

// alternative is the preset for the n-th alternative answer, n > 0. Each is warmer than the
// one before, because at the preset's own temperature all would be the same.
func (p Preset) alternative(n int) Preset {
	p.Temperature = min(p.Temperature+0.2*float64(n), max(p.Temperature, 0.9))
	return p
}

// maxStops is how many stop strings a request carries: OpenAI's interface allows
// four, and vLLM refuses more.
const maxStops = 4

// stopsHere ends an answer at the stop strings that the request had no room for.
type stopsHere struct {
	strings []string
	// held is text that has not been given out, because a stop string may begin with it.
	held string
}

// feed answers how much of the text so far can be given out, and whether the first stop string
// ends the answer there.
func (s *stopsHere) feed(text string) (out string, stopped bool) {
	text = s.held + text
	cut, keep := s.first(text), len(text)
	for _, stop := range s.strings {
		for n := min(len(stop)-1, len(text)); n > len(text)-keep; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				keep = len(text) - n
			}
		}
	}
	if cut < len(text) && cut <= keep {
		s.held = ""
		return text[:cut], true
	}
	s.held = text[keep:]
	return text[:keep], false
}

// first is where the first stop string begins, or the end of the text if there is none.
func (s *stopsHere) first(text string) int {
	cut := len(text)
	for _, stop := range s.strings {
		if i := strings.Index(text, stop); i >= 0 {
			cut = min(cut, i)
		}
	}
	return cut
}

// rest is what was held back until the answer ended, up to a stop string in it.
func (s *stopsHere) rest() string {
	held := s.held[:s.first(s.held)]
	s.held = ""
	return held
}
