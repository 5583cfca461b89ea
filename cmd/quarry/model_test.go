package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"quarry/cmd/internal/cli/clitest"
	"quarry/cmd/internal/engines"
	"quarry/lsp/settings"
	"quarry/model/catalogue"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

// userSettings gives the test a settings file of its own and answers its path.
func userSettings(t *testing.T, text string) string {
	t.Helper()
	clitest.UserConfig(t, t.TempDir())
	t.Setenv("HOME", t.TempDir())
	path := settings.UserFilePath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// answering runs a command with words on its standard input.
func answering(t *testing.T, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	code = run(t.Context(), args, strings.NewReader(input), &out, &err)
	return code, out.String(), err.String()
}

// The life of a model, as a user sees it, with a real Ollama: it comes from a file, is
// tried, chosen, listed and removed.
func TestModelCommands(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	path := userSettings(t, `{"logLevel": "warn", "model": "granite4.1:3b"}`)
	at := func(args ...string) []string { return append([]string{"model", "--ollama", server.URL}, args...) }
	expect := func(code int, out string, wantCode int, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Errorf("%q is not said in\n%s", w, out)
			}
		}
		if code != wantCode {
			t.Errorf("exit code %d, want %d:\n%s", code, wantCode, out)
		}
	}

	code, out, _ := answering(t, "", at()...)
	expect(code, out, 0, "granite4.1:3b, not installed", "→ quarry setup model   # ")
	code, out, _ = answering(t, "", at("list")...)
	expect(code, out, 0, "Ollama has no models", "quarry model pull")

	file := filepath.Join(t.TempDir(), "Tiny.gguf")
	if err := ollamatest.WriteGranite(file, ollamatest.Tiny); err != nil {
		t.Fatal(err)
	}
	code, out, _ = answering(t, "", at("import", file)...)
	expect(code, out, 0, "tiny is the file with sha256:", "ok    digest", "fill in the middle", "→ quarry model use tiny")
	code, out, _ = answering(t, "", at("use", "tiny")...)
	expect(code, out, 0, "tiny completes code from now on", path)
	if raw, err := os.ReadFile(path); err != nil || string(raw) != `{"logLevel": "warn", "model": "tiny"}` {
		t.Errorf("the settings are %s, %v", raw, err)
	}
	code, out, _ = answering(t, "", at()...)
	expect(code, out, 0, "completion  tiny, in memory: ", "search", "→ quarry model pull granite-embedding:30m")
	code, out, _ = answering(t, "", at("list")...)
	expect(code, out, 0, "MODEL", "tiny:latest", "completion", "1 models")
	code, out, _ = answering(t, "", at("list", "--json")...)
	var list []modelOutput
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 1 || list[0].Used != "completion" || list[0].Running == nil {
		t.Errorf("%v: %+v", err, list)
	}

	// What does not work is not written down, and what is not said yes to not done.
	server.Create("blind", ollamatest.Shape{Layers: 2, Embedding: 64, FFN: 128, Context: 8192, NoFIM: true})
	code, out, _ = answering(t, "", at("use", "blind")...)
	expect(code, out, 1, "FAIL  fill in the middle")
	code, _, errs := answering(t, "", at("use", "absent")...)
	expect(code, errs, 1, "Ollama has no model absent", "quarry model pull absent")
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), `"tiny"`) {
		t.Errorf("the settings are %s, %v", raw, err)
	}
	code, _, errs = answering(t, "\n", at("rm", "tiny")...)
	expect(code, errs, 0, "quarry uses tiny:latest for completion. Delete tiny:latest", "[y/N]", "Nothing was done")
	code, _, errs = answering(t, "", at("rm", "tiny")...)
	expect(code, errs, 2, "nobody to ask; add --yes")
	code, out, _ = answering(t, "y\n", at("rm", "tiny")...)
	expect(code, out, 0, "Deleted tiny:latest")
	code, _, errs = answering(t, "", at("verify")...)
	expect(code, errs, 1, "Ollama has no model tiny")
}

