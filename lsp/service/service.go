// Package service is the server of `quarry serve`: it serves the requests of lsp/search, over a
// Unix socket, to any number of clients of one user that have no editor, and, where the user wants
// it, over WebSocket to devices of his that have been paired.
//
// A client says quarry/hello with the version of the protocol it speaks, and names folders.
// Clients with the same folders share one project: an index that is kept current. A project that
// nobody asks is let go after a while (agent/projects). Package client is the other end, and
// docs/service.md what both owe each other.
package service

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quarry/agent"
	"quarry/agent/projects"
	"quarry/lsp/document"
	"quarry/lsp/search"
	"quarry/lsp/service/client"
	"quarry/lsp/service/device"
	"quarry/lsp/service/peer"
)

// Project answers for some folders. Its methods may be called concurrently, and two can be
// compared.
type Project interface {
	search.Core
	// AgentTools are the tools for one more agent.
	AgentTools() Tools
	// Configure takes the settings of now.
	Configure() error
	Close() error
}

// Tools are what an agent may call; they change nothing.
type Tools interface {
	Call(ctx context.Context, name string, args json.RawMessage) agent.Envelope
}

// Options are what a server serves.
type Options struct {
	Version string // of quarry
	Log     *slog.Logger
	// Open opens the project of some folders, which tells of its work by progress.
	Open func(folders []string, progress func(client.Progress)) (Project, error)
	// Settings is the digest of the settings by which answers are found, as they are now.
	Settings func() string
	// Ended, if not nil, is called when nobody is served any more and before the projects are
	// closed.
	Ended func()
	// Devices are those that are paired, and Remote is where they connect, nil for nowhere.
	Devices *device.Store
	Remote  *Remote
}

const (
	// maxClients is how many clients are served at once. All are of one user, who has fewer.
	maxClients = 128
	// maxWaiting is how many connections may have said no hello yet; who has had none for
	// longest gives its place to the next.
	maxWaiting = 32
	// acceptAgain is how long to wait where the system has no room for a connection.
	acceptAgain = 100 * time.Millisecond
)

// server serves all clients.
type server struct {
	opts      Options
	socket    string
	started   time.Time
	projects  *projects.Set[Project]
	documents *document.Set // empty: nobody has any open
	answered  atomic.Int64
	base      context.Context

	mu       sync.Mutex
	sessions []*session // in the order they came; guarded by mu
	settings string     // the digest that the projects were configured by last; guarded by mu
	offer    *offer     // the code that waits for a device; guarded by mu
}

// Serve serves whoever connects to the socket until ctx ends, and waits for all work it began.
// The socket is closed, and its file gone, as soon as ctx ends.
func Serve(ctx context.Context, socket *Socket, opts Options) error {
	base, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{opts: opts, socket: socket.path, started: time.Now(), documents: document.NewSet(), base: base, settings: opts.Settings()}
	s.projects = projects.New(func(folders []string) (Project, error) {
		return opts.Open(folders, func(p client.Progress) { s.tell(folders, p) })
	})
	defer context.AfterFunc(ctx, func() { _ = socket.listener.Close() })()
	var all sync.WaitGroup
	if opts.Remote != nil {
		all.Go(func() { s.serveRemote(base, opts.Remote) })
	}
	err := s.accept(base, socket.listener, &all)
	cancel()
	if opts.Ended != nil {
		opts.Ended()
	}
	all.Wait()
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, s.projects.Close())
}

// accept begins a session with whoever connects.
func (s *server) accept(ctx context.Context, listener net.Listener, all *sync.WaitGroup) error {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err != nil {
			s.opts.Log.Warn("take a connection", "error", err)
			again := time.NewTimer(acceptAgain)
			select {
			case <-again.C:
			case <-ctx.Done():
			}
			again.Stop()
			continue
		}
		if err := peer.Check(conn); err != nil {
			s.opts.Log.Warn("refused a connection", "error", err)
			_ = conn.Close()
			continue
		}
		c := s.newSession(conn)
		s.join(c)
		all.Go(func() {
			defer s.part(c)
			c.serve()
		})
	}
}

// join counts a session in. If too many wait without a hello, the first of them end; who has been
// told to end already is none of them.
func (s *server) join(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, c)
	var waiting []*session
	for _, other := range s.sessions {
		if !other.isGreeted() && other.base.Err() == nil {
			waiting = append(waiting, other)
		}
	}
	if len(waiting) > maxWaiting {
		waiting[0].cancel()
	}
}

func (s *server) part(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = slices.DeleteFunc(s.sessions, func(other *session) bool { return other == c })
}

// others are the clients that are served, but for one.
func (s *server) others(c *session) (list []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.sessions {
		if other != c && other.isGreeted() {
			list = append(list, other)
		}
	}
	return list
}

// tell sends how far work on some folders is to the clients that have them.
func (s *server) tell(folders []string, p client.Progress) {
	for _, c := range s.others(nil) {
		if slices.Equal(c.folders(), folders) {
			c.notify(client.MethodProgress, p)
		}
	}
}

// refresh has all projects take the settings of now, if they are others, and answers their digest.
func (s *server) refresh() string {
	now := s.opts.Settings()
	s.mu.Lock()
	changed := now != s.settings
	s.settings = now
	s.mu.Unlock()
	if changed {
		s.projects.Each(func(p Project) {
			if err := p.Configure(); err != nil {
				s.opts.Log.Error("take other settings", "error", err)
			}
		})
	}
	return now
}

// status is what the server does, for c.
func (s *server) status(c *session) client.Status {
	st := client.Status{
		Version: s.opts.Version, Protocol: client.Protocol, Process: os.Getpid(), Socket: s.socket, Started: s.started.Truncate(time.Second),
		Answered: s.answered.Load(), Clients: []client.StatusClient{}, Open: []string{}, Addresses: s.addresses(),
	}
	if c.device != nil { // others' folders are not its business
		return st
	}
	for _, other := range s.others(c) {
		st.Clients = append(st.Clients, client.StatusClient{Client: other.name(), Roots: other.rootsNow()})
	}
	for _, folder := range s.projects.Folders() {
		if !slices.Contains(st.Open, folder) {
			st.Open = append(st.Open, folder)
		}
	}
	slices.Sort(st.Open)
	return st
}
