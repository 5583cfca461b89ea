//go:build unix

package index

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// counted indexes a folder once more, and answers how many files were read for it.
func counted(t *testing.T, cfg Config) (x *Index, files int64) {
	t.Helper()
	cfg.Log = slog.New(reads{slog.DiscardHandler, &files})
	x = open(t, cfg)
	settle(t, x)
	shut(t, x)
	return x, files
}

// keepTimes has what change does to a folder leave all times in it that a program can set.
func keepTimes(t *testing.T, dir string, change func()) {
	t.Helper()
	before := map[string]time.Time{}
	for name, info := range infos(t, dir) {
		before[name] = info.ModTime()
	}
	change()
	for name, when := range before {
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
}

// infos describe all that is in a folder.
func infos(t *testing.T, dir string) map[string]fs.FileInfo {
	t.Helper()
	list := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			list[name], err = e.Info()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// stale is how a folder differs from its index, as `quarry status` says it.
func stale(t *testing.T, cfg Config) Difference {
	t.Helper()
	st, err := Peek(t.Context(), cfg, time.Minute)
	if err != nil || st.Stale == nil {
		t.Fatal(st.Stale, err)
	}
	return *st.Stale
}

// recordsIn are the records of an index that is closed, each with what last changed it.
func recordsIn(t *testing.T, x *Index) (list []string) {
	t.Helper()
	db, err := sql.Open("sqlite3", x.state.database())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT id || ' ' || path || ' ' || generation FROM files ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		list = append(list, line)
	}
	if err := errors.Join(rows.Err(), rows.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return list
}

// What is written while no quarry runs is found by the next one, although sizes and
// modification times are as they were: by programs that unpack with fixed times, that copy
// times, or that set them.
func TestChangesUnderAnOldTime(t *testing.T) {
	for what, lost := range map[string]string{"with its listing": "", "without its listing": listingName} {
		t.Run(what, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			cfg := Config{Dir: dir, StateDir: state}
			write(t, dir, project)
			write(t, dir, map[string]string{"image.dat": "\x00\x01", "notes.txt": "plain"})
			aged()
			x, _ := counted(t, cfg)
			if d := stale(t, cfg); d != (Difference{}) {
				t.Fatalf("after a first index the folder differs: %+v", d)
			}
			changed := map[string]string{"main.go": "package main\n\nimport \"example.com/m/lib\"\n\nfunc mein() { lib.Open() }\n", "image.dat": "ab"}
			keepTimes(t, dir, func() {
				write(t, dir, changed)
				write(t, dir, map[string]string{"lib/added.go": "package lib\n\nfunc added() {}\n"})
				// Another file takes the place of one, with the size and time of that.
				text := "PLAIN"
				write(t, dir, map[string]string{"beside": text})
				if err := os.Rename(filepath.Join(dir, "beside"), filepath.Join(dir, "notes.txt")); err != nil {
					t.Fatal(err)
				}
			})
			if lost != "" {
				if err := os.Remove(filepath.Join(filepath.Dir(x.state.database()), lost)); err != nil {
					t.Fatal(err)
				}
			}
			if d, want := stale(t, cfg), (Difference{New: 2, Changed: 2}); d != want {
				t.Errorf("the status says %+v, not %+v", d, want)
			}
			y := start(t, cfg)
			if got, want := dump(t, y), fresh(t, dir); got != want {
				t.Errorf("the next quarry's index is not as a new one: %s", firstDifference(got, want))
			}
		})
	}
}

// What only changed in names, rights or by being copied, as a backup that came back is, is
// read once, for its text, and nothing is indexed again.
func TestCopiesKeepTheirRecords(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	cfg := Config{Dir: dir, StateDir: state}
	write(t, dir, project)
	aged()
	x, _ := counted(t, cfg)
	want, files := recordsIn(t, x), int64(len(project)-2) // node_modules and .env are left out
	for _, again := range []string{"rights", "a copy"} {
		aged()
		switch again {
		case "rights":
			for name, info := range infos(t, dir) {
				if err := os.Chmod(name, info.Mode()); err != nil {
					t.Fatal(err)
				}
			}
		case "a copy":
			keepTimes(t, dir, func() {
				for name := range project {
					p := filepath.Join(dir, filepath.FromSlash(name))
					if err := os.Remove(p); err != nil {
						t.Fatal(err)
					}
				}
				write(t, dir, project)
			})
		}
		aged()
		if d := stale(t, cfg); d != (Difference{}) {
			t.Errorf("%s: the status says %+v", again, d)
		}
		if _, read := counted(t, cfg); read != files {
			t.Errorf("%s: %d files were read, not %d", again, read, files)
		}
		if got := recordsIn(t, x); !slices.Equal(got, want) {
			t.Errorf("%s: the records were %q, and are %q", again, want, got)
		}
		if _, read := counted(t, cfg); read != 0 {
			t.Errorf("%s: %d files were read once more", again, read)
		}
	}
}

// Neither is one of so many copies that the database is not asked for each.
func TestManyCopiesKeepTheirRecords(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	cfg := Config{Dir: dir, StateDir: state}
	for i := range manyChanged + 20 {
		write(t, dir, map[string]string{fmt.Sprintf("f%d.go", i): fmt.Sprintf("package d\n\nfunc One%d() {}\n", i)})
	}
	aged()
	x, _ := counted(t, cfg)
	want := recordsIn(t, x)
	for name, info := range infos(t, dir) {
		if err := os.Chmod(name, info.Mode()); err != nil { // which changes when it was changed
			t.Fatal(err)
		}
	}
	aged()
	if d := stale(t, cfg); d != (Difference{}) {
		t.Errorf("the status says %+v", d)
	}
	counted(t, cfg)
	if got := recordsIn(t, x); !slices.Equal(got, want) {
		t.Errorf("of %d records these are others: %q", len(want), slices.DeleteFunc(got, func(r string) bool { return slices.Contains(want, r) }))
	}
}

// An index of a quarry that did not note when files changed is compared with them once, and
// stays.
func TestAnIndexWithoutChangeTimes(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	cfg := Config{Dir: dir, StateDir: state}
	write(t, dir, project)
	write(t, dir, map[string]string{"image.dat": "\x00\x01"})
	aged()
	x, _ := counted(t, cfg)
	want := recordsIn(t, x)
	db, err := sql.Open("sqlite3", x.state.database())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("ALTER TABLE files DROP COLUMN changed; PRAGMA user_version = 4"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(x.state.listing()); err != nil { // its version was another, too
		t.Fatal(err)
	}
	if _, read := counted(t, cfg); read != int64(len(project)-1) {
		t.Errorf("%d files were read", read)
	}
	if got := recordsIn(t, x); !slices.Equal(got, want) {
		t.Errorf("its records were %q, and are %q", want, got)
	}
	// What a start before has begun to wipe is begun with neither snapshot nor listing.
	x = open(t, cfg)
	awaitWiped(t, x)
	shut(t, x)
	if _, read := counted(t, cfg); read != 0 {
		t.Errorf("%d files were read once more", read)
	}
}
