package completion

import (
	"regexp"
	"strings"
)

// A Template is how one family of models wants to be asked to fill in the
// middle. The tags are single tokens of the family's vocabulary; every other
// string of theirs in a prompt would be one too, which is why everything that
// comes from the workspace passes [neutralise] first.
type Template struct {
	// Name is the family's name, as the setting gives it.
	Name string
	// models are parts of model names, lower case.
	models                 []string
	prefix, suffix, middle string
	// suffixFirst is the order suffix, prefix, middle; the middle then follows
	// the prefix with no tag between.
	suffixFirst bool
	// stop are tokens that end an answer besides the three tags.
	stop []string
	// chat wraps the fill-in-the-middle prompt into a user turn and opens the
	// assistant's; nil where the family has no such form.
	chat *[2]string
}

// templates is in the order of matching: the first whose model part is in the
// model's name wins. Sources: the models' cards and tokenizer files.
var templates = []*Template{
	granite,
	{
		Name: "qwen2.5-coder", models: []string{"qwen"},
		prefix: "<|fim_prefix|>", suffix: "<|fim_suffix|>", middle: "<|fim_middle|>",
		stop: []string{"<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|im_start|>", "<|im_end|>"},
		chat: &[2]string{"<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"},
	},
	{
		Name: "starcoder2", models: []string{"starcoder"},
		prefix: "<fim_prefix>", suffix: "<fim_suffix>", middle: "<fim_middle>",
		stop: []string{"<|endoftext|>", "<fim_pad>", "<file_sep>", "<repo_name>"},
	},
	{
		Name: "codegemma", models: []string{"codegemma", "gemma"},
		prefix: "<|fim_prefix|>", suffix: "<|fim_suffix|>", middle: "<|fim_middle|>",
		stop: []string{"<|file_separator|>", "<end_of_turn>", "<start_of_turn>", "<eos>"},
		chat: &[2]string{"<start_of_turn>user\n", "<end_of_turn>\n<start_of_turn>model\n"},
	},
	{
		Name: "deepseek-coder", models: []string{"deepseek"},
		prefix: "<｜fim▁begin｜>", suffix: "<｜fim▁hole｜>", middle: "<｜fim▁end｜>",
		stop: []string{"<｜end▁of▁sentence｜>", "<｜begin▁of▁sentence｜>", "<|EOT|>"},
	},
	{
		Name: "codestral", models: []string{"codestral", "mistral", "devstral"},
		prefix: "[PREFIX]", suffix: "[SUFFIX]", middle: "[MIDDLE]", suffixFirst: true,
		stop: []string{"[INST]", "[/INST]", "</s>"},
	},
}

// granite is the default: IBM documents exactly these tags, and no format for
// several files.
var granite = &Template{
	Name: "granite", models: []string{"granite"},
	prefix: "<|fim_prefix|>", suffix: "<|fim_suffix|>", middle: "<|fim_middle|>",
	stop: []string{"<|end_of_text|>", "<|fim_pad|>", "<|filename|>", "<|reponame|>", "<|start_of_role|>", "<|end_of_role|>"},
	chat: &[2]string{
		"<|start_of_role|>user<|end_of_role|>",
		"<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
	},
}

// TemplateNames lists the families a setting may name.
func TemplateNames() []string {
	names := make([]string, len(templates))
	for i, t := range templates {
		names[i] = t.Name
	}
	return names
}

// templateFor answers the template called name, or where name is "" the one
// for the model, or Granite's.
func templateFor(name, model string) *Template {
	for _, t := range templates {
		if t.Name == name {
			return t
		}
	}
	model = strings.ToLower(model)
	for _, t := range templates {
		for _, part := range t.models {
			if strings.Contains(model, part) {
				return t
			}
		}
	}
	return granite
}

// parts are the pieces of a prompt, each already neutralised.
type parts struct {
	// head is the repository context and the style header.
	head string
	// prefix is the document up to the cursor, suffix what follows it.
	prefix, suffix string
}

