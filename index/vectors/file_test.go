package vectors

import (
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

const testDim = 12

func keyOf(n int) (k Key) {
	sum := sha256.Sum256([]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	copy(k[:], sum[:])
	return k
}

// vectorOf is the one right vector for a key.
func vectorOf(k Key) []float32 {
	r := rand.New(rand.NewPCG(uint64(k[0])|uint64(k[1])<<8|uint64(k[2])<<16|uint64(k[3])<<24, uint64(k[4])))
	v, sum := make([]float32, testDim), 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func appendTo(t testing.TB, f *File, from, to int) {
	t.Helper()
	var keys []Key
	var list [][]float32
	for n := from; n < to; n++ {
		keys, list = append(keys, keyOf(n)), append(list, vectorOf(keyOf(n)))
	}
	if _, err := f.Append(keys, list); err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "embeddings-1.dat")
	f, err := Create(path, "model@1", testDim)
	if err != nil {
		t.Fatal(err)
	}
	return f, path
}

func closeFile(t testing.TB, f *File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// checkSet fails if the set has a wrong vector, and answers how many it has of the
// keys below n.
func checkSet(t testing.TB, s *Set, n int) (has int) {
	t.Helper()
	for i := range n {
		slot, ok := s.Slot(keyOf(i))
		if !ok {
			continue
		}
		has++
		if s.Key(slot) != keyOf(i) || !s.Live(slot) || !slices.Equal(s.Row(slot), vectorOf(keyOf(i))) {
			t.Fatalf("text %d has a wrong vector at slot %d of %d", i, slot, s.Len())
		}
	}
	if has != s.Vectors() {
		t.Fatalf("%d of the known texts have a vector, %d texts have one", has, s.Vectors())
	}
	return has
}

func checkFile(t testing.TB, f *File, n int) int {
	t.Helper()
	s := f.Set()
	defer s.Release()
	return checkSet(t, s, n)
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	f, path := create(t)
	var sets []*Set
	for _, n := range []int{1, 2, 40, 1024, 1025, 9000} { // over the room there is at first
		appendTo(t, f, f.Len(), n)
		sets = append(sets, f.Set())
	}
	reader, err := OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{5, 40, 9000, 20_000} {
		if err := reader.Extend(n); err != nil {
			t.Fatal(err)
		}
		if got, want := checkFile(t, reader, 9000), min(n, 9000); got != want {
			t.Errorf("told of %d, a reader has %d", n, got)
		}
	}
	size := Size(testDim, 9000)
	closeFile(t, f)
	for i, n := range []int{1, 2, 40, 1024, 1025, 9000} { // the old views go on
		if got := checkSet(t, sets[i], 9000); got != n || sets[i].Len() != n {
			t.Errorf("the set of %d has %d of %d", n, got, sets[i].Len())
		}
		sets[i].Release()
	}
	closeFile(t, reader)
	if info, err := os.Stat(path); err != nil || info.Size() != size || size != 4096+9000*(testDim*4+32) {
		t.Errorf("closed, the file has %d bytes, not %d (%v)", info.Size(), size, err)
	}

	f, err = Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(t, f)
	if got := checkFile(t, f, 9001); got != 9000 || f.Model != "model@1" || f.Dim != testDim || f.Unsound != 0 {
		t.Errorf("opened again: %d vectors of %s, %d dimensions, %d unsound rows", got, f.Model, f.Dim, f.Unsound)
	}
	appendTo(t, f, 9000, 9001)
	if got := checkFile(t, f, 9001); got != 9001 {
		t.Errorf("%d after one more", got)
	}
}

func TestAppendRefusesAnotherDimension(t *testing.T) {
	f, _ := create(t)
	defer closeFile(t, f)
	if _, err := f.Append([]Key{keyOf(1)}, [][]float32{{1, 0}}); err == nil {
		t.Error("a vector of two dimensions was taken")
	}
	if f.Len() != 0 {
		t.Errorf("%d slots", f.Len())
	}
}

// Whatever happens to the bytes, a text has its own vector or none.
func TestNoDamageMakesAWrongVector(t *testing.T) {
	f, path := create(t)
	const n = 50
	appendTo(t, f, 0, n)
	closeFile(t, f)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(filepath.Dir(path), "damaged")
	rapid.Check(t, func(t *rapid.T) {
		b := slices.Clone(sound)
		switch rapid.SampledFrom([]string{"cut", "flip", "hole", "move"}).Draw(t, "kind") {
		case "cut":
			b = b[:rapid.IntRange(0, len(b)).Draw(t, "at")]
		case "flip":
			for range rapid.IntRange(1, 20).Draw(t, "times") {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
			}
		case "hole":
			from := rapid.IntRange(0, len(b)).Draw(t, "from")
			clear(b[from:rapid.IntRange(from, len(b)).Draw(t, "to")])
		case "move":
			row := rowSize(testDim)
			from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			copy(b[headerSize+to*row:][:row], sound[headerSize+from*row:])
		}
		if err := os.WriteFile(damaged, b, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(damaged)
		if errors.Is(err, ErrDamaged) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s := f.Set()
		for i := range n {
			slot, ok := s.Slot(keyOf(i))
			if ok && (s.Key(slot) != keyOf(i) || !slices.Equal(s.Row(slot), vectorOf(keyOf(i)))) {
				t.Fatalf("text %d has a wrong vector", i)
			}
		}
		if s.Vectors() > n {
			t.Fatalf("%d texts have a vector", s.Vectors())
		}
		s.Release()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "text": "QUARRYVE and nothing more", "zeros": string(make([]byte, 10_000))} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := OpenToRead(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s to read: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestCompactKeepsWhatIsWanted(t *testing.T) {
	f, path := create(t)
	defer closeFile(t, f)
	appendTo(t, f, 0, 3000)
	wanted := map[Key]bool{}
	for n := 0; n < 3000; n += 7 {
		wanted[keyOf(n)] = true
	}
	small, err := f.Compact(path+".2", func(k Key) bool { return wanted[k] })
	if err != nil {
		t.Fatal(err)
	}
	if got := checkFile(t, small, 3000); got != len(wanted) || small.Len() != len(wanted) || small.epoch == f.epoch {
		t.Errorf("%d vectors in %d slots, want %d", got, small.Len(), len(wanted))
	}
	appendTo(t, small, 3000, 3001)
	closeFile(t, small)
	if small, err = Open(path + ".2"); err != nil {
		t.Fatal(err)
	}
	defer closeFile(t, small)
	if got := checkFile(t, small, 3001); got != len(wanted)+1 || small.Unsound != 0 {
		t.Errorf("opened again, %d vectors and %d unsound rows", got, small.Unsound)
	}
	if got := checkFile(t, f, 3000); got != 3000 {
		t.Errorf("the old file has %d", got)
	}
}

// Searches go on while vectors are added and the file is replaced.
func TestReadersWhileItGrows(t *testing.T) {
	f, path := create(t)
	var current Current
	if current.Acquire() != nil {
		t.Error("a set of nothing")
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				changed := current.Changed()
				if s := current.Acquire(); s != nil {
					n := s.Len()
					for slot := range n {
						if !slices.Equal(s.Row(slot), vectorOf(s.Key(slot))) || !s.Live(slot) {
							t.Errorf("slot %d of %d is wrong", slot, n)
							s.Release()
							return
						}
					}
					s.Release()
				}
				select {
				case <-changed:
				case <-done:
					return
				}
			}
		})
	}
	for n := 0; n < 4000; n += 100 {
		appendTo(t, f, n, n+100)
		if n == 2000 {
			small, err := f.Compact(path+".2", func(Key) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			closeFile(t, f)
			f = small
		}
		current.Publish(f.Set())
	}
	closeFile(t, f)
	close(done)
	readers.Wait()
	last := current.Acquire()
	if got := checkSet(t, last, 4000); got != 4000 {
		t.Errorf("%d vectors at the end", got)
	}
	last.Release()
	current.Publish(nil)
	if current.Acquire() != nil {
		t.Error("a set after the last")
	}
}
