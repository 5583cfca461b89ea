package index

import (
	"database/sql"
	"fmt"
	"testing"

	"quarry/index/syntax"
)

// A file that another process gave up on for want of memory is read again by one that has more,
// though nothing of it changed; one that no memory helps stays as it is.
func TestGivenUpForWantOfMemory(t *testing.T) {
	for _, brief := range []bool{false, true} {
		t.Run(fmt.Sprintf("brief %t", brief), func(t *testing.T) {
			cfg := Config{Dir: t.TempDir(), StateDir: t.TempDir()}
			write(t, cfg.Dir, map[string]string{
				"short.go": "package p\n\nfunc Short() {}\n", "hopeless.go": "package p\n\nfunc Hopeless() {}\n", "old.go": "package p\n\nfunc Old() {}\n",
			})
			x := open(t, cfg)
			settle(t, x)
			shut(t, x)
			db, err := sql.Open("sqlite3", x.state.database())
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range []string{
				"DELETE FROM symbols",
				"UPDATE files SET symbols = 0, problem = 'could not be parsed as go within 84 MB; indexed by lines' WHERE path = 'short.go'",
				"UPDATE files SET symbols = 0, problem = 'could not be parsed as go within 0 MB; indexed by lines' WHERE path = 'old.go'",
				"UPDATE files SET symbols = 0, problem = 'could not be parsed as go; indexed by lines' WHERE path = 'hopeless.go'",
			} {
				if _, err := db.Exec(q); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			cfg.Brief = brief
			for range 2 {
				x = open(t, cfg)
				settle(t, x)
				for name, want := range map[string]int{"short.go": 2, "old.go": 2, "hopeless.go": 0} {
					f, err := x.Store().ByPath(t.Context(), name)
					if err != nil || f == nil || len(f.Syntax.Symbols) != want {
						t.Errorf("%s: %+v, %v", name, f, err)
					}
				}
				list, err := x.Store().Problems(t.Context())
				if err != nil || len(list) != 1 || list[0].Path != "hopeless.go" {
					t.Errorf("problems %v, %v", list, err)
				}
				shut(t, x)
			}
		})
	}
}

// The room that a parser had stands in the problem, and decides who tries again.
func TestProblemNamesTheRoom(t *testing.T) {
	given := &syntax.File{Language: "go", Errors: []syntax.Span{{End: 10}}}
	if got := problem(given, 10); got != "could not be parsed as go; indexed by lines" || mayParse(got, 10) {
		t.Errorf("%q, which may be parsed: %t", got, mayParse(got, 10))
	}
	given.Short = 84 << 20
	if got := problem(given, 10); got != "could not be parsed as go within 84 MB; indexed by lines" || !mayParse(got, 10) {
		t.Errorf("%q, which may be parsed: %t", got, mayParse(got, 10))
	}
}
