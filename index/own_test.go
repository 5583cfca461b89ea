package index

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/index/systest"
	"quarry/index/walk"
)

// A folder for quarry's state that lies in the workspace is no part of it: it would be found by
// searches, and change with each. Of a workspace that is that folder, its own index is not.
func TestOwnStateIsNotIndexed(t *testing.T) {
	for name, where := range map[string]string{"in the workspace": "tools/state", "through a link": "link", "the workspace": "."} {
		t.Run(name, func(t *testing.T) {
			if where == "link" {
				systest.NeedLinks(t)
			}
			dir := t.TempDir()
			write(t, dir, project)
			if err := os.MkdirAll(filepath.Join(dir, "tools"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(dir, "tools"), filepath.Join(dir, "link")); err != nil {
				t.Skip("no links here: ", err)
			}
			cfg := Config{Dir: dir, StateDir: filepath.Join(dir, where)}
			for range 2 {
				x := open(t, cfg)
				settle(t, x)
				place, ok := x.root.Rel(x.state.dir)
				if where == "link" {
					place, ok = "tools/"+place[len("link/"):], true
				}
				if reason := x.root.Check(place + "/lock"); !ok || reason != walk.Own {
					t.Errorf("%s: %q", place, reason)
				}
				stats, err := x.Store().Stats(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				var got, want []string
				for rel := range stats {
					got = append(got, rel)
				}
				for rel := range project {
					if x.root.Check(rel) == "" {
						want = append(want, rel)
					}
				}
				slices.Sort(got)
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("indexed: %q, want %q", got, want)
				}
				st, err := x.Status(t.Context())
				if err != nil || st.Skipped[string(walk.Own)] != 1 {
					t.Errorf("left out: %v, %v", st.Skipped, err)
				}
				shut(t, x)
			}
			st, err := Peek(t.Context(), cfg, time.Minute)
			if err != nil || st.Stale == nil || *st.Stale != (Difference{}) {
				t.Errorf("nothing was changed, and the status says %+v, %v", st.Stale, err)
			}
		})
	}
}
