package patch

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"quarry/agent"
	"quarry/index/walk"
)

var update = flag.Bool("update", false, "rewrite testdata/share.txt")

// memory is a workspace in memory: files by name.
type memory map[string]string

const memoryRoot = "/work"

func (m memory) Roots() []string { return []string{memoryRoot} }

func (m memory) Locate(_ context.Context, name string) (string, error) {
	if _, ok := m[name]; !ok {
		return "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return filepath.Join(memoryRoot, name), nil
}

func (m memory) LocateNew(_ context.Context, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", &walk.Excluded{Path: name, Reason: walk.Outside}
	}
	return filepath.Join(memoryRoot, name), nil
}

func (m memory) Name(path string) string {
	rel, err := filepath.Rel(memoryRoot, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func (m memory) Text(path string) (string, error) { return m[m.Name(path)], nil }

// after is the workspace once a proposal is applied.
func (m memory) after(t testing.TB, p agent.Proposal) memory {
	t.Helper()
	out := memory{}
	for name, text := range m {
		out[name] = text
	}
	for _, f := range p.Files {
		name := m.Name(f.Path)
		old, exists := m[name]
		if f.Create == exists {
			t.Errorf("%s: Create is %v, but exists is %v", name, f.Create, exists)
		}
		if f.Base != agent.HashText(old) {
			t.Errorf("%s: the base is not the hash of the document", name)
		}
		at := 0
		for _, e := range f.Edits {
			if e.Start < at || e.End < e.Start || e.End > len(old) {
				t.Fatalf("%s: edits %v are not sorted, overlap or lie outside of %d bytes", name, f.Edits, len(old))
			}
			at = e.End
		}
		out[name] = agent.ApplyEdits(old, f.Edits)
	}
	return out
}

// shape is one recorded diff. The archive holds the documents, "diff" as a model
// wrote it, and either the documents as they are to be under "want/", or under
// "refused" the reason and words of the refusal. Words before the files say what
// is special, and lines "KEYWORD: NAME..." there change files:
//
//	crlf: the lines of these files end in CR LF
//	bare: the last lines of these files have no ending
//	only: the change may touch this file only, and need not name it
type shape struct {
	name    string
	only    string
	before  memory
	want    memory // nil if it is to be refused
	diff    string
	refused string
}

func readShape(t testing.TB, file string) shape {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	s := shape{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), before: memory{}}
	of := map[string][]string{}
	for line := range strings.Lines(string(a.Comment)) {
		if key, names, ok := strings.Cut(line, ": "); ok {
			of[key] = append(of[key], strings.Fields(names)...)
		}
	}
	if len(of["only"]) > 0 {
		s.only = of["only"][0]
	}
	want := memory{}
	for _, f := range a.Files {
		text := string(f.Data)
		text = strings.NewReplacer("<tab>", "\t", "<blank>", " ", "<nul>", "\x00").Replace(text)
		if slices.Contains(of["bare"], f.Name) {
			text = strings.TrimSuffix(text, "\n")
		}
		if slices.Contains(of["crlf"], f.Name) {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		switch name, isWant := strings.CutPrefix(f.Name, "want/"); {
		case f.Name == "diff":
			s.diff = text
		case f.Name == "refused":
			s.refused = strings.TrimSpace(text)
		case isWant:
			want[name] = text
		default:
			s.before[f.Name] = text
		}
	}
	if s.refused == "" {
		s.want = memory{}
		for name, text := range s.before {
			s.want[name] = text
		}
		for name, text := range want {
			s.want[name] = text
		}
	}
	return s
}

func (s shape) patcher() *Patcher {
	p := New(s.before)
	if s.only != "" {
		p = p.For(agent.Document{Path: filepath.Join(memoryRoot, s.only), Text: s.before[s.only]}, nil)
	}
	return p
}

func shapes(t testing.TB) []shape {
	t.Helper()
	files, err := filepath.Glob("testdata/shapes/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no shapes: %v", err)
	}
	var list []shape
	for _, f := range files {
		list = append(list, readShape(t, f))
	}
	return list
}

// TestShapes holds the patcher against diffs as models write them. What share of
// those that mean something is applied as meant, and of those that must not be
// taken is refused for the right reason, stands in testdata/share.txt.
func TestShapes(t *testing.T) {
	var applied, applicable, refused, refusable int
	for _, s := range shapes(t) {
		ok := t.Run(s.name, func(t *testing.T) {
			p, err := s.patcher().Patch(t.Context(), s.diff)
			var r *Refusal
			if err != nil && !errors.As(err, &r) {
				t.Fatalf("the error is no refusal: %v", err)
			}
			if s.want == nil {
				if err == nil {
					t.Fatalf("it was applied:\n%s", p.Diff)
				}
				if got := string(r.Reason) + ": " + r.Error(); got != s.refused {
					t.Errorf("refused with\n%s\nwant\n%s", got, s.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("refused (%s): %v", r.Reason, err)
			}
			if diff := cmp.Diff(s.want, s.before.after(t, p)); diff != "" {
				t.Errorf("wrong result (-want +got):\n%s", diff)
			}
			again, err := New(s.before).Patch(t.Context(), p.Diff)
			if err != nil {
				t.Errorf("the proposal's own diff is refused: %v\n%s", err, p.Diff)
			} else if again.Digest() != p.Digest() {
				t.Errorf("the proposal's own diff makes another proposal:\n%s\n%s", p.Diff, again.Diff)
			}
			if twice, err := New(s.before.after(t, p)).Patch(t.Context(), p.Diff); err == nil {
				t.Errorf("its diff can be applied twice:\n%s", twice.Diff)
			}
		})
		count := func(n, of *int) {
			*of++
			if ok {
				*n++
			}
		}
		if s.want == nil {
			count(&refused, &refusable)
		} else {
			count(&applied, &applicable)
		}
	}
	share := fmt.Sprintf("applied as meant %d of %d\nrefused as meant %d of %d\n", applied, applicable, refused, refusable)
	const golden = "testdata/share.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(share), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != share {
		t.Errorf("%s says\n%snow\n%s(go test -run TestShapes -update writes it)", golden, want, share)
	}
}
