// Package projects keeps open what somebody asks, and closes what nobody asks any more: the
// repositories that one process serves to agents.
package projects

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// idleAfter is how long a project stays open that nobody asks: longer than an agent
	// thinks, and short enough that what a user has left takes no memory the next morning.
	idleAfter = 15 * time.Minute
	// maxOpen is how many projects are open at once, but for those that are being asked.
	maxOpen = 8
)

// Set opens projects when they are asked for and lets them go when nobody asks any more. A
// project is a repository, or the folders of one client. It is safe for concurrent use.
type Set[P io.Closer] struct {
	open func(folders []string) (P, error)
	// after calls f after a while, unless it is stopped before; time.AfterFunc, but in tests.
	after func(d time.Duration, f func()) (stop func() bool)

	mu      sync.Mutex
	list    []*project[P]  // the one asked last at the end; guarded by mu
	closed  bool           // guarded by mu
	errs    []error        // of closing, guarded by mu
	closing sync.WaitGroup // projects that are being closed
}

// project is one of them.
type project[P io.Closer] struct {
	folders []string
	opened  chan struct{} // closed when what follows is set
	is      P
	err     error

	// What follows is guarded by Set.mu.
	users int
	stop  func() bool // ends the wait for idleness
	spent int         // counts the waits, so that one that was overtaken does nothing
}

// New makes a set of no projects; open opens the one of some folders.
func New[P io.Closer](open func(folders []string) (P, error)) *Set[P] {
	return &Set[P]{open: open, after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }}
}

// ErrEnding is the error of whoever asks a set that is being closed.
var ErrEnding = errors.New("quarry is ending")

// Use answers the project of some folders; done says that the caller is through with it.
func (p *Set[P]) Use(folders []string) (is P, done func(), err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return is, nil, ErrEnding
	}
	i := p.index(folders)
	var q *project[P]
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
		q = &project[P]{folders: folders, opened: make(chan struct{}), users: 1}
		p.list = append(p.list, q)
		p.makeRoom()
		p.mu.Unlock()
		q.is, q.err = p.open(folders)
		close(q.opened)
	}
	done = sync.OnceFunc(func() { p.leave(q) })
	if q.err != nil {
		done()
		return is, nil, q.err
	}
	return q.is, done, nil
}

// index is where the project of some folders is in the list, -1 if it is not open. mu is held.
func (p *Set[P]) index(folders []string) int {
	key := strings.Join(folders, "\x00")
	return slices.IndexFunc(p.list, func(q *project[P]) bool { return strings.Join(q.folders, "\x00") == key })
}

// leave says that one caller is through with a project.
func (p *Set[P]) leave(q *project[P]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.users--
	switch {
	case q.users > 0:
	case q.err != nil: // it may open another time
		p.list = slices.DeleteFunc(p.list, func(other *project[P]) bool { return other == q })
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
func (p *Set[P]) makeRoom() {
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
func (p *Set[P]) letGo(q *project[P]) {
	p.list = slices.DeleteFunc(p.list, func(other *project[P]) bool { return other == q })
	if q.stop != nil {
		q.stop()
	}
	p.closing.Go(func() {
		err := q.is.Close()
		p.mu.Lock()
		p.errs = append(p.errs, err)
		p.mu.Unlock()
	})
}

// Drop lets the project of some folders go at once if it is open and nobody uses it.
func (p *Set[P]) Drop(folders []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.index(folders); i >= 0 && p.list[i].users == 0 && !p.closed {
		p.letGo(p.list[i])
	}
}

// Each calls do with every open project, which stays open meanwhile.
func (p *Set[P]) Each(do func(P)) {
	p.mu.Lock()
	var all [][]string
	for _, q := range p.list {
		all = append(all, q.folders)
	}
	p.mu.Unlock()
	for _, folders := range all {
		p.mu.Lock()
		i := p.index(folders)
		p.mu.Unlock()
		if i < 0 {
			continue // it was let go meanwhile
		}
		if is, done, err := p.Use(folders); err == nil {
			do(is)
			done()
		}
	}
}

// Folders are those of the projects that are open.
func (p *Set[P]) Folders() (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.list {
		list = append(list, q.folders...)
	}
	return list
}

// Close closes all, and waits. Nobody may be using one any more.
func (p *Set[P]) Close() error {
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
