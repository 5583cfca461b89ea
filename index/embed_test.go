package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/index/embedtext"
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
	return hashVector(model+"@"+f.versions[model]+"+"+embedtext.Version, withoutPlace(text), f.dims[model])
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

const refusedText = "# refused"

func (f fakeEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	f.set(func() { f.queries++; f.calls++ })
	return f.vector(f.model, text), nil
}

func settleVectors(t testing.TB, x *Index) {
	t.Helper()
	settle(t, x)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := x.embedding.Settle(ctx); err != nil {
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
			texts[c.Hash] = withoutPlace(embedtext.Text(f.Path, f.Syntax, i, text))
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
	set := x.embedding.Vectors()
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
	if x.embedding.Vectors() != nil {
		t.Error("vectors before anyone embeds")
	}
	x.embedding.SetEmbedders(models.use("m"))
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

func TestVectorsSurviveTheProcess(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	for n := range 3 {
		x := open(t, Config{Dir: dir, StateDir: state})
		x.embedding.SetEmbedders(models.use("m"))
		settleVectors(t, x)
		checkComplete(t, x, "m@1+1", 16)
		shut(t, x)
		if embedded := models.embedded(); (embedded == 0) != (n > 0) {
			t.Errorf("start %d embedded %d texts", n, embedded)
		}
	}
	st, err := Peek(t.Context(), Config{Dir: dir, StateDir: state}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if e := st.Embedding; e.State != EmbeddingComplete || e.Model != "m" || e.Embedded == 0 || e.Embedded != e.Texts {
		t.Errorf("seen from outside: %+v", e)
	}
}

// Without a model nobody is asked anything.
func TestNothingIsAskedWithoutAModel(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	x := start(t, Config{Dir: dir})
	x.embedding.SetEmbedders(Embedders{Of: models.use("m").Of})
	settleVectors(t, x)
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	x.Rescan()
	settleVectors(t, x)
	st, err := x.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if models.calls != 0 || st.Embedding.State != EmbeddingOff || st.Embedding.Texts == 0 {
		t.Errorf("%d questions; status %+v", models.calls, st.Embedding)
	}
	// A program that asks once uses what there is and adds nothing.
	x.embedding.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	has := models.embedded()
	write(t, dir, map[string]string{"later.go": "package m\n\nfunc later() {}\n"})
	x.Rescan()
	settle(t, x)
	ask := models.use("m")
	ask.QueriesOnly = true
	x.embedding.SetEmbedders(ask)
	settleVectors(t, x)
	if got := checkVectors(t, x, "m@1+1", 16); got < has || len(chunkTexts(t, x)) == 0 {
		t.Errorf("%d of %d vectors", got, has)
	}
}

// What was made before an error is kept, and the rest is tried again.
func TestRetries(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	broken := errors.New("the server broke off")
	asked := 0
	models.embed = func(context.Context, string, []string) error {
		if asked++; asked > 2 {
			return broken
		}
		return nil
	}
	x := start(t, Config{Dir: dir})
	x.embedding.SetEmbedders(models.use("m"))
	if err := x.embedding.Settle(t.Context()); !errors.Is(err, broken) {
		t.Fatalf("the error is %v", err)
	}
	until(t, "the failure", func() bool { // in the pauses between two tries, which grow
		st, err := x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e := st.Embedding
		return e.State == EmbeddingFailing && e.Error == broken.Error() && e.Embedded == 2
	})
	if has := checkVectors(t, x, "m@1+1", 16); has != 2 {
		t.Errorf("%d vectors made before the error are searched, want 2", has)
	}
	models.set(func() { models.embed = nil })
	until(t, "another try", func() bool {
		st, err := x.Status(t.Context())
		return err == nil && st.Embedding.State == EmbeddingComplete
	})
	if n, want := models.embedded(), len(chunkTexts(t, x)); n != want {
		t.Errorf("%d texts embedded in all, of %d", n, want)
	}
	checkComplete(t, x, "m@1+1", 16)
}

func TestRefusedTextIsNotAskedAgain(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.sh": refusedText + "\n", "b.sh": "echo b\n"})
	models := newFakeModels("m")
	for range 2 {
		asked := 0
		models.embed = func(context.Context, string, []string) error { asked++; return nil }
		x := open(t, Config{Dir: dir, StateDir: state})
		x.embedding.SetEmbedders(models.use("m"))
		settleVectors(t, x)
		st, err := x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e := st.Embedding; e.Texts != 2 || e.Embedded != 1 || e.Refused != 1 || e.State != EmbeddingComplete {
			t.Errorf("status %+v", e)
		}
		shut(t, x)
		models.embed = func(context.Context, string, []string) error { t.Error("asked again"); return nil }
	}
}

// Open files come first, then the newest.
func TestOrder(t *testing.T) {
	q := embedQueue{}
	q.add([]store.Unembedded{{ID: 1, Path: "old", ModTime: 1, Chunks: 2}, {ID: 2, Path: "open", ModTime: 2, Chunks: 1}, {ID: 3, Path: "new", ModTime: 9, Chunks: 1}})
	q.add([]store.Unembedded{{ID: 4, Path: "edited", Chunks: 1}, {ID: 1, Path: "old", ModTime: 5, Chunks: 3}})
	if q.chunks != 6 {
		t.Errorf("%d chunks", q.chunks)
	}
	var got []string
	for u, ok := q.next([]string{"open", "elsewhere"}); ok; u, ok = q.next([]string{"open"}) {
		got = append(got, u.Path)
	}
	if want := []string{"open", "edited", "new", "old"}; !slices.Equal(got, want) || q.chunks != 0 {
		t.Errorf("%v, want %v; %d chunks left", got, want, q.chunks)
	}
}

// Whoever types is not in embedding's way, and progress can be cancelled.
func TestEmbeddingGivesWay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	reached, broken := make(chan struct{}), make(chan struct{})
	first := true
	models.embed = func(ctx context.Context, _ string, _ []string) error {
		if !first {
			return nil
		}
		first = false
		close(reached)
		<-ctx.Done()
		close(broken)
		return ctx.Err()
	}
	x := start(t, Config{Dir: dir})
	x.embedding.SetEmbedders(models.use("m"))
	<-reached
	leave := x.Busy()
	<-broken
	until(t, "waiting for the user", func() bool {
		st, err := x.Status(t.Context())
		return err == nil && st.Embedding.State == EmbeddingWaiting && st.Embedding.Error == ""
	})
	leave()
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 16)
}

func TestEmbeddingCanBeCancelled(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	reached := make(chan struct{})
	once := sync.OnceFunc(func() { close(reached) })
	models.embed = func(ctx context.Context, _ string, _ []string) error {
		once()
		<-ctx.Done()
		return ctx.Err()
	}
	x := start(t, Config{Dir: dir})
	x.embedding.SetEmbedders(models.use("m"))
	<-reached
	x.embedding.Cancel()
	if err := x.embedding.Settle(t.Context()); !errors.Is(err, errEmbeddingStopped) {
		t.Errorf("after the cancel: %v", err)
	}
	st, err := x.Status(t.Context())
	if err != nil || st.Embedding.State != EmbeddingStopped {
		t.Errorf("status %+v, %v", st.Embedding, err)
	}
	models.set(func() { models.embed = nil })
	x.embedding.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 16)
}

func TestEmbeddingProgress(t *testing.T) {
	dir := t.TempDir()
	shuffle(t, rand.New(rand.NewPCG(1, 1)), dir, 1)
	var mu sync.Mutex
	var shown []EmbedProgress
	x := start(t, Config{Dir: dir, Clock: hurried{time.Now()}, Embedding: func(p EmbedProgress) {
		mu.Lock()
		defer mu.Unlock()
		shown = append(shown, p)
	}})
	models := newFakeModels("m")
	models.embed = func(context.Context, string, []string) error {
		<-time.After(50 * time.Microsecond)
		return nil
	}
	x.embedding.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	mu.Lock()
	defer mu.Unlock()
	all := len(chunkTexts(t, x))
	for i, p := range shown {
		if p.Done > p.Total && !p.Finished || p.Finished != (i == len(shown)-1) || i > 0 && p.Done < shown[i-1].Done {
			t.Errorf("step %d of %d: %+v", i, len(shown), p)
		}
	}
	if n := len(shown); n < 2 || shown[n-1].Done != all || shown[0].Total != all {
		t.Errorf("%d texts, shown %+v", all, shown)
	}
}
