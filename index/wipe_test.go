package index

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/glob"
	"quarry/index/mask"
	"quarry/index/store"
	"quarry/index/walk"
)

// onDisk answers which of the texts stand in the files of the index's folder. A log is read
// before its database, which sorts before it: what is moved meanwhile is in one of the two then.
func onDisk(t *testing.T, state string, texts ...string) []string {
	t.Helper()
	var files []string
	if err := filepath.WalkDir(state, func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // it went meanwhile
			return nil
		}
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, path := range slices.Backward(files) {
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, text := range texts {
			if bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(text))) {
				found = append(found, filepath.Base(path)+" has "+text)
			}
		}
	}
	return found
}

func awaitWiped(t *testing.T, x *Index) {
	t.Helper()
	settle(t, x)
	until(t, "the index is wiped", func() bool {
		due, _, err := x.Store().NeedsWipe(t.Context())
		return err == nil && !due
	})
}

// awaitGone waits until none of the texts is in the files of the index.
func awaitGone(t *testing.T, state string, texts ...string) {
	t.Helper()
	until(t, "the text is gone from the index's files", func() bool { return len(onDisk(t, state, texts...)) == 0 })
}

// What a rule leaves out from now on leaves no text in the files of the index: not
// what it declares, not a word of it.
func TestExcludedTextLeavesTheFiles(t *testing.T) {
	canaries := []string{"quokkazyx", "numbatzyx", "bilbyzyx"}
	const word = "dunnartzyx" // of a text that declares nothing
	file := func(i int) string {
		return fmt.Sprintf("package a\n\n// %s lives here.\nfunc %[1]sFood() string { return \"%[1]s eats\" }\n", canaries[i])
	}
	files := map[string]string{"left/out.go": file(0), "renamed.go": file(1), "keyed.go": file(2), "word.txt": "Of animals.\n\nOne is the " + word + ".\n", "kept.go": "package a\n\nfunc Kept() {}\n"}
	for i := range 40 { // so that the rows are not all in one page
		files[fmt.Sprintf("other%d.go", i)] = fmt.Sprintf("package a\n\n// Other %d does nothing.\nfunc Other%[1]d() { Kept() }\n", i)
	}
	change := func(t *testing.T, dir string) {
		write(t, dir, map[string]string{".quarryignore": "left/\n", "keyed.go": "-----BEGIN " + "PRIVATE KEY-----\nMII\n"})
		if err := os.Rename(filepath.Join(dir, "renamed.go"), filepath.Join(dir, ".env")); err != nil {
			t.Fatal(err)
		}
	}
	for _, closed := range []bool{true, false} {
		t.Run(map[bool]string{true: "while quarry does not run", false: "while it runs"}[closed], func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			write(t, dir, files)
			x := open(t, Config{Dir: dir, StateDir: state})
			awaitWiped(t, x)
			awaitText(t, x)
			if found := onDisk(t, state, canaries...); len(found) < 3 || len(having(t, x, word)) != 1 {
				t.Fatalf("the index has %q before, and the full-text table of %q", found, having(t, x, word))
			}
			if found := onDisk(t, state, word); len(found) > 0 {
				t.Errorf("the full-text table has words: %q", found)
			}
			aside := x.state.database() + ".damaged" // as after damage
			for _, suffix := range []string{"", "-wal"} {
				if err := os.WriteFile(aside+suffix, []byte(canaries[0]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(x.Kept().Path(), []byte(canaries[0]), 0o600); err != nil { // as who searches keeps it
				t.Fatal(err)
			}
			if closed {
				shut(t, x)
				change(t, dir)
				x = open(t, Config{Dir: dir, StateDir: state})
			} else {
				change(t, dir)
				x.FilesChanged([]string{filepath.Join(dir, ".quarryignore"), filepath.Join(dir, "renamed.go"), filepath.Join(dir, ".env"), filepath.Join(dir, "keyed.go")})
			}
			defer func() { shut(t, x) }()
			until(t, "the files are gone", func() bool {
				list := paths(t, x)
				return !slices.Contains(list, "left/out.go") && !slices.Contains(list, "renamed.go") && !slices.Contains(list, "keyed.go")
			})
			awaitWiped(t, x)
			if found := onDisk(t, state, canaries[0], canaries[2]); len(found) > 0 {
				t.Errorf("left at once: %q", found)
			}
			awaitGone(t, state, canaries...)
			if err := x.Store().Check(t.Context()); err != nil {
				t.Error(err)
			}
			if got := symbols(t, x, "other7.go"); len(got) != 2 {
				t.Errorf("other7.go declares %q", got)
			}
		})
	}
}

// Of what leaves the index, by any way, nothing is in its files a moment later: a file may be there
// still, under a name that is left out, and nobody tells of the two in one go, or in what order.
func TestWhatLeavesTheIndexLeavesItsFiles(t *testing.T) {
	ways := []struct {
		canary, to string // to: where the file is moved, "" for nowhere
		text       string // of its name then, "" for none
	}{
		{"antelope", ".env", ""},               // a secret's name that was there
		{"baboon", "new/.env", ""},             // in a folder that is new, as the next two
		{"caracal", "new/c.local", ""},         // a name that is left out
		{"dugong", "secrets/d.json", ""},       // a folder of secrets
		{"echidna", "out/e.go", ""},            // a folder that is left out
		{"fossa", "leave/f.go", ""},            // one that is new
		{"gerenuk", "g.local", ""},             // a name that is left out
		{"hoatzin", "prod.env", "package a\n"}, // another text has its name
		{"ibex", "", "package a\n"},            // it is written over
		{"jerboa", "", ""},                     // it is removed
		{"kinkajou", "../elsewhere.go", ""},    // it leaves the workspace
	}
	for _, when := range []string{"stopped", "gone first", "there first", "open"} {
		t.Run(when, func(t *testing.T) {
			base, state := t.TempDir(), t.TempDir()
			dir := filepath.Join(base, "top")
			files := map[string]string{
				".git/HEAD": "ref: refs/heads/main\n", ".gitignore": "out/\nleave/\n*.local\n",
				".env": "X=1\n", "out/b.go": "package out\n", "kept.go": "package a\n\nfunc Kept() {}\n",
			}
			var canaries []string
			for _, w := range ways {
				canaries = append(canaries, w.canary+"zyx")
				files[w.canary+".go"] = fmt.Sprintf("package a\n\n// %[1]szyx lives here.\nfunc %[1]szyx() {}\n", w.canary)
			}
			write(t, dir, files)
			x := open(t, Config{Dir: dir, StateDir: state})
			defer func() { shut(t, x) }()
			awaitWiped(t, x)
			for _, w := range ways {
				if name := w.canary + ".go"; when == "open" {
					x.DidOpen(filepath.Join(dir, name), files[name])
				}
			}
			settle(t, x)
			if found := onDisk(t, state, canaries...); len(found) < len(canaries) {
				t.Fatalf("before, the index has only %q", found)
			}
			if when == "stopped" {
				shut(t, x)
			}
			tell := func(paths ...string) {
				if when != "stopped" {
					x.FilesChanged(paths)
					settle(t, x)
				}
			}
			for _, w := range ways {
				from, into := filepath.Join(dir, w.canary+".go"), filepath.Join(dir, filepath.FromSlash(w.to))
				var err error
				switch {
				case w.to != "":
					if err = os.MkdirAll(filepath.Dir(into), 0o755); err == nil {
						err = os.Rename(from, into)
					}
				case w.text == "":
					err = os.Remove(from)
				}
				if err != nil {
					t.Fatal(err)
				}
				if w.text != "" {
					write(t, dir, map[string]string{w.canary + ".go": w.text})
				}
				switch {
				case when == "there first":
					tell(into)
					tell(filepath.Dir(into))
					tell(from)
				case when == "open":
					x.DidClose(from)
					fallthrough
				default:
					tell(from)
					tell(filepath.Dir(into))
					tell(into)
				}
			}
			if when == "stopped" {
				x = open(t, Config{Dir: dir, StateDir: state})
				settle(t, x)
			}
			awaitGone(t, state, canaries...)
			if err := x.Store().Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A rule counts for what is open in an editor, too, though nothing is typed there: the
// text leaves the index and its files, and is back when the rule is gone.
func TestRulesCountForOpenDocuments(t *testing.T) {
	const canary = "quokkazyx"
	for _, rule := range []string{".quarryignore", ".gitignore", "sub/.quarryignore", ".git/info/exclude"} {
		t.Run(rule, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			text := "package sub\n\n// " + canary + " lives here.\nfunc Quokka() {}\n"
			write(t, dir, map[string]string{".git/HEAD": "ref: refs/heads/main\n", "sub/c.go": text, "sub/d.go": "package sub\n\nfunc D() {}\n"})
			x := open(t, Config{Dir: dir, StateDir: state})
			defer shut(t, x)
			settle(t, x)
			for _, name := range []string{"sub/c.go", "sub/d.go"} {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				x.DidOpen(filepath.Join(dir, name), string(data))
			}
			awaitWiped(t, x)
			if found := onDisk(t, state, canary); len(found) == 0 {
				t.Fatal("the index does not have the text before")
			}
			file := filepath.Join(dir, filepath.FromSlash(rule))
			write(t, dir, map[string]string{rule: "c.go\n"})
			x.FilesChanged([]string{file})
			settle(t, x)
			if got := paths(t, x); slices.Contains(got, "sub/c.go") || !slices.Contains(got, "sub/d.go") {
				t.Errorf("with the rule the index has %q", got)
			}
			awaitWiped(t, x)
			if found := onDisk(t, state, canary); len(found) > 0 {
				t.Errorf("left: %q", found)
			}
			write(t, dir, map[string]string{rule: ""})
			x.FilesChanged([]string{file})
			settle(t, x)
			if got := paths(t, x); !slices.Contains(got, "sub/c.go") {
				t.Errorf("without the rule the index has %q", got)
			}
		})
	}
}

// Whoever asks for a file finds out that a rule has come, though nobody told of it: in the
// place of git's own list, which had no folder, and in the user's list for all
// repositories. The text is not answered, and leaves the index and its files.
func TestRulesThatNobodyTellsOf(t *testing.T) {
	const canary = "quokkazyx"
	for _, rule := range []string{"top/.git/info/exclude", "home/git/ignore", "top/sub/.quarryignore"} {
		for _, opened := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, open: %t", rule, opened), func(t *testing.T) {
				base, state := t.TempDir(), t.TempDir()
				t.Setenv("XDG_CONFIG_HOME", filepath.Join(base, "home"))
				t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(base, "none"))
				t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
				dir := filepath.Join(base, "top")
				text := "package sub\n\n// " + canary + " lives here.\nfunc Quokka() {}\n"
				write(t, dir, map[string]string{".git/config": "[core]\n", "sub/c.go": text, "sub/d.go": "package sub\n\nfunc D() {}\n"})
				x := open(t, Config{Dir: dir, StateDir: state, Brief: true}) // it looks at nothing by itself
				defer shut(t, x)
				if opened {
					x.DidOpen(filepath.Join(dir, "sub/c.go"), text)
				}
				awaitWiped(t, x)
				if found := onDisk(t, state, canary); len(found) == 0 {
					t.Fatal("the index does not have the text before")
				}
				write(t, base, map[string]string{rule: "c.go\n"})
				x.Root().Refresh() // as a question begins
				if got, err := x.Text("sub/c.go"); err == nil {
					t.Errorf("the text is answered: %q", got)
				}
				if _, err := x.Text("sub/d.go"); err != nil {
					t.Error(err)
				}
				awaitWiped(t, x)
				if got := paths(t, x); slices.Contains(got, "sub/c.go") || !slices.Contains(got, "sub/d.go") {
					t.Errorf("with the rule the index has %q", got)
				}
				if found := onDisk(t, state, canary); len(found) > 0 {
					t.Errorf("left: %q", found)
				}
			})
		}
	}
}

// What a scan leaves out, and was never indexed, is no reason to write anything anew: neither a secret's
// text nor any other.
func TestWhatWasNeverIndexedLeavesNothing(t *testing.T) {
	cfg := Config{Dir: t.TempDir(), StateDir: t.TempDir()}
	write(t, cfg.Dir, map[string]string{"a.go": "package a\n", "keyed.txt": "-----BEGIN " + "PRIVATE KEY-----\nMII\n", "b.bin": "\x00\x01"})
	aged() // or a.go is noted again, and the state is another one
	generation := int64(0)
	for range 2 {
		x := open(t, cfg)
		settle(t, x)
		forgotten, _, err := x.Store().Forgotten(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now, later, err := x.Store().NeedsWipe(t.Context())
		if forgotten != 0 || now || later || err != nil {
			t.Errorf("forgotten before %d, to be wiped now %t, later %t, %v", forgotten, now, later, err)
		}
		before := generation
		if generation, err = x.Store().Load(t.Context(), []int64{}, nil); err != nil || before > 0 && generation != before {
			t.Errorf("state %d, and %d before, %v", generation, before, err)
		}
		listing := x.state.listing()
		shut(t, x)
		if err := os.Remove(listing); err != nil { // so that all of it is read again
			t.Fatal(err)
		}
	}
}

// An edit that comes between what a scan found and its being written does not take away
// that the scan found a text that nobody may read any more.
func TestAnEditKeepsTheWipe(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"keyed.txt": "quokkazyx\n", "edited.go": "package a\n"})
	x := open(t, Config{Dir: dir, StateDir: t.TempDir()})
	defer shut(t, x)
	awaitWiped(t, x)
	x.cancel() // from here on this test is the coordinator
	x.stopped.Wait()
	ctx := t.Context()
	c := &coordinator{Index: x, fresh: map[string]found{}, scan: &scan{}}
	c.add(ctx, result{entry: walk.Entry{Path: "keyed.txt"}, secret: true})
	x.DidChange(filepath.Join(dir, "edited.go"), "package a\n\nfunc Edited() {}\n")
	if err := c.refresh(ctx, []string{"edited.go"}); err != nil {
		t.Fatal(err)
	}
	if due, _, err := x.Store().NeedsWipe(ctx); due || err != nil {
		t.Fatalf("the edit is private: %t, %v", due, err)
	}
	if err := c.flush(ctx); err != nil {
		t.Fatal(err)
	}
	if due, _, err := x.Store().NeedsWipe(ctx); !due || err != nil || !c.wipe {
		t.Errorf("nothing is to be wiped: %t, %v", due, err)
	}
}

