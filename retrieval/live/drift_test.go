package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/index"
	"quarry/retrieval"
)

// Rankings do not drift: whatever was added, changed, renamed and removed in a session, a
// search answers as one that has just read the same database, scores included.
func TestLiveEqualsReopened(t *testing.T) {
	words := strings.Fields("apple barn crate dew elm frost grain hay iris jar kiln loom mill nest oak plum quay rye seed twig")
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 14))
		word := func() string { return words[r.IntN(len(words))] }
		function := func() string {
			a, b := word(), word()
			return fmt.Sprintf("\n// %s%s keeps the %s of a %s.\nfunc %s%s(n int) int { return %s(n) }\n", title(a), title(b), word(), word(), title(a), title(b), title(word()))
		}
		file := func(folder string) string { return "package " + folder + "\n" + function() + function() }
		dir, state := t.TempDir(), t.TempDir()
		var names []string
		add := func() {
			folder := word()
			name := fmt.Sprintf("%s/%s%d.go", folder, word(), r.IntN(1000))
			write(t, dir, name, file(folder))
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for range 30 {
			add()
		}
		path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
		edit := func() {
			i := r.IntN(len(names))
			var err error
			switch r.IntN(6) {
			case 0:
				add()
			case 1:
				err = os.Remove(path(names[i]))
				names = slices.Delete(names, i, i+1)
			case 2:
				to := fmt.Sprintf("%s/moved%d.go", filepath.Dir(names[i]), r.IntN(1_000_000))
				err = os.Rename(path(names[i]), path(to))
				names[i] = to
			default:
				var text []byte
				if text, err = os.ReadFile(path(names[i])); err == nil {
					write(t, dir, names[i], string(text)+function())
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		questions := func(w *Workspace) (list []retrieval.Answer) {
			if err := w.relink(t.Context()); err != nil { // as it does at rest
				t.Fatal(err)
			}
			for _, a := range words {
				for _, q := range []string{a, title(a) + title(words[0]), "keeps the " + a, `"of a ` + a + `"`, "path:" + a + " seed", "where is the " + a + " of a plum"} {
					answer, err := w.Search.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(q, time.Now()), Limit: 20})
					if err != nil {
						t.Fatal(err)
					}
					answer.Timings = retrieval.Timings{}
					list = append(list, answer)
				}
			}
			return list
		}
		session(t, dir, state, func(x *index.Index, live *Workspace) {
			for round := range 4 {
				for range 20 {
					edit()
					if r.IntN(3) == 0 { // of many edits each is a state of its own
						settleBoth(t, x, live)
					}
				}
				settleBoth(t, x, live)
				if round == 2 {
					live.Keep(t.Context()) // goes on from the file
				}
				got := questions(live)
				session(t, dir, state, func(_ *index.Index, reopened *Workspace) {
					for i, want := range questions(reopened) {
						if !reflect.DeepEqual(got[i], want) {
							t.Fatalf("seed %d, round %d: live %+v\nreopened %+v", seed, round, got[i], want)
						}
					}
				})
			}
		})
	}
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// settleBoth waits until what is on disk now can be searched.
func settleBoth(t *testing.T, x *index.Index, w *Workspace) {
	t.Helper()
	x.Rescan()
	if err := x.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}
