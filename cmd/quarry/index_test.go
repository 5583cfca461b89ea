package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/index"
	"quarry/model/modeltest"
)

// While a command keeps the index, as one that embeds does for hours, it sees what
// changes on disk: an editor opened meanwhile only reads.
func TestIndexCommandSeesTheDisk(t *testing.T) {
	server := modeltest.NewServer(t)
	server.SetModels(modeltest.Model{Name: "letters"})
	dir, state := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{"XDG_CONFIG_HOME": t.TempDir(), "OLLAMA_HOST": server.URL} {
		t.Setenv(name, value)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	write("a.go", "package a\n")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var once sync.Once
	server.ScriptEmbed(func(r modeltest.Request) modeltest.EmbedAnswer {
		once.Do(func() {
			write("saved.go", "package a\n\nfunc saved() {}\n")
			for {
				switch st, err := index.Peek(ctx, index.Config{Dir: dir, StateDir: state}, 0); {
				case err != nil:
					t.Errorf("saved.go is not indexed while the command embeds: %v", err)
					return
				case st.Files == 2:
					return
				}
			}
		})
		return countLetters(r)
	})
	var said bytes.Buffer
	args := []string{"index", "--embed", "--embedding-model", "letters", "--workspace", dir, "--state-dir", state}
	if code := run(t.Context(), args, strings.NewReader(""), &said, &said); code != 0 {
		t.Errorf("exit code %d: %s", code, said.String())
	}
}
