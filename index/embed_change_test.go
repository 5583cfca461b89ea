package index

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// The old vectors serve until the new ones are complete.
func TestModelChangeWithoutDowntime(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	models := newFakeModels("old", "new")
	models.dims["new"] = 24
	x := start(t, Config{Dir: dir})
	x.SetEmbedders(models.use("old"))
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
	x.SetEmbedders(models.use("new"))
	<-reached
	if has := checkVectors(t, x, "old@1+1", 16); has != all {
		t.Errorf("%d of %d vectors serve during the change", has, all)
	}
	set := x.Vectors()
	v, err := x.EmbedQuery(t.Context(), set, "a question")
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
	x.SetEmbedders(models.use("old"))
	models.set(func() { models.versions["third"], models.dims["third"] = "1", 8 })
	x.SetEmbedders(models.use("third"))
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
			x.SetEmbedders(models.use("m"))
			settleVectors(t, x)
			use := ""
			models.set(func() { use = change(models) })
			x.SetEmbedders(models.use(use))
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
	x.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	models.set(func() { models.dims["m"] = 32 })
	set := x.Vectors()
	if _, err := x.EmbedQuery(t.Context(), set, "a question"); !errors.Is(err, ErrNoVectors) {
		t.Errorf("a query of another dimension: %v", err)
	}
	set.Release()
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	x.Rescan()
	settleVectors(t, x)
	checkComplete(t, x, "m@1+1", 32)
}
