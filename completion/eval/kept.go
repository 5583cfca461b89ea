package eval

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

// Kept is a file of a model's answers by key, one JSON document a line: an evaluation
// that broke off goes on where it was, and what one machine answered another can judge.
// It is safe for concurrent use.
type Kept[A interface{ ID() string }] struct {
	file *os.File

	mu sync.Mutex
	// Guarded by mu.
	known map[string]A
	// missing are the requests without an answer, by key.
	missing map[string]any
}

// ErrNoAnswer means that the file has no answer to a request and there is no model to
// ask.
var ErrNoAnswer = errors.New("the file of answers lacks this prompt's")

// OpenKept opens or makes a file of answers.
func OpenKept[A interface{ ID() string }](file string) (*Kept[A], error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the answers: %w", err)
	}
	k := &Kept[A]{file: f, known: map[string]A{}, missing: map[string]any{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var one A
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			continue // the last line of a run that was killed
		}
		k.known[one.ID()] = one
	}
	if err := lines.Err(); err != nil {
		f.Close()
		return nil, fmt.Errorf("read the answers %s: %w", file, err)
	}
	return k, nil
}

// KeyOf names a request: what is asked, of whom, and how.
func KeyOf(parts ...any) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = fmt.Sprint(p)
	}
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// Close closes the file.
func (k *Kept[A]) Close() error { return k.file.Close() }

// Answer is what is kept under a key.
func (k *Kept[A]) Answer(key string) (A, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one, ok := k.known[key]
	return one, ok
}

// Keep adds an answer, in place of one with its key.
func (k *Kept[A]) Keep(one A) error {
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[one.ID()] = one
	if _, err := k.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("keep an answer: %w", err)
	}
	return nil
}

// Lacks notes a request without an answer.
func (k *Kept[A]) Lacks(key string, request any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.missing[key] = request
}

// Missing is how many requests had no answer.
func (k *Kept[A]) Missing() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.missing)
}

// WriteMissing writes the requests that had no answer, one JSON document a line, for a
// machine that can answer them.
func (k *Kept[A]) WriteMissing(file string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	for _, request := range k.missing {
		if err := enc.Encode(request); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}
