package model

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// InMemory is how many bytes of this machine's memory each of some models takes, in the order
// of names; 0 for a model that is not in memory, or on another machine. If the server is no
// Ollama, it is the size of the weights, which llama.cpp tells and vLLM does not. told is
// false if the server has a model but does not tell its size.
func (rt *Runtime) InMemory(ctx context.Context, names ...string) (bytes []int64, told bool, err error) {
	bytes = make([]int64, len(names))
	if !IsLoopback(rt.endpoint) {
		return bytes, true, nil
	}
	c, ok := rt.backend.(*ollama)
	if !ok {
		told, err = rt.backend.(*openAI).weigh(ctx, names, bytes)
		return bytes, told, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	running, have, err := c.running(ctx)
	if err != nil {
		return nil, false, c.explainWithin(ctx, err)
	}
	for _, r := range running {
		// A runner of an older version that had the name takes memory, too.
		at := slices.IndexFunc(names, func(name string) bool { return holds(r, name, have) || SameModel(r.Name, name) })
		if at >= 0 {
			bytes[at] += ofMemory(r.Size, r.OnGPU)
		}
	}
	return bytes, true, nil
}

// weigh sets the size of each model's weights. told is false if the server has a model but
// does not tell its size.
func (c *openAI) weigh(ctx context.Context, names []string, bytes []int64) (told bool, err error) {
	list, err := c.models(ctx)
	if err != nil {
		return false, err
	}
	told = true
	for at, name := range names {
		if i := slices.IndexFunc(list, func(m openAIModel) bool { return m.called(name) }); i >= 0 {
			bytes[at] = list[i].Meta.Bytes
			told = told && bytes[at] > 0
		}
	}
	return told, nil
}

// running are the models in memory. have are the models that Ollama has, if any are in memory.
func (c *ollama) running(ctx context.Context) (running, have []listed, err error) {
	running, err = c.inMemory(ctx)
	if err != nil || len(running) == 0 {
		return nil, nil, err
	}
	have, err = c.have(ctx)
	return running, have, err
}

// holds is whether a runner has the model of this name. Ollama lists a runner under the name
// that loaded it first, even if that name is deleted or means another model now. Digests
// decide, and names only where there is no digest.
func holds(r listed, name string, have []listed) bool {
	digest := ""
	if at := slices.IndexFunc(have, func(m listed) bool { return SameModel(m.Name, name) }); at >= 0 {
		digest = have[at].Digest
	}
	if digest == "" || r.Digest == "" {
		return SameModel(r.Name, name)
	}
	return r.Digest == digest
}

// ofMemory is the part of a model in the machine's memory, without what a GPU holds in its
// own.
func ofMemory(size, onGPU int64) int64 {
	if runtime.GOOS == "darwin" { // where both are one
		return size
	}
	return max(size-onGPU, 0)
}

// Unload unloads a model once nobody uses it, and answers when it is gone.
func (rt *Runtime) Unload(ctx context.Context, name string) error {
	c, ok := rt.backend.(*ollama)
	if !ok || !IsLoopback(rt.endpoint) {
		return nil
	}
	return c.of(name).unload(ctx)
}
