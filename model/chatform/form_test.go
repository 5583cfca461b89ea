package chatform_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"quarry/model/chatform"
	"quarry/model/ollamatest"
)

// fill fills a template as Ollama does.
func fill(t *testing.T, f chatform.Form, values map[string]any) string {
	t.Helper()
	tmpl, err := template.New("").Option("missingkey=zero").Funcs(template.FuncMap{"json": func(v any) (string, error) {
		raw, err := json.Marshal(v)
		return string(raw), err
	}}).Parse(f.Template)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tmpl.Execute(&b, values); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// turn is a message as Ollama gives it to templates.
func turn(role, text string, calls ...any) map[string]any {
	return map[string]any{"Role": role, "Content": text, "ToolCalls": calls}
}

// Each form puts a system's words before what the user says, each turn behind its role, and ends where the answer begins.
func TestForms(t *testing.T) {
	conversation := map[string]any{"System": "Be brief.", "Messages": []any{turn("system", "Be brief."), turn("user", "Hello"), turn("assistant", "Yes?"), turn("user", "Why?")}}
	for name, want := range map[string]string{
		"granite": "<|start_of_role|>system<|end_of_role|>Be brief.<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>Hello<|end_of_text|>\n" +
			"<|start_of_role|>assistant<|end_of_role|>Yes?<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>Why?<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
		"chatml": "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nYes?<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n",
		"llama3": "<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHello<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nYes?<|eot_id|>" +
			"<|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
		"gemma": "<start_of_turn>user\nBe brief.\n\nHello<end_of_turn>\n<start_of_turn>model\nYes?<end_of_turn>\n<start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>model\n",
	} {
		f, ok := chatform.Named(name)
		if got := fill(t, f, conversation); !ok || got != want || len(f.Stops) == 0 {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if len(chatform.Names()) != 4 {
		t.Errorf("%v: one is not looked at", chatform.Names())
	}
	f, _ := chatform.Named("granite")
	definition := map[string]any{"type": "function", "function": map[string]any{"name": "search"}}
	got := fill(t, f, map[string]any{"System": "", "Tools": []any{definition}, "Messages": []any{
		turn("user", "Where?"), turn("assistant", "", map[string]any{"Function": map[string]any{"Name": "search", "Arguments": `{"query":"x"}`}}), turn("tool", "a.go"),
	}})
	for _, want := range []string{
		"<|start_of_role|>system<|end_of_role|>You may call", "<tools>\n" + `{"function":{"name":"search"},"type":"function"}` + "\n</tools>", "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\":\"x\"}}\n</tool_call><|end_of_text|>",
		"<|start_of_role|>user<|end_of_role|><tool_response>\na.go\n</tool_response><|end_of_text|>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// A file's own template counts first; one without any is of its architecture, unless it was not trained to chat.
func TestOf(t *testing.T) {
	roles := []string{"<|start_of_role|>", "<|end_of_role|>"}
	for _, tt := range []struct {
		about chatform.Header
		want  string
	}{
		{chatform.Header{Architecture: "granite", Template: "{%- for m in messages %}{{ '<|start_of_role|>' + m['role'] }}"}, "granite"},
		{chatform.Header{Architecture: "starcoder2", Template: "{{ '<|im_start|>' }}"}, "chatml"},
		{chatform.Header{Architecture: "granite", Template: "{{ 'Question: ' }}", Tokens: roles}, ""},
		{chatform.Header{Architecture: "granite", Name: "Granite 4.0 Micro", Tokens: roles}, "granite"},
		{chatform.Header{Architecture: "granite", Name: "granite-4.0-micro-base", Tokens: roles}, ""},
		{chatform.Header{Architecture: "granite", Finetune: "Base", Tokens: roles}, ""},
		{chatform.Header{Architecture: "granite", Tokens: roles[:1]}, ""},
		{chatform.Header{Architecture: "llama", Tokens: roles}, ""},
		{chatform.Header{Architecture: "qwen2", Tokens: []string{"<|im_start|>", "<|im_end|>"}}, "chatml"},
		{chatform.Header{}, ""},
	} {
		if got := chatform.Of(tt.about); got.Name != tt.want {
			t.Errorf("%+v: %q, want %q", tt.about, got.Name, tt.want)
		}
	}
}

// The header of a real file is read; one that is cut off anywhere, or says what cannot be, is an error and takes no memory.
func TestReadHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := ollamatest.WriteGranite(path, ollamatest.Tiny); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := chatform.ReadHeader(bytes.NewReader(whole))
	if err != nil || h.Architecture != "granite" || h.Name != "tiny-granite" || len(h.Tokens) != 2 || chatform.Of(h).Name != "granite" {
		t.Errorf("%+v, %v", h, err)
	}
	for n := range 3000 {
		if _, err := chatform.ReadHeader(bytes.NewReader(whole[:n])); err == nil {
			t.Fatalf("the first %d bytes are a header", n)
		}
	}
	file := func(keys uint64, rest ...any) []byte {
		b := bytes.NewBufferString("GGUF")
		for _, v := range append([]any{uint32(3), uint64(0), keys}, rest...) {
			if text, ok := v.(string); ok {
				b.WriteString(text)
				continue
			}
			if err := binary.Write(b, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
		return b.Bytes()
	}
	for name, hostile := range map[string][]byte{
		"many keys":      file(1 << 40),
		"a long text":    file(1, uint64(1)<<50, "x"),
		"a long list":    file(1, uint64(1), "k", uint32(9), uint32(4), uint64(1)<<60),
		"lists of lists": file(1, uint64(1), "k", uint32(9), uint32(9), uint64(1)),
		"no such type":   file(1, uint64(1), "k", uint32(99)),
	} {
		if _, err := chatform.ReadHeader(bytes.NewReader(hostile)); err == nil {
			t.Errorf("%s is a header", name)
		}
	}
}

func FuzzReadHeader(f *testing.F) {
	f.Add([]byte("GGUF\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00k\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00v"))
	f.Fuzz(func(t *testing.T, file []byte) {
		h, _ := chatform.ReadHeader(bytes.NewReader(file)) // it ends, and takes no more memory than there is to read
		if len(h.Template) > len(file) {
			t.Errorf("%d bytes of template in %d", len(h.Template), len(file))
		}
	})
}
