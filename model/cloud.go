package model

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
)

// Cloud is what users are told about where a model of Ollama's cloud runs.
const Cloud = "Ollama's cloud"

// InCloud reports whether a name is that of a model in Ollama's cloud. Since version 0.18
// Ollama sends requests for such a name to that cloud, whether or not it has a local model of
// that name. It ignores the case of the name and blanks around its parts.
func InCloud(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	at := strings.LastIndexByte(name, ':')
	return at >= 0 && strings.TrimSpace(name[at+1:]) == "cloud" || strings.HasSuffix(name, "-cloud")
}

// RefusedCloud is the error for a model of Ollama's cloud where nothing may leave this
// machine; nil for any other name.
func RefusedCloud(name string) error {
	if !InCloud(name) {
		return nil
	}
	return (&guard{model: name}).refuse(Cloud)
}

// guard is the transport of all requests to one model. It blocks requests to a model that runs
// on another machine without permission, so that no caller can forget to check. It also limits
// how much of an answer quarry reads.
type guard struct {
	http.RoundTripper
	model   string
	allowed bool
	hears
	told    atomic.Pointer[string] // the host that elsewhere had last
	left    atomic.Bool            // sent was called
	shown   atomic.Bool            // openAI.lookAtOllama has found nothing
	away    atomic.Bool            // the last answer came from another machine
	refusal atomic.Pointer[problem]
}

// hears are the functions that are called when text leaves this machine; nil for none.
type hears struct {
	elsewhere func(model, host string) // Options.OnElsewhere
	sent      func(model, host string) // Options.OnSent
}

func guarded(hc *http.Client, model string, allowed bool, who hears) (*http.Client, *guard) {
	g := &guard{RoundTripper: hc.Transport, model: model, allowed: allowed, hears: who}
	if InCloud(model) && !allowed {
		g.refusal.Store(g.refuse(Cloud))
	}
	return &http.Client{Transport: g, CheckRedirect: hc.CheckRedirect}, g
}

func (g *guard) refuse(where string) *problem {
	return &problem{
		kind: ErrRefused, what: fmt.Sprintf("%s runs elsewhere", g.model),
		fix: "choose a local model such as " + otherThan(g.model) + ", or set ollama.allowRemote to true in your user settings; Ollama would send your code to " + where,
	}
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if p := g.refusal.Load(); p != nil {
		if r.Body != nil {
			_ = r.Body.Close() // it will not be sent
		}
		return nil, p
	}
	most, next := mostBytes(r.URL.Path), g.RoundTripper
	if clock, own := r.Context().Value(ownKey{}).(Clock); own {
		most, next = mostOwn, finishing{next, clock}
	}
	resp, err := next.RoundTrip(r)
	if err == nil {
		resp.Body = &bounded{resp.Body, r.URL, most}
		if host := g.leavesFor(r.URL); g.sent != nil && host != "" && resp.StatusCode == http.StatusOK && carriesText(r) && !g.left.Swap(true) {
			g.sent(g.model, host)
		}
	}
	return resp, err
}

// leavesFor is the other machine that a request to this address reaches, as far as the address
// and the model's name show; "" is this machine.
func (g *guard) leavesFor(u *url.URL) string {
	switch {
	case !IsLoopback(u):
		return u.Host
	case InCloud(g.model):
		return Cloud
	}
	return ""
}

// carriesText is whether a request has a prompt, or texts to embed or to rank.
func carriesText(r *http.Request) bool {
	switch path.Base(r.URL.Path) {
	case "generate", "chat", "completions", infillPath, "embed", "embeddings", "rerank":
		return r.Method == http.MethodPost
	}
	return false
}

// origin is what Ollama says in an answer that came from another machine.
type origin struct {
	Host  string `json:"remote_host"`
	Model string `json:"remote_model"`
}

// host is what users are told about where an answer came from. Only the server says so.
func (o origin) host() string {
	host := o.Host
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	return cmp.Or(clean(host), "another machine")
}

// look fails with ErrRefused if an answer came from another machine and that is not allowed.
// If it is allowed, OnElsewhere is called.
func (g *guard) look(from origin) error {
	g.away.Store(from != origin{})
	if from == (origin{}) {
		return nil
	}
	if !g.allowed {
		return g.refuse(cmp.Or(clean(from.Host), "another machine"))
	}
	if host := from.host(); g.elsewhere != nil {
		if last := g.told.Swap(&host); last == nil || *last != host {
			g.elsewhere(g.model, host)
		}
	}
	return nil
}

// lookForGood is look for the answer to a prompt. After a refusal nothing more is asked of the
// model, whatever else the server says.
func (g *guard) lookForGood(from origin) error {
	err := g.look(from)
	if p, ok := err.(*problem); ok {
		g.refusal.Store(p)
	}
	return err
}
