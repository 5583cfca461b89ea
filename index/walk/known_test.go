package walk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"quarry/index/glob"
	"quarry/index/listing"
	"quarry/index/walk"
)

// A walk that begins with what the one before met finds what one finds that looks at
// everything, whatever happened in between: names that come and go, rules that change in
// place, files and folders that become something else or are marked by others.
func TestKnownWalk(t *testing.T) {
	walk.Later(t)
	spared := 0
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 14))
		dir := t.TempDir()
		root, err := walk.Open(dir, walk.Limits{MaxSize: 4000})
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"a", "b", "build", "vendor", "c.go", "d.txt", "key.pem", "x.png", "target", "dist"}
		marks := []string{"CACHEDIR.TAG", "modules.txt", "CMakeCache.txt", "Cargo.toml", "package.json", ".git", ".gitignore", ".quarryignore", ".ignore"}
		some := func(list []string) string { return list[random.IntN(len(list))] }
		clock := 0
		aside := filepath.Join(t.TempDir(), "clock")
		// settle waits until what follows has other times, and sets what programs can set.
		settle := func() {
			clock++
			when := time.Unix(1_000_000_000, 0)
			err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
				if err == nil && e.IsDir() {
					if info, err := e.Info(); err == nil && time.Since(info.ModTime()) < time.Hour {
						return os.Chtimes(name, when, when)
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for first := int64(0); ; {
				if err := os.WriteFile(aside, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				e, err := walk.Ask(aside)
				if err != nil {
					t.Fatal(err)
				}
				if first == 0 {
					first = e.Changed
				}
				if e.Changed != first || e.Changed == 0 {
					return
				}
			}
		}
		step := func() {
			at := dir
			for range random.IntN(4) {
				at = filepath.Join(at, some(names[:4]))
			}
			if err := os.MkdirAll(at, 0o755); err != nil {
				return // a file is in the way
			}
			file := filepath.Join(at, some(names))
			switch random.IntN(8) {
			case 0:
				err = os.RemoveAll(file)
			case 1:
				err = os.Rename(file, filepath.Join(at, some(names)))
			case 2:
				err = os.Symlink("c.go", file)
			case 3:
				err = os.WriteFile(file, make([]byte, 3990+random.IntN(20)), 0o644)
			case 4:
				mark := filepath.Join(at, some(marks))
				if random.IntN(3) == 0 {
					err = os.RemoveAll(mark)
				} else if filepath.Base(mark) == ".git" {
					if err = os.MkdirAll(filepath.Join(mark, "info"), 0o755); err == nil {
						err = os.WriteFile(filepath.Join(mark, "info", "exclude"), []byte(some(names)+"\n"), 0o644)
					}
				} else {
					err = os.WriteFile(mark, []byte(some([]string{"/", "!", ""})+some(names)+"\n*.txt\n"), 0o644)
				}
			default:
				err = os.WriteFile(file, fmt.Appendf(nil, "text %d", clock), 0o644)
			}
			var inTheWay *fs.PathError
			var renamed *os.LinkError
			if err != nil && !errors.As(err, &inTheWay) && !errors.As(err, &renamed) {
				t.Fatal(err)
			}
		}
		var before *listing.List
		for range 150 {
			for range random.IntN(6) {
				step()
			}
			settle()
			want, made, _ := met(t, root, nil)
			if before != nil {
				got, again, looks := met(t, root, before)
				spared += looks
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d: met\n%q\nnot\n%q", seed, clock, got, want)
				}
				if g, w := entriesOf(again), entriesOf(made); !slices.Equal(g, w) {
					t.Fatalf("seed %d, step %d: the next walk would begin with\n%v\nnot\n%v", seed, clock, g, w)
				}
			}
			before = made
		}
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d folders were not read", spared)
	if runtime.GOOS == "linux" && spared == 0 {
		t.Log("every folder was read: the file system of the tests' folder is none of those whose folders' times are believed")
	}
}

// met is all that a walk tells of, with what the next one may begin with, and how many
// folders it did not read.
func met(t *testing.T, root *walk.Root, known *listing.List) (told []string, next *listing.List, spared int) {
	t.Helper()
	var entries []listing.Entry
	v := walk.Visitor{
		Dir: func(rel string) { told = append(told, "dir "+rel) },
		File: func(e walk.Entry) error {
			told = append(told, fmt.Sprint("file ", e))
			entries = append(entries, listing.Entry{Path: e.Path, Kind: listing.Indexed, Size: e.Size, ModTime: e.ModTime, Changed: e.Changed})
			return nil
		},
		Skip: func(k walk.Skip) {
			told = append(told, fmt.Sprint("skip ", k))
			if k.Reason != walk.TooLarge && k.Reason != walk.Unreadable {
				entries = append(entries, listing.Entry{Path: k.Path, Kind: listing.Left, Reason: k.Reason})
			}
		},
		Folder: func(f walk.Folder) {
			told = append(told, fmt.Sprint("left ", f.Path))
			entries = append(entries, listing.Entry{Path: f.Path, Kind: listing.Folder, Changed: f.Changed, Rules: f.Rules})
			if known != nil && f.Changed != 0 {
				if at := known.Find(f.Path); at >= 0 && *known.Met(at).Folder == f {
					spared++
				}
			}
		},
	}
	if known != nil {
		v.Known = known
	}
	if err := root.Walk(t.Context(), "", v); err != nil {
		t.Fatal(err)
	}
	return told, listing.New(listing.Head{}, entries), spared
}

func entriesOf(l *listing.List) (list []string) {
	for i := range l.Len() {
		m := l.Met(i)
		text := fmt.Sprint(m.Path, " ", l.Kind(i), " ", m.Reason, " ", m.End)
		if m.Folder != nil {
			text += fmt.Sprint(" ", *m.Folder)
		}
		list = append(list, text)
	}
	return list
}

// What the user's settings leave out is looked at anew when they change, although no folder did.
func TestKnownWalkOfOtherLimits(t *testing.T) {
	walk.Later(t)
	dir := t.TempDir()
	for _, name := range []string{"private/a.go", "b.go"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 5000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var before *listing.List
	for _, limits := range []walk.Limits{
		{}, {Exclude: glob.CompileAll([]string{"private"})}, {}, {MaxSize: 4000}, {}, {Exclude: glob.CompileAll([]string{"b.go"})}, {Exclude: glob.CompileAll([]string{"a.go"})},
	} {
		root, err := walk.Open(dir, limits)
		if err != nil {
			t.Fatal(err)
		}
		want, made, _ := met(t, root, nil)
		if before != nil {
			if got, _, _ := met(t, root, before); !slices.Equal(got, want) {
				t.Errorf("with %+v met\n%q\nnot\n%q", limits, got, want)
			}
		}
		before = made
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}
}
