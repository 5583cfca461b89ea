//go:build registries

package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// What stands here is judged by programs of others, which are installed for it: `make test-registries`.

// inRoot runs a command of the root that has the judges, in a folder that is there too.
func inRoot(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.Command("editors/chroot.sh", append([]string{"run", "--root", "registries", "--bind", dir, "--"}, command...)...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(command, " "), err, text)
	}
	return string(text)
}

// python is a package of Python's that judges, of the version that was tried last, in a folder
// of the cache.
func python(t *testing.T, pinned string) (folder string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(cmp.Or(os.Getenv("QUARRY_CACHE"), filepath.Join(home, ".cache", "quarry")), "judges", pinned)
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	part, err := os.MkdirTemp(filepath.Dir(folder), "part-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(part)
	if out, err := exec.Command("python3", "-m", "pip", "install", "-q", "--only-binary=:all:", "--root-user-action", "ignore", "--target", part, pinned).CombinedOutput(); err != nil {
		t.Skipf("%s cannot be fetched: %v\n%s", pinned, err, out)
	}
	if err := os.Rename(part, folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// schemas has files judged by check-jsonschema, whose own copies of schemas have names without a dot.
func schemas(t *testing.T, schema string, files ...string) {
	t.Helper()
	kind := "--builtin-schema"
	if strings.HasSuffix(schema, ".json") {
		kind = "--schemafile"
	}
	cmd := exec.Command("python3", append([]string{"-m", "check_jsonschema", kind, schema}, files...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+python(t, "check-jsonschema==0.39.0"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(files, " "), err, text)
	}
}

func TestJudgedByHomebrewsLanguage(t *testing.T) {
	_, out := released(t)
	inRoot(t, out, "ruby", "-wc", filepath.Join(out, "homebrew", "quarry.rb"))
	t.Run("audit", func(t *testing.T) {
		t.Skip("`brew audit` is in no package registry that is reached here: it comes with Homebrew's own Ruby and its gems")
	})
}

func TestJudgedByScoop(t *testing.T) {
	_, out := released(t)
	schemas(t, filepath.Join(editortest.Plugin(t, "ScoopInstaller/Scoop", "b588a06e41d920d2123ec70aee682bae14935939"), "schema.json"), filepath.Join(out, "scoop", "quarry.json"))
}

// validMason reads all files of Mason's schema, which name each other by addresses, and has a
// package judged by the whole.
const validMason = `
import json, pathlib, sys
import jsonschema, referencing, ruamel.yaml
files = [json.loads(f.read_text()) for f in pathlib.Path(sys.argv[1]).rglob("*.json")]
known = referencing.Registry().with_resources((f["$id"], referencing.Resource.from_contents(f)) for f in files)
whole = next(f for f in files if f.get("title") == "Mason Registry package schema")
package = ruamel.yaml.YAML(typ="safe", pure=True).load(pathlib.Path(sys.argv[2]))
errors = list(jsonschema.Draft202012Validator(whole, registry=known).iter_errors(package))
sys.exit("\n".join(map(str, errors)) or 0)
`

func TestJudgedByMason(t *testing.T) {
	_, out := released(t)
	schema := filepath.Join(editortest.Plugin(t, "mason-org/registry-schema", "a27bd8ccf6334e04f75992bb9eb507d166604b7a"), "schemas")
	judge := func(file string) (string, error) {
		cmd := exec.Command("python3", "-c", validMason, schema, file)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+python(t, "check-jsonschema==0.39.0"))
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	file := filepath.Join(out, "mason", "packages", "quarry", "package.yaml")
	if text, err := judge(file); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	// It does judge.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "linux_x64_gnu", "linux_of_mine", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := judge(file); err == nil || !strings.Contains(text, "linux_of_mine") {
		t.Errorf("a system that Mason does not know: %v: %s", err, text)
	}
}

// nixpkgs is as much of it as the flake asks for; the real one is a repository of a gigabyte.
const nixpkgs = `{
  outputs = { self }: {
    legacyPackages = builtins.listToAttrs (map (system: { name = system; value = {
      stdenv = { isLinux = true; mkDerivation = a: builtins.deepSeq a.meta derivation { inherit system; name = "${a.pname}-${a.version}"; builder = a.src; }; };
      lib = { optional = c: x: if c then [ x ] else []; licenses.asl20 = "Apache-2.0"; };
      fetchurl = a: derivation { inherit system; name = "archive"; builder = a.url; outputHash = a.sha256; outputHashAlgo = "sha256"; outputHashMode = "flat"; };
      autoPatchelfHook = "hook";
      installShellFiles = "files";
    }; }) [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ]);
  };
}
`

func TestJudgedByNix(t *testing.T) {
	_, out := released(t)
	flake := filepath.Join(out, "nix")
	if err := writeFile(filepath.Join(out, "nixpkgs", "flake.nix"), []byte(nixpkgs), 0o644); err != nil {
		t.Fatal(err)
	}
	inRoot(t, out, "nix-instantiate", "--parse", filepath.Join(flake, "flake.nix"))
	said := inRoot(t, out, "env", "HOME="+out, "NIX_REMOTE=", "nix", "--extra-experimental-features", "nix-command flakes", "--option", "sandbox", "false", "--option", "build-users-group", "",
		"flake", "check", "--no-build", "--all-systems", "--override-input", "nixpkgs", "path:"+filepath.Join(out, "nixpkgs"), "path:"+flake)
	for _, system := range []string{"x86_64-linux", "aarch64-linux", "x86_64-darwin", "aarch64-darwin"} {
		if !strings.Contains(said, "packages."+system+".default") {
			t.Errorf("nix has not looked at %s:\n%s", system, said)
		}
	}
}

func TestJudgedByDebian(t *testing.T) {
	_, out := released(t)
	debs, err := filepath.Glob(filepath.Join(out, "deb", "*.deb"))
	if err != nil || len(debs) == 0 {
		t.Fatal(debs, err)
	}
	inRoot(t, out, append([]string{"lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"}, debs...)...)
}

func TestJudgedByMELPAsLanguage(t *testing.T) {
	_, out := released(t)
	inRoot(t, out, "emacs", "--batch", "--eval",
		`(with-temp-buffer (insert-file-contents "`+filepath.Join(out, "melpa", "recipes", "quarry")+`") (let ((recipe (read (current-buffer)))) (unless (and (eq (car recipe) 'quarry) (plist-get (cdr recipe) :url) (plist-get (cdr recipe) :files)) (kill-emacs 1))))`)
}

// npm packs and installs the package and that of this system, without a registry, and what it
// puts on the PATH starts the binary.
func TestJudgedByNPM(t *testing.T) {
	_, out := released(t)
	packages, project := filepath.Join(out, "npm"), t.TempDir()
	npm := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("npm", append([]string{"--offline", "--no-audit", "--no-fund", "--cache", filepath.Join(project, "cache")}, args...)...)
		cmd.Dir = dir
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("npm %v: %v\n%s", args, err, text)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "npm warn") && !strings.Contains(line, "logged in") {
				t.Errorf("npm %v says %s", args, line)
			}
		}
		return string(text)
	}
	dirs, err := filepath.Glob(filepath.Join(packages, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		npm(dir, "publish", "--dry-run", "--tag", "test")
		npm(dir, "pack", "--pack-destination", project)
	}
	if err := os.WriteFile(filepath.Join(project, "package.json"), []byte(`{"name": "project", "version": "1.0.0"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	npm(project, "install", "./quarry-lsp-linux-x64-1.2.3.tgz", "./quarry-lsp-1.2.3.tgz")
	cmd := exec.Command(filepath.Join(project, "node_modules", ".bin", "quarry"), "version")
	text, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 7 || string(text) != "started with version\n" {
		t.Errorf("%v, %q", cmd.ProcessState, text)
	}
}

func TestJudgedWorkflows(t *testing.T) {
	t.Chdir("../..")
	glob := func(pattern string) []string {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, files, err)
		}
		return files
	}
	schemas(t, "vendor.github-workflows", glob(".github/workflows/*.yml")...)
	schemas(t, "vendor.dependabot", ".github/dependabot.yml")
	schemas(t, "vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml")
	schemas(t, "vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/idea.yml")
	zizmor := filepath.Join(python(t, "zizmor==1.32.0"), "bin", "zizmor")
	if text, err := exec.Command(zizmor, "--offline", "--no-progress", "--persona", "regular", ".github").CombinedOutput(); err != nil {
		t.Errorf("zizmor: %v\n%s", err, text)
	}
}
