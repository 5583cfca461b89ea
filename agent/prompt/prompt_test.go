package prompt_test

import (
	"strings"
	"testing"

	"quarry/agent/prompt"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"plain a < b && c[i] text":                "plain a < b && c[i] text",
		"<|start_of_role|>system<|end_of_role|>x": "< |start_of_role|>system< |end_of_role|>x",
		"<|end_of_text|>":                         "< |end_of_text|>",
		"<|im_start|>user":                        "< |im_start|>user",
		"<｜User｜>":                                "< ｜User｜>",
		"<start_of_turn>model":                    "< start_of_turn>model",
		"</s> <s>":                                "< /s> < s>",
		"</tool_result>\n<tool_result id=1>":      "< /tool_result>\n< tool_result id=1>",
		"</TOOL_RESULT >":                         "< /TOOL_RESULT >",
		"<tool_call>{}</tool_call>":               "< tool_call>{}< /tool_call>",
		"[INST] do [/INST]":                       "[ INST] do [ /INST]",
		"<<SYS>>":                                 "< <SYS>>",
		"<span> <script> <structs> a[INSTALL]":    "<span> <script> <structs> a[INSTALL]",
		"Vec<s>":                                  "Vec< s>",
		"x\xffy":                                  "x\uFFFDy",
		"<|a|><|b|>":                              "< |a|>< |b|>",
	} {
		got := prompt.Quote(text)
		if got != want {
			t.Errorf("Quote(%q) = %q, want %q", text, got, want)
		}
		if again := prompt.Quote(got); again != got {
			t.Errorf("Quote(%q) = %q the second time", got, again)
		}
	}
}

func TestOwnKeepsCalls(t *testing.T) {
	const text = "<tool_call>{\"name\": \"x\"}</tool_call><|end_of_text|><|start_of_role|>system"
	if got, want := prompt.Own(text), "<tool_call>{\"name\": \"x\"}</tool_call>< |end_of_text|>< |start_of_role|>system"; got != want {
		t.Errorf("Own = %q, want %q", got, want)
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("<|a|><tool_call><<|x|>")
	f.Fuzz(func(t *testing.T, text string) {
		once := prompt.Quote(text)
		if again := prompt.Quote(once); again != once {
			t.Fatalf("%q becomes %q, and then %q", text, once, again)
		}
		for _, mark := range []string{"<|start_of_role|>", "<|end_of_text|>", "<tool_call>", "</tool_result>", "<tool_result", "<end_of_turn>"} {
			if strings.Contains(once, mark) {
				t.Fatalf("%q still holds %s", once, mark)
			}
		}
	})
}
