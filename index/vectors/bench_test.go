package vectors

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

const (
	benchDim  = 384
	benchRows = 100_000
	benchStep = 64 // vectors at a time, as the queue writes them
)

// filled makes a file of benchRows random vectors.
func filled(b *testing.B, path string) *File {
	b.Helper()
	f, err := Create(path, "model@1", benchDim)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	keys, list := make([]Key, benchStep), make([][]float32, benchStep)
	for i := range list {
		list[i] = make([]float32, benchDim)
		for d := range list[i] {
			list[i][d] = float32(r.NormFloat64()) / 20
		}
	}
	for n := 0; n < benchRows; n += benchStep {
		for i := range keys {
			binary.LittleEndian.PutUint64(keys[i][:], r.Uint64())
		}
		// Not Append: waiting for the disk is not what is measured.
		if err := f.put(keys, list); err != nil {
			b.Fatal(err)
		}
		if err := f.admit(f.n + benchStep); err != nil {
			b.Fatal(err)
		}
	}
	return f
}

func BenchmarkWrite(b *testing.B) {
	dir := b.TempDir()
	for n := 0; b.Loop(); n++ {
		f := filled(b, filepath.Join(dir, "f"+string(rune('a'+n))))
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen checks every row.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	f := filled(b, path)
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if f.slots.len() < benchRows-benchStep {
			b.Fatalf("%d vectors", f.slots.len())
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	dir := b.TempDir()
	f := filled(b, filepath.Join(dir, "f"))
	defer f.Close()
	for n := 0; b.Loop(); n++ {
		small, err := f.Compact(filepath.Join(dir, "c"+string(rune('a'+n))), func(k Key) bool { return k[0]%2 == 0 })
		if err != nil {
			b.Fatal(err)
		}
		if err := small.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPublish adds one batch to a file of many and makes a Set of it.
func BenchmarkPublish(b *testing.B) {
	f := filled(b, filepath.Join(b.TempDir(), "f"))
	defer f.Close()
	r := rand.New(rand.NewPCG(2, 2))
	keys, list := make([]Key, benchStep), make([][]float32, benchStep)
	for i := range list {
		list[i] = f.rows(i, i+1)[:benchDim]
	}
	for b.Loop() {
		for i := range keys {
			binary.LittleEndian.PutUint64(keys[i][:], r.Uint64())
		}
		if err := f.put(keys, list); err != nil {
			b.Fatal(err)
		}
		if err := f.admit(f.n + benchStep); err != nil {
			b.Fatal(err)
		}
		f.Set().Release()
	}
}

// BenchmarkDamaged checks a row that a search is about to use.
func BenchmarkDamaged(b *testing.B) {
	f := filled(b, filepath.Join(b.TempDir(), "f"))
	defer f.Close()
	set := f.Set()
	defer set.Release()
	slot := 0
	for b.Loop() {
		if slot = (slot + 1) % 400; set.Damaged(slot) {
			b.Fatal("a row that nobody wrote over is damaged")
		}
	}
}
