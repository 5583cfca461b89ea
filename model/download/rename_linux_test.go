package download

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Windows renames no file that is open. Only Linux tells which ones are.
func TestNothingIsOpenWhenTheFileGetsItsName(t *testing.T) {
	content := []byte(strings.Repeat("weights ", 1000))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(content) // who is gone needs nothing
	}))
	defer server.Close()
	dir, renamed := t.TempDir(), 0
	defer func(was func(from, to string) error) { rename = was }(rename)
	rename = func(from, to string) error {
		renamed++
		links, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Error(err)
		}
		for _, link := range links {
			// A number whose file was closed meanwhile leads nowhere.
			if open, _ := os.Readlink(filepath.Join("/proc/self/fd", link.Name())); strings.HasPrefix(open, dir) && !strings.HasSuffix(open, ".lock") {
				t.Errorf("%s is open", open)
			}
		}
		return os.Rename(from, to)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	path, err := Fetch(t.Context(), File{URL: server.URL, SHA256: sum, Size: int64(len(content))}, dir, Options{})
	if err != nil || renamed != 1 {
		t.Errorf("%s, %v, renamed %d times", path, err, renamed)
	}
}

// What a fetch leaves is found, with how much there is of it and whether somebody is at it.
func TestFindLeft(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(digit string) string { return strings.Repeat(digit, 64) }
	write(sum("a"), "whole")
	write(sum("b")+".part", strings.Repeat("x", 100))            // as long as the whole: the last part came first
	write(sum("b")+".parts", "8 12\n8 3\n8 4\n8 5 2\n8 5 3\n8 ") // the last part is short, another has come in part
	write(sum("c")+".part", "no log")
	write(sum("c")+".lock", "")
	write("notes.txt", "")
	write(sum("A"), "")
	got, err := FindLeft(dir)
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []Left{{SHA256: sum("a"), Bytes: 5, Whole: true}, {SHA256: sum("b"), Bytes: 4 + 8 + 8 + 3}, {SHA256: sum("c"), Bytes: 6}} {
		want.Path = filepath.Join(dir, want.SHA256)
		if got[i] != want {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
	if got, err := FindLeft(filepath.Join(dir, "absent")); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}
