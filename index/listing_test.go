package index

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/index/listing"
	"quarry/index/walk"
)

// aged waits until all times up to now are believed.
func aged() { <-time.After(walk.Racy) }

// unpacked has all that is in a folder have one modification time, as what is unpacked may.
func unpacked(t *testing.T, dir string) {
	t.Helper()
	when := time.Unix(1_000_000_000, 0)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, when, when)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reads counts the files that scans read.
type reads struct {
	slog.Handler
	files *int64
}

func (r reads) Enabled(context.Context, slog.Level) bool { return true }

func (r reads) Handle(_ context.Context, rec slog.Record) error {
	if rec.Message == "read files" {
		rec.Attrs(func(a slog.Attr) bool {
			if a.Key == "files" {
				*r.files += a.Value.Int64()
			}
			return true
		})
	}
	return nil
}

// Whatever happens to a folder while no quarry runs, and to an index since its listing
// was written, the next start finds an index like a new one.
func TestAStartComparesWithTheListing(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			dir, state := t.TempDir(), t.TempDir()
			write(t, dir, project)
			files := []string{"a.go", "a/b.go", "a/b/c.go", "a-b.go", "lib/x.go", "lib/y/z.go", "zz.txt", "vendor/v.go", "vendor/modules.txt"}
			edit := func(n int) string {
				name := files[random.IntN(len(files))]
				text := fmt.Sprintf("package m\n\nfunc f%d() {}\n", n%7) // so that a text comes back under another name
				switch random.IntN(7) {
				case 0:
					text = ""
				case 1:
					text = fmt.Sprintf("\x00%d", n)
				case 2:
					write(t, dir, map[string]string{".gitignore": "/" + files[random.IntN(len(files))] + "\n"})
				case 3:
					to := files[random.IntN(len(files))]
					if os.Rename(filepath.Join(dir, name), filepath.Join(dir, to)) == nil {
						return to
					}
				}
				if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
					return name
				}
				write(t, dir, map[string]string{name: text})
				return name
			}
			for n := 0; n < 60; {
				for range random.IntN(4) {
					n++
					edit(n)
				}
				if seed%2 > 0 && runtime.GOOS != "windows" { // which asks for no other time
					unpacked(t, dir)
				}
				if random.IntN(3) == 0 {
					aged()
				}
				x := open(t, Config{Dir: dir, StateDir: state, Brief: random.IntN(2) == 0})
				settle(t, x)
				if got, want := dump(t, x), fresh(t, dir); got != want {
					t.Fatalf("after %d edits the index is not as a new one: %s", n, firstDifference(got, want))
				}
				for range random.IntN(3) { // what no whole scan sees
					n++
					x.FilesChanged([]string{filepath.Join(dir, filepath.FromSlash(edit(n)))})
				}
				settle(t, x)
				shut(t, x)
				n++
			}
		})
	}
}

// A tree that is as it was is not read, and nothing is written.
func TestAnUnchangedTreeIsNotRead(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	write(t, dir, map[string]string{"image.dat": "\x00\x01", "notes.txt": "plain"})
	aged()
	shut(t, settled(t, Config{Dir: dir, StateDir: state}))
	found, err := filepath.Glob(filepath.Join(state, "index", "*", listingName))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	first, err := os.Stat(found[0])
	if err != nil {
		t.Fatal(err)
	}
	read := int64(0)
	x := settled(t, Config{Dir: dir, StateDir: state, Brief: true, Log: slog.New(reads{slog.DiscardHandler, &read})})
	if read != 0 {
		t.Errorf("%d files of an unchanged tree were read", read)
	}
	if skipped, err := x.Store().SkippedPaths(t.Context()); err != nil || !strings.Contains(fmt.Sprint(skipped), "image.dat "+string(walk.Binary)) {
		t.Errorf("left out: %v, %v", skipped, err)
	}
	shut(t, x)
	if again, err := os.Stat(found[0]); err != nil || !os.SameFile(first, again) {
		t.Errorf("the listing of an unchanged tree was written again, %v", err)
	}
	// One that another build wrote is looked at by this one, and then is its own.
	l, err := listing.Read(found[0])
	if err != nil {
		t.Fatal(err)
	}
	l.Head.Program = "another"
	if err := l.Write(found[0]); err != nil {
		t.Fatal(err)
	}
	shut(t, settled(t, Config{Dir: dir, StateDir: state, Brief: true}))
	if l, err = listing.Read(found[0]); err != nil || l.Head.Program != program() {
		t.Errorf("the listing is that of %q, %v", l.Head.Program, err)
	}
	// In another database the listing means nothing.
	if err := os.Remove(strings.TrimSuffix(found[0], listingName) + "index.db"); err != nil {
		t.Fatal(err)
	}
	y := settled(t, Config{Dir: dir, StateDir: state, Brief: true})
	defer shut(t, y)
	if got := paths(t, y); slices.Contains(got, "image.dat") || !slices.Contains(got, "main.go") {
		t.Errorf("a new database has %q", got)
	}
}

// settled is open and settle; the caller shuts the index.
func settled(t *testing.T, cfg Config) *Index {
	t.Helper()
	x := open(t, cfg)
	settle(t, x)
	return x
}

// What a quarry took into the index after the listing was written is judged by its name
// at once, as all of it is by another build.
func TestListedSecretsLeave(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	write(t, dir, map[string]string{"prod.env": "TOKEN=zanzibar\n"})
	x := open(t, Config{Dir: dir, StateDir: state, Brief: true})
	known(t, x, map[string]string{"prod.env": "TOKEN=zanzibar\n"})
	shut(t, x)
	y := open(t, Config{Dir: dir, StateDir: state, Clock: newManual()})
	defer shut(t, y)
	if got := paths(t, y); slices.Contains(got, "prod.env") {
		t.Error("it is still there")
	}
}

// A file that came after the listing was written stays in the index where so much else differs that the scan goes on
// without the listing.
func TestNewFileAmongManyChangedStays(t *testing.T) {
	dir := t.TempDir()
	write := func(format string) {
		for i := range manyChanged + 20 {
			write(t, dir, map[string]string{fmt.Sprintf("f%d.go", i): fmt.Sprintf(format, i)})
		}
	}
	write("package d\n\nfunc One%d() {}\n")
	aged()
	x := start(t, Config{Dir: dir})
	writeOne(t, x, "a.go")
	write("package d\n\nfunc Another%d() {}\n")
	x.Rescan()
	settle(t, x)
	if got, want := dump(t, x), fresh(t, dir); got != want {
		t.Errorf("differs from a fresh index: %s", firstDifference(got, want))
	}
}

// writeOne writes a file and has the index look at it.
func writeOne(t *testing.T, x *Index, name string) {
	t.Helper()
	write(t, x.Root().Dir(), map[string]string{name: "package d\n\nfunc New() {}\n"})
	x.FilesChanged([]string{filepath.Join(x.Root().Dir(), name)})
	settle(t, x)
	if symbols(t, x, name) == nil {
		t.Fatalf("%s is not in the index", name)
	}
}