// What leaves the index after it was written anew, and before the coordinator hears of that, is not forgotten.
func TestWhatLeavesMeanwhileIsWiped(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"edited.go": "package a\n"})
	x := open(t, Config{Dir: dir, StateDir: t.TempDir()})
	defer shut(t, x)
	awaitWiped(t, x)
	x.cancel() // from here on this test is the coordinator
	x.stopped.Wait()
	ctx := t.Context()
	c := &coordinator{Index: x, fresh: map[string]found{}}
	meanwhile := func(leave func()) {
		t.Helper()
		c.wipeLater()
		then, err := c.wipeNow(ctx, c.Store())
		if err != nil {
			t.Fatal(err)
		}
		leave()
		then()
	}
	meanwhile(func() {
		x.DidChange(filepath.Join(dir, "edited.go"), "package a\n\nfunc Edited() {}\n")
		if err := errors.Join(c.refresh(ctx, []string{"edited.go"}), c.flush(ctx)); err != nil {
			t.Fatal(err)
		}
	})
	if c.wipe || c.wipeAt.IsZero() {
		t.Errorf("what an edit removed: at once %t, at %v", c.wipe, c.wipeAt)
	}
	meanwhile(func() { c.excludedLeaves(ctx) })
	if !c.wipe {
		t.Error("what was excluded stays")
	}
	meanwhile(func() {})
	if c.wipe || !c.wipeAt.IsZero() {
		t.Errorf("nothing left: at once %t, at %v", c.wipe, c.wipeAt)
	}
}

