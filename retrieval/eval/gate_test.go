package eval

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the ranks of the gate anew")

const gate = "../../testdata/rank/gate"

// TestGate asks a few questions of two modules and compares every rank with the
// committed ones, so that a change of ranking shows in the diff. After a change
// that is meant: go test ./retrieval/eval -run TestGate -update
func TestGate(t *testing.T) {
	if os.Getenv("GOPROXY") == "off" {
		t.Skip("GOPROXY=off: the modules to search cannot be had")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the committed ranks are those of a Unix machine: files for other systems rank lower")
	}
	corpus := Corpus{
		Repositories: filepath.Join(gate, "repos.json"), Annotations: gate,
		Checkouts: checkoutModules(t, filepath.Join(gate, "repos.json")),
	}
	report, err := corpus.Run(context.Background(), nil, Way{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	last := ""
	for _, o := range report.Outcomes {
		if o.Repository != last {
			last = o.Repository
			fmt.Fprintf(&b, "%s NDCG@10 %.4f\n", last, report.Repositories[last].NDCG)
		}
		fmt.Fprintf(&b, "%4d  %s\n", o.Best, o.Query)
	}
	golden := filepath.Join(gate, "ranks.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("ranks changed; if that is meant, run this test with -update.\ngot\n%s\nwant\n%s", b.String(), want)
	}
}

// checkoutModules downloads the Go modules of a repos.json, checks their sums,
// and answers a folder with a link to each by name.
func checkoutModules(t *testing.T, repos string) string {
	t.Helper()
	var list []struct{ Name, Module, Sum string }
	if err := readJSON(repos, &list); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, r := range list {
		download := func() ([]byte, error) {
			cmd := exec.Command("go", "mod", "download", "-json", strings.TrimPrefix(r.Module, "go:"))
			cmd.Dir = dir
			// The sum stands in repos.json; no checksum database needs to be asked.
			cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GONOSUMDB=*")
			return cmd.Output()
		}
		out, err := download()
		for range 2 { // Go does not repeat what breaks off
			if err == nil {
				break
			}
			t.Logf("download %s: %v %s", r.Module, err, out)
			out, err = download()
		}
		if err != nil {
			t.Fatalf("download %s (GOPROXY=off skips this test): %v %s", r.Module, err, out)
		}
		var got struct{ Dir, Sum string }
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if got.Sum != r.Sum {
			t.Fatalf("%s has the sum %s, want %s", r.Module, got.Sum, r.Sum)
		}
		if err := os.Symlink(got.Dir, filepath.Join(dir, r.Name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
