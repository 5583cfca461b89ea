package live

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"time"

	"quarry/index"
)

// What nobody has searched for a while gives its memory back, and answers as before.
func TestRest(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	path, want := kept(t, dir, state)
	session(t, dir, state, func(_ *index.Index, w *Workspace) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 3 {
			if got := ask(t, w); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			w.rest.Reset(0) // as if the while were over
			for mapped(t, path) > os.Getpagesize() {
				if ctx.Err() != nil {
					t.Fatal("nothing was given back")
				}
				runtime.Gosched()
			}
		}
	})
}

// mapped is how many bytes of a file count as this process's memory.
func mapped(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, of, _ := bytes.Cut(text, []byte(path+"\n"))
	_, of, _ = bytes.Cut(of, []byte("Rss:"))
	fields := bytes.Fields(of)
	if len(fields) == 0 {
		t.Fatal("the snapshot is not mapped")
	}
	kb, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
