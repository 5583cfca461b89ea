package model

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// DefaultEndpoint is where an Ollama listens unless told otherwise.
const DefaultEndpoint = "http://127.0.0.1:11434"

// ParseEndpoint reads an address in any form that OLLAMA_HOST takes: host, host:port, :port, a
// bare IPv6 address, or a URL; empty means DefaultEndpoint. As with Ollama, the port of a bare
// host is 11434, and that of a URL is its scheme's. An address to listen on, 0.0.0.0 or ::,
// becomes the loopback address.
//
// quarry sends what the user types to this address. An address that is not loopback is
// therefore an error unless allowRemote.
func ParseEndpoint(address string, allowRemote bool) (*url.URL, error) {
	bad := func(why string) error {
		return fmt.Errorf("write the model server's address as host:port or http://host:port, not %q (%s), for example %s", address, why, DefaultEndpoint)
	}
	scheme, rest, hasScheme := strings.Cut(strings.TrimSpace(address), "://")
	if !hasScheme {
		scheme, rest = "http", scheme
	}
	port, known := map[string]string{"http": "80", "https": "443"}[strings.ToLower(scheme)]
	switch {
	case !known:
		return nil, bad(fmt.Sprintf("scheme %q is not http or https", scheme))
	case !hasScheme:
		port = "11434"
	}
	if strings.ContainsAny(rest, "?#@ ") {
		return nil, bad("it holds more than a host, a port and a path")
	}
	hostport, path, _ := strings.Cut(rest, "/")

	host := hostport
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		host, port = h, p
	} else if ip := net.ParseIP(strings.Trim(hostport, "[]")); ip != nil {
		host = ip.String()
	} else if strings.Contains(hostport, ":") {
		return nil, bad("the host is not readable")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return nil, bad(fmt.Sprintf("port %q is not a number from 1 to 65535", port))
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	u := &url.URL{Scheme: strings.ToLower(scheme), Host: net.JoinHostPort(host, port)}
	if path = strings.TrimRight(path, "/"); path != "" {
		u.Path = "/" + path
	}
	if !allowRemote && !IsLoopback(u) {
		return nil, fmt.Errorf("no other machine is allowed: set ollama.allowRemote to true in your user settings if your code may be sent to %s", u)
	}
	return u, nil
}

// SameEndpoint is whether two addresses mean the same server, however they are written: with
// or without the /v1 of OpenAI's interface, a slash at the end, or the usual port.
func SameEndpoint(a, b string) bool {
	x, err := ParseEndpoint(a, true)
	if err != nil {
		return false
	}
	y, err := ParseEndpoint(b, true)
	return err == nil && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host) && strings.TrimSuffix(x.Path, versionPath) == strings.TrimSuffix(y.Path, versionPath)
}

// versionPath ends the address of a server with OpenAI's interface, as its users write it.
const versionPath = "/v1"

// IsLoopback reports whether u stays on this machine.
func IsLoopback(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// newHTTPClient is the client for one endpoint. It follows no redirect, because that could
// carry code off the machine, and uses a proxy for remote endpoints only. It sets no time
// limit: a cold prompt may take minutes, and every request has a context.
func newHTTPClient(endpoint *url.URL) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true // small chunks on loopback: latency before bytes
	if IsLoopback(endpoint) {
		t.Proxy = nil
	}
	return &http.Client{
		Transport: t,
		CheckRedirect: func(to *http.Request, _ []*http.Request) error {
			return fmt.Errorf("%w to %s://%s: set the address of the Ollama itself", errRedirect, to.URL.Scheme, to.URL.Host)
		},
	}
}

var errRedirect = errors.New("the server redirects")

// untrusted says what is wrong with a server's certificate; nil if err is about something
// else.
func untrusted(endpoint *url.URL, err error) error {
	var bad *tls.CertificateVerificationError
	if !errors.As(err, &bad) {
		return nil
	}
	why := clean(bad.Err.Error())
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name): // the error names the host it is for
		return &problem{
			kind: ErrServer, what: "certificate for another name", cause: err,
			fix: "set the address to that name, or give the server one for its own (" + endpoint.Host + ", " + why + ")",
		}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &problem{
			kind: ErrServer, what: "certificate out of date", cause: err,
			fix: "have it renewed, or set this machine's clock (" + endpoint.Host + ", " + why + ")",
		}
	}
	return &problem{
		kind: ErrServer, what: "untrusted certificate", cause: err,
		fix: "add its authority to the system's, or name that file in SSL_CERT_FILE (" + endpoint.Host + ", " + why + ")",
	}
}
