package index

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/index/embedtext"
	"quarry/index/vectors"
)

// embedChildEnv makes the test binary play a process that embeds: the folder, the
// state folder, the model, and "hangs" if it is to hang once there are vectors, with "|"
// between.
const embedChildEnv = "QUARRY_INDEX_EMBED_CHILD"

// hurried is a clock a thousand times as fast, so that vectors are written, and
// failures tried again, a thousand times as often.
type hurried struct{ start time.Time }

func (h hurried) Now() time.Time { return h.start.Add(1000 * time.Since(h.start)) }

func (h hurried) At(t time.Time) <-chan time.Time { return time.After(t.Sub(h.Now()) / 1000) }

// killModels are the models that the children use, each of another dimension.
func killModels() *fakeModels {
	f := newFakeModels("a", "b", "c")
	f.dims["b"], f.dims["c"] = 40, 7
	return f
}

// fullDiskEmbed is the process of TestFullDiskWhileEmbedding, where there is one.
var fullDiskEmbed func(dir, state string) error

func embedChild(spec string) int {
	compactAbove = 8
	part := strings.Split(spec, "|")
	if part[2] == "full" {
		if err := fullDiskEmbed(part[0], part[1]); err != nil {
			fmt.Println("error", err)
			return 1
		}
		return 0
	}
	x, err := Open(Config{Dir: part[0], StateDir: part[1], Clock: hurried{time.Now()}})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	models := killModels()
	models.embed = func(ctx context.Context, _ string, _ []string) error {
		if set := x.embedding.Vectors(); set != nil && part[3] == "hangs" {
			set.Release()
			fmt.Println("hangs")
			<-ctx.Done()
			return ctx.Err()
		} else if set != nil {
			set.Release()
		}
		<-time.After(100 * time.Microsecond) // a model is never as fast as this one
		return nil
	}
	go func() {
		for {
			changed := x.embedding.VectorsChanged()
			fmt.Println("changed")
			<-changed
		}
	}()
	x.embedding.SetEmbedders(models.use(part[2]))
	if err := x.embedding.Settle(context.Background()); err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Println("done")
	select {} // until it is killed
}

// seen remembers the text of every chunk there ever was.
type seen map[vectors.Key]string

func (s seen) add(t testing.TB, x *Index) {
	for key, text := range chunkTexts(t, x) {
		s[key] = text
	}
}

// check fails if a vector that is searched is not its text's, and answers how many
// there are.
func (s seen) check(t testing.TB, x *Index) int {
	t.Helper()
	set := x.embedding.Vectors()
	if set == nil {
		return 0
	}
	defer set.Release()
	for slot := range set.Len() {
		if !set.Live(slot) {
			continue
		}
		text, ok := s[set.Key(slot)]
		if want := hashVector(set.Model, text, set.Dim); !ok || fmt.Sprint(want) != fmt.Sprint(set.Row(slot)) {
			t.Fatalf("slot %d of %d has a wrong vector (known text: %v)", slot, set.Len(), ok)
		}
	}
	return set.Vectors()
}

// shuffle replaces most files by ones that were not there before.
func shuffle(t testing.TB, r *rand.Rand, dir string, round int) {
	files := map[string]string{}
	for n := range 100 {
		name := fmt.Sprintf("f%d.go", n)
		if r.IntN(3) > 0 {
			files[name] = fmt.Sprintf("package f\n\n// F%d_%d does what it says.\nfunc F%d_%d() int { return %d }\n", round, n, round, n, r.IntN(1e9))
		}
	}
	write(t, dir, files)
}

