package model

import "strings"

// maxStops is how many stop strings a request carries: OpenAI's interface allows
// four, and vLLM refuses more.
const maxStops = 4

// stopsHere ends an answer at the stop strings that the request had no room for.
type stopsHere struct {
	strings []string
	// held was not given out, because one of them may begin with it.
	held string
}

// feed answers what of the text so far can be given out, and whether the stop string that
// begins first ends it there.
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

// first is where the first stop string begins, the end of the text if there is none.
func (s *stopsHere) first(text string) int {
	cut := len(text)
	for _, stop := range s.strings {
		if i := strings.Index(text, stop); i >= 0 {
			cut = min(cut, i)
		}
	}
	return cut
}

// rest is what was held back to the answer's end, before a stop string in it.
func (s *stopsHere) rest() string {
	held := s.held[:s.first(s.held)]
	s.held = ""
	return held
}
