package model_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	if _, err := model.FindOrphans(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	write("blobs/sha256-"+digest("a"), "weights")
	write("blobs/sha256-"+digest("b"), "its configuration")
	write("blobs/README", "not Ollama's")
	write("manifests/registry.ollama.ai/library/tiny/latest", `{"config": {"digest": "sha256:`+digest("b")+`"}, "layers": [{"digest": "sha256:`+digest("a")+`"}]}`)
	if o, err := model.FindOrphans(dir); err != nil || len(o.Files) != 0 || o.Bytes != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	write("blobs/sha256-"+digest("c")+"-partial", strings.Repeat("x", 1000))
	write("blobs/sha256-"+digest("c")+"-partial-0", `{"N": 0, "Offset": 0, "Size": 600, "Completed": 200}`)
	write("blobs/sha256-"+digest("c")+"-partial-1", `{"N": 1, "Offset": 600, "Size": 400, "Completed": 100}`)
	whole := write("blobs/sha256-"+digest("d"), "twelve bytes")
	write("blobs/sha256-1234", "import") // what Ollama has of an import that its own end broke off
	const bytes = 200 + 100 + 12 + 6
	o, err := model.FindOrphans(filepath.Join(dir, "blobs"))
	if err != nil || len(o.Files) != 5 || o.Bytes != bytes {
		t.Errorf("%+v, %v", o, err)
	}
	write("manifests/registry.ollama.ai/library/broken/latest", "{")
	if o, err := model.FindOrphans(dir); err != nil || len(o.Files) != 4 {
		t.Errorf("%+v, %v", o, err)
	}
	if err := o.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(whole); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "blobs")); err != nil || len(left) != 3 {
		t.Errorf("%v, %v", left, err)
	}
}
