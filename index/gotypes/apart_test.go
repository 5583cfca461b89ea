package gotypes

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"quarry/index/systest"
)

// hostile is a module whose a.go declares the function that is renamed, and whose b.go is.
func hostile(b string) map[string]string {
	return map[string]string{
		"go.mod": "module example.com/m\n",
		"a.go":   "package m\nfunc hello() int { return 1 }\nvar use = hello()\n",
		"b.go":   "package m\n" + b,
	}
}

var hello = Target{File: "a.go", Start: len("package m\nfunc "), Name: "hello"}

// A check in a process of its own says what one here does.
func TestApartIsTheSame(t *testing.T) {
	repo := memory(calling())
	want, err := renameWith(t.Context(), repo, sources{}, hello, "bye", []string{"a.go", "b.go"})
	if err != nil || len(want.Places) != 3 || len(want.Absent) != 1 {
		t.Fatalf("here: %+v, %v", want, err)
	}
	got, err := renameApart(t.Context(), repo, sources{}, hello, "bye", []string{"a.go", "b.go"}, usual)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("apart: %+v, %v\nhere: %+v", got, err, want)
	}
	var breaks *Breaks
	if _, err := renameApart(t.Context(), repo, sources{}, hello, "taken", []string{"a.go", "b.go"}, usual); !errors.As(err, &breaks) || breaks.File == "" {
		t.Errorf("to a name that is taken: %v", err)
	}
}

func calling() map[string]string {
	return hostile("import \"example.org/absent\"\nfunc taken() { hello(); absent.hello() }\n")
}

// doubled are constants each of which is twice the one before.
func doubled(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "const s0 = %q\n", strings.Repeat("x", 1000))
	for i := range n {
		fmt.Fprintf(&b, "const s%d = s%d + s%d\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "const n = len(s%d)\n", n)
	return b.String()
}

// chained are variables each of which is made of the next.
func chained(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "var a%d=a%d+1\n", i, i+1)
	}
	fmt.Fprintf(&b, "var a%d = 1\n", n)
	return b.String()
}

// nested are structs each of which has two of the one before; counting the size of the last takes
// a day.
func nested() string {
	const deepest = 49
	var b strings.Builder
	b.WriteString("import \"unsafe\"\ntype t0 [0]int\n")
	for i := range deepest {
		fmt.Fprintf(&b, "type t%d struct{ a, b t%d }\n", i+1, i)
	}
	fmt.Fprintf(&b, "const n = unsafe.Sizeof(t%d{})\n", deepest)
	return b.String()
}

// Of what the runtime says as it ends, a fault of the checker's own is no want of memory.
func TestWantOfMemory(t *testing.T) {
	for said, want := range map[string]bool{
		"fatal error: runtime: out of memory":                                       true,
		"SIGSEGV: segmentation violation\nPC=0x47 m=3 sigcode=128":                  true,
		"unexpected fault address 0x0\nSIGSEGV: segmentation violation\n":           true,
		"panic: runtime error: index out of range [3]":                              false,
		"panic: runtime error\n[signal SIGSEGV: segmentation violation code=0x1]\n": false,
	} {
		if got := noMemory.MatchString(said); got != want {
			t.Errorf("%q: %t", said, got)
		}
	}
}

// What Go's type checker is not done with ends the process of its own, and the answer says why.
func TestCodeWithoutBounds(t *testing.T) {
	systest.NotEmulated(t, "the check has used its time before its memory")
	small := func(change func(*bounds)) bounds {
		b := usual
		b.Memory, b.Stack = 1<<30, 16<<20
		change(&b)
		return b
	}
	for name, c := range map[string]struct {
		files map[string]string
		most  bounds
		want  string
	}{
		"constants that double":  {hostile(doubled(23)), small(func(b *bounds) { b.Memory = 256 << 20 }), "more than 256 MB of memory"},
		"chain of initialisers":  {hostile(chained(60_000)), small(func(b *bounds) {}), "nests too deep"},
		"structs within structs": {hostile(nested()), small(func(b *bounds) { b.Time = 3 * time.Second }), "more than 3 s"},
		"much text":              {hostile("/*" + strings.Repeat("x", 1<<20) + "*/"), small(func(b *bounds) { b.Text = 1 << 20 }), "more than 1 MB of text"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := renameApart(t.Context(), memory(c.files), sources{}, hello, "bye", []string{"a.go"}, c.most)
			var unfinished *Unfinished
			if !errors.As(err, &unfinished) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an Unfinished with %q", err, c.want)
			}
		})
	}
	var breaks *Breaks
	_, err := renameApart(t.Context(), memory(calling()), sources{}, hello, "bye", []string{"a.go", "b.go"}, small(func(b *bounds) { b.Places = 2 }))
	if !errors.As(err, &breaks) || !strings.Contains(err.Error(), "more than 2 places") {
		t.Errorf("a name in many places: %v", err)
	}
}

// A question that is taken back ends the type checker in the middle of a step without end.
func TestACancelledCheckEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	repo := memory(hostile(nested()))
	text := repo.Text
	repo.Text = func(file string) (string, error) {
		if file == "b.go" {
			cancel() // before the checker has it, and it is sent nevertheless
		}
		return text(file)
	}
	most := usual
	most.Time = time.Hour
	if _, err := renameApart(ctx, repo, sources{}, hello, "bye", []string{"a.go"}, most); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(alone) != 0 {
		t.Error("the next check would wait for this one")
	}
}

// The type checker ends when nobody can hear it any more, in the middle of a step without end.
func TestTheCheckEndsWithWhoAsked(t *testing.T) {
	self, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, argument)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The structs' file is the last that it asks for.
	files := hostile("")
	delete(files, "b.go")
	files["z.go"] = "package m\n" + nested()
	repo := memory(files)
	repo.Files = func(string) []string { return []string{"a.go", "z.go"} }
	text, given := repo.Text, false
	repo.Text = func(file string) (string, error) {
		given = given || file == "z.go"
		return text(file)
	}
	send := gob.NewEncoder(writer(func(p []byte) (int, error) {
		n, err := in.Write(p)
		if given && err == nil {
			err = in.Close()
		}
		return n, err
	}))
	if _, err := serve(repo, usual, send, gob.NewDecoder(out), task{Target: hello, To: "bye", Files: []string{"a.go"}, Bounds: usual}); err == nil {
		t.Error("it was done")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended well")
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
