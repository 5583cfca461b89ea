package mask

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// leastSignature is the shortest signature of a web token in base64, HS256's.
const leastSignature = 43

// webToken judges a run that may be the header of a signed JSON Web Token (RFC 7515,
// RFC 7519): all three parts must be what they are called. What it says and its
// signature are the value; the header tells how it was signed, and stays.
func webToken(text string, start, end int) (s Span, ok bool) {
	claims, after := part(text, end)
	signature, last := part(text, after)
	if len(signature) < leastSignature || !random(signature) {
		return s, false
	}
	var header struct{ Alg string }
	if !decodes(text[start:end], &header) || header.Alg == "" {
		return s, false
	}
	var said struct{ Sub, Name any }
	if !decodes(claims, &said) || said.Sub == "1234567890" {
		return s, false // that subject is everybody's example
	}
	return Span{end + 1, last}, true
}

// part is the run of word's letters behind the dot at i, and where it ends.
func part(text string, i int) (run string, end int) {
	if i >= len(text) || text[i] != '.' {
		return "", i
	}
	start := i + 1
	for end = start; end < len(text) && word[text[end]]; end++ {
	}
	return text[start:end], end
}

func decodes(run string, into any) bool {
	if !strings.HasPrefix(run, "eyJ") {
		return false
	}
	plain, err := base64.RawURLEncoding.DecodeString(run)
	return err == nil && json.Unmarshal(plain, into) == nil
}

// tunnel judges what may be the token of a tunnel of Cloudflare's: an account, a tunnel and its
// secret in JSON.
func tunnel(text string, start int) (s Span, ok bool) {
	end := start
	if !strings.HasPrefix(text[start:], "eyJhIjoi") { // {"a":"
		return s, false
	}
	for end < len(text) && end-start < unbounded && base64Set[text[end]] {
		end++
	}
	var said struct{ A, T, S string }
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text[start:end], "="))
	if err != nil || json.Unmarshal(plain, &said) != nil || len(said.A) != 32 || !isUUID(said.T) || len(said.S) < minToken {
		return s, false
	}
	return Span{start + len("eyJ"), end}, true
}
