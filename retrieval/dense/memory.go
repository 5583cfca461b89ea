package dense

import (
	"context"
	"errors"
	"sync"
	"time"

	"quarry/index/embedtext"
	"quarry/index/vectors"
)

// Memory embeds queries and remembers the latest: the folders of a workspace ask the
// same one after the other, and a user asks again with other filters. It is safe
// for concurrent use.
type Memory struct {
	patience time.Duration
	now      func() time.Time

	// mu guards the fields below.
	mu sync.Mutex
	// known are the latest queries, the oldest first.
	known []remembered
	// tired is when a model may be asked again that kept a search waiting.
	tired map[string]time.Time
}

type remembered struct {
	model  string
	input  embedtext.InputType
	text   string
	vector []float32
}

const (
	memoryQueries = 64
	// rest is how long a model that did not answer in time is left alone: it is
	// being loaded, or busy, and the searches of that time go on at once without it.
	rest = 3 * time.Second
)

// ErrBusy says that the model does not answer queries in time.
var ErrBusy = errors.New("the embedding model does not answer in time")

// NewMemory makes an empty Memory that waits so long for a model; a search goes on
// without it then.
func NewMemory(patience time.Duration) *Memory {
	return &Memory{patience: patience, now: time.Now, tired: map[string]time.Time{}}
}

// patienceKey is the key of WithPatience.
type patienceKey struct{}

// WithPatience has searches under the context it returns wait that long for a model, also for
// one that kept another search waiting just now.
func WithPatience(ctx context.Context, patience time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, patience)
}

// embed answers the vector of text by the model of set.
func (m *Memory) embed(ctx context.Context, source Source, set *vectors.Set, input embedtext.InputType, text string) ([]float32, error) {
	patience, patient := ctx.Value(patienceKey{}).(time.Duration)
	if !patient {
		patience = m.patience
	}
	if v, busy := m.recall(set, input, text); v != nil {
		return v, nil
	} else if busy && !patient {
		return nil, ErrBusy
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := source.EmbedQuery(within, set, input, text)
	switch {
	case err == nil:
		m.remember(remembered{set.Model, input, text, v})
	case within.Err() != nil && ctx.Err() == nil:
		m.mu.Lock()
		m.tired[set.Model] = m.now().Add(rest)
		m.mu.Unlock()
		return nil, ErrBusy
	}
	return v, err
}

// recall answers a remembered vector, which becomes the latest, nil if there is none;
// busy says that the model should not be asked. One of another dimension is of weights
// that went by the same name, and is forgotten.
func (m *Memory) recall(set *vectors.Set, input embedtext.InputType, text string) (v []float32, busy bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range m.known {
		if r.model == set.Model && r.input == input && r.text == text {
			if len(r.vector) != set.Dim {
				m.known = append(m.known[:i], m.known[i+1:]...)
				break
			}
			copy(m.known[i:], m.known[i+1:])
			m.known[len(m.known)-1] = r
			return r.vector, false
		}
	}
	return nil, m.now().Before(m.tired[set.Model])
}

func (m *Memory) remember(r remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) == memoryQueries {
		m.known = append(m.known[:0], m.known[1:]...)
	}
	m.known = append(m.known, r)
	delete(m.tired, r.model)
}
