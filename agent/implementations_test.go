package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An interface of Go is implemented by types that never name it; of what cannot be known an
// empty answer says why it is empty.
func TestImplementations(t *testing.T) {
	box := graphed(t, map[string]string{
		"go.mod":        "module example.com/m\n",
		"web/server.go": "package web\n\n// Handler answers.\ntype Handler interface {\n\tServe(w Writer, r *Request)\n}\n\ntype Writer interface{ Write(p []byte) (int, error) }\n\ntype Request struct{ Writer }\n\ntype Both interface {\n\tHandler\n\tfmt.Stringer\n}\n\nfunc Listen(h Handler) {}\n",
		"web/mux.go":    "package web\n\ntype Mux struct{}\n",
		"web/serve.go":  "package web\n\nfunc (m *Mux) Serve(w Writer, req *Request) {}\n",
		"odd/odd.go":    "package odd\n\ntype Odd struct{}\n\nfunc (o Odd) Serve(w Other, r *Request) {}\n\ntype Table struct{}\n\nfunc (t Table) Serve(guests int) {}\n",
		"py/shapes.py":  "class Shape:\n    def area(self):\n        return 0\n\n\nclass Square(Shape):\n    def area(self):\n        return 1\n\n\nclass Round(Shape):\n    pass\n",
	})
	for _, c := range []struct{ id, want, says string }{
		{"web/server.go#Handler", "web/server.go:12-15 web/server.go#Both\nweb/mux.go:3-3 web/mux.go#Mux\nodd/odd.go:3-3 odd/odd.go#Odd", "a type that it embeds is not found"},
		{"web/server.go#Handler.Serve", "web/serve.go:3-3 web/serve.go#Mux.Serve\nodd/odd.go:5-5 odd/odd.go#Odd.Serve", "(Serve)"},
		{"web/server.go#Writer", "web/server.go:10-10 web/server.go#Request", "(Write)"},
		{"web/server.go#Both", "web/mux.go:3-3 web/mux.go#Mux\nodd/odd.go:3-3 odd/odd.go#Odd", "embeds fmt.Stringer, which is not indexed"},
		{"web/server.go#Listen", "", "is a function; types and their methods have implementations"},
		{"odd/odd.go#Odd", "", "nothing that is indexed names odd/odd.go#Odd as what it extends, embeds or implements"},
		{"py/shapes.py#Shape", "py/shapes.py:6-8 py/shapes.py#Square\npy/shapes.py:11-12 py/shapes.py#Round", ""},
		{"py/shapes.py#Shape.area", "py/shapes.py:7-8 py/shapes.py#Square.area", ""},
		{"py/shapes.py#Round", "", "what only has its members is not looked for"},
	} {
		args := map[string]any{"symbol_id": c.id}
		if diff := cmp.Diff(c.want, lines(t, box, "get_implementations", args)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.id, diff)
		}
		e := box.Call(t.Context(), "get_implementations", arguments(t, args))
		if said := strings.Join(e.Meta.Warnings, "\n"); !strings.Contains(said, c.says) || (c.says == "") != (said == "") {
			t.Errorf("%s: warnings %q, want %q", c.id, said, c.says)
		}
	}
}
