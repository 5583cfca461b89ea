package model

import "context"

// Instead is a model to name to somebody whose own is at fault.
func (rt *Runtime) Instead() string { return otherThan(rt.opt.Model) }

// Pull is [Library.Pull], after which the model is looked at.
func (rt *Runtime) Pull(ctx context.Context, name string, report func(done, total int64)) error {
	l, err := rt.library()
	if err != nil {
		return err
	}
	defer rt.Look()
	return l.Pull(ctx, name, report)
}

// Installed are the names of the models of [Library.List].
func (rt *Runtime) Installed(ctx context.Context) ([]string, error) {
	l, err := rt.library()
	if err != nil {
		return nil, err
	}
	list, err := l.List(ctx)
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
	}
	return names, err
}

func (rt *Runtime) library() (*Library, error) {
	c, ok := rt.backend.(*ollama)
	if !ok {
		return nil, errNotOllama
	}
	return &Library{c}, nil
}

// Look makes the watcher look at the server now.
func (rt *Runtime) Look() { signal(rt.health.wake) }

// PullsModels is whether Pull can work.
func (rt *Runtime) PullsModels() bool { _, ok := rt.backend.(*ollama); return ok }

// Host is the server's address, host:port.
func (rt *Runtime) Host() string { return rt.endpoint.Host }
