package main

import (
	"encoding/json"
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
