package model

import (
	"context"
	"errors"
	"fmt"

	"github.com/ollama/ollama/api"
)

// downloads is what Ollama's library says the models take that quarry names, in bytes.
var downloads = map[string]int64{
	"granite4:micro":        2_100_000_000,
	"qwen2.5-coder:1.5b":    986_000_000,
	"granite-embedding:30m": 63_000_000,
}

// DownloadSize is about how many bytes a model's download has, 0 if not known.
func DownloadSize(name string) int64 { return downloads[name] }

// Instead is a model to name to somebody whose own is at fault.
func (rt *Runtime) Instead() string { return otherThan(rt.opt.Model) }

var errNotOllama = errors.New("only Ollama downloads models; install the model on your model server yourself")

// Pull has Ollama download a model; report is told how many bytes there are of how
// many. If ctx ends, what is there stays, and the next Pull goes on from it.
func (rt *Runtime) Pull(ctx context.Context, name string, report func(done, total int64)) error {
	c, ok := rt.backend.(*ollama)
	if !ok {
		return errNotOllama
	}
	if inCloud(name) {
		return fmt.Errorf("%s runs on another machine; choose a local model such as %s", name, rt.Instead())
	}
	// A model has several files, each with its own progress.
	done, total := map[string]int64{}, map[string]int64{}
	finished := false
	err := c.of(name).api.Pull(ctx, &api.PullRequest{Model: name}, func(p api.ProgressResponse) error {
		finished = finished || p.Status == "success"
		if p.Digest == "" {
			return nil
		}
		done[p.Digest], total[p.Digest] = p.Completed, p.Total
		var d, t int64
		for digest := range total {
			d, t = d+done[digest], t+total[digest]
		}
		report(d, t)
		return nil
	})
	if err != nil {
		return fmt.Errorf("download %s: %w", name, c.explain(err))
	}
	if !finished {
		return fmt.Errorf("download %s: %w", name, c.brokeOff(nil))
	}
	rt.Look()
	return nil
}

// Installed are the names of the models that Ollama has, but for those that other
// machines run.
func (rt *Runtime) Installed(ctx context.Context) ([]string, error) {
	c, ok := rt.backend.(*ollama)
	if !ok {
		return nil, errNotOllama
	}
	list, err := c.api.List(ctx)
	if err != nil {
		return nil, c.explain(err)
	}
	var names []string
	for _, m := range list.Models {
		if m.RemoteHost == "" && !inCloud(m.Name) {
			names = append(names, m.Name)
		}
	}
	return names, nil
}

// Look makes the watcher look at the server now.
func (rt *Runtime) Look() { signal(rt.health.wake) }

// PullsModels is whether Pull can work.
func (rt *Runtime) PullsModels() bool { _, ok := rt.backend.(*ollama); return ok }

// Host is the server's address, host:port.
func (rt *Runtime) Host() string { return rt.endpoint.Host }
