package walk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/index/systest"
)

// walked answers "path" for files and "path (reason)" for what was left out.
func walked(t *testing.T, r *Root) (files, skips []string) {
	t.Helper()
	err := r.Walk(context.Background(), "", Visitor{
		Dir:  func(string) {},
		File: func(e Entry) error { files = append(files, e.Path); return nil },
		Skip: func(s Skip) { skips = append(skips, s.Path+" ("+string(s.Reason)+")") },
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, skips
}

func root(t *testing.T, dir string) *Root {
	t.Helper()
	r, err := Open(dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestBuiltInListCanBeLifted(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"main.go": "", "go.sum": "", "logo.PNG": "", "app.min.js": "", "app.js.map": "", "data.sqlite": "", "x.tar.gz": "", "a.out.so": "",
		"node_modules/x/index.js": "", "web/package.json": "", "web/dist/a.js": "", "lib/dist/a.js": "", "rust/Cargo.toml": "", "rust/target/x.rs": "",
		"go/vendor/modules.txt": "", "go/vendor/x.go": "", "vendor/own.go": "", "cached/CACHEDIR.TAG": "", "cached/x.go": "",
		".git/HEAD": "", "other/.GIT/config": "", "py/venv/pyvenv.cfg": "", "big.txt": strings.Repeat("x\n", 1<<20),
	})
	files, skips := walked(t, root(t, dir))
	equal(t, "files", files, "lib/dist/a.js", "main.go", "rust/Cargo.toml", "vendor/own.go", "web/package.json")
	equal(t, "skips", skips, "a.out.so (binary)", "app.js.map (minified)", "app.min.js (minified)", "big.txt (too large)", "cached (build output)",
		"data.sqlite (database)", "go/vendor (dependencies)", "go.sum (lock file)", "logo.PNG (media)", "node_modules (dependencies)", "other/.GIT (version control)",
		"py/venv (dependencies)", "rust/target (build output)", "web/dist (build output)", "x.tar.gz (archive)")

	write(t, dir, map[string]string{".quarryignore": "!node_modules/\n!*.min.js\nmain.go\n!.git/\n", ".gitignore": "!logo.PNG\n"})
	files, _ = walked(t, root(t, dir))
	equal(t, "files with a .quarryignore", files, ".gitignore", ".quarryignore", "app.min.js", "lib/dist/a.js", "node_modules/x/index.js",
		"rust/Cargo.toml", "vendor/own.go", "web/package.json")
}

func TestNothingLiftsSecrets(t *testing.T) {
	home(t)
	dir := t.TempDir()
	secrets := []string{
		".env", ".env.local", ".envrc", "conf/.ENV.production", "id_rsa", "keys/id_ed25519.pub", "server.pem", "tls/server.KEY", "cert.p12", "a.pfx", "store.jks",
		".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", ".kube/config", ".docker/config.json", ".aws/credentials", ".aws/other",
		".ssh/known_hosts", ".gnupg/x", "credentials.json", "config/secrets.yml", "secrets.toml", "credentials", "client_secret_123.json", "service-account.json",
		"terraform.tfstate", "terraform.tfstate.backup", "prod.tfvars", ".bash_history", ".cargo/credentials.toml", "vpn.ovpn", "config/master.key", ".vault-token",
	}
	all := map[string]string{}
	for _, s := range secrets {
		all[s] = "x"
	}
	lift := "!*\n!**\n!.env*\n!.ssh/\n!.aws/\n!/.env\n!*.pem\n"
	for _, f := range ignoreFiles {
		all[f] = lift
	}
	open := []string{"credentials.go", "env.go", "secret_test.py", "key.go", "environment.ts", "docs/secrets.md", "kube/config"}
	for _, s := range open {
		all[s] = "x"
	}
	write(t, dir, all)
	r := root(t, dir)
	files, _ := walked(t, r)
	for _, s := range secrets {
		if slices.Contains(files, s) || !slices.Contains([]Reason{Secret, Database}, r.Check(s)) {
			t.Errorf("%s: walked %v, check %q", s, slices.Contains(files, s), r.Check(s))
		}
		if _, err := r.Resolve(s); !isExcluded(err, Secret) {
			t.Errorf("resolve %s: %v", s, err)
		}
	}
	for _, s := range open {
		if !slices.Contains(files, s) || r.Check(s) != "" {
			t.Errorf("%s is left out: %q", s, r.Check(s))
		}
	}
}

func isExcluded(err error, reason Reason) bool {
	var e *Excluded
	return errors.As(err, &e) && e.Reason == reason
}

func TestLinksStayInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on Windows")
	}
	home(t)
	outside := t.TempDir()
	write(t, outside, map[string]string{"x.go": "package x", "d/y.go": ""})
	dir := t.TempDir()
	write(t, dir, map[string]string{"real/a.go": "package a", ".env": "KEY=1", "ignored.log": "", ".gitignore": "*.log\n"})
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"out.go": filepath.Join(outside, "x.go"), "outdir": outside, "in.go": "real/a.go", "indir": "real", "loop": "loop",
		"innocent.txt": ".env", "log.txt": "ignored.log", "up": "../../..",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	r := root(t, link)
	files, _ := walked(t, r)
	equal(t, "files", files, ".gitignore", "real/a.go")
	for name, want := range map[string]Reason{
		"out.go": Outside, "outdir/d/y.go": Outside, "innocent.txt": Secret, "log.txt": Ignored, "../x": Outside, "/etc/hosts": Outside, "up/etc/hosts": Outside,
		"outdir/missing": Outside, filepath.Join(outside, "x.go"): Outside,
	} {
		if rel, err := r.Resolve(name); !isExcluded(err, want) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("resolve %s: %q, %v; want %s", name, rel, err, want)
		}
	}
	for _, name := range []string{"in.go", "indir/a.go", "real/../real/a.go", filepath.Join(dir, "real/a.go"), filepath.Join(link, "real/a.go")} {
		if rel, err := r.Resolve(name); err != nil || rel != "real/a.go" {
			t.Errorf("resolve %s: %q, %v", name, rel, err)
		}
	}
	if _, _, _, err := r.Read("out.go"); err == nil {
		t.Error("Read followed a link out of the root")
	}
	if r.Check("indir/a.go") != Link {
		t.Errorf("check of a path through a link: %q", r.Check("indir/a.go"))
	}
}

