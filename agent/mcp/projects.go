package mcp

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// Project is a repository, or the folders of one editor, that an agent works in.
type Project interface {
	Tools
	Close() error
}

const (
	// idleAfter is how long a project stays open that nobody asks: longer than an agent
	// thinks, and short enough that what a user has left takes no memory the next morning.
	idleAfter = 15 * time.Minute
	// maxOpen is how many projects are open at once, but for those that are being asked.
	maxOpen = 8
)

// projects opens projects when they are asked for and lets them go when nobody asks any more.
// It is safe for concurrent use.
type projects struct {
	open func(folders []string) (Project, error)
	// after calls f after a while, unless it is stopped before; time.AfterFunc, but in tests.
	after func(d time.Duration, f func()) (stop func() bool)

	mu      sync.Mutex
	list    []*project     // the one asked last at the end; guarded by mu
	closed  bool           // guarded by mu
	errs    []error        // of closing, guarded by mu
	closing sync.WaitGroup // projects that are being closed
}

// project is one of them.
type project struct {
	folders []string
	opened  chan struct{} // closed when what follows is set
	tools   Project
	err     error

	// What follows is guarded by projects.mu.
	users int
	stop  func() bool // ends the wait for idleness
	spent int         // counts the waits, so that one that was overtaken does nothing
}

func newProjects(open func([]string) (Project, error)) *projects {
	return &projects{open: open, after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }}
}

var errEnding = errors.New("quarry is ending")

// use answers the project of some folders; done says that the caller is through with it.
func (p *projects) use(folders []string) (tools Tools, done func(), err error) {
	key := strings.Join(folders, "\x00")
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, nil, errEnding
	}
	i := slices.IndexFunc(p.list, func(q *project) bool { return strings.Join(q.folders, "\x00") == key })
	var q *project
	if i >= 0 {
		q = p.list[i]
		p.list = append(slices.Delete(p.list, i, i+1), q)
		if q.stop != nil {
			q.stop()
			q.stop = nil
		}
		q.users++
		q.spent++
		p.mu.Unlock()
		<-q.opened
	} else {
		q = &project{folders: folders, opened: make(chan struct{}), users: 1}
		p.list = append(p.list, q)
		p.makeRoom()
		p.mu.Unlock()
		q.tools, q.err = p.open(folders)
		close(q.opened)
	}
	done = sync.OnceFunc(func() { p.leave(q) })
	if q.err != nil {
		done()
		return nil, nil, q.err
	}
	return q.tools, done, nil
}

// leave says that one caller is through with a project.
func (p *projects) leave(q *project) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.users--
	switch {
	case q.users > 0:
	case q.err != nil: // it may open another time
		p.list = slices.DeleteFunc(p.list, func(other *project) bool { return other == q })
	case !p.closed:
		spent := q.spent
		q.stop = p.after(idleAfter, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if q.users == 0 && q.spent == spent && !p.closed {
				p.letGo(q)
			}
		})
		p.makeRoom()
	}
}

// makeRoom lets the projects go that were asked longest ago, while there are too many. mu is
// held.
func (p *projects) makeRoom() {
	for _, q := range slices.Clone(p.list) {
		if len(p.list) <= maxOpen {
			return
		}
		if q.users == 0 {
			p.letGo(q)
		}
	}
}

// letGo closes a project that nobody uses. mu is held.
func (p *projects) letGo(q *project) {
	p.list = slices.DeleteFunc(p.list, func(other *project) bool { return other == q })
	if q.stop != nil {
		q.stop()
	}
	p.closing.Go(func() {
		err := q.tools.Close()
		p.mu.Lock()
		p.errs = append(p.errs, err)
		p.mu.Unlock()
	})
}

// folders are those of the projects that are open.
func (p *projects) folders() (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.list {
		list = append(list, q.folders...)
	}
	return list
}

// close closes all, and waits. Nobody may be using one any more.
func (p *projects) close() error {
	p.mu.Lock()
	p.closed = true
	for _, q := range slices.Clone(p.list) {
		if q.err == nil {
			p.letGo(q)
		}
	}
	p.mu.Unlock()
	p.closing.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

// repositoryArgument is added to every tool here.
const repositoryArgument = `{"type": "string", "description": "another repository: its folder, a path in it, or the name of one that is open; left out, the one you work in"}`

// withRepository is a tool's schema with that argument.
func withRepository(parameters json.RawMessage) (json.RawMessage, error) {
	var schema, properties map[string]json.RawMessage
	if err := json.Unmarshal(parameters, &schema); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(schema["properties"], &properties); err != nil {
		return nil, err
	}
	properties["repository"] = json.RawMessage(repositoryArgument)
	raw, err := json.Marshal(properties)
	if err != nil {
		return nil, err
	}
	schema["properties"] = raw
	return json.Marshal(schema)
}

// takeRepository takes that argument out of a call's. What is no object is left to the tool
// to refuse.
func takeRepository(arguments json.RawMessage) (repository string, rest json.RawMessage) {
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil || given["repository"] == nil {
		return "", arguments
	}
	if json.Unmarshal(given["repository"], &repository) != nil {
		repository = string(given["repository"])
	}
	delete(given, "repository")
	rest, err := json.Marshal(given)
	if err != nil {
		return repository, arguments
	}
	return repository, rest
}
