package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/model/ollamatest"
)

// Whatever a pull through Ollama's library leaves that is killed or whose model fails its trial, `quarry model list` and doctor
// name it and say what to do, and `quarry model clean` gives the disk back.
func TestLeftOfALibraryPull(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	userSettings(t, "{}")
	from := ollamatest.NewRegistry(t)
	url := ollamatest.Insecure(t, server.URL).URL
	t.Setenv("OLLAMA_MODELS", server.Models()) // Ollama says where they are of models that it has
	dir := t.TempDir()
	works, blind := filepath.Join(dir, "works.gguf"), filepath.Join(dir, "blind.gguf")
	writeModel(t, works, ollamatest.Tiny)
	without := ollamatest.Tiny
	without.NoFIM = true
	writeModel(t, blind, without)
	state := t.TempDir()
	run := func(args ...string) (int, string) {
		t.Helper()
		code, out, errs := answering(t, "", append(args, "--ollama", url, "--state-dir", state)...)
		return code, strings.Join(strings.Fields(out+errs), " ")
	}
	says := func(words ...string) {
		t.Helper()
		_, list := run("model", "list")
		_, doctor := run("doctor")
		for _, w := range words {
			if !strings.Contains(list, w) || !strings.Contains(doctor, w) {
				t.Errorf("without %q:\n%s\n%s", w, list, doctor)
			}
		}
		if !strings.Contains(doctor, "quarry model pull "+from.Model+" goes on with it; quarry model clean removes it") {
			t.Errorf("what to do is missing: %s", doctor)
		}
	}
	files := func() (names []string) {
		t.Helper()
		entries, err := os.ReadDir(filepath.Join(server.Models(), "blobs"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	clean := func() {
		t.Helper()
		code, out := run("model", "clean", "--yes", "--json")
		var done cleanOutput
		if err := json.Unmarshal([]byte(out), &done); err != nil || code != 0 || len(done.Left) != 1 || !done.Done {
			t.Errorf("exit code %d, %v: %s", code, err, out)
		}
		if code, out := run("model", "clean"); code != 0 || !strings.Contains(out, "Nothing is left of downloads.") {
			t.Errorf("exit code %d: %s", code, out)
		}
		if left := files(); len(left) != 0 {
			t.Errorf("Ollama still has %v", left)
		}
	}

	// killed in the middle of its weights
	from.Offer(t, works, nil)
	release := from.Hold()
	child := exec.Command("quarry", "model", "pull", from.Model, "--ollama", url, "--state-dir", state)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for notes := []string(nil); len(notes) == 0; notes, _ = filepath.Glob(filepath.Join(state, "models", "pulls", "*.json")) {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("no byte came")
		}
	}
	if _, list := run("model", "list"); strings.Contains(list, "Left of downloads") {
		t.Errorf("a download that is under way is called left: %s", list)
	}
	_ = child.Process.Kill()
	_ = child.Wait() // killed
	release()
	says("parts of " + from.Model + " in " + filepath.Join(server.Models(), "blobs") + ", which Ollama deletes at its next start unless OLLAMA_NOPRUNE is set")
	clean()

	// a new name, whose model fails its trial
	from.Offer(t, blind, nil)
	if code, out := run("model", "pull", from.Model); code != 1 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	says(from.Model + " is fetched, and failed its trial or was not tried")
	clean()

	// a pull that does its work leaves nothing, neither does one after it that fails
	from.Offer(t, works, nil)
	if code, out := run("model", "pull", from.Model); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	before := files()
	from.Offer(t, blind, nil)
	if code, out := run("model", "pull", from.Model); code != 1 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if code, out := run("model", "clean"); code != 0 || !strings.Contains(out, "Nothing is left of downloads.") || len(files()) != len(before) {
		t.Errorf("exit code %d: %s; %v became %v", code, out, before, files())
	}
	if notes, err := os.ReadDir(filepath.Join(state, "models", "pulls")); err != nil || len(notes) != 0 {
		t.Errorf("%v, %v", notes, err)
	}
}

// What a user's own `ollama pull` has fetched, and what another program has given Ollama, is not called left of quarry's
// downloads, and stays where quarry's own goes, with a real Ollama. It is asked about by itself.
func TestCleanLeavesOthersPulls(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	userSettings(t, "{}")
	url := ollamatest.Insecure(t, server.URL).URL
	t.Setenv("OLLAMA_MODELS", server.Models())
	server.Create("some:1b", ollamatest.Tiny) // so that Ollama says where its models are
	state, dir := t.TempDir(), t.TempDir()
	blobs := filepath.Join(server.Models(), "blobs")
	offer := func(layers int) *ollamatest.Registry {
		t.Helper()
		file := filepath.Join(dir, fmt.Sprintf("%d.gguf", layers))
		writeModel(t, file, ollamatest.Shape{Layers: layers, Embedding: 64, FFN: 64, Context: 4096})
		r := ollamatest.NewRegistry(t)
		r.Offer(t, file, nil)
		return r
	}
	run := func(input string, args ...string) string {
		t.Helper()
		code, out, errs := answering(t, input, append(args, "--ollama", url, "--state-dir", state)...)
		if code != 0 {
			t.Errorf("%q: exit code %d: %s%s", args, code, out, errs)
		}
		return strings.Join(strings.Fields(out+errs), " ")
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	parts := func() (n int) {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(blobs, "*-partial"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	reaches := func(n int) {
		t.Helper()
		for parts() != n {
			select {
			case <-tick.C:
			case <-t.Context().Done():
				t.Fatalf("%d files are fetched", parts())
			}
		}
	}

	// The user's, which has fallen silent in its middle.
	theirs := offer(1)
	release := theirs.Hold()
	defer release()
	pulled := make(chan error, 1)
	go func() {
		answer, err := http.Post(url+"/api/pull", "application/json", strings.NewReader(`{"model": "`+theirs.Model+`"}`))
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		pulled <- err
	}()
	reaches(1)
	// What another program gave Ollama, and makes no model of yet.
	given := filepath.Join(blobs, fmt.Sprintf("sha256-%x", sha256.Sum256([]byte("weights"))))
	answer, err := http.Post(fmt.Sprintf("%s/api/blobs/sha256:%x", url, sha256.Sum256([]byte("weights"))), "", strings.NewReader("weights"))
	if err != nil || answer.StatusCode != http.StatusCreated {
		t.Fatalf("%+v, %v", answer, err)
	}
	answer.Body.Close()
	stays := func() {
		t.Helper()
		if _, err := os.Stat(given); err != nil || parts() != 1 {
			t.Errorf("%v, and %d files are fetched", err, parts())
		}
	}
	for _, args := range [][]string{{"model", "list"}, {"doctor"}} {
		code, out, errs := answering(t, "", append(args, "--ollama", url, "--state-dir", state)...)
		if strings.Contains(out+errs, "left of") || strings.Contains(out+errs, "clean") {
			t.Errorf("%q: exit code %d: %s%s", args, code, out, errs)
		}
	}

	// quarry's own, killed.
	ours := offer(2)
	releaseOurs := ours.Hold()
	defer releaseOurs()
	child := exec.Command("quarry", "model", "pull", ours.Model, "--ollama", url, "--state-dir", state)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for notes := []string(nil); len(notes) == 0; notes, _ = filepath.Glob(filepath.Join(state, "models", "pulls", "*.json")) {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("no byte came")
		}
	}
	reaches(2)
	_ = child.Process.Kill()
	_ = child.Wait() // killed
	const strange = "Not quarry's: files of no model in "
	if out := run("", "model", "clean", "--yes"); !strings.Contains(out, "parts of "+ours.Model) || !strings.Contains(out, strange) || !strings.Contains(out, "They stay: `quarry model clean --yes --all` deletes them, too.") {
		t.Errorf("it says %s", out)
	}
	stays()
	for _, answer := range []string{"n\n", ""} {
		if out := run(answer, "model", "clean"); !strings.Contains(out, "Nothing is left of downloads.") || !strings.Contains(out, strange) {
			t.Errorf("it says %s", out)
		}
		stays()
	}
	release()
	if err := <-pulled; err != nil {
		t.Fatal(err)
	}
	if out := run("", "model", "list"); !strings.Contains(out, strings.TrimSuffix(theirs.Model, ":latest")) {
		t.Errorf("the user's model has not come: %s", out)
	}
	if out := run("y\n", "model", "clean"); !strings.Contains(out, "Delete these 7 bytes, too") || !strings.Contains(out, "Deleted the files of no model in "+blobs+". Freed 7 bytes of disk space.") {
		t.Errorf("it says %s", out)
	}
	if _, err := os.Stat(given); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if out := run("", "model", "verify", theirs.Model); !strings.Contains(out, "fill") {
		t.Errorf("the user's model: %s", out)
	}
}
