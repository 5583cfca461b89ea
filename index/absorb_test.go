package index

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/store"
)

// A scan's results wait in the batch. What happens to their paths meanwhile is
// written at once, and the batch must not undo it.
func TestAScanDoesNotUndoWhatIsNewer(t *testing.T) {
	const older, newer = "package p\n\nfunc older() {}\n", "package p\n\nfunc newer() {}\n"
	for _, test := range []struct {
		name string
		// scanned are changes on disk that the scan reads, or misses, before those of
		// then; events are the paths told of after those.
		scanned, then map[string]string
		events        []string
		buffers       map[string]string
		want          map[string][]string // symbols by path, nil if it must not be there
	}{
		{
			name:    "a file is edited",
			scanned: map[string]string{"main.go": older}, then: map[string]string{"main.go": newer}, events: []string{"main.go"},
			want: map[string][]string{"main.go": {"p", "newer"}},
		}, {
			name:    "a new file is deleted",
			scanned: map[string]string{"added.go": older}, then: map[string]string{"added.go": ""}, events: []string{"added.go"},
			want: map[string][]string{"added.go": nil},
		}, {
			name:    "a new folder is deleted, and only the folder told of",
			scanned: map[string]string{"new/er/added.go": older}, then: map[string]string{"new": ""}, events: []string{"new"},
			want: map[string][]string{"new/er/added.go": nil},
		}, {
			name:    "a file comes back",
			scanned: map[string]string{"main.go": ""}, then: map[string]string{"main.go": newer}, events: []string{"main.go"},
			want: map[string][]string{"main.go": {"p", "newer"}},
		}, {
			name:    "a file comes back after the same text was found elsewhere",
			scanned: map[string]string{"main.go": "", "moved.go": project["main.go"]}, then: map[string]string{"main.go": project["main.go"]}, events: []string{"main.go"},
			want: map[string][]string{"main.go": {"main", "main"}, "moved.go": {"main", "main"}},
		}, {
			name:    "a file becomes a folder",
			scanned: map[string]string{"added.go": older, "main.go": older}, then: map[string]string{"added.go": "", "main.go": ""}, events: []string{"added.go/", "main.go/"},
			want: map[string][]string{"added.go": nil, "main.go": nil},
		}, {
			name:    "a file is opened with a text that was not saved",
			scanned: map[string]string{"main.go": older}, events: []string{"main.go"}, buffers: map[string]string{"main.go": newer},
			want: map[string][]string{"main.go": {"p", "newer"}},
		}, {
			name:    "a file is opened, and not looked at yet",
			scanned: map[string]string{"main.go": older, "lib/lib.go": ""}, buffers: map[string]string{"main.go": newer, "lib/lib.go": newer},
			want: map[string][]string{"main.go": {"main", "main"}, "lib/lib.go": {"lib", "Open"}},
		}, {
			name:    "nothing",
			scanned: map[string]string{"main.go": older, "lib": "", "lib2/lib.go": project["lib/lib.go"]}, events: []string{"go.mod"},
			want: map[string][]string{"main.go": {"p", "older"}, "lib/lib.go": nil, "lib/helper.go": nil, "lib2/lib.go": {"lib", "Open"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, project)
			x := start(t, Config{Dir: dir})
			x.cancel() // the test is the coordinator
			x.stopped.Wait()
			c := &coordinator{Index: x, fresh: map[string]found{}}
			write(t, dir, test.scanned)
			c.scan = startScan(t.Context(), x, "", false)
			for r := range c.scan.results {
				c.add(t.Context(), r)
			}
			write(t, dir, test.then)
			x.mu.Lock()
			for rel, text := range test.buffers {
				x.buffers[rel] = &buffer{text: text}
			}
			x.mu.Unlock()
			var events []string
			for _, rel := range test.events {
				if name := filepath.Clean(rel); name != rel {
					if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
						t.Fatal(err)
					}
					rel = name
				}
				events = append(events, rel)
			}
			if err := c.refresh(t.Context(), events); err != nil {
				t.Fatal(err)
			}
			c.endScan(t.Context(), false)
			for _, name := range slices.Sorted(maps.Keys(test.want)) {
				if got, want := symbols(t, x, name), test.want[name]; !slices.Equal(got, want) || (got == nil) != (want == nil) {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

// A scan leaves open documents alone, and what something newer is known of. When
// another quarry made the index, their records are made again all the same.
func TestAnotherAnalyzerReadsOpenDocumentsAgain(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	x.cancel() // the test is the coordinator
	x.stopped.Wait()
	if err := x.Store().EndScan(map[string]string{scanEnded: "an older one"}, nil); err != nil {
		t.Fatal(err)
	}
	_, before, _, err := x.Store().Since(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	show := func(name string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.buffers[name] = &buffer{text: project[name]}
	}
	hide := func(name string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.buffers, name)
	}
	x.mu.Lock()
	x.scans[""] = true
	x.mu.Unlock()
	c := &coordinator{Index: x, fresh: map[string]found{}}
	show("main.go")       // before the scan
	show("lib/helper.go") // ... and not when it ends
	c.beginScan(t.Context())
	for r := range c.scan.results {
		c.add(t.Context(), r)
	}
	show("lib/lib.go") // after it was read
	hide("lib/helper.go")
	if err := c.refresh(t.Context(), []string{"README.md", "main.go"}); err != nil { // told of, and the same
		t.Fatal(err)
	}
	c.endScan(t.Context(), false)
	if changed, _, _, err := x.Store().Since(t.Context(), before); err != nil || len(changed) != 5 {
		t.Errorf("%d files were read again (%v), want all 5", len(changed), err)
	}
	if v, err := x.Store().Meta(t.Context(), scanEnded); err != nil || v != madeBy {
		t.Errorf("the index is of analyzer %q, %v", v, err)
	}
	_, before, _, err = x.Store().Since(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.refresh(t.Context(), []string{"README.md", "main.go"}); err != nil {
		t.Fatal(err)
	}
	if changed, _, _, err := x.Store().Since(t.Context(), before); err != nil || len(changed) != 0 {
		t.Errorf("%d files were read once more (%v)", len(changed), err)
	}
}

// What an older quarry left unfinished stays its work until a scan has ended, however
// often that is cut short.
func TestScanOfAnUnfinishedIndexIsCutShortTwice(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	x.cancel()
	x.stopped.Wait()
	for key, value := range map[string]string{scanEnded: "", scanBegan: "an older one"} {
		if err := x.Store().PutMeta(key, value); err != nil {
			t.Fatal(err)
		}
	}
	c := &coordinator{Index: x, fresh: map[string]found{}}
	for range 3 {
		x.mu.Lock()
		x.scans[""] = true
		x.mu.Unlock()
		c.beginScan(t.Context())
		if c.scan == nil || len(c.outdated) != 5 {
			t.Fatalf("%d records count as another quarry's, want 5", len(c.outdated))
		}
		c.endScan(t.Context(), true)
	}
}

// One file that the database refuses keeps no other out of the index.
func TestARefusedFileIsLeftOutAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir, StateDir: t.TempDir()})
	alter(t, x, "CREATE TRIGGER no BEFORE INSERT ON files WHEN NEW.path = 'bad.go' BEGIN SELECT RAISE(ABORT, 'not this one'); END")
	write(t, dir, map[string]string{"bad.go": "package m\n", "good.go": "package m\n\nfunc good() {}\n", "main.go": "", "lib/late.go": "package lib\n"})
	x.Rescan()
	if err := x.Settle(t.Context()); !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), "bad.go") {
		t.Errorf("settled with %v, want that bad.go is refused", err)
	}
	if got, want := paths(t, x), []string{"README.md", "go.mod", "good.go", "lib/helper.go", "lib/late.go", "lib/lib.go"}; !slices.Equal(got, want) {
		t.Errorf("indexed %q, want %q", got, want)
	}
}
