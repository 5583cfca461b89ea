package model_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/model"
	"quarry/model/ollamatest"
)

// taken takes any model.
func taken(string) error { return nil }

// tinyFile is a model small enough to import in a moment.
func tinyFile(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "Tiny-Granite.Q4.gguf")
	if err := ollamatest.WriteGranite(path, ollamatest.Tiny); err != nil {
		t.Fatal(err)
	}
	return path
}

func library(t *testing.T, server string) *model.Library {
	t.Helper()
	l, err := model.NewLibrary(model.Options{URL: server})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A real Ollama takes a model from a file, lists it, and deletes it.
func TestLibrary(t *testing.T) {
	l := library(t, ollamatest.StartEmpty(t).URL)
	file := tinyFile(t)
	var done, total int64
	digest, err := l.Import(t.Context(), file, "tiny", "", func(_ string, d, n int64) {
		if d < done || d > n {
			t.Errorf("%d of %d after %d", d, n, done)
		}
		done, total = d, n
	}, taken)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(raw)); digest != want || total != 2*int64(len(raw)) || done == 0 {
		t.Errorf("%s, %d of %d; want %s of %d bytes, read twice", digest, done, total, want, len(raw))
	}
	m, ok, err := l.Find(t.Context(), "tiny")
	if err != nil || !ok || m.Name != "tiny:latest" || m.Bytes < int64(len(raw)) || len(m.Digest) != 64 || m.Running != nil {
		t.Errorf("%+v, %v, %v", m, ok, err)
	}
	if err := l.Remove(t.Context(), "tiny"); err != nil {
		t.Fatal(err)
	}
	if list, err := l.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v after the only one was removed", list, err)
	}
	if err := l.Remove(t.Context(), "tiny"); err == nil || !strings.Contains(err.Error(), "tiny") {
		t.Errorf("removing what is not there: %v", err)
	}
}