// render lays the parts out as the family was trained to see them.
func (t *Template) render(p parts, chat bool) string {
	var b strings.Builder
	b.Grow(len(p.head) + len(p.prefix) + len(p.suffix) + 128)
	chat = chat && t.chat != nil
	if chat {
		b.WriteString(t.chat[0])
	}
	if t.suffixFirst {
		b.WriteString(t.suffix)
		b.WriteString(p.suffix)
		b.WriteString(t.prefix)
		b.WriteString(p.head)
		b.WriteString(p.prefix)
	} else {
		b.WriteString(t.prefix)
		b.WriteString(p.head)
		b.WriteString(p.prefix)
		b.WriteString(t.suffix)
		b.WriteString(p.suffix)
		b.WriteString(t.middle)
	}
	if chat {
		b.WriteString(t.chat[1])
	}
	return b.String()
}

// SplitPrompt takes a fill-in-the-middle prompt of any family apart. It answers false
// if prompt is none.
func SplitPrompt(prompt string) (prefix, suffix string, ok bool) {
	for _, t := range templates {
		first, second, end := t.prefix, t.suffix, t.middle
		if t.suffixFirst {
			first, second, end = t.suffix, t.prefix, ""
		}
		rest, begins := strings.CutPrefix(prompt, first)
		rest, ends := strings.CutSuffix(rest, end)
		one, other, ok := strings.Cut(rest, second)
		switch {
		case !begins || !ends || !ok:
			continue
		case t.suffixFirst:
			return other, one, true
		}
		return one, other, true
	}
	return "", "", false
}

// stops are the strings that end an answer.
func (t *Template) stops() []string {
	return append([]string{t.prefix, t.suffix, t.middle}, t.stop...)
}

// control matches the control tokens of every family, not only of the one in
// use: a model's vocabulary may hold tokens of its ancestors, and a prompt that
// is clean for all stays clean when the person switches models. <s> and </s>
// are left alone; they are HTML.
var control = regexp.MustCompile(
	`<[|｜][\pL\d_▁.-]{1,40}[|｜]>` +
		`|</?(?:fim_(?:prefix|suffix|middle|pad)|file_sep|repo_name|reponame|filename|gh_stars|jupyter_\w{1,20}|` +
		`start_of_turn|end_of_turn|eos|bos|EOT)>` +
		`|\[/?(?:PREFIX|SUFFIX|MIDDLE|INST)\]`)

// neutralise breaks every control token in s by a blank after its first sign,
// so that the model's tokenizer sees plain text that reads almost the same.
// Invalid UTF-8 becomes U+FFFD, because a prompt travels as JSON.
func neutralise(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !mayHoldControl(s) {
		return s
	}
	return control.ReplaceAllStringFunc(s, func(tag string) string { return tag[:1] + " " + tag[1:] })
}

// mayHoldControl is false of nearly all text; the regexp costs 20 times as much.
func mayHoldControl(s string) bool {
	return strings.Contains(s, "|>") || strings.Contains(s, "｜>") || mayHoldTag(s)
}

func mayHoldTag(s string) bool {
	for _, part := range [...]string{"fim_", "file_sep", "repo_name", "reponame", "filename>", "gh_stars", "jupyter_", "_of_turn>",
		"eos>", "bos>", "EOT>", "PREFIX]", "SUFFIX]", "MIDDLE]", "INST]"} {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// cutControl ends text before its first control token: what a model writes
// after one is no longer the middle.
func cutControl(text string) string {
	if !mayHoldControl(text) { // asked at every piece of an answer
		return text
	}
	if at := control.FindStringIndex(text); at != nil {
		return text[:at[0]]
	}
	return text
}

// Tags are the fill-in-the-middle tags that a model asked with the named family
// ("" goes by the model's name) must have in its vocabulary.
func Tags(template, model string) []string {
	t := templateFor(template, model)
	return []string{t.prefix, t.suffix, t.middle}
}