// A database that was left for want of room, and is written again, says itself what is to leave it.
func TestTheWipeGoesOnWhenTheDiskIsBack(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.go": "package a\n"})
	x := open(t, Config{Dir: dir, StateDir: t.TempDir()})
	defer shut(t, x)
	awaitWiped(t, x)
	x.cancel() // from here on this test is the coordinator
	x.stopped.Wait()
	c := &coordinator{Index: x, fresh: map[string]found{}}
	if err := errors.Join(x.Store().WipeLater(), x.state.moveToMemory(store.ErrFull), x.state.unlockInMemory()); err != nil {
		t.Fatal(err)
	}
	if err := c.moveToDisk(t.Context()); err != nil || x.Store().InMemory() {
		t.Fatalf("in memory %t, %v", x.Store().InMemory(), err)
	}
	if !c.wipe {
		t.Error("what is to leave the database stays")
	}
}

// What a quarry that masked less has indexed leaves the files when this one has read it.
func TestMaskedLaterLeavesTheFiles(t *testing.T) {
	const token = "q7Zp2LxV9sKd4TnB8wRf3MhY6cGj1EuA5oQi"
	dir, state := t.TempDir(), t.TempDir()
	text := "package a\n\n// Login uses ghp_" + token + " to log in.\nfunc Login() {}\n"
	write(t, dir, map[string]string{"a.go": text, "b.go": "package a\n"})
	x := open(t, Config{Dir: dir, StateDir: state})
	awaitWiped(t, x)
	shut(t, x)
	x = open(t, Config{Dir: dir, StateDir: state, Brief: true})
	known(t, x, map[string]string{"a.go": text}) // in the full-text table, too
	if err := x.Store().PutMeta(scanEnded, "older"); err != nil {
		t.Fatal(err)
	}
	shut(t, x)
	if found := onDisk(t, state, token); len(found) == 0 {
		t.Fatal("the token is not in the files before")
	}
	x = open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, x)
	settle(t, x)
	if due, _, err := x.Store().NeedsWipe(t.Context()); err != nil {
		t.Fatal(err)
	} else if due {
		awaitWiped(t, x)
	}
	if found := onDisk(t, state, token); len(found) > 0 {
		t.Errorf("left: %q", found)
	}
}

