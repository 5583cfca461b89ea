package index

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
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
			c.scan = x.startScan(t.Context(), "", false)
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
