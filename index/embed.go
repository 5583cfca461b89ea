package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"quarry/index/embedtext"
	"quarry/index/mask"
	"quarry/index/store"
	"quarry/index/vectors"
)

// Embedder turns texts into vectors with one model. It is safe for concurrent use.
type Embedder interface {
	// Version says which weights the model has now, "" if that cannot be known.
	Version(ctx context.Context) (string, error)
	// Embed answers a vector of length 1 for each text, all of one dimension, nil for
	// a text that the model refuses. It is background work, which gives way to all
	// else. With an error come the vectors made before it, nil for the rest.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery answers the vector of a text that somebody waits for.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Embedders says which model is to embed the chunks, and asks any model by name: as
// long as another model's vectors serve, that one embeds the queries.
type Embedders struct {
	// Model is the name, "" if nothing is to be embedded.
	Model string
	// Asked says which model of which server Of asks, in one line: a failure that is kept is of that alone, and of no interest
	// to whoever asks another. "" for who keeps none.
	Asked string
	// Prefixes are what Model wants its texts to begin with. Other models get what
	// embedtext.PrefixesOf answers.
	Prefixes embedtext.Prefixes
	// Of answers the embedder of a model of that name.
	Of func(model string) Embedder
	// Passing answers whether an error of the Embedder ends without anybody's doing, as
	// that of a server which starts late; the user is told of others. nil: none does.
	Passing func(error) bool
	// QueriesOnly leaves the chunks as they are: for programs that ask once.
	QueriesOnly bool
}

func (e Embedders) prefixesOf(model string) embedtext.Prefixes {
	if model == e.Model {
		return e.Prefixes
	}
	return embedtext.PrefixesOf(model)
}

// EmbedProgress is how far embedding has come. It counts chunks.
type EmbedProgress struct {
	Done, Total int
	// Finished is true in the last call of a run.
	Finished bool
}

// EmbeddingState says what the embedding of chunks is at.
type EmbeddingState string

// The states.
const (
	EmbeddingOff       EmbeddingState = "off"       // no model is configured
	EmbeddingElsewhere EmbeddingState = "elsewhere" // another process writes the index
	EmbeddingUnstored  EmbeddingState = "unstored"  // the index is in memory
	EmbeddingWaiting   EmbeddingState = "waiting"   // for the index, or for the user to pause
	EmbeddingWorking   EmbeddingState = "working"
	EmbeddingStopped   EmbeddingState = "stopped" // until the settings change or the next start
	EmbeddingFailing   EmbeddingState = "failing" // and tried again; Error says why
	EmbeddingComplete  EmbeddingState = "complete"
)

// EmbeddingStatus is how far the embedding of a root's chunks is.
type EmbeddingStatus struct {
	State EmbeddingState `json:"state"`
	// Model is the name of the model whose vectors are searched, "" if there are
	// none, and Dimension its vectors'. While the model is being changed, that is the
	// one before, and Next the one that follows.
	Model     string `json:"model"`
	Dimension int    `json:"dimension"`
	Next      string `json:"next"`
	// Texts is how many different texts the chunks have, and Embedded how many have a
	// vector of the model that is to embed them; Refused will have none.
	Texts    int `json:"texts"`
	Embedded int `json:"embedded"`
	Refused  int `json:"refused"`
	// Bytes is what the files of vectors take on disk.
	Bytes int64 `json:"bytes"`
	// Error is why the latest try to embed failed, and what to do, "" if it did not.
	Error string `json:"error"`
	// Asked is the Asked of the Embedders that failed.
	Asked string `json:"-"`
	// Lost is how many vectors were damaged or gone when that last happened, and LostAt
	// when; their texts are embedded anew.
	Lost   int       `json:"lost"`
	LostAt time.Time `json:"lost_at,omitzero"`
}

// ErrNoVectors says that there is nothing to compare a query with: no model embeds
// the chunks, or none is embedded yet.
var ErrNoVectors = errors.New("no chunk is embedded")

// Embedding makes and serves the vectors of the chunks.
func (x *Index) Embedding() *Embedding { return x.embedding }

// SetEmbedders says who is to embed the chunks; before the first call nobody does.
// It returns at once. What the one before had under way is broken off, and it is not
// asked any more once Embedders of the new one were.
func (e *Embedding) SetEmbedders(of Embedders) {
	e.mu.Lock()
	e.of, e.stopped = of, false
	e.interrupt()
	e.mu.Unlock()
	e.look()
}

// Cancel stops the embedding of chunks until SetEmbedders is called again.
// What was embedded stays.
func (e *Embedding) Cancel() {
	e.mu.Lock()
	e.stopped = true
	e.interrupt()
	e.mu.Unlock()
	e.look()
}

// Vectors answers the vectors to search, nil if there are none; the caller releases
// the Set soon. A chunk's vector is found by its Hash. Not every chunk needs to have
// one: new texts get theirs in the background.
func (e *Embedding) Vectors() *vectors.Set { return e.current.Acquire() }

// VectorsChanged is closed when Vectors would answer another Set. Ask for it before
// that.
func (e *Embedding) VectorsChanged() <-chan struct{} { return e.current.Changed() }

// VectorsDamaged says that some of set, which Vectors answered, could not be read or
// was overwritten. Its file is opened anew in the background: what is sound of it serves on, and the rest is
// embedded again.
func (e *Embedding) VectorsDamaged(set *vectors.Set, err error) { e.reopen(set.Epoch, err) }

// EmbedQuery answers the vector of a text to compare with those of set, which
// Vectors answered: by the model that made them, s.Dim long, of length 1. It fails
// with ErrNoVectors if that model cannot be asked.
func (e *Embedding) EmbedQuery(ctx context.Context, set *vectors.Set, input embedtext.InputType, text string) ([]float32, error) {
	name, version := splitModel(set.Model)
	of := e.configured()
	if of.Of == nil {
		return nil, ErrNoVectors
	}
	model, prefixes := of.Of(name), of.prefixesOf(name)
	now, err := versionOf(ctx, model, prefixes)
	if err != nil {
		return nil, fmt.Errorf("embed the query: %w", err)
	}
	if now != version {
		e.look() // another model took the name; its vectors are to serve
		return nil, fmt.Errorf("%w by %s as it is now", ErrNoVectors, name)
	}
	v, err := model.EmbedQuery(ctx, prefixes.Begin(input, mask.Text(text)))
	if err != nil {
		return nil, fmt.Errorf("embed the query: %w", err)
	}
	if len(v) != set.Dim {
		e.look()
		return nil, fmt.Errorf("%w with the %d dimensions that %s has now", ErrNoVectors, len(v), name)
	}
	return v, nil
}

// versionOf says what vectors can be compared with those of e now: the same weights
// have to have made them, of texts that were made alike.
func versionOf(ctx context.Context, e Embedder, p embedtext.Prefixes) (string, error) {
	weights, err := e.Version(ctx)
	version := weights + "+" + embedtext.Version
	if p.Document != "" {
		hash := sha256.Sum256([]byte(p.Document))
		version += fmt.Sprintf("+%x", hash[:4])
	}
	return version, err
}

const (
	// retryFirst is the pause after a failure; it doubles up to retryLongest.
	retryFirst   = time.Second
	retryLongest = 5 * time.Minute
)

// status adds what a running embedding knows to what was read.
func (e *Embedding) status(st *EmbeddingStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	st.State = e.state
	if e.failure != nil {
		st.Error, st.Asked = e.failure.Error(), e.of.Asked
	}
}

// read fills in what the database knows. wanted is the model that the chunks are to
// be embedded with, "" if that is not known.
func (st *EmbeddingStatus) read(ctx context.Context, s *store.Store, wanted string) error {
	models, err := s.EmbeddingModels(ctx)
	if err != nil {
		return err
	}
	var last store.EmbeddingModel
	for i, m := range models {
		if i == 0 {
			st.Model, st.Dimension = m.Name, m.Dim
		}
		st.Bytes += vectors.Size(m.Dim, m.Slots)
		last = m
	}
	if wanted == "" {
		wanted = last.Name
	}
	if len(models) > 0 && (len(models) > 1 || wanted != st.Model) {
		st.Next = wanted
	}
	if last.Name != wanted {
		last.ID = 0
	}
	if st.Error == "" && st.State != EmbeddingComplete {
		kept, err := s.Meta(ctx, metaFailure)
		if err != nil {
			return err
		}
		st.Asked, st.Error = decodeFailure(kept)
	}
	lost, err := s.Meta(ctx, metaLost)
	if err != nil {
		return err
	}
	st.Lost, st.LostAt = decodeLost(lost)
	c, err := s.Coverage(ctx, last.ID)
	st.Texts, st.Embedded, st.Refused = c.Texts, c.Embedded, c.Refused
	if st.State == EmbeddingWaiting && last.ID != 0 && len(models) == 1 && c.Embedded+c.Refused == c.Texts {
		st.State, st.Error = EmbeddingComplete, "" // there is nothing to wait for
	}
	return err
}
