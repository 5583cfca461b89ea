package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/index/passage"
	"quarry/index/store"
	"quarry/index/vectors"
)

// fakeModels are models that embed a text as a hash of it and of themselves.
type fakeModels struct {
	mu       sync.Mutex // guards the fields below
	versions map[string]string
	dims     map[string]int
	texts    []string // that were embedded, in order
	queries  int
	// embed, if not nil, is called first; an error is the answer.
	embed func(ctx context.Context, model string, texts []string) error
	calls int // of any kind
}

func newFakeModels(names ...string) *fakeModels {
	f := &fakeModels{versions: map[string]string{}, dims: map[string]int{}}
	for _, name := range names {
		f.versions[name], f.dims[name] = "1", 16
	}
	return f
}

func (f *fakeModels) use(model string) Embedders {
	return Embedders{Model: model, Of: func(model string) Embedder { return fakeEmbedder{f, model} }}
}

func (f *fakeModels) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// embedded is how many texts were embedded since the last call.
func (f *fakeModels) embedded() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.texts)
	f.texts = nil
	return n
}

func (f *fakeModels) vector(model, text string) []float32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return hashVector(model+"@"+f.versions[model]+"+"+passage.Version, withoutPlace(text), f.dims[model])
}

// withoutPlace is a text without the path at its head: a chunk that moves keeps the
// vector it had.
func withoutPlace(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

func hashVector(model, text string, dim int) []float32 {
	v, length := make([]float32, dim), 0.0
	for i := range v {
		sum := sha256.Sum256([]byte(model + "\x00" + text + string(rune(i))))
		v[i] = float32(int8(sum[0])) + .5
		length += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}

type fakeEmbedder struct {
	*fakeModels
	model string
}

var errNoModel = errors.New("there is no such model")

func (f fakeEmbedder) Version(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	v, ok := f.versions[f.model]
	if !ok {
		return "", errNoModel
	}
	return v, nil
}

func (f fakeEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	f.mu.Lock()
	embed := f.embed
	f.calls++
	f.mu.Unlock()
	list := make([][]float32, len(texts))
	for i, text := range texts {
		if embed != nil {
			if err := embed(ctx, f.model, texts[i:i+1]); err != nil {
				return list, err
			}
		}
		if strings.HasSuffix(text, refusedText) {
			continue
		}
		list[i] = f.vector(f.model, text)
		f.set(func() { f.texts = append(f.texts, text) })
	}
	return list, nil
}

const refusedText = "# refused\n"

func (f fakeEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	f.set(func() { f.queries++; f.calls++ })
	return f.vector(f.model, text), nil
}

func settleVectors(t testing.TB, x *Index) {
	t.Helper()
	settle(t, x)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	if err := x.SettleVectors(ctx); err != nil {
		t.Fatal(err)
	}
}

// chunkTexts are the texts of all chunks, by their hash.
func chunkTexts(t testing.TB, x *Index) map[vectors.Key]string {
	t.Helper()
	texts := map[vectors.Key]string{}
	_, err := x.Store().Load(t.Context(), nil, func(f *store.File) error {
		text, err := x.Text(f.Path)
		if err != nil {
			return err
		}
		for i, c := range f.Syntax.Chunks {
			texts[c.Hash] = withoutPlace(passage.Text(f.Path, f.Syntax, i, text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// checkVectors fails if a chunk has a vector that is not its own by model, and
// answers how many chunks have one.
func checkVectors(t testing.TB, x *Index, model string, dim int) (has int) {
	t.Helper()
	set := x.Vectors()
	if set == nil {
		return 0
	}
	defer set.Release()
	if set.Model != model || set.Dim != dim {
		t.Fatalf("vectors of %s with %d dimensions, want %s with %d", set.Model, set.Dim, model, dim)
	}
	for key, text := range chunkTexts(t, x) {
		slot, ok := set.Slot(key)
		if !ok {
			continue
		}
		has++
		if !slices.Equal(set.Row(slot), hashVector(model, text, dim)) {
			t.Fatalf("a wrong vector for %q", text)
		}
	}
	return has
}

func checkComplete(t testing.TB, x *Index, model string, dim int) {
	t.Helper()
	if has, want := checkVectors(t, x, model, dim), len(chunkTexts(t, x)); has != want || want == 0 {
		t.Errorf("%d of %d texts have a vector of %s", has, want, model)
	}
	st, err := x.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e := st.Embedding
	if e.State != EmbeddingComplete || e.Embedded != e.Texts || e.Dimension != dim || e.Next != "" || e.Error != "" || e.Bytes == 0 {
		t.Errorf("status %+v", e)
	}
}

func TestTextsAreEmbeddedOnce(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	x := start(t, Config{Dir: dir, StateDir: state})
	if x.Vectors() != nil {
		t.Error("vectors before anyone embeds")
	}
	x.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 16)
	if n, want := models.embedded(), len(chunkTexts(t, x)); n != want {
		t.Errorf("%d texts embedded, of %d", n, want)
	}

	before := map[string]string{"sub/new.go": "package sub\n\nfunc fresh() int { return 1 }\n"}
	write(t, dir, before)
	x.Rescan()
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 16)
	if n := models.embedded(); n != 1 {
		t.Errorf("a new file of one chunk: %d texts embedded", n)
	}

	// A rename, a removal that is taken back as by a branch that is switched to and
	// fro, and a rebuild.
	write(t, dir, map[string]string{"sub/new.go": "", "sub/renamed.go": before["sub/new.go"]})
	x.Rescan()
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 16)
	write(t, dir, map[string]string{"sub/renamed.go": ""})
	x.Rescan()
	settleVectors(t, x)
	write(t, dir, before)
	x.Rescan()
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 16)
	x.Rebuild()
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 16)
	if n := models.embedded(); n != 0 {
		t.Errorf("known texts: %d embedded", n)
	}
}
