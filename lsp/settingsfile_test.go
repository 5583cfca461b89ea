package lsp

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/index/systest"
	"quarry/index/watch"
)

// A change of the user's settings is told of wherever it shows: in the file, in the folder
// that is made for it, behind a link.
func TestWatchAround(t *testing.T) {
	write := func(t *testing.T, path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tell := range map[string]func(t *testing.T, dir, path string, look func()){
		"a file": func(t *testing.T, _, path string, look func()) {
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			look()
			write(t, path)
		},
		"a folder": func(t *testing.T, _, path string, look func()) {
			look()
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"a link": func(t *testing.T, dir, path string, look func()) {
			systest.NeedLinks(t)
			real := filepath.Join(dir, "dotfiles", "settings.json")
			for _, path := range []string{path, real} {
				if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			write(t, real)
			if err := os.Symlink(real, path); err != nil {
				t.Fatal(err)
			}
			look()
			write(t, real)
		},
	} {
		t.Run(name, func(t *testing.T) {
			told := make(chan string, 100)
			w, err := watch.New(func(path string) { told <- path }, func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			dir := t.TempDir()
			path := filepath.Join(dir, "config", "settings.json")
			tell(t, dir, path, func() {
				if err := watchAround(w, path); err != nil {
					t.Fatal(err)
				}
			})
			<-told
		})
	}
}

// A file that is emptied, or taken away, to be written is read when it is written: settings
// that are the defaults for a moment would change the model, and embed all code anew.
func TestSettingsAreReadOnceWritten(t *testing.T) {
	first := stamp{size: 20, changed: 1, there: true}
	half := stamp{size: 20, changed: 2, there: true}
	whole := stamp{size: 40, changed: 3, there: true}
	for name, test := range map[string]struct {
		seen  []stamp // the last for ever
		want  stamp
		looks int
	}{
		"written at once":           {[]stamp{whole}, whole, 1},
		"emptied first":             {[]stamp{{there: true, changed: 2}, {there: true, changed: 2}, whole}, whole, 3},
		"taken away first":          {[]stamp{{}, {}, {}, whole}, whole, 4},
		"in two pieces":             {[]stamp{half, whole}, whole, 2},
		"emptied, and left so":      {[]stamp{{there: true, changed: 2}}, stamp{there: true, changed: 2}, mostSteps},
		"taken away, and left away": {[]stamp{{}}, stamp{}, mostSteps},
		"the same content, later":   {[]stamp{first}, first, 1},
	} {
		t.Run(name, func(t *testing.T) {
			looks := 0
			got := written(test.seen[0], func() stamp {
				looks++
				return test.seen[min(looks, len(test.seen)-1)]
			})
			if got != test.want || looks != test.looks {
				t.Errorf("%+v after %d looks, want %+v after %d", got, looks, test.want, test.looks)
			}
		})
	}
}
