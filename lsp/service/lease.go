package service

import (
	"context"

	"quarry/index"
	"quarry/lsp/search"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// lease is a request's use of a project. It is opened when the request has left the read loop.
type lease struct {
	server  *server
	folders []string
	is      search.Core
	done    func()
}

// core is the project.
func (l *lease) core() search.Core {
	if l.is != nil {
		return l.is
	}
	p, done, err := l.server.projects.Use(l.folders)
	if err != nil {
		l.is = unopened{err}
		return l.is
	}
	l.is, l.done = untraced{p}, done
	return l.is
}

// end gives the project back.
func (l *lease) end() {
	if l.done != nil {
		l.done()
	}
}

// untraced is a project of whose answers nothing is kept: nobody tells a service what is opened
// after them.
type untraced struct{ search.Core }

func (untraced) Answered(*retrieval.Query, int, []workspace.Result) {}
func (untraced) Viewed(string)                                      {}

// unopened answers for a project that cannot be opened.
type unopened struct{ err error }

func (u unopened) Search(context.Context, retrieval.Request) (workspace.Answer, error) {
	return workspace.Answer{}, u.err
}

func (u unopened) Current(context.Context) (*workspace.Missing, error) { return nil, u.err }

func (u unopened) FindSimilar(context.Context, workspace.SimilarRequest) (workspace.Answer, error) {
	return workspace.Answer{}, u.err
}

func (u unopened) Text(string) (string, error)                         { return "", u.err }
func (unopened) Allows(string, string) bool                            { return false }
func (u unopened) IndexStatus(context.Context) ([]index.Status, error) { return nil, u.err }
func (unopened) Rebuild()                                              {}
func (unopened) Answered(*retrieval.Query, int, []workspace.Result)    {}
func (unopened) Viewed(string)                                         {}
