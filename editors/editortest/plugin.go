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
	cache := os.Getenv("QUARRY_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(base, "quarry")
	}
	name := strings.ReplaceAll(repository, "/", "+")
	dir := filepath.Join(cache, "plugins", name+"@"+commit[:12])
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
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(part, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", `git -C "$1" archive "$2" | tar -x -C "$3"`, "sh", git, commit, part).CombinedOutput()
	if err != nil {
		t.Fatalf("unpack %s: %v\n%s", repository, err, out)
	}
	if err := os.Rename(part, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