// A database that a quarry wrote which let removed rows lie is cleaned once.
func TestOldFreePagesAreWiped(t *testing.T) {
	const canary = "zyxwvwombat"
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"kept.go": "package a\n"})
	x := open(t, Config{Dir: dir, StateDir: state})
	awaitWiped(t, x)
	name := x.state.database()
	shut(t, x)
	old, err := sql.Open("sqlite3", "file:"+name)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []string{
		"PRAGMA secure_delete = OFF", "CREATE TABLE gone (text TEXT)",
		"INSERT INTO gone VALUES ('" + strings.Repeat(canary+" ", 500) + "')", "DROP TABLE gone", "DELETE FROM meta WHERE key = 'wiped'",
	} {
		if _, err := old.Exec(do); err != nil {
			t.Fatalf("%s: %v", do, err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if found := onDisk(t, state, canary); len(found) == 0 {
		t.Fatal("nothing lies in the free pages")
	}
	x = open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, x)
	awaitWiped(t, x)
	if found := onDisk(t, state, canary); len(found) > 0 {
		t.Errorf("left: %q", found)
	}
}

// A token inside of ordinary source is in no file of the index and in no text that is
// read of it, on disk or in an editor; the editor itself can still read it.
func TestTokensAreMaskedInTheIndex(t *testing.T) {
	const token = "ghp_" + "q7Zp2LxV9sKd4TnB8wRf3MhY6cGj1EuA5oQi"
	source := "package a\n\n// " + token + "\nconst Token = \"" + token + "\"\n\nfunc Use() string { return Token }\n"
	if mask.Text(source) == source {
		t.Fatal("this is no token")
	}
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.go": source})
	x := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, x)
	awaitWiped(t, x)
	whole, err := x.OnDisk("a.go")
	if err != nil || whole != source {
		t.Errorf("on disk: %q, %v", whole, err)
	}
	// In an editor there is another one.
	other := strings.NewReplacer("q7Zp2", "k3Yw8").Replace(source)
	for _, text := range []string{source, other} {
		if text == other {
			x.DidOpen(filepath.Join(dir, "a.go"), other)
			settle(t, x)
		}
		got, err := x.Text("a.go")
		if err != nil || got != mask.Text(text) {
			t.Errorf("read: %q, %v", got, err)
		}
		var chunks strings.Builder
		if _, err := x.Store().Load(t.Context(), nil, func(f *store.File) error { fmt.Fprintf(&chunks, "%+v", f.Syntax); return nil }); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(chunks.String(), "q7Zp2") || strings.Contains(chunks.String(), "k3Yw8") {
			t.Error("the index has the token")
		}
	}
	if found := onDisk(t, state, "q7Zp2LxV9sKd", "k3Yw8LxV9sKd"); len(found) > 0 {
		t.Errorf("left: %q", found)
	}
	if got := symbols(t, x, "a.go"); len(got) != 3 {
		t.Errorf("a.go declares %q", got)
	}
}

