package syntax

import (
	"math/bits"
	"slices"
)

// Copies of code with a renamed variable or a changed literal crowd out other
// results. They are found with SimHash: M. Charikar, "Similarity estimation
// techniques from rounding algorithms", STOC 2002. The part of bits in which two
// fingerprints differ estimates the angle between the texts' feature vectors.
const (
	// maxDistance is the number of bits in which near duplicates may differ:
	// 64*acos(0.9)/pi, for texts that agree in nine tenths of their features.
	// Texts that have nothing to do with each other differ in 32.
	maxDistance = 9
	// shingle is how many tokens in a row are a feature: their order counts.
	shingle = 2
	// minTokens is the length below which a text has too few features for
	// similar ones to agree by more than chance.
	minTokens = 40
)

// Fingerprint returns 64 bits of which few differ between texts that share most
// of their tokens: [NearDuplicates] finds those. White space does not count. It is 0 for
// texts of less than 40 tokens, which are too short to compare.
func Fingerprint(text []byte) uint64 {
	var weights [64]int32
	var window [shingle]uint64
	seen := map[uint64]bool{} // a feature counts once: the bars of a table are one
	n := 0
	for at := 0; at < len(text); {
		var token uint64
		token, at = nextToken(text, at)
		if token == 0 {
			break
		}
		window[n%shingle] = token
		n++
		if n < shingle {
			continue
		}
		feature := mix(window[n%shingle]*3 ^ window[(n+1)%shingle])
		if seen[feature] {
			continue
		}
		seen[feature] = true
		for bit := range weights {
			weights[bit] += int32(feature>>bit&1)*2 - 1
		}
	}
	if n < minTokens {
		return 0
	}
	var print uint64
	for bit, w := range weights {
		if w > 0 {
			print |= 1 << bit
		}
	}
	return max(print, 1) // 0 means too short
}

// nextToken returns the hash of the word or mark at or after at, and where it
// ends; the hash is 0 at the end of the text.
func nextToken(text []byte, at int) (hash uint64, end int) {
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	if at == len(text) {
		return 0, at
	}
	hash = 14695981039346656037
	for end = at; end < len(text) && (end == at || isWordByte(text[at]) && isWordByte(text[end])); end++ {
		hash = (hash ^ uint64(text[end])) * 1099511628211
	}
	return mix(hash) | 1, end
}

// mix spreads every bit of x over all bits (the finaliser of MurmurHash3).
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// NearDuplicates returns for each fingerprint the index of the first one that it nearly
// equals, its own if there is none: in order of relevance, each text stands
// with the most relevant one like it. Fingerprints of 0 stand alone. It compares
// each with all that stand for themselves, so it is for lists of results, not
// for whole repositories.
func NearDuplicates(prints []uint64) []int {
	out := make([]int, len(prints))
	var leaders []int
	for i, print := range prints {
		out[i] = i
		if print == 0 {
			continue
		}
		at := slices.IndexFunc(leaders, func(l int) bool { return bits.OnesCount64(print^prints[l]) <= maxDistance })
		if at >= 0 {
			out[i] = leaders[at]
		} else {
			leaders = append(leaders, i)
		}
	}
	return out
}