// The digest that a catalogue names is the one that counts.
func TestModelVerifyWantsTheCataloguesDigest(t *testing.T) {
	server := ollamatest.Start(t)
	userSettings(t, "{}")
	own := `{"version": 1, "models": [{"name": "granite4.1:3b", "use": "completion", "digest": "sha256:00ff"}]}`
	if err := os.WriteFile(engines.CataloguePath(), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := answering(t, "", "model", "verify", "--ollama", server.URL)
	if code != 1 || !strings.Contains(out, "FAIL  digest") || !strings.Contains(out, "the catalogue wants sha256:00ff") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// Another sum of a model of Ollama's library than the catalogue's is no failure, and a script can tell it from one that is as known.
func TestModelVerifyNotesAnotherSum(t *testing.T) {
	server := ollamatest.Start(t)
	userSettings(t, "{}")
	own := `{"version": 1, "models": [{"name": "granite4.1:3b", "use": "completion", "library": true, "digest": "sha256:00ff"}]}`
	if err := os.WriteFile(engines.CataloguePath(), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := answering(t, "", "model", "verify", "--ollama", server.URL)
	if code != 0 || !strings.HasPrefix(out, "note  digest ") || !strings.Contains(out, "another than the catalogue knows") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	code, out, _ = answering(t, "", "model", "verify", "--json", "--ollama", server.URL)
	var said doctorOutput
	if err := json.Unmarshal([]byte(out), &said); err != nil || code != 0 || !said.OK || !said.Findings[0].Note || said.Findings[1].Note {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
}

// A file of Ollama's whose bytes have changed is called damaged, although its name is still the catalogue's sum, also after
// a new download, which Ollama does not write; what the message names brings it anew.
func TestModelVerifyReadsTheFile(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	userSettings(t, "{}")
	files, state := t.TempDir(), t.TempDir()
	size, sum := writeModel(t, filepath.Join(files, "tiny.gguf"), ollamatest.Tiny)
	web := httptest.NewServer(http.FileServer(http.Dir(files)))
	defer web.Close()
	raw, err := json.Marshal(map[string]any{"version": 1, "models": []any{
		map[string]any{"name": "ours:1m", "use": "completion", "download": size, "sha256": sum, "url": web.URL + "/tiny.gguf"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(engines.CataloguePath(), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	ollama := server.URL
	says := func(wantCode int, words string, args ...string) {
		t.Helper()
		code, out, errs := answering(t, "", append(args, "--ollama", ollama, "--state-dir", state)...)
		if code != wantCode || !strings.Contains(strings.Join(strings.Fields(out), " "), words) {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s%s", args, code, wantCode, words, out, errs)
		}
	}
	whole := "the file with sha256 " + sum[:12] + " of the catalogue; its bytes were read and have the sum that Ollama names them by"
	says(0, whole, "model", "pull", "ours:1m")
	says(0, whole, "model", "verify", "ours:1m")

	blob := filepath.Join(server.Models(), "blobs", "sha256-"+sum)
	f, err := os.OpenFile(blob, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, 64), int64(size)/2)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	damaged := "its file is damaged, " + blob + " has the sha256 "
	next := "→ run `quarry model rm ours:1m`, then `quarry model pull ours:1m`"
	says(1, damaged, "model", "verify", "ours:1m")
	says(1, next, "model", "verify", "ours:1m")
	says(1, damaged, "model", "pull", "ours:1m")
	says(1, next, "model", "pull", "ours:1m")
	says(1, damaged, "model", "import", filepath.Join(files, "tiny.gguf"), "mine")

	says(0, "", "model", "rm", "ours:1m", "--yes")
	says(0, whole, "model", "pull", "ours:1m")

	// One of an Ollama in a box of its own is not called read.
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		raw, err := io.ReadAll(r.Body)
		raw = bytes.ReplaceAll(raw, []byte(server.Models()), []byte("/in/a/box"))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		r.Header.Set("Content-Length", fmt.Sprint(len(raw)))
		return err
	}
	box := httptest.NewServer(proxy)
	defer box.Close()
	ollama = box.URL
	says(0, "of the catalogue, by the name that Ollama gives it; its bytes were not read", "model", "verify", "ours:1m")
}

// filesBelow are the files in a folder and those below it.
func filesBelow(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// writeModel writes a generated model and answers the file's size and sum.
func writeModel(t *testing.T, path string, shape ollamatest.Shape) (size int, sum string) {
	t.Helper()
	if err := ollamatest.WriteGranite(path, shape); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return len(raw), fmt.Sprintf("%x", sha256.Sum256(raw))
}

// A model of the user's own catalogue comes from a file server, is tried, and only then
// has its name; one that does not work leaves the old one where it is, and no file stays.
func TestModelPullFromAFileServer(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	userSettings(t, "{}")
	files := t.TempDir()
	state := t.TempDir()
	entry := func(name string, shape ollamatest.Shape) map[string]any {
		t.Helper()
		size, sum := writeModel(t, filepath.Join(files, name), shape)
		return map[string]any{"name": "ours:1m", "use": "completion", "download": size, "sha256": sum, "url": "/" + name}
	}
	web := httptest.NewServer(http.FileServer(http.Dir(files)))
	defer web.Close()
	pull := func(e map[string]any) (int, string, string) {
		t.Helper()
		e["url"] = web.URL + e["url"].(string)
		raw, err := json.Marshal(map[string]any{"version": 1, "models": []any{e}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(engines.CataloguePath(), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := answering(t, "", "model", "pull", "ours:1m", "--ollama", server.URL, "--state-dir", state)
		if left := filesBelow(t, filepath.Join(state, "models")); code == 0 && len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		return code, out, errs
	}
	list := func() []modelOutput {
		t.Helper()
		_, out, _ := answering(t, "", "model", "list", "--json", "--ollama", server.URL)
		var list []modelOutput
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}

	code, out, errs := pull(entry("good.gguf", ollamatest.Tiny))
	if code != 0 || !strings.Contains(out, " of the catalogue") || !strings.Contains(out, "the file with sha256 ") || !strings.Contains(out, "→ quarry model use ours:1m") {
		t.Fatalf("exit code %d:\n%s%s", code, out, errs)
	}
	before := list()
	blind := ollamatest.Tiny
	blind.NoFIM = true
	failing := entry("blind.gguf", blind)
	code, out, errs = pull(failing)
	if code != 1 || !strings.Contains(out, "FAIL  fill in the middle") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	// What failed its trial is seen, and so is what a user's own model of a like name is not.
	own := append([]string{"model"}, "--ollama", server.URL, "--state-dir", state)
	server.Create("other:trial", ollamatest.Tiny)
	server.Create("other", ollamatest.Tiny)
	_, out, _ = answering(t, "", append(own, "list")...)
	if !strings.Contains(out, "Left of downloads:\n  of a download: ours:1m, whole, which failed its trial") || !strings.Contains(out, "`quarry model pull ours:1m` goes on, `quarry model clean` removes it") || strings.Contains(out, "other:trial is") {
		t.Errorf("%s", out)
	}
	if _, out, _ = answering(t, "", "doctor", "--ollama", server.URL, "--state-dir", state); !strings.Contains(strings.Join(strings.Fields(out), " "), "downloads of a download: ours:1m, whole, which failed its trial or was not tried ("+catalogue.Gigabytes(int64(failing["download"].(int)))+") → quarry model pull ours:1m goes on with it; quarry model clean removes it") {
		t.Errorf("%s", out)
	}
	code, _, errs = answering(t, "n\n", append(own, "clean")...)
	if left := filesBelow(t, filepath.Join(state, "models")); code != 0 || !strings.Contains(errs, "Delete ") || len(left) == 0 {
		t.Errorf("exit code %d, %v: %s", code, left, errs)
	}
	code, out, errs = answering(t, "", append(own, "clean", "--yes")...)
	if left := filesBelow(t, filepath.Join(state, "models")); code != 0 || len(left) != 0 {
		t.Errorf("exit code %d, %v: %s%s", code, left, out, errs)
	}
	if code, out, _ = answering(t, "", append(own, "clean")...); code != 0 || !strings.Contains(out, "Nothing is left of downloads.") {
		t.Errorf("exit code %d: %s", code, out)
	}
	for _, name := range []string{"other:trial", "other"} { // which an import of other leaves alone
		if code, out, errs := answering(t, "", append(own, "rm", name, "--yes")...); code != 0 {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
	}
	wrong := entry("good.gguf", ollamatest.Tiny)
	wrong["sha256"] = strings.Repeat("0", 64)
	code, _, errs = pull(wrong)
	if code != 1 || !strings.Contains(errs, "another sum") {
		t.Errorf("exit code %d:\n%s", code, errs)
	}
	if after := list(); len(before) != 1 || len(after) != 1 || after[0].Digest != before[0].Digest {
		t.Errorf("%+v became %+v", before, after)
	}
}

// What was kept of a download that was killed comes back by clean where nothing has its name, and stays where what came is not
// tried; a trial goes.
func TestModelClean(t *testing.T) {
	userSettings(t, "{}")
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "a:1b-quarry-before"}, modeltest.Model{Name: "b:1b"}, modeltest.Model{Name: "b:1b-quarry-before"}, modeltest.Model{Name: "c:quarry-trial"}, modeltest.Model{Name: "own:trial"})
	names := func() (names []string) {
		_, out, _ := answering(t, "", "model", "list", "--json", "--ollama", fake.URL)
		var list []modelOutput
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			names = append(names, m.Name)
		}
		slices.Sort(names)
		return names
	}
	state := t.TempDir()
	_, out, _ := answering(t, "", "model", "list", "--ollama", fake.URL, "--state-dir", state)
	for _, want := range []string{
		"a:1b-quarry-before is a:1b as it was before a download that was ended (2.1 GB): `quarry model pull a:1b` goes on, `quarry model clean` removes it",
		"b:1b-quarry-before is the one before b:1b, which was fetched and not tried (2.1 GB): `quarry model pull b:1b` goes on\n",
		"c:quarry-trial is the trial of c, of an import that was ended", "nothing: left of a download",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
	code, out, errs := answering(t, "", "model", "clean", "--yes", "--json", "--ollama", fake.URL, "--state-dir", state)
	var done cleanOutput
	if err := json.Unmarshal([]byte(out), &done); err != nil || code != 0 || !done.Done || len(done.Left) != 3 {
		t.Errorf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	if done.Freed != 2_100_000_000 {
		t.Errorf("%d bytes are called free, want those of the trial", done.Freed)
	}
	if got := names(); !slices.Equal(got, []string{"a:1b", "b:1b", "b:1b-quarry-before", "own:trial"}) {
		t.Errorf("Ollama has %v", got)
	}
}

// What clean deletes it says, and how much of the disk is free again.
func TestModelCleanSaysWhatItDeletes(t *testing.T) {
	userSettings(t, "{}")
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "a:1b-quarry-before"}, modeltest.Model{Name: "c:quarry-trial"})
	state := t.TempDir()
	part := filepath.Join(state, "models", strings.Repeat("0", 64))
	if err := errors.Join(os.MkdirAll(filepath.Dir(part), 0o700), os.WriteFile(part+".part", make([]byte, 3_000_000), 0o600)); err != nil {
		t.Fatal(err)
	}
	code, out, errs := answering(t, "", "model", "clean", "--yes", "--ollama", fake.URL, "--state-dir", state)
	if want := "\na:1b-quarry-before is a:1b again.\nDeleted c:quarry-trial.\nDeleted " + part + ".\nFreed up to 2.1 GB of disk space (files that other models share stay).\n"; code != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("exit code %d, without %q: %s%s", code, want, out, errs)
	}
	if err := os.WriteFile(part+".part", make([]byte, 3_000_000), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, _ = answering(t, "y\n", "model", "clean", "--ollama", fake.URL, "--state-dir", state)
	if want := "Deleted " + part + ".\nFreed 3 MB of disk space.\n"; !strings.HasSuffix(out, want) {
		t.Errorf("without %q: %s", want, out)
	}
}

// The catalogue fits a terminal of 80 columns.
func TestCatalogueFits(t *testing.T) {
	userSettings(t, "{}")
	code, out, errs := answering(t, "", "model", "catalogue", "--ollama", "http://127.0.0.1:9")
	if code != 0 || !strings.Contains(out, "granite-embedding:30m") || !strings.Contains(out, "\n  finds code by its meaning") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > usualColumns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// However a process ends while it brings a new version, the name means the old one or
// the new one, whole.
func TestModelPullKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 50 processes: left out by -short")
	}
	server := ollamatest.StartEmpty(t)
	userSettings(t, "{}")
	files, state := t.TempDir(), t.TempDir()
	web := httptest.NewServer(http.FileServer(http.Dir(files)))
	defer web.Close()
	offer := func(name string, shape ollamatest.Shape) {
		t.Helper()
		size, sum := writeModel(t, filepath.Join(files, name), shape)
		own := fmt.Sprintf(`{"version": 1, "models": [{"name": "ours:1m", "use": "completion", "download": %d, "sha256": "%s", "url": "%s/%s"}]}`, size, sum, web.URL, name)
		if err := os.WriteFile(engines.CataloguePath(), []byte(own), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pull := []string{"model", "pull", "ours:1m", "--ollama", server.URL, "--state-dir", state}
	digests := func() map[string]string {
		t.Helper()
		_, out, _ := answering(t, "", "model", "list", "--json", "--ollama", server.URL)
		var list []modelOutput
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, m := range list {
			found[m.Name] = m.Digest
		}
		return found
	}
	whole := func() string {
		t.Helper()
		if code, out, errs := answering(t, "", pull...); code != 0 {
			t.Fatalf("exit code %d:\n%s%s", code, out, errs)
		}
		found := digests()
		if len(found) != 1 {
			t.Errorf("beside the model: %v", found)
		}
		return found["ours:1m"]
	}
	shapes := []ollamatest.Shape{ollamatest.Tiny, {Layers: 1, Embedding: 64, FFN: 64, Context: 4096}}
	offer("first.gguf", shapes[0])
	first := whole()
	offer("second.gguf", shapes[1])
	begin := time.Now()
	second := whole()
	takes := time.Since(begin)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 50 {
		offer("next.gguf", shapes[n%2])
		child := exec.Command("quarry", pull...) // testscript.Main put it on the PATH
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(random.Int64N(int64(takes))), func() { _ = child.Process.Kill() })
		_ = child.Wait() // killed or done
		kill.Stop()
		found := digests()
		// Ollama goes on for a moment with what it was asked, and empties a manifest before it
		// writes it: who asks right then is told of no model.
		for begin := time.Now(); found["ours:1m"] == "" && time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
			found = digests()
		}
		if d := found["ours:1m"]; d != first && d != second {
			t.Fatalf("kill %d: the name means %q, neither %q nor %q", n, d, first, second)
		}
	}
	if last := whole(); last != second {
		t.Errorf("the last version is %s, not %s", last, second)
	}
}

// However a process ends while it pulls through Ollama's library, the name means a version that was
// there before or the one that is offered, whole; and one that works has its name back as soon as a pull has found
// that the new one does not.
func TestLibraryPullKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 50 processes: left out by -short")
	}
	server := ollamatest.StartEmpty(t)
	userSettings(t, "{}")
	from := ollamatest.NewRegistry(t)
	url := ollamatest.Insecure(t, server.URL).URL
	blind := ollamatest.Tiny
	blind.NoFIM = true
	dir := t.TempDir()
	var versions []string // two that work, and one that cannot complete in the middle
	for n, shape := range []ollamatest.Shape{ollamatest.Tiny, {Layers: 1, Embedding: 64, FFN: 64, Context: 4096}, blind} {
		versions = append(versions, filepath.Join(dir, fmt.Sprint(n, ".gguf")))
		writeModel(t, versions[n], shape)
	}
	pull := []string{"model", "pull", from.Model, "--ollama", url, "--state-dir", t.TempDir()}
	list := func() map[string]string {
		t.Helper()
		_, out, _ := answering(t, "", "model", "list", "--json", "--ollama", url)
		var list []modelOutput
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, m := range list {
			found[m.Name] = m.Digest
		}
		return found
	}
	// whole lets a pull end by itself and answers what the name means then.
	whole := func(want int) string {
		t.Helper()
		code, out, errs := answering(t, "", pull...)
		if code != want {
			t.Fatalf("exit code %d, want %d:\n%s%s", code, want, out, errs)
		}
		found := list()
		if len(found) != 1 {
			t.Errorf("beside the model: %v", found)
		}
		return found[from.Model]
	}
	var digests []string
	for _, file := range versions[:2] {
		from.Offer(t, file, nil)
		digests = append(digests, whole(0))
	}
	from.Offer(t, versions[2], nil)
	begin := time.Now()
	if d := whole(1); d != digests[1] {
		t.Fatalf("the name means %s, not %s, which works", d, digests[1])
	}
	takes := time.Since(begin)
	random := rand.New(rand.NewPCG(3, 4))
	untried, named := "", strings.TrimSuffix(from.Model, ":latest") // which Ollama leaves out
	for n := range 50 {
		offered := n % 3
		from.Offer(t, versions[offered], nil)
		child := exec.Command("quarry", pull...) // testscript.Main put it on the PATH
		child.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(random.Int64N(int64(takes))), func() { _ = child.Process.Kill() })
		_ = child.Wait() // killed or done
		kill.Stop()
		found := list()
		// Ollama goes on for a moment with what it was asked, and empties a manifest before it
		// writes it: who asks right then is told of no model.
		for begin := time.Now(); found[from.Model] == "" && time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
			found = list()
		}
		switch d := found[from.Model]; {
		case d == digests[0], d == digests[1]:
		case d == "":
			t.Fatalf("kill %d: the name means nothing", n)
		case untried == "" || d == untried: // of the one that does not work there is one, which was killed before its trial
			if untried = d; found[named+":quarry-before"] == "" {
				t.Errorf("kill %d: a version that was not tried has the name, and none is kept", n)
			}
			_, out, _ := answering(t, "", "doctor", "--ollama", url, "--model", from.Model)
			if !strings.Contains(strings.Join(strings.Fields(out), " "), named+", which was fetched and not tried") || !strings.Contains(out, "quarry model pull "+named) {
				t.Errorf("kill %d: doctor does not say it:\n%s", n, out)
			}
		default:
			t.Fatalf("kill %d: the name means %q, which was never offered", n, d)
		}
		if offered == 2 {
			if d := whole(1); d != digests[0] && d != digests[1] {
				t.Fatalf("kill %d: the version that does not work has the name after the next pull", n)
			}
		}
	}
	from.Offer(t, versions[1], nil)
	if d := whole(0); d != digests[1] {
		t.Errorf("the last version is %s, not %s", d, digests[1])
	}
}

// A newcomer is told which model suits the machine and why, and one yes does the rest: it is
// fetched, tried and written into the settings.
func TestSetupModel(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	path := userSettings(t, `{"embedding.enabled": false}`)
	files := t.TempDir()
	size, sum := writeModel(t, filepath.Join(files, "tiny.gguf"), ollamatest.Tiny)
	web := httptest.NewServer(http.FileServer(http.Dir(files)))
	defer web.Close()
	// The first of the catalogue, and the smallest: it suits every machine.
	own := fmt.Sprintf(`{"version": 1, "models": [{"name": "ours:1m", "use": "completion", "download": %d, "memory": 1000000, "sha256": "%s", "url": "%s/tiny.gguf"}]}`, size, sum, web.URL)
	if err := os.WriteFile(engines.CataloguePath(), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	setup := func(answer string, more ...string) (int, string, string) {
		return answering(t, answer, append([]string{"setup", "model", "--ollama", server.URL, "--state-dir", t.TempDir()}, more...)...)
	}
	unchanged := func() {
		t.Helper()
		if raw, err := os.ReadFile(path); err != nil || string(raw) != `{"embedding.enabled": false}` {
			t.Errorf("%s, %v", raw, err)
		}
	}
	fetches := catalogue.Gigabytes(int64(size))
	says := "completion  ours:1m (" + fetches + " to fetch): it takes about 1 MB"
	code, out, errs := setup("", "--print")
	if code != 0 || errs != "" || !strings.Contains(out, "This machine: ") || !strings.Contains(out, "has 0 models") || !strings.Contains(out, says) || !strings.Contains(out, "embedding.enabled switches") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	code, out, errs = setup("n\n")
	if code != 0 || !strings.Contains(out, says) || !strings.Contains(errs, "Fetch ours:1m ("+fetches+"), try it, and write ours:1m into "+path+"? [y/N]") || !strings.Contains(errs, "Nothing was done") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	unchanged()
	var answer setupModelAnswer
	code, out, _ = setup("", "--json")
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 || answer.Completion.Name != "ours:1m" || answer.Completion.Why == "" || answer.Done || answer.Machine.Processors == 0 {
		t.Errorf("exit code %d, %v:\n%s", code, err, out)
	}
	unchanged()
	code, out, errs = setup("y\n")
	if code != 0 || !strings.Contains(out, "ok    fill in the middle") || !strings.Contains(out, "ours:1m completes code from now on") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), `"model": "ours:1m"`) {
		t.Errorf("the settings are %s, %v", raw, err)
	}
	code, out, errs = setup("")
	if code != 0 || errs != "" || !strings.Contains(out, "ours:1m (installed): Ollama has it, your settings name it, and it takes") || !strings.Contains(out, "All of it is set up") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	code, _, errs = setup("", "--undo")
	if code != 2 || !strings.Contains(errs, "quarry model use NAME") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, out, _ = answering(t, "", "doctor", "--ollama", server.URL)
	if code != 0 || !strings.Contains(out, "advice") || !strings.Contains(out, "ours:1m suits ") || strings.Contains(out, "quarry setup model") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// A model for search that cannot be fetched keeps the one that completes from being used no more.
func TestSetupModelUsesWhatCame(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	path := userSettings(t, `{"embedding.model": "absent:1m"}`)
	files := t.TempDir()
	size, sum := writeModel(t, filepath.Join(files, "tiny.gguf"), ollamatest.Tiny)
	web := httptest.NewServer(http.FileServer(http.Dir(files)))
	defer web.Close()
	entry := func(name, use, file string) string {
		return fmt.Sprintf(`{"name": %q, "use": %q, "download": %d, "memory": 1000000, "sha256": %q, "url": "%s/%s"}`, name, use, size, sum, web.URL, file)
	}
	own := `{"version": 1, "models": [` + entry("ours:1m", "completion", "tiny.gguf") + `, ` + entry("absent:1m", "search", "absent.gguf") + `]}`
	if err := os.WriteFile(engines.CataloguePath(), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := answering(t, "", "setup", "model", "--yes", "--ollama", server.URL, "--state-dir", t.TempDir())
	if code != 1 || !strings.Contains(out, "ours:1m completes code from now on") || !strings.Contains(errs, "404") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), `"ours:1m"`) {
		t.Errorf("the settings are %s, %v", raw, err)
	}
}

// What is there serves before what would be fetched, and what does not fit is not advised.
func TestSetupModelChooses(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "qwen2.5-coder:1.5b"}, modeltest.Model{Name: "granite4:micro"})
	fake.ScriptEmbed(countLetters)
	path := userSettings(t, "{}")
	setup := func(budget string, more ...string) (int, string, string) {
		t.Setenv("QUARRY_MEMORY_BUDGET_MB", budget)
		return answering(t, "", append([]string{"setup", "model", "--ollama", fake.URL}, more...)...)
	}
	code, out, errs := setup("3000", "--print") // room for 2.4 GB
	if code != 0 || !strings.Contains(out, "qwen2.5-coder:1.5b (installed): Ollama has it already, and it takes about 2.0 GB of the 2.4 GB") || !strings.Contains(out, "granite-embedding:30m (63 MB to fetch): both fit at once") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	code, out, errs = setup("2600", "--print")
	if code != 0 || !strings.Contains(out, "qwen2.5-coder:1.5b (installed)") || !strings.Contains(out, "search      two models do not fit at once") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	code, out, errs = setup("2600", "--yes", "--json")
	var answer setupModelAnswer
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 || !answer.Done || len(answer.Findings) == 0 || len(answer.Fetch) != 0 || len(answer.Use) != 1 {
		t.Errorf("exit code %d, %v:\n%s%s", code, err, out, errs)
	}
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), `"qwen2.5-coder:1.5b"`) {
		t.Errorf("the settings are %s, %v", raw, err)
	}
	fake.Stop()
	code, out, errs = setup("2600")
	if code != 1 || !strings.Contains(out, "completion  qwen2.5-coder:1.5b (986 MB to fetch)") || !strings.Contains(errs, "Ollama does not answer") {
		t.Errorf("without Ollama: exit code %d:\n%s%s", code, out, errs)
	}
}

