package ollamatest

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/ollama/ollama/fs/ggml"
)

// weights gathers the tensors of a generated model. The random ones depend on
// the seed and the order of the calls only.
type weights struct {
	rng     *rand.Rand
	tensors []*ggml.Tensor
}

func newWeights(seed1, seed2 int) *weights {
	return &weights{rng: rand.New(rand.NewPCG(uint64(seed1), uint64(seed2)))}
}

// random adds a tensor of normally distributed values; shape begins with the
// dimension that is contiguous in memory.
func (w *weights) random(name string, deviation float32, shape ...int) []float32 {
	v := w.add(name, shape)
	copy(v, w.normal(len(v), deviation))
	return v
}

func (w *weights) normal(n int, deviation float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(w.rng.NormFloat64()) * deviation
	}
	return v
}

// ones adds the weight of a norm.
func (w *weights) ones(name string, n int) {
	v := w.add(name, []int{n})
	for i := range v {
		v[i] = 1
	}
}

// zeros adds a bias.
func (w *weights) zeros(name string, n int) { w.add(name, []int{n}) }

func (w *weights) add(name string, shape []int) tensor {
	n, dims := 1, make([]uint64, len(shape))
	for i, d := range shape {
		n *= d
		dims[i] = uint64(d)
	}
	v := make(tensor, n)
	w.tensors = append(w.tensors, &ggml.Tensor{Name: name, Kind: uint32(ggml.TensorTypeF32), Shape: dims, WriterTo: v})
	return v
}

// save writes the model as GGUF.
func (w *weights) save(path string, kv ggml.KV) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := ggml.WriteGGUF(f, kv, w.tensors); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Close()
}

type tensor []float32

func (t tensor) WriteTo(out io.Writer) (int64, error) {
	return int64(4 * len(t)), binary.Write(out, binary.LittleEndian, []float32(t))
}