func TestWorktreesSubmodulesAndSubfolders(t *testing.T) {
	systest.NeedProgram(t, "git")
	home := home(t)
	base := t.TempDir()
	sub, main := filepath.Join(base, "sub"), filepath.Join(base, "main")
	write(t, sub, map[string]string{"s.txt": "", ".gitignore": "own.log\n"})
	write(t, main, map[string]string{"m.txt": "", ".gitignore": "*.log\n/pkg/gen/\n", "pkg/a.go": "", "pkg/.gitignore": "!keep.log\n"})
	for _, d := range []string{sub, main} {
		git(t, d, home, nil, "init", "-q")
		git(t, d, home, nil, "add", ".")
		git(t, d, home, nil, "commit", "-qm", "x")
	}
	git(t, main, home, nil, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "mod")
	git(t, main, home, nil, "commit", "-qm", "sub")
	write(t, main, map[string]string{".git/info/exclude": "private/\n", "mod/outer.log": "", "mod/own.log": "", "private/x": "", "x.log": "", "pkg/keep.log": "", "pkg/gen/g.go": ""})
	tree := filepath.Join(base, "tree")
	git(t, main, home, nil, "worktree", "add", "-q", tree)
	write(t, tree, map[string]string{"private/x": "", "x.log": "", "t.txt": ""})

	files, _ := walked(t, root(t, main))
	equal(t, "work tree with a submodule", files, ".gitignore", ".gitmodules", "m.txt", "mod/.gitignore", "mod/outer.log", "mod/s.txt", "pkg/.gitignore", "pkg/a.go", "pkg/keep.log")
	files, _ = walked(t, root(t, tree))
	equal(t, "linked worktree", files, ".gitignore", ".gitmodules", "m.txt", "pkg/.gitignore", "pkg/a.go", "t.txt")
	files, _ = walked(t, root(t, filepath.Join(main, "pkg")))
	equal(t, "subfolder", files, ".gitignore", "a.go", "keep.log")
	if len(Head(tree)) != 2 {
		t.Errorf("head of a worktree: %v", Head(tree))
	}
	for _, f := range Head(tree) {
		if _, err := os.Stat(f); err != nil {
			t.Error(err)
		}
	}
}

func TestReloadSeesNewRules(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": ""})
	r := root(t, dir)
	if got := r.Check("a.txt"); got != "" {
		t.Fatalf("check: %q", got)
	}
	write(t, dir, map[string]string{".ignore": "a.txt\n"})
	if !IsRule(".ignore") {
		t.Error(".ignore is no rule")
	}
	r.Reload()
	if got := r.Check("a.txt"); got != Ignored {
		t.Errorf("check after a reload: %q", got)
	}
}