// After kill -9 at any moment, and with models and texts that come and go, a text
// has its own vector or none, and what is missing is made.
func TestKilledWhileEmbedding(t *testing.T) {
	const rounds = 60
	dir, state := t.TempDir(), t.TempDir()
	r := rand.New(rand.NewPCG(5, 5))
	known := seen{}
	partial, model := 0, "a"
	for round := range rounds {
		// A third of the kills is sure to come in the middle, the others come at any moment.
		hangs, how := round%3 == 0, ""
		if hangs {
			how = "hangs"
		}
		shuffle(t, r, dir, round)
		if r.IntN(4) == 0 {
			model = string("abc"[r.IntN(3)])
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), embedChildEnv+"="+strings.Join([]string{dir, state, model, how}, "|"), "GORACE=atexit_sleep_ms=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 1 + r.IntN(5); (left > 0 || hangs) && lines.Scan() && lines.Text() != "done" && lines.Text() != "hangs"; left-- {
			if lines.Text() != "changed" {
				t.Fatalf("the child said %q", lines.Text())
			}
		}
		if hangs && lines.Text() != "hangs" {
			t.Fatalf("round %d: the child said %q, want that its model hangs", round, lines.Text())
		}
		<-time.After(time.Duration(r.IntN(4000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed; that is no news

		func() {
			x := open(t, Config{Dir: dir, StateDir: state})
			defer shut(t, x)
			settle(t, x)
			known.add(t, x)
			of := killModels().use(model)
			of.QueriesOnly = true
			x.embedding.SetEmbedders(of)
			settleVectors(t, x)
			st, err := x.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n := known.check(t, x); n > 0 && st.Embedding.Embedded < st.Embedding.Texts {
				partial++
			} else if hangs {
				t.Errorf("round %d: %d vectors and %d of %d texts, after a kill in the middle", round, n, st.Embedding.Embedded, st.Embedding.Texts)
			}
			if err := x.Store().Check(t.Context()); err != nil {
				t.Fatal(err)
			}
		}()
	}
	x := start(t, Config{Dir: dir, StateDir: state})
	models := killModels()
	x.embedding.SetEmbedders(models.use(model))
	settleVectors(t, x)
	checkComplete(t, x, model+"@1+1", models.dims[model])
	known.check(t, x)
	if files, _, err := x.embedding.files(); err != nil || len(files) != 1 {
		t.Errorf("files left: %v, %v", files, err)
	}
	t.Logf("%d of %d kills came in the middle", partial, rounds)
}

// A power cut may keep the database of one moment and the vectors of another.
func TestAnyOrderOfWrites(t *testing.T) {
	old := compactAbove
	compactAbove = 8
	defer func() { compactAbove = old }()
	dir, state := t.TempDir(), t.TempDir()
	r := rand.New(rand.NewPCG(7, 7))
	known := seen{}
	type moment struct{ database, files map[string][]byte }
	var moments []moment
	var folder string
	model := "a"
	for round := range 6 {
		shuffle(t, r, dir, round)
		if round == 3 {
			model = "b"
		}
		x := open(t, Config{Dir: dir, StateDir: state})
		x.embedding.SetEmbedders(killModels().use(model))
		settleVectors(t, x)
		known.add(t, x)
		folder = x.state.dir
		shut(t, x)
		m := moment{map[string][]byte{}, map[string][]byte{}}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if vectorFile.MatchString(e.Name()) {
				m.files[e.Name()] = b
			} else {
				m.database[e.Name()] = b
			}
		}
		moments = append(moments, m)
	}
	for i, database := range moments {
		for j, files := range moments {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, m := range []map[string][]byte{database.database, files.files} {
				for name, b := range m {
					if len(b) > 5000 && r.IntN(3) == 0 { // a page of it was lost
						b = bytes.Clone(b)
						if vectorFile.MatchString(name) {
							clear(b[4500:min(len(b), 4500+r.IntN(2000))])
						}
					}
					if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			func() {
				x := open(t, Config{Dir: dir, StateDir: state})
				defer shut(t, x)
				of := killModels().use("b")
				of.QueriesOnly = true
				x.embedding.SetEmbedders(of)
				settleVectors(t, x)
				known.check(t, x)
				models := killModels()
				x.embedding.SetEmbedders(models.use("b"))
				settleVectors(t, x)
				known.check(t, x)
				checkComplete(t, x, "b@1+1", models.dims["b"])
				if files, _, err := x.embedding.files(); err != nil || len(files) != 1 {
					t.Errorf("database of moment %d, vectors of %d: files left: %v, %v", i, j, files, err)
				}
			}()
		}
	}
}

func TestDamagedVectors(t *testing.T) {
	for name, test := range map[string]struct {
		damage   func([]byte) []byte
		notified string // "" for nothing
		again    int    // texts embedded again; -1 for all
	}{
		"header":    {func(b []byte) []byte { b[100] ^= 1; return b }, "were damaged", -1},
		"empty":     {func([]byte) []byte { return nil }, "were damaged", -1},
		"one row":   {func(b []byte) []byte { b[4096+10] ^= 1; return b }, "", 1},
		"truncated": {func(b []byte) []byte { return b[:len(b)-1] }, "", 1},
		"only head": {func(b []byte) []byte { return b[:4096] }, "", -1},
	} {
		t.Run(name, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			write(t, dir, project)
			models := newFakeModels("m")
			x := open(t, Config{Dir: dir, StateDir: state})
			x.embedding.SetEmbedders(models.use("m"))
			settleVectors(t, x)
			all := models.embedded()
			path := filepath.Join(x.state.dir, "embeddings-1.dat")
			shut(t, x)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, test.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			notified := make(chan string, 10)
			x = start(t, Config{Dir: dir, StateDir: state, Notify: func(m string) { notified <- m }})
			x.embedding.SetEmbedders(models.use("m"))
			settleVectors(t, x)
			checkComplete(t, x, "m@1+1", 16)
			want := test.again
			if want < 0 {
				want = all
			}
			if n := models.embedded(); n != want {
				t.Errorf("%d texts embedded again, want %d", n, want)
			}
			if test.notified == "" {
				if len(notified) > 0 {
					t.Errorf("told %q", <-notified)
				}
				return
			}
			if len(notified) != 1 {
				t.Fatalf("told %d messages", len(notified))
			}
			if m := <-notified; !strings.Contains(m, test.notified) || !strings.Contains(m, path+".damaged") {
				t.Errorf("told %q", m)
			}
			if _, err := os.Stat(path + ".damaged"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVectorsAreCompacted(t *testing.T) {
	old := compactAbove
	compactAbove = 8
	defer func() { compactAbove = old }()
	dir := t.TempDir()
	x := start(t, Config{Dir: dir})
	models := newFakeModels("m")
	x.embedding.SetEmbedders(models.use("m"))
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 10 {
		shuffle(t, r, dir, round)
		x.Rescan()
		settleVectors(t, x)
		checkComplete(t, x, "m@1+1", 16)
		set := x.embedding.Vectors()
		if live := len(chunkTexts(t, x)); set.Len() > 2*live+compactAbove {
			t.Errorf("%d slots for %d texts", set.Len(), live)
		}
		set.Release()
		if files, _, err := x.embedding.files(); err != nil || len(files) != 1 {
			t.Errorf("files left: %v, %v", files, err)
		}
	}
	if _, err := os.Stat(filepath.Join(x.state.dir, "embeddings-1.dat")); !os.IsNotExist(err) {
		t.Errorf("the first file is there still: %v", err)
	}
}

// A second process reads what the first one embeds, and takes over.
func TestVectorsOfAnotherProcess(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	models := newFakeModels("m", "n")
	first := open(t, Config{Dir: dir, StateDir: state})
	closed := false
	defer func() {
		if !closed {
			_ = first.Close() // the test has failed
		}
	}()
	settle(t, first)
	second := start(t, Config{Dir: dir, StateDir: state})
	others := newFakeModels("m", "n")
	others.embed = func(context.Context, string, []string) error {
		t.Error("the reader embeds")
		return nil
	}
	second.embedding.SetEmbedders(others.use("m"))
	complete := func(x *Index, model string) func() bool {
		return func() bool {
			set := x.embedding.Vectors()
			if set == nil {
				return false
			}
			defer set.Release()
			return set.Model == model && set.Vectors() == len(chunkTexts(t, first))
		}
	}
	first.embedding.SetEmbedders(models.use("m"))
	settleVectors(t, first)
	until(t, "the reader has all vectors", complete(second, "m@1+1"))
	checkVectors(t, second, "m@1+1", 16)
	set := second.embedding.Vectors()
	if v, err := second.embedding.EmbedQuery(t.Context(), set, embedtext.Query, "a question"); err != nil || len(v) != 16 {
		t.Errorf("the reader's query: %v, %v", v, err)
	}
	set.Release()
	st, err := second.Status(t.Context())
	if err != nil || st.Embedding.State != EmbeddingElsewhere || st.Embedding.Embedded == 0 {
		t.Errorf("the reader's status: %+v, %v", st.Embedding, err)
	}
	first.embedding.SetEmbedders(models.use("n"))
	settleVectors(t, first)
	until(t, "the reader has the other model's vectors", complete(second, "n@1+1"))
	others.set(func() { others.embed = nil })
	second.embedding.SetEmbedders(others.use("n"))
	shut(t, first)
	closed = true
	until(t, "the reader writes", second.isOwner)
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	second.Rescan()
	settleVectors(t, second)
	checkComplete(t, second, "n@1+1", 16)
	if n := others.embedded(); n != 1 {
		t.Errorf("%d texts embedded after the change of hands", n)
	}
}
