package engines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
)

// Elsewhere is what answers have said of the machines that they come from. The zero value knows of none; it is
// safe for concurrent use.
type Elsewhere struct {
	mu    sync.Mutex
	hosts map[string]string // by what of takes; guarded by mu
}

// byReranker is what a cross-encoder's answers are known by: it may be called as a model of the other server is.
const byReranker = "\x00reranker"

// of takes a model's name, or byReranker, and answers the host, "" where nothing is known.
func (e *Elsewhere) of(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hosts[name]
}

// Note keeps what an answer has said.
func (e *Elsewhere) Note(name, host string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hosts == nil {
		e.hosts = map[string]string{}
	}
	e.hosts[name] = host
}

// Sends are all ways by which text comes to models under these settings: for what, to which model, and
// on which machine. What the settings do not allow is sent nowhere. It is the only place that knows them.
func Sends(s settings.Settings, known *Elsewhere) []lsp.Send {
	list := []lsp.Send{}
	to := func(use, name, address, knownAs string) {
		u, err := model.ParseEndpoint(address, s.Ollama.AllowRemote)
		if err != nil || name == "" && knownAs != byReranker {
			return
		}
		send := lsp.Send{Use: use, Model: name, Host: u.Host, Remote: !model.IsLoopback(u)}
		send.Plain = send.Remote && u.Scheme == "http"
		further := known.of(knownAs)
		switch cloud := model.InCloud(name); {
		case cloud && !s.Ollama.AllowRemote:
			return
		case cloud && further == "":
			further = model.Cloud // which its answers need not say
		}
		switch {
		case further == "":
		case send.Remote:
			send.Host += ", which asks " + further
		default:
			send.Host, send.Remote = further, true
		}
		list = append(list, send)
	}
	if s.Ollama.Enabled {
		to("completion", s.Model, s.Ollama.URL, s.Model)
		for _, language := range slices.Sorted(maps.Keys(s.Completion.Models)) {
			if name := s.Completion.Models[language]; name != "" && !model.SameModel(name, s.Model) {
				to("completion of "+language, name, s.Ollama.URL, name)
			}
		}
		if s.Embedding.Enabled {
			to("search", s.Embedding.Model, s.Ollama.URL, s.Embedding.Model)
		}
	}
	switch {
	case s.Reranker.By == "model" && s.Ollama.Enabled:
		to("reranker", s.Model, s.Ollama.URL, s.Model)
	case s.Reranker.By == "endpoint" && s.Reranker.URL != "":
		to("reranker", s.Reranker.Model, s.Reranker.URL, byReranker)
	}
	return list
}

// Leaving are those of a list that go to other machines, in words: "HOST (completion, search) and HOST (reranker)",
// "" where there are none.
func Leaving(sends []lsp.Send) string {
	var hosts []string
	uses := map[string][]string{}
	for _, send := range sends {
		if !send.Remote {
			continue
		}
		if uses[send.Host] == nil {
			hosts = append(hosts, send.Host)
		}
		uses[send.Host] = append(uses[send.Host], send.Use)
	}
	for i, host := range hosts {
		hosts[i] = fmt.Sprintf("%s (%s)", host, strings.Join(uses[host], ", "))
	}
	return inWords(hosts)
}

// KeyInPlain warns of a key that goes to another machine so that everybody on the way can read it, "" where none does.
func KeyInPlain(s settings.Settings) string {
	u, err := model.ParseEndpoint(s.Ollama.URL, s.Ollama.AllowRemote)
	asked := s.Ollama.Enabled && s.Ollama.API == string(model.OpenAIAPI) || s.Reranker.By == "endpoint" && s.Reranker.URL == s.Ollama.URL
	if keyed := s.Ollama.APIKey != "" || s.Ollama.KeyStore; err != nil || !keyed || !asked || u.Scheme != "http" || model.IsLoopback(u) {
		return ""
	}
	return "write https:// into ollama.url: the API key goes to " + u.Host + " over plain http, and everybody on the way can read it"
}

// lookTimeout bounds a look at what an Ollama says of its models.
const lookTimeout = 3 * time.Second

// LookElsewhere asks an Ollama on this machine which of the models of the settings another one runs. It loads none, and what
// only answers tell it does not know. Where nothing may leave this machine nobody is asked.
func LookElsewhere(ctx context.Context, s settings.Settings) *Elsewhere {
	known := &Elsewhere{}
	if !s.Ollama.Enabled || !s.Ollama.AllowRemote {
		return known
	}
	options := ModelOptions(s)
	options.OnElsewhere = known.Note
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var names []string
	for _, send := range Sends(s, known) {
		if !send.Remote && send.Use != "reranker" && !slices.Contains(names, send.Model) {
			names = append(names, send.Model)
		}
	}
	library, err := model.NewLibrary(options)
	if err != nil {
		return known // of a server that is no Ollama only answers tell
	}
	for _, name := range names {
		if err := library.Inspect(ctx, name); err != nil && !errors.Is(err, model.ErrModelMissing) {
			break // who does not answer is sent nothing
		}
	}
	return known
}
