package model_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/model"
)

// What no manifest names is found, with as many bytes as have come, and nothing that a model needs; where a manifest cannot be
// read only parts are.
func TestFindOrphans(t *testing.T) {
	dir := t.TempDir()
	digest := func(c string) string { return strings.Repeat(c, 64) }
	write := func(path, text string) string {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, _, err := model.FindOrphans(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	write("blobs/sha256-"+digest("a"), "weights")
	write("blobs/sha256-"+digest("b"), "its configuration")
	write("blobs/README", "not Ollama's")
	write("manifests/registry.ollama.ai/library/tiny/latest", `{"config": {"digest": "sha256:`+digest("b")+`"}, "layers": [{"digest": "sha256:`+digest("a")+`"}]}`)
	if _, list, err := model.FindOrphans(dir); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	write("blobs/sha256-"+digest("c")+"-partial", strings.Repeat("x", 1000))
	write("blobs/sha256-"+digest("c")+"-partial-0", `{"N": 0, "Offset": 0, "Size": 600, "Completed": 200}`)
	write("blobs/sha256-"+digest("c")+"-partial-1", `{"N": 1, "Offset": 600, "Size": 400, "Completed": 100}`)
	whole := write("blobs/sha256-"+digest("d"), "twelve bytes")
	write("blobs/sha256-1234", "import") // what Ollama has of an import that its own end broke off
	at, list, err := model.FindOrphans(filepath.Join(dir, "blobs"))
	if err != nil || at != filepath.Join(dir, "blobs") || len(list) != 3 {
		t.Fatalf("%s, %+v, %v", at, list, err)
	}
	has := func(list []model.Orphan, digest string, files int, bytes int64) {
		t.Helper()
		i := slices.IndexFunc(list, func(o model.Orphan) bool { return o.Digest == "sha256:"+digest })
		if i < 0 || len(list[i].Files) != files || list[i].Bytes != bytes {
			t.Errorf("of %s: %+v", digest, list)
		}
	}
	has(list, digest("c"), 3, 200+100)
	has(list, digest("d"), 1, 12)
	has(list, "1234", 1, 6)
	write("manifests/registry.ollama.ai/library/broken/latest", "{")
	if _, list, err := model.FindOrphans(dir); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	for _, o := range list {
		if err := o.Remove(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(whole); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "blobs")); err != nil || len(left) != 3 {
		t.Errorf("%v, %v", left, err)
	}
}
