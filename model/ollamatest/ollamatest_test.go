package ollamatest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/model/ollamatest"
)

func TestTheSameShapeGivesTheSameFile(t *testing.T) {
	dir := t.TempDir()
	var files [2][]byte
	for i, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name)
		if err := ollamatest.WriteGranite(path, ollamatest.Tiny); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = data
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two files of one shape differ")
	}
}

// The command stands under testdata, where `./...` does not see it.
func TestTheCommandWritesTheSameFile(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("the command is not compiled where Go is not, as under Wine: %v", err)
	}
	dir := t.TempDir()
	byCommand, byPackage := filepath.Join(dir, "command.gguf"), filepath.Join(dir, "package.gguf")
	cmd := exec.Command("go", "run", "../../testdata/models/tinygranite", "-o", byCommand)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	if err := ollamatest.WriteGranite(byPackage, ollamatest.Tiny); err != nil {
		t.Fatal(err)
	}
	a, errA := os.ReadFile(byCommand)
	b, errB := os.ReadFile(byPackage)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("%d bytes by the command, %d by the package, %v, %v", len(a), len(b), errA, errB)
	}
}

func TestGeneratedGraniteAnswersTheSameAfterARestart(t *testing.T) {
	s := ollamatest.Start(t)
	ask := func() (text string, promptTokens int) {
		body := `{"model":"granite4.1:3b","prompt":"<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>","raw":true,"stream":false,"options":{"num_predict":12,"seed":1}}`
		resp, err := http.Post(s.URL+"/api/generate", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var answer struct {
			Response string
			Tokens   int `json:"prompt_eval_count"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return answer.Response, answer.Tokens
	}
	text, tokens := ask()
	if len(text) < 6 || strings.ContainsFunc(text, func(r rune) bool { return r > '~' }) {
		t.Errorf("the answer is %q, want printable ASCII", text)
	}
	if tokens != 5 {
		t.Errorf("the prompt counts %d tokens, want three tags and two letters", tokens)
	}
	s.Kill()
	if _, err := http.Get(s.URL); err == nil {
		t.Error("a killed Ollama answers")
	}
	s.Restart()
	if again, _ := ask(); again != text {
		t.Errorf("after a restart the same request gives %q, before %q", again, text)
	}
}