// What Ollama has and is known to complete serves before a download, although neither the catalogue nor the settings name it:
// because Ollama says so or its name does, and nothing says otherwise.
func TestSetupModelTakesWhatIsThere(t *testing.T) {
	for name, test := range map[string]struct {
		has  []modeltest.Model
		want string // "" for a download
	}{
		"Ollama says so":   {[]modeltest.Model{{Name: "mine:7b"}, {Name: "yours:7b", Inserts: true}}, "yours:7b"},
		"its name does":    {[]modeltest.Model{{Name: "llama3:8b"}, {Name: "deepseek-coder:6.7b"}}, "deepseek-coder:6.7b"},
		"nobody does":      {[]modeltest.Model{{Name: "mine:7b"}, {Name: "llama3:8b"}, {Name: "qwen3:8b"}}, ""},
		"it has no tags":   {[]modeltest.Model{{Name: "yours:7b", Inserts: true, NoFIM: true}}, ""},
		"it is a hybrid":   {[]modeltest.Model{{Name: "granite4:small-h", Architecture: "granitehybrid"}}, ""},
		"it was on trial":  {[]modeltest.Model{{Name: "codestral:quarry-trial"}}, ""},
		"it is for search": {[]modeltest.Model{{Name: "granite-embed:30m"}}, ""},
	} {
		fake := modeltest.NewServer(t)
		fake.SetModels(test.has...)
		userSettings(t, `{"embedding.enabled": false}`)
		t.Setenv("QUARRY_MEMORY_BUDGET_MB", "64000")
		want := " to fetch): "
		if test.want != "" {
			want = "completion  " + test.want + " (installed): Ollama has it already, and it takes about"
		}
		if code, out, errs := answering(t, "", "setup", "model", "--print", "--ollama", fake.URL); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d:\n%s%s", name, code, out, errs)
		}
		if loads := fake.Loads(); test.want == "" && name != "it has no tags" && loads > 0 {
			t.Errorf("%s: %d models were loaded", name, loads)
		}
	}
}

