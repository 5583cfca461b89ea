package model_test

import (
	"strings"
	"testing"

	"quarry/model"
)

func TestParseEndpoint(t *testing.T) {
	for _, c := range []struct {
		in     string
		remote bool
		want   string // "" where an error is wanted
		err    string
	}{
		{in: "", want: "http://127.0.0.1:11434"},
		{in: "  ", want: "http://127.0.0.1:11434"},
		{in: "localhost", want: "http://localhost:11434"},
		{in: "127.0.0.1:9000", want: "http://127.0.0.1:9000"},
		{in: ":9000", want: "http://127.0.0.1:9000"},
		{in: "0.0.0.0", want: "http://127.0.0.1:11434"},
		{in: "0.0.0.0:9000", want: "http://127.0.0.1:9000"},
		{in: "[::]:9000", want: "http://[::1]:9000"},
		{in: "::1", want: "http://[::1]:11434"},
		{in: "[::1]", want: "http://[::1]:11434"},
		{in: "[::1]:9000", want: "http://[::1]:9000"},
		{in: "http://localhost", want: "http://localhost:80"},
		{in: "https://localhost", want: "https://localhost:443"},
		{in: "HTTP://localhost:1/", want: "http://localhost:1"},
		{in: "http://127.0.0.1:8080/ollama/", want: "http://127.0.0.1:8080/ollama"},
		{in: "gpu.example", remote: true, want: "http://gpu.example:11434"},
		{in: "https://gpu.example/ollama", remote: true, want: "https://gpu.example:443/ollama"},
		{in: "gpu.example", err: "allowRemote"},
		{in: "http://192.168.1.4:11434", err: "allowRemote"},
		{in: "http://localhost.example:11434", err: "allowRemote"},
		{in: "127.0.0.1:port", err: `port "port" is not a number`},
		{in: "127.0.0.1:70000", err: "not a number from 1 to 65535"},
		{in: "127.0.0.1:0", err: "not a number from 1 to 65535"},
		{in: "ftp://localhost", err: `scheme "ftp"`},
		{in: "1:2:3:x", err: "host is not readable"},
		{in: "http://127.0.0.1@gpu.example:80", err: "more than a host"},
		{in: "http://localhost:80?x=1", err: "more than a host"},
	} {
		u, err := model.ParseEndpoint(c.in, c.remote)
		switch {
		case c.want != "" && err != nil:
			t.Errorf("%q: %v", c.in, err)
		case c.want != "" && u.String() != c.want:
			t.Errorf("%q gives %s, want %s", c.in, u, c.want)
		case c.want == "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q gives %v and error %v, want one with %q", c.in, u, err, c.err)
		}
	}
}

func FuzzParseEndpoint(f *testing.F) {
	for _, s := range []string{"", ":1", "::1", "[::1]:2", "http://a/b", "a:b:c", "http://[::1", "http://%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := model.ParseEndpoint(s, false)
		if err == nil && !model.IsLoopback(u) {
			t.Errorf("%q gives %s, which is not loopback", s, u)
		}
	})
}
