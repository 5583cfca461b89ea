package model

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/ollama/ollama/api"
)

// InMemory is how many bytes of this machine's memory each of some models takes, in the order
// of their names, 0 for one that is not in memory. Of a server that is no Ollama, or runs on
// another machine, nothing is known: each is 0.
func (rt *Runtime) InMemory(ctx context.Context, names ...string) ([]int64, error) {
	bytes := make([]int64, len(names))
	c, ok := rt.backend.(*ollama)
	if !ok || !IsLoopback(rt.endpoint) {
		return bytes, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := c.api.ListRunning(ctx)
	if err != nil {
		return nil, c.explainWithin(ctx, err)
	}
	for i, name := range names {
		if at := slices.IndexFunc(list.Models, func(m api.ProcessModelResponse) bool { return SameModel(m.Name, name) }); at >= 0 {
			bytes[i] = ofMemory(list.Models[at].Size, list.Models[at].SizeVRAM)
		}
	}
	return bytes, nil
}

// ofMemory is what of a model lies in the machine's memory: not what a GPU holds in its own.
func ofMemory(size, onGPU int64) int64 {
	if runtime.GOOS == "darwin" { // where both are one
		return size
	}
	return max(size-onGPU, 0)
}

// Unload drops a model from memory once nobody uses it, and answers when it is gone.
func (rt *Runtime) Unload(ctx context.Context, name string) error {
	c, ok := rt.backend.(*ollama)
	if !ok || !IsLoopback(rt.endpoint) {
		return nil
	}
	return c.of(name).unload(ctx)
}