// A model that completes nothing is not what one yes leads to, although the settings name it.
func TestSetupModelLeavesWhatCompletesNothing(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "llama3:8b", NoFIM: true}, modeltest.Model{Name: "qwen2.5-coder:1.5b"})
	path := userSettings(t, `{"model": "llama3:8b", "embedding.enabled": false}`)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "64000")
	code, out, errs := answering(t, "", "setup", "model", "--yes", "--ollama", fake.URL)
	if code != 0 || !strings.Contains(out, "qwen2.5-coder:1.5b completes code from now on") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), `"qwen2.5-coder:1.5b"`) {
		t.Errorf("the settings are %s, %v", raw, err)
	}
}

// Where none of the known models completes anything, that is said instead of "all of it is set up".
func TestSetupModelKnowsNone(t *testing.T) {
	fake := modeltest.NewServer(t)
	list, err := catalogue.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []modeltest.Model
	for _, m := range list.Models {
		all = append(all, modeltest.Model{Name: m.Name, NoFIM: true})
	}
	fake.SetModels(all...)
	userSettings(t, `{"embedding.enabled": false}`)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "64000")
	code, out, errs := answering(t, "y\n", "setup", "model", "--ollama", fake.URL)
	if code != 1 || !strings.Contains(errs, "no model that quarry knows completes code on this machine") || !strings.Contains(errs, "quarry model pull NAME") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}