// A clone that is thrown away and made again has the same name, and is another
// folder.
func TestRootMadeAnew(t *testing.T) {
	home(t)
	top := t.TempDir()
	dir := filepath.Join(top, "clone")
	for how, away := range map[string]func() error{
		"deleted": func() error { return os.RemoveAll(dir) },
		"moved":   func() error { return os.Rename(dir, filepath.Join(top, "old")) },
	} {
		if runtime.GOOS == "windows" {
			t.Skip("a folder that is open is neither deleted nor moved on Windows")
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{"a.go": "package old\n", "gone.go": "package old\n"})
		r := root(t, dir)
		if err := away(); err != nil {
			t.Fatal(err)
		}
		if how == "deleted" {
			r.Reload() // there is nothing now
			if _, _, reason, err := r.Read("a.go"); err == nil || reason != Unreadable {
				t.Errorf("%s: a file of no folder: %q, %v", how, reason, err)
			}
		}
		write(t, dir, map[string]string{"a.go": "package fresh\n", "b.go": "package fresh\n", ".gitignore": "*.log\n"})
		// One file, as a watcher's event names it, and then a walk.
		if text, _, _, err := r.Read("b.go"); err != nil || string(text) != "package fresh\n" {
			t.Errorf("%s: b.go is %q, %v", how, text, err)
		}
		files, _ := walked(t, r)
		equal(t, how, files, ".gitignore", "a.go", "b.go")
		for _, f := range files {
			if _, err := r.Stat(f); err != nil {
				t.Errorf("%s: %v", how, err)
			}
		}
		if text, _, _, err := r.Read("a.go"); err != nil || string(text) != "package fresh\n" {
			t.Errorf("%s: a.go is %q, %v", how, text, err)
		}
		if _, _, _, err := r.Read("gone.go"); err == nil {
			t.Errorf("%s: a file of the old folder is still read", how)
		}
	}
}

func TestUnfit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Reason
	}{
		{"source", "package a\n", ""},
		{"zero byte", "ELF\x00\x01", Binary},
		{"zero byte far in", strings.Repeat("a\n", 5000) + "\x00", ""},
		{"one long line", strings.Repeat("x=1;", 10000), Minified},
		{"short one", strings.Repeat("x=1;", 100), ""},
		{"empty", "", ""},
	} {
		if got := unfit([]byte(c.text)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWalkStops(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/1": "", "b/2": "", "c/3": ""})
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := root(t, dir).Walk(ctx, "", Visitor{Dir: func(string) {}, File: func(Entry) error { n++; cancel(); return nil }, Skip: func(Skip) {}})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("walked %d files after cancelling: %v", n, err)
	}
}

// What the kernel makes up is read in no workspace, not even in one of the whole disk.
func TestKernelsFoldersAreLeftOut(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux surely has /proc, /sys and /dev")
	}
	whole, err := Open("/", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	for _, name := range []string{"proc", "sys", "dev", "proc/self/status", "sys/kernel", "dev/null"} {
		if reason := whole.Check(name); reason != Special {
			t.Errorf("/%s: %q", name, reason)
		}
	}
	for _, dir := range []string{"/proc", "/proc/self", "/sys", "/dev"} {
		r, err := Open(dir, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var met []string
		note := func(s Skip) { met = append(met, s.Path+string(s.Reason)) }
		if err := r.Walk(t.Context(), "", Visitor{Dir: func(string) {}, Skip: note, File: func(e Entry) error { met = append(met, e.Path); return nil }}); err != nil {
			t.Error(err)
		}
		if len(met) != 1 || met[0] != string(Special) {
			t.Errorf("%s: met %q", dir, met)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A path may have more than the 260 characters that Windows once stopped at.
func TestLongPaths(t *testing.T) {
	home(t)
	dir := t.TempDir()
	name := strings.Repeat(strings.Repeat("long", 20)+"/", 5) + "a.go"
	write(t, dir, map[string]string{name: "package a\n", "b.go": "package b\n"})
	r := root(t, dir)
	files, skips := walked(t, r)
	equal(t, "files", files, "b.go", name)
	equal(t, "skips", skips)
	if reason := r.Check(name); reason != "" {
		t.Errorf("left out: %s", reason)
	}
	if text, _, reason, err := r.Read(name); err != nil || reason != "" || string(text) != "package a\n" {
		t.Errorf("read %q, %s, %v", text, reason, err)
	}
	abs := filepath.Join(r.Dir(), filepath.FromSlash(name))
	if rel, ok := r.Rel(abs); !ok || rel != name {
		t.Errorf("%s is %q, %v", abs, rel, ok)
	}
	if rel, err := r.Resolve(name); err != nil || rel != name {
		t.Errorf("resolved %q, %v", rel, err)
	}
	deep := root(t, filepath.Dir(abs))
	files, _ = walked(t, deep)
	equal(t, "files of a long root", files, "a.go")
}