// What the settings leave out from the next start on is gone before anybody is answered, and
// from the files of the index; without that setting it is back.
func TestExcludeOfSettings(t *testing.T) {
	const canary = "quokkazyx"
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"private/a.go": "package a\n\n// " + canary + " lives here.\nfunc Feed() {}\n", "b.go": "package b\n\nfunc Kept() {}\n"})
	all := Config{Dir: dir, StateDir: state}
	less := all
	less.Limits.Exclude = glob.CompileAll([]string{"private"})
	x := open(t, all)
	awaitWiped(t, x)
	if found := onDisk(t, state, canary); len(found) == 0 {
		t.Fatal("it is not indexed before")
	}
	shut(t, x)
	x = open(t, less)
	if got := symbols(t, x, "Feed"); len(got) != 0 {
		t.Errorf("at once: %v", got)
	}
	awaitWiped(t, x)
	if found := onDisk(t, state, canary); len(found) != 0 {
		t.Errorf("%v", found)
	}
	if got := paths(t, x); !slices.Equal(got, []string{"b.go"}) {
		t.Errorf("%v", got)
	}
	shut(t, x)
	x = open(t, all)
	defer shut(t, x)
	settle(t, x)
	if got := paths(t, x); !slices.Equal(got, []string{"b.go", "private/a.go"}) {
		t.Errorf("%v", got)
	}
}