// Nor is it what the catalogue says to suit this machine.
func TestTheCatalogueAdvisesWhatCompletes(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "llama3:8b", NoFIM: true}, modeltest.Model{Name: "qwen2.5-coder:1.5b"})
	userSettings(t, `{"model": "llama3:8b"}`)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "64000")
	code, out, errs := answering(t, "", "model", "catalogue", "--ollama", fake.URL)
	if code != 0 || !strings.Contains(out, "For this machine: qwen2.5-coder:1.5b;") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}

// Nor one that a catalogue knows, where what has its name completes nothing.
func TestTheCatalogueTriesWhatItKnows(t *testing.T) {
	fake := modeltest.NewServer(t)
	blind := modeltest.Model{Name: "qwen2.5-coder:1.5b", NoFIM: true}
	fake.SetModels(blind, modeltest.Model{Name: "granite4.1:3b"})
	userSettings(t, `{"model": "qwen2.5-coder:1.5b"}`)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "64000")
	code, out, errs := answering(t, "", "model", "catalogue", "--ollama", fake.URL)
	if code != 0 || !strings.Contains(out, "For this machine: granite4.1:3b;") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	known, err := catalogue.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []modeltest.Model
	for _, m := range known.Models {
		all = append(all, modeltest.Model{Name: m.Name, NoFIM: true})
	}
	fake.SetModels(all...)
	code, out, errs = answering(t, "", "model", "catalogue", "--ollama", fake.URL)
	if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), "no model that quarry knows completes code on this machine") || strings.Contains(out, "For this machine:") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}

