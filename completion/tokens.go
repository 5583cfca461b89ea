package completion

import (
	"math"
	"sync"
	"unicode/utf8"
)

// EstimateTokens is about how many tokens a model's vocabulary makes of s, within
// 15 % for source code. An Engine corrects it by what the model counts.
func EstimateTokens(s string) int { return rawTokens(s) }

// rawTokens estimates how many tokens a byte-pair vocabulary of about 100,000
// entries makes of s: words in pieces of up to six letters split at case
// changes, numbers in threes, signs in pairs, white space in runs that give
// their last blank to the following word. The meter scales it to the model.
func rawTokens(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		j := i + 1
		switch {
		case c == ' ' || c == '\t':
			for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
				j++
			}
			if j-i > 1 || j == len(s) || !isWord(s[j]) {
				n++
			}
		case c == '\n' || c == '\r':
			for j < len(s) && (s[j] == '\n' || s[j] == '\r') {
				j++
			}
			n++
		case c >= '0' && c <= '9':
			for j < len(s) && j-i < 3 && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			n++
		case c >= 0x80:
			_, size := utf8.DecodeRuneInString(s[i:])
			j = i + size
			n += max(1, size-1)
		case isWord(c):
			for j < len(s) && j-i < 6 && s[j] < 0x80 && isWord(s[j]) && !(isUpper(s[j]) && !isUpper(s[j-1])) {
				j++
			}
			n++
		default:
			if j < len(s) && s[j] > ' ' && s[j] < 0x80 && !isWord(s[j]) {
				j++
			}
			n++
		}
		i = j
	}
	return n
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// meter turns raw estimates into the model's tokens. It learns from the counts
// the backend returns, rises at once and falls slowly, so that a prompt that
// fits by its count fits in truth.
type meter struct {
	mu sync.Mutex
	// scale is tokens per raw token. Guarded by mu.
	scale float64
}

// firstScale is a guess on the safe side: the raw estimate of source code in
// the bundled languages is within 15 % of byte-pair vocabularies.
const firstScale = 1.25

func (m *meter) factor() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scale == 0 {
		m.scale = firstScale
	}
	return m.scale
}

// learn takes the backend's count for a prompt of the given raw estimate.
func (m *meter) learn(raw, counted int) {
	if raw < 64 || counted <= 0 {
		return // too short to tell
	}
	// 2 % above what was seen: the next prompt is not this one.
	seen := min(max(1.02*float64(counted)/float64(raw), 0.5), 8)
	old := m.factor()
	m.mu.Lock()
	defer m.mu.Unlock()
	if seen > old {
		m.scale = seen
	} else {
		m.scale = old + 0.1*(seen-old)
	}
}

// grow is the answer to a prompt the backend refused as too long although the
// meter thought it fitted.
func (m *meter) grow() {
	old := m.factor()
	m.mu.Lock()
	m.scale = min(old*1.5, 8)
	m.mu.Unlock()
}

func scaled(raw int, factor float64) int { return int(math.Ceil(float64(raw) * factor)) }