// A new version has the name only when it has shown that it works.
func TestImportTriesBeforeItReplaces(t *testing.T) {
	l := library(t, ollamatest.StartEmpty(t).URL)
	old, other := tinyFile(t), filepath.Join(t.TempDir(), "other.gguf")
	if err := ollamatest.WriteGranite(other, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 64, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tiny", "tiny:v2"} {
		if _, err := l.Import(t.Context(), old, name, "", func(string, int64, int64) {}, taken); err != nil {
			t.Fatal(err)
		}
		before, _, err := l.Find(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		bad := errors.New("it answers nothing")
		_, err = l.Import(t.Context(), other, name, "", func(string, int64, int64) {}, func(trial string) error {
			if m, ok, err := l.Find(t.Context(), trial); err != nil || !ok || m.Digest == before.Digest {
				t.Errorf("on trial: %+v, %v", m, err)
			}
			return bad
		})
		if after, _, _ := l.Find(t.Context(), name); !errors.Is(err, bad) || after.Digest != before.Digest {
			t.Errorf("%v, and %s became %s", err, before.Digest, after.Digest)
		}
		if _, err = l.Import(t.Context(), other, name, "", func(string, int64, int64) {}, taken); err != nil {
			t.Fatal(err)
		}
		if after, _, _ := l.Find(t.Context(), name); after.Digest == before.Digest {
			t.Error("a model that works did not replace the old one")
		}
	}
	if list, err := l.List(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%v, %v: no trial is left", list, err)
	}
}

// Two imports of one name at once: what another has put in the place of a model that was tried does not get the name.
func TestImportsAtOnce(t *testing.T) {
	l := library(t, ollamatest.StartEmpty(t).URL)
	mine, other := tinyFile(t), filepath.Join(t.TempDir(), "other.gguf")
	if err := ollamatest.WriteGranite(other, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 64, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	none := func(string, int64, int64) {}
	overtaken := func(string) error {
		defer func() { _ = recover() }()
		_, err := l.Import(t.Context(), other, "tiny", "", none, func(string) error { panic("it is at its trial still") })
		return err
	}
	for _, had := range []bool{false, true} {
		if had {
			if _, err := l.Import(t.Context(), mine, "tiny", "", none, taken); err != nil {
				t.Fatal(err)
			}
		}
		before, _, _ := l.Find(t.Context(), "tiny")
		if _, err := l.Import(t.Context(), mine, "tiny", "", none, overtaken); err == nil || !strings.Contains(err.Error(), "import again") {
			t.Errorf("%v", err)
		}
		if after, ok, err := l.Find(t.Context(), "tiny"); err != nil || ok != had || after.Digest != before.Digest {
			t.Errorf("it had the name: %t, %v; %+v became %+v", had, err, before, after)
		}
		if _, ok, err := l.Find(t.Context(), "tiny:quarry-trial"); err != nil || !ok {
			t.Errorf("the other's trial is there: %t, %v", ok, err)
		}
	}
}

// What is no model, and names that would leave the machine, reach no Ollama.
func TestImportRefuses(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	l := library(t, server.URL)
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.gguf")
	if err := os.WriteFile(text, []byte("not a model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, name, says string }{
		{text, "notes", "no GGUF file"},
		{dir, "folder", "not a regular file"},
		{filepath.Join(dir, "absent.gguf"), "absent", "absent.gguf"},
		{tinyFile(t), "tiny-cloud", "another machine"},
	} {
		if _, err := l.Import(t.Context(), c.file, c.name, "", func(string, int64, int64) {}, taken); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.file, err)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests", asked)
	}
}

// An import that is stopped ends at once.
func TestImportStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := library(t, "http://127.0.0.1:9")
	_, err := l.Import(ctx, tinyFile(t), "tiny", "", func(string, int64, int64) { cancel() }, taken)
	if err == nil || ctx.Err() == nil {
		t.Errorf("%v", err)
	}
}

// A real Ollama downloads a model from a registry, and one whose bytes are not those
// that the registry's manifest names is never there.
func TestPullFromARegistry(t *testing.T) {
	file := tinyFile(t)
	from := ollamatest.NewRegistry(t)
	l := library(t, ollamatest.Insecure(t, ollamatest.StartEmpty(t).URL).URL)
	nothing := func() {
		t.Helper()
		if list, err := l.List(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	}
	for name, spoil := range map[string]func(weights []byte) []byte{
		"corrupt":   func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b },
		"truncated": func(b []byte) []byte { return b[:len(b)-1000] },
		"longer":    func(b []byte) []byte { return append(b, 0) },
	} {
		from.Offer(t, file, spoil)
		err := l.Pull(t.Context(), from.Model, func(string, int64, int64) {}, taken)
		if err == nil || !strings.Contains(err.Error(), "download "+from.Model) {
			t.Errorf("a %s download: %v", name, err)
		}
		nothing()
	}
	from.Offer(t, file, nil)
	from.BreakOff(2) // Ollama asks again for what is missing
	var done, total int64
	if err := l.Pull(t.Context(), from.Model, func(_ string, d, n int64) { done, total = d, n }, taken); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if done != total || total < int64(len(raw)) {
		t.Errorf("%d of %d bytes, the file has %d", done, total, len(raw))
	}
	if m, ok, err := l.Find(t.Context(), from.Model); err != nil || !ok {
		t.Errorf("%+v, %v", m, err)
	}
	if path, sum, err := l.Weights(t.Context(), from.Model); err != nil || sum != fmt.Sprintf("%x", sha256.Sum256(raw)) || filepath.Base(path) != "sha256-"+sum {
		t.Errorf("weights %s, %v", sum, err)
	}
}

// From a slow registry a model comes whole; one that falls silent is waited for until the user
// has enough, the next pull has the model, and one that is away is told.
func TestPullFromASlowRegistry(t *testing.T) {
	file := tinyFile(t)
	from := ollamatest.NewRegistry(t)
	from.Offer(t, file, nil)
	l := library(t, ollamatest.Insecure(t, ollamatest.StartEmpty(t).URL).URL)
	installed := func(want bool) {
		t.Helper()
		if _, ok, err := l.Find(t.Context(), from.Model); err != nil || ok != want {
			t.Errorf("installed: %t, %v", ok, err)
		}
	}
	// halfway calls do when half of the weights is there.
	halfway := func(do func()) model.Progress {
		var once sync.Once
		return func(_ string, done, total int64) {
			if done > 1000 && done < total {
				once.Do(do)
			}
		}
	}
	release := from.Hold()
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := l.Pull(ctx, from.Model, halfway(cancel), taken); err == nil || ctx.Err() == nil {
		t.Errorf("a registry that has fallen silent: %v", err)
	}
	installed(false)
	release()
	// Another one: of the first there is a part already.
	second := filepath.Join(t.TempDir(), "second.gguf")
	if err := ollamatest.WriteGranite(second, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 64, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	from.Offer(t, second, nil)
	release = from.Hold()
	defer release()
	if err := l.Pull(t.Context(), from.Model, halfway(release), taken); err != nil {
		t.Errorf("a slow registry: %v", err)
	}
	installed(true)
	if err := l.Remove(t.Context(), from.Model); err != nil {
		t.Fatal(err)
	}
	from.Close()
	if err := l.Pull(t.Context(), from.Model, func(string, int64, int64) {}, taken); err == nil || !strings.Contains(err.Error(), from.Model+": Ollama cannot reach the model's library") {
		t.Errorf("a registry that is away: %v", err)
	}
	installed(false)
}

// The installed version of a model has its name again when the new one fails its trial, also
// if a process was killed before the trial.
func TestPullKeepsWhatWorks(t *testing.T) {
	first, second := tinyFile(t), filepath.Join(t.TempDir(), "second.gguf")
	if err := ollamatest.WriteGranite(second, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 64, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	from := ollamatest.NewRegistry(t)
	from.Offer(t, first, nil)
	l := library(t, ollamatest.Insecure(t, ollamatest.StartEmpty(t).URL).URL)
	digest := func() string {
		t.Helper()
		m, ok, err := l.Find(t.Context(), from.Model)
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		return m.Digest
	}
	pull := func(try func(string) error) error {
		return l.Pull(t.Context(), from.Model, func(string, int64, int64) {}, try)
	}
	if err := pull(taken); err != nil {
		t.Fatal(err)
	}
	old := digest()
	from.Offer(t, second, nil)
	bad := errors.New("it answers nothing")
	err := pull(func(name string) error {
		if name != from.Model || digest() == old {
			t.Errorf("%s is tried, and is the old one: %t", name, digest() == old)
		}
		return bad
	})
	if !errors.Is(err, bad) || digest() != old {
		t.Errorf("%v, and it is the old one: %t", err, digest() == old)
	}
	// The same for a name that is written in another way: Ollama has one model of both.
	other := strings.Replace(strings.TrimSuffix(from.Model, ":latest"), "tiny", "TINY", 1)
	err = l.Pull(t.Context(), other, func(string, int64, int64) {}, func(string) error { return bad })
	if !errors.Is(err, bad) || digest() != old {
		t.Errorf("%s: %v, and it is the old one: %t", other, err, digest() == old)
	}
	// As if the process had been killed in its trial.
	func() {
		defer func() { _ = recover() }()
		_ = pull(func(string) error { panic("killed") })
	}()
	if digest() == old {
		t.Fatal("nothing was pulled before the trial")
	}
	if err := pull(func(string) error { return bad }); !errors.Is(err, bad) || digest() != old {
		t.Errorf("%v, and it is the one that worked: %t", err, digest() == old)
	}
	// One that was killed before its trial, and whose next download breaks off, still has what worked before it.
	func() {
		defer func() { _ = recover() }()
		_ = pull(func(string) error { panic("killed") })
	}()
	third := filepath.Join(t.TempDir(), "third.gguf")
	if err := ollamatest.WriteGranite(third, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 192, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	from.Offer(t, third, func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b })
	if err := l.Remove(t.Context(), from.Model); err != nil {
		t.Fatal(err)
	}
	if err := pull(taken); err == nil {
		t.Error("a corrupt download was taken")
	}
	list, err := l.List(t.Context())
	if left := model.FindUnfinished(list); err != nil || len(left) != 1 || !left[0].Kept || list[0].Digest != old {
		t.Errorf("%v, %v: what worked is gone", list, err)
	}
	from.Offer(t, second, nil)
	if err := pull(taken); err != nil || digest() == old {
		t.Errorf("%v, and it is still the old one: %t", err, digest() == old)
	}
	if list, err := l.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v: nothing is kept beside it", list, err)
	}
}

// Ollama has one model of all the ways to write a name.
func TestSameModel(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"tiny", "tiny", true}, {"tiny", "tiny:latest", true}, {"tiny:LATEST", "tiny", true}, {"tiny:1b", "TINY:1B", true},
		{"library/tiny:1b", "tiny:1b", true}, {"registry.ollama.ai/library/tiny:1b", "tiny:1b", true}, {"Registry.Ollama.AI/Library/tiny", "tiny:latest", true},
		{"127.0.0.1:5000/library/tiny:latest", "127.0.0.1:5000/library/TINY", true}, {"http://127.0.0.1:5000/library/tiny", "127.0.0.1:5000/library/tiny", true},
		{"ours/tiny", "OURS/tiny:latest", true},
		{"tiny:1b", "tiny", false}, {"ours/tiny", "tiny", false}, {"127.0.0.1:5000/library/tiny", "tiny", false}, {"127.0.0.1:5000/library/tiny", "127.0.0.1:5001/library/tiny", false},
		{"tiny:1b", "tiny:1b-quarry-before", false}, {"", "tiny", false},
	} {
		if model.SameModel(tt.a, tt.b) != tt.same || model.SameModel(tt.b, tt.a) != tt.same {
			t.Errorf("%s and %s are the same: %t", tt.a, tt.b, !tt.same)
		}
	}
}

