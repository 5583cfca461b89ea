package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/index"
	"quarry/index/store"
	"quarry/model/modeltest"
)

// While a command keeps the index, as one that embeds does for hours, it sees what
// changes on disk: an editor opened meanwhile only reads.
func TestIndexCommandSeesTheDisk(t *testing.T) {
	server := modeltest.NewServer(t)
	server.SetModels(modeltest.Model{Name: "letters"})
	dir, state := t.TempDir(), t.TempDir()
	clitest.UserConfig(t, t.TempDir())
	t.Setenv("OLLAMA_HOST", server.URL)
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

// An index that cannot be written is no index for the next command: that is said, with what
// helps, and the exit code says it too.
func TestIndexThatIsNotKept(t *testing.T) {
	root, folder := barn(t), t.TempDir()
	file := filepath.Join(folder, "state")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	newer := t.TempDir()
	db, err := sql.Open("sqlite3", "file:"+indexBarn(t, root, newer))
	if err == nil {
		_, err = db.Exec("PRAGMA user_version = 99")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for state, helps := range map[string]string{file: "free some disk space", newer: "update quarry"} {
		var out, errs strings.Builder
		args := []string{"index", "--workspace", root, "--state-dir", state, "--ollama", noOllama}
		code := run(t.Context(), args, nil, &out, &errs)
		if want := "quarry: the index is not kept: " + helps; code != cli.ExitFailed || !strings.Contains(errs.String(), want) ||
			!strings.Contains(out.String(), "3 files") || !strings.Contains(out.String(), "not kept") || strings.Contains(out.String(), "up to date") {
			t.Errorf("exit %d, printed %q and %q, want %q", code, out.String(), errs.String(), want)
		}
		out.Reset()
		var answer struct {
			Files int
			Kept  *bool
		}
		code = run(t.Context(), append(args, "--json"), nil, &out, &errs)
		if err := json.Unmarshal([]byte(out.String()), &answer); err != nil || code != cli.ExitFailed || answer.Files != 3 || answer.Kept == nil || *answer.Kept {
			t.Errorf("exit %d, %v in %s", code, err, out.String())
		}
	}
}

// Want of room to tidy hides nothing else that went wrong.
func TestTidyingWithoutRoom(t *testing.T) {
	full := fmt.Errorf("tidy the index: %w", store.ErrFull)
	for _, c := range []struct {
		errs []error
		want error
	}{{[]error{nil, nil}, nil}, {[]error{full, nil}, nil}, {[]error{full, full}, nil}, {[]error{full, store.ErrCorrupt}, store.ErrCorrupt}, {[]error{store.ErrCorrupt, full}, store.ErrCorrupt}} {
		if got := unlessFull(slices.Clone(c.errs)...); !errors.Is(got, c.want) || errors.Is(got, store.ErrFull) {
			t.Errorf("%v: %v, want %v", c.errs, got, c.want)
		}
	}
}