// While a setting keeps models from being asked nobody is told that one completes code from now on.
func TestAChosenModelThatIsNotAskedYet(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "qwen2.5-coder:1.5b"}, modeltest.Model{Name: "granite-embedding:30m"})
	fake.ScriptEmbed(countLetters)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "64000")
	const off, ask = "`ollama.enabled` is false", ", so quarry does not ask yet: set that to true in your settings.\n"
	for _, test := range []struct{ set, args, says string }{
		{`{"profile": "model-free"}`, "model use granite4.1:3b", "\nYour settings name granite4.1:3b, but " + off + " (profile model-free)" + ask},
		{`{"ollama": {"enabled": false}, "model": "other:1b"}`, "setup model --yes", "\nYour settings name qwen2.5-coder:1.5b, but " + off + ask},
		{`{"ollama": {"enabled": false}}`, "setup model", "\nAll of it is set up, but " + off + ask},
		{`{"embedding": {"enabled": false}}`, "model use granite-embedding:30m", "\nYour settings name granite-embedding:30m, but `embedding.enabled` is false" + ask},
		{`{"profile": "model-free", "ollama": {"enabled": true}}`, "model use qwen2.5-coder:1.5b", "qwen2.5-coder:1.5b completes code from now on"},
	} {
		userSettings(t, test.set)
		code, out, errs := answering(t, "", append(strings.Fields(test.args), "--ollama", fake.URL, "--state-dir", t.TempDir())...)
		if code != 0 || errs != "" || !strings.Contains(out, test.says) || strings.HasSuffix(test.says, ask) && strings.Contains(out, "from now on") {
			t.Errorf("%s with %s: exit code %d, want %q:\n%s%s", test.args, test.set, code, test.says, out, errs)
		}
	}
}