// What a killed pull or import has left is told from models of the user's own.
func TestFindUnfinished(t *testing.T) {
	long := "i:" + strings.Repeat("x", 80)
	var list []model.Installed
	for _, m := range []string{
		"a:1b new", "a:1b-quarry-before old", "b:latest same", "b:quarry-before same", "c:2b-quarry-trial x", "d:quarry-trial x", "e:3b-quarry-before x",
		"f-quarry-trial:latest x", "other:trial x", "the-night:before x", "g:1b x", "g:1b-before y", "h:1b-trial x", "j:1b new", "j:1b-quarry-before old", "j:1b-quarry-trial new", "k:1b-quarry-failed x", long[:2+80-13] + "-quarry-trial x",
	} {
		name, digest, _ := strings.Cut(m, " ")
		list = append(list, model.Installed{Name: name, Digest: digest, Bytes: 7})
	}
	want := []model.Unfinished{
		{Name: "a:1b-quarry-before", Of: "a:1b", Bytes: 7, Kept: true, Untried: true}, {Name: "b:quarry-before", Of: "b", Bytes: 7, Kept: true},
		{Name: "c:2b-quarry-trial", Of: "c:2b", Bytes: 7}, {Name: "d:quarry-trial", Of: "d", Bytes: 7}, {Name: "e:3b-quarry-before", Of: "e:3b", Bytes: 7, Kept: true},
		{Name: "j:1b-quarry-before", Of: "j:1b", Bytes: 7, Kept: true}, {Name: "j:1b-quarry-trial", Of: "j:1b", Bytes: 7}, {Name: "k:1b-quarry-failed", Of: "k:1b", Bytes: 7},
		{Name: long[:2+80-13] + "-quarry-trial", Of: long[:2+80-13], Bytes: 7},
	}
	if got := model.FindUnfinished(list); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Who pulls again just after they ended a pull joins what is left of that in Ollama, and fails with its end: Ollama is asked once more.
func TestPullAfterOneThatWasEnded(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/pull" {
			fmt.Fprint(w, `{"models": []}`)
			return
		}
		fmt.Fprintln(w, `{"status": "pulling 1", "digest": "sha256:1", "total": 10, "completed": 5}`)
		if asked.Add(1) < 3 {
			fmt.Fprintln(w, `{"error": "context canceled"}`)
			return
		}
		fmt.Fprintln(w, `{"status": "success"}`)
	}))
	defer server.Close()
	far := func(_ string, done, total int64) {
		if done != 5 || total != 10 {
			t.Errorf("%d of %d", done, total)
		}
	}
	if err := library(t, server.URL).Pull(t.Context(), "some:1b", far, taken); err != nil || asked.Load() != 3 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

// What keeps Ollama from downloading is said with what helps, not only in its words.
func TestPullSaysWhatHelps(t *testing.T) {
	for said, want := range map[string]string{
		`pull model manifest: file does not exist`: "Ollama's library has no such model: look for its name",
		`pull model manifest: Get \"https://registry.ollama.ai/v2/x\": dial tcp: lookup registry.ollama.ai: no such host`: "Ollama cannot reach the model's library: check the network",
		`write /models/blobs/sha256-00-partial: no space left on device`:                                                  "Ollama's disk is full: make room",
		`context canceled`: "Ollama failed: see the output of `ollama serve` (context canceled)",
		`something else`:   "Ollama failed: see the output of `ollama serve` (something else)",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/pull" {
				fmt.Fprint(w, `{"models": []}`)
				return
			}
			fmt.Fprintln(w, `{"status": "pulling manifest"}`)
			fmt.Fprintln(w, `{"error": "`+said+`"}`)
		}))
		if err := library(t, server.URL).Pull(t.Context(), "some:1b", func(string, int64, int64) {}, taken); err == nil || !strings.Contains(err.Error(), "download some:1b: "+want) {
			t.Errorf("%s: %v", said, err)
		}
		server.Close()
	}
}
