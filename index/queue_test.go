package index

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/syntax"
	"quarry/index/walk"
)

func queued(paths ...string) []staleFile {
	list := make([]staleFile, len(paths))
	for i, p := range paths {
		list[i].Entry = walk.Entry{Path: p}
	}
	return list
}

func takeAll(q *queue) (list []string) {
	for f, ok := q.take(); ok; f, ok = q.take() {
		list = append(list, f.Path)
	}
	return list
}

// What stands beside an open document is read first, and then what it imports, however its
// language writes that; everything is read once.
func TestQueueBeginsNearOpenDocuments(t *testing.T) {
	files := []string{
		"a.go", "a/b/c.go", "a/b/d.go", "app/main.go", "app/side.go", "com/example/Thing.java", "include/net/wire.h", "lib/store.go", "other/lib/util.go",
		"pkg/__init__.py", "pkg/tool.py", "src/net.rs", "src/net/wire.rs", "web/util.ts", "zz.go",
	}
	for name, test := range map[string]struct {
		open   string
		im     syntax.Import
		before string // in this order
	}{
		"a folder":             {"app/main.go", syntax.Import{Path: "example.com/m/lib"}, "app/main.go app/side.go lib/store.go other/lib/util.go"},
		"a deeper folder":      {"app/main.go", syntax.Import{Path: "example.com/m/other/lib"}, "app/main.go app/side.go other/lib/util.go"},
		"a header":             {"zz.go", syntax.Import{Path: "net/wire.h"}, "a.go zz.go include/net/wire.h src/net/wire.rs"},
		"a class":              {"zz.go", syntax.Import{Path: "com.example.Thing", Names: []string{"Thing"}}, "a.go zz.go com/example/Thing.java"},
		"a module in a module": {"zz.go", syntax.Import{Path: "pkg", Names: []string{"tool", "none"}}, "a.go zz.go pkg/tool.py"},
		"a module":             {"zz.go", syntax.Import{Path: "crate::net::wire"}, "a.go zz.go include/net/wire.h src/net/wire.rs"},
		"a name of a module":   {"zz.go", syntax.Import{Path: "crate::net::wire::Frame"}, "a.go zz.go include/net/wire.h src/net/wire.rs"},
		"a file":               {"web/page.ts", syntax.Import{Path: "./util", Names: []string{"cut"}}, "web/util.ts other/lib/util.go"},
		"nothing here":         {"web/page.ts", syntax.Import{Path: "react"}, "web/util.ts"},
		"no path":              {"web/page.ts", syntax.Import{}, "web/util.ts"},
	} {
		t.Run(name, func(t *testing.T) {
			before := strings.Fields(test.before)
			want := slices.Concat(before, slices.DeleteFunc(slices.Clone(files), func(f string) bool { return slices.Contains(before, f) }))
			early, late := &queue{}, &queue{}
			early.prefer(test.open, []syntax.Import{test.im})
			early.fill(queued(files...))
			if got := takeAll(early); !slices.Equal(got, want) {
				t.Errorf("opened before the scan:\n got %q\nwant %q", got, want)
			}
			late.fill(queued(files...))
			first, _ := late.take()
			late.prefer(test.open, []syntax.Import{test.im})
			want = append([]string{first.Path}, slices.DeleteFunc(want, func(f string) bool { return f == first.Path })...)
			if got := append([]string{first.Path}, takeAll(late)...); !slices.Equal(got, want) {
				t.Errorf("opened while it is at work:\n got %q\nwant %q", got, want)
			}
		})
	}
}

// The document opened last goes first, one that is open twice changes nothing, and a
// failure ends the queue.
func TestQueueOfSeveralDocuments(t *testing.T) {
	q := &queue{}
	q.fill(queued("a/1.go", "a/2.go", "b/1.go", "b/2.go", "c/1.go"))
	q.prefer("c/new.go", nil)
	q.prefer("b/1.go", nil)
	q.prefer("b/1.go", nil)
	if got := takeAll(q); !slices.Equal(got, []string{"b/1.go", "b/2.go", "c/1.go", "a/1.go", "a/2.go"}) {
		t.Errorf("taken %q", got)
	}
	q = &queue{}
	q.fill(queued("a.go", "b.go"))
	q.fail()
	if got := takeAll(q); len(got) > 0 {
		t.Errorf("taken after a failure: %q", got)
	}
}

// A first index of a large tree begins in the folder of the open document and with what it
// imports: the files are numbered as they come.
func TestFirstIndexBeginsWhereTheUserIs(t *testing.T) {
	defer func(n int) { cores = n }(cores)
	cores = 1 // of several readers, one may be overtaken
	dir := t.TempDir()
	text := "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/m/mid/store\"\n)\n\nfunc main() { fmt.Println(store.Open(), beside()) }\n"
	files := map[string]string{
		"go.mod": "module example.com/m\n", "zz/app/main.go": text, "zz/app/beside.go": "package main\n\nfunc beside() int { return 1 }\n",
		"mid/store/open.go": "package store\n\nfunc Open() int { return 2 }\n", "mid/store/close.go": "package store\n\nfunc Close() {}\n",
	}
	for i := range 1200 {
		files[fmt.Sprintf("d%02d/f%02d.go", i/30, i%30)] = fmt.Sprintf("package d\n\nfunc F%d() int { return %d }\n", i, i)
	}
	write(t, dir, files)
	x := start(t, Config{Dir: dir})
	x.DidOpen(filepath.Join(dir, "zz/app/main.go"), text)
	settle(t, x)
	x.Rebuild()
	settle(t, x)
	list, _, err := x.Store().Listed(t.Context())
	if err != nil || len(list) != len(files) {
		t.Fatalf("%d files of %d, %v", len(list), len(files), err)
	}
	var got []string
	for _, f := range list {
		got = append(got, f.Path)
	}
	ids := map[string]int64{}
	for _, f := range list {
		ids[f.Path] = f.ID
	}
	slices.SortFunc(got, func(a, b string) int { return int(ids[a] - ids[b]) })
	if want := []string{"zz/app/main.go", "zz/app/beside.go", "mid/store/close.go", "mid/store/open.go"}; !slices.Equal(got[:len(want)], want) {
		t.Errorf("it began with %q, not %q", got[:len(want)+2], want)
	}
}
