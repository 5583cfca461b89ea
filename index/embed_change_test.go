package index

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"quarry/index/embedtext"
)

// The old vectors serve until the new ones are complete.
func TestModelChangeWithoutDowntime(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("old", "new")
	models.dims["new"] = 24
	x := start(t, Config{Dir: dir})
	x.embedding.SetEmbedders(models.use("old"))
	settleVectors(t, x)
	checkComplete(t, x, "old@1+1", 16)
	all := models.embedded()

	reached, hold := make(chan struct{}), make(chan struct{})
	asked := 0
	models.set(func() {
		models.embed = func(ctx context.Context, model string, _ []string) error {
			if asked++; asked == 3 {
				close(reached)
				select {
				case <-hold:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}
	})
	x.embedding.SetEmbedders(models.use("new"))
	<-reached
	if has := checkVectors(t, x, "old@1+1", 16); has != all {
		t.Errorf("%d of %d vectors serve during the change", has, all)
	}
	set := x.embedding.Vectors()
	v, err := x.embedding.EmbedQuery(t.Context(), set, embedtext.Query, "a question")
	if err != nil || !slices.Equal(v, models.vector("old", "a question")) {
		t.Errorf("the query during the change: %v, %v", v, err)
	}
	set.Release()
	st, err := x.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e := st.Embedding; e.Model != "old" || e.Next != "new" || e.State != EmbeddingWorking {
		t.Errorf("status during the change: %+v", e)
	}
	close(hold)
	settleVectors(t, x)
	checkComplete(t, x, "new@1+1", 24)
	if files, _, err := x.embedding.files(); err != nil || len(files) != 1 {
		t.Errorf("files left: %v, %v", files, err)
	}

	// And back, broken off in the middle by a third model.
	x.embedding.SetEmbedders(models.use("old"))
	models.set(func() { models.versions["third"], models.dims["third"] = "1", 8 })
	x.embedding.SetEmbedders(models.use("third"))
	settleVectors(t, x)
	checkComplete(t, x, "third@1+1", 8)
}

// Old vectors that no query can be compared with do not serve.
func TestModelThatIsGoneDoesNotServe(t *testing.T) {
	for name, change := range map[string]func(*fakeModels) string{
		"removed":                       func(f *fakeModels) string { delete(f.versions, "m"); return "other" },
		"other weights under the name":  func(f *fakeModels) string { f.versions["m"] = "2"; return "m" },
		"other weights, another to use": func(f *fakeModels) string { f.versions["m"] = "2"; return "other" },
		"another dimension":             func(f *fakeModels) string { f.versions["m"], f.dims["m"] = "2", 4; return "m" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, project)
			models := newFakeModels("m", "other")
			x := start(t, Config{Dir: dir})
			x.embedding.SetEmbedders(models.use("m"))
			settleVectors(t, x)
			use := ""
			models.set(func() { use = change(models) })
			x.embedding.SetEmbedders(models.use(use))
			write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
			x.Rescan()
			settleVectors(t, x)
			checkComplete(t, x, use+"@"+models.versions[use]+"+1", models.dims[use])
		})
	}
}

// A model whose dimension changes though it says to be the same is told by its
// vectors.
func TestDimensionThatChanges(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	x := start(t, Config{Dir: dir})
	x.embedding.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	models.set(func() { models.dims["m"] = 32 })
	set := x.embedding.Vectors()
	if _, err := x.embedding.EmbedQuery(t.Context(), set, embedtext.Query, "a question"); !errors.Is(err, ErrNoVectors) {
		t.Errorf("a query of another dimension: %v", err)
	}
	set.Release()
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	x.Rescan()
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 32)
}

// New weights under the same name embed all anew, though no file changed.
func TestWeightsThatChangeInPlace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	x := start(t, Config{Dir: dir})
	x.embedding.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	all := models.embedded()
	models.set(func() { models.versions["m"] = "2" })
	set := x.embedding.Vectors()
	if _, err := x.embedding.EmbedQuery(t.Context(), set, embedtext.Query, "a question"); !errors.Is(err, ErrNoVectors) {
		t.Errorf("a query compared with vectors of other weights: %v", err)
	}
	set.Release()
	settleVectors(t, x)
	checkComplete(t, x, "m@2+1", 16)
	if n := models.embedded(); n != all {
		t.Errorf("%d of %d texts embedded anew", n, all)
	}
}

// Vectors of old weights whose file could not be removed, as on Windows while another process has it
// open, go at the next start.
func TestVectorsOfOldWeightsThatStayed(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	const stayed = "embeddings-7.dat"
	var old []byte
	for n, version := range []string{"1", "2", "2"} {
		models.set(func() { models.versions["m"] = version })
		x := open(t, Config{Dir: dir, StateDir: state})
		of := models.use("m")
		of.QueriesOnly = n == 2 // which forgets no model
		x.embedding.SetEmbedders(of)
		settleVectors(t, x)
		checkComplete(t, x, "m@"+version+"+1", 16)
		files, _, err := x.embedding.files()
		shut(t, x)
		if err != nil || len(files) != 1 || files[0] == stayed {
			t.Fatalf("at start %d there are the files %q, %v", n, files, err)
		}
		if n == 0 {
			old, err = os.ReadFile(x.embedding.path(files[0]))
		} else {
			err = os.WriteFile(x.embedding.path(stayed), old, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A model that wants its texts to begin with something gets that, and a change of it
// embeds all texts anew: the vectors were made of others.
func TestPrefixes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m")
	x := start(t, Config{Dir: dir})
	all := 0
	for _, c := range []struct {
		prefixes embedtext.Prefixes
		version  string
		anew     bool
	}{
		{embedtext.Prefixes{}, "m@1+1", true},
		{embedtext.Prefixes{Query: "q: "}, "m@1+1", false}, // no text of the index changes
		{embedtext.Prefixes{Query: "q: ", Document: "d: "}, "m@1+1+611bf459", true},
		{embedtext.Prefixes{Query: "q: ", Document: "passage: "}, "m@1+1+707ad539", true},
	} {
		use := models.use("m")
		use.Prefixes = c.prefixes
		x.embedding.SetEmbedders(use)
		settleVectors(t, x)
		models.set(func() {
			for _, text := range models.texts {
				if !strings.HasPrefix(text, c.prefixes.Document) {
					t.Errorf("with %q a text begins %.20q", c.prefixes, text)
				}
			}
		})
		embedded := models.embedded()
		if all = max(all, embedded); c.anew != (embedded > 0) || c.anew && embedded != all {
			t.Errorf("with %q %d of %d texts were embedded", c.prefixes, embedded, all)
		}
		set := x.embedding.Vectors()
		if set.Model != c.version {
			t.Errorf("with %q the vectors are of %s, want %s", c.prefixes, set.Model, c.version)
		}
		for input, prefix := range map[embedtext.InputType]string{embedtext.Query: c.prefixes.Query, embedtext.Document: c.prefixes.Document} {
			v, err := x.embedding.EmbedQuery(t.Context(), set, input, "a question")
			if err != nil || !slices.Equal(v, models.vector("m", prefix+"a question")) {
				t.Errorf("with %q the vector of role %d: %v", c.prefixes, input, err)
			}
		}
		const token = "NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnA"
		v, err := x.embedding.EmbedQuery(t.Context(), set, embedtext.Query, "who has ghp_"+token+"?")
		if err != nil || !slices.Equal(v, models.vector("m", c.prefixes.Query+"who has ghp_"+strings.Repeat("x", len(token))+"?")) {
			t.Errorf("a query's token is embedded as it is (%v)", err)
		}
		set.Release()
	}
}
