package completion

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Template is how one family of models wants to be asked to fill in the
// middle. The tags are single tokens of the family's vocabulary; every other
// string of theirs in a prompt would be one too, which is why everything that
// comes from the workspace passes [neutralise] first.
type Template struct {
	// Name is the family's name, as the setting gives it.
	Name string
	// models are parts of model names, lower case, and architectures what the architectures
	// of its models begin with, as their files call them; those of many families are left
	// out. They are hints which family to try first, and decide between families with the
	// same tags.
	models, architectures []string
	// named families are tried only where the name or the server's own template says so:
	// their tags stand in vocabularies of models that were never trained to fill in the
	// middle, or are so short that a count of tokens hardly tells.
	named bool
	// middle may be "": the middle then follows what stands last.
	prefix, suffix, middle string
	// suffixFirst is the order suffix, prefix, middle.
	suffixFirst bool
	// stop are tokens that end an answer besides the tags.
	stop []string
	// between, if set, is all that stands in the prompt besides prefix and suffix: the
	// server lays it out.
	between string
	// chat wraps the fill-in-the-middle prompt into a user turn and opens the
	// assistant's; nil where the family has no such form.
	chat *[2]string
}

// CustomTemplate is the name of the family whose tags the user gives.
const CustomTemplate = "custom"

// templates are the families that are known; of those with the same tags the first
// serves a model whose name tells nothing. Sources: the models' cards, papers and
// tokenizer files.
var templates = []*Template{
	granite,
	{
		Name: "qwen2.5-coder", models: []string{"qwen", "sweep"}, architectures: []string{"qwen"},
		prefix: "<|fim_prefix|>", suffix: "<|fim_suffix|>", middle: "<|fim_middle|>",
		stop: []string{"<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|im_start|>", "<|im_end|>"},
		chat: &[2]string{"<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"},
	},
	{
		Name: "codegemma", models: []string{"codegemma"}, architectures: []string{"gemma"},
		prefix: "<|fim_prefix|>", suffix: "<|fim_suffix|>", middle: "<|fim_middle|>",
		stop: []string{"<|file_separator|>", "<end_of_turn>", "<start_of_turn>", "<eos>"},
		chat: &[2]string{"<start_of_turn>user\n", "<end_of_turn>\n<start_of_turn>model\n"},
	},
	{
		Name: "starcoder2", models: []string{"starcoder", "stable-code", "stablecode"}, architectures: []string{"starcoder", "stablelm"},
		prefix: "<fim_prefix>", suffix: "<fim_suffix>", middle: "<fim_middle>",
		stop: []string{"<|endoftext|>", "<fim_pad>", "<file_sep>", "<repo_name>"},
	},
	{
		// Granite 3.x and the Granite code models; 4.0 has the bars.
		Name: "granite-code", models: []string{"granite-code", "granite3", "granite-3"}, architectures: []string{"granite"},
		prefix: "<fim_prefix>", suffix: "<fim_suffix>", middle: "<fim_middle>",
		stop: []string{"<|endoftext|>", "<|end_of_text|>", "<fim_pad>", "<filename>", "<reponame>"},
	},
	{
		Name: "mellum", models: []string{"mellum"},
		prefix: "<fim_prefix>", suffix: "<fim_suffix>", middle: "<fim_middle>", suffixFirst: true,
		stop: []string{"<|endoftext|>", "<fim_pad>", "<filename>", "<reponame>"},
	},
	{
		Name: "deepseek-coder", models: []string{"deepseek-coder"}, architectures: []string{"deepseek"},
		prefix: "<｜fim▁begin｜>", suffix: "<｜fim▁hole｜>", middle: "<｜fim▁end｜>",
		stop: []string{"<｜end▁of▁sentence｜>", "<｜begin▁of▁sentence｜>", "<|EOT|>"},
	},
	{
		Name: "codestral", models: []string{"codestral"}, named: true,
		prefix: "[PREFIX]", suffix: "[SUFFIX]", suffixFirst: true,
		stop: []string{"[MIDDLE]", "[INST]", "[/INST]", "</s>"},
	},
	{
		Name: "seed-coder", models: []string{"seed-coder", "zeta"},
		prefix: "<[fim-prefix]>", suffix: "<[fim-suffix]>", middle: "<[fim-middle]>", suffixFirst: true,
		stop: []string{"<[end▁of▁sentence]>", "<[begin▁of▁sentence]>"},
	},
	{
		Name: "codellama", models: []string{"codellama", "code-llama"}, named: true,
		prefix: "<PRE> ", suffix: " <SUF>", middle: " <MID>",
		stop: []string{"<EOT>", "</s>"},
	},
	{
		Name: "glm", models: []string{"codegeex", "glm"}, architectures: []string{"chatglm", "glm"},
		prefix: "<|code_prefix|>", suffix: "<|code_suffix|>", middle: "<|code_middle|>",
		stop: []string{"<|endoftext|>", "<|user|>", "<|assistant|>", "<|observation|>"},
	},
	// What llama.cpp lays out itself, which knows the tags from the weights' file: the
	// last to be tried.
	{Name: "infill", between: "\x00infill\x00"},
}

// granite is the default: IBM documents exactly these tags, and no format for
// several files.
var granite = &Template{
	Name: "granite", models: []string{"granite"}, architectures: []string{"granite"},
	prefix: "<|fim_prefix|>", suffix: "<|fim_suffix|>", middle: "<|fim_middle|>",
	stop: []string{"<|end_of_text|>", "<|fim_pad|>", "<|filename|>", "<|reponame|>", "<|start_of_role|>", "<|end_of_role|>"},
	chat: &[2]string{
		"<|start_of_role|>user<|end_of_role|>",
		"<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
	},
}

// TemplateNames lists the families a setting may name.
func TemplateNames() []string {
	names := make([]string, len(templates), len(templates)+1)
	for i, t := range templates {
		names[i] = t.Name
	}
	return append(names, CustomTemplate)
}

// A Choice is the family that prompts are made for, as settings give it.
type Choice struct {
	// Template names a family of [TemplateNames]; "" leaves it to the model.
	Template string
	// Tags are prefix, suffix and middle tag of [CustomTemplate].
	Tags [3]string
}

// A Family is what tells whether a model is of a family of models, and how its
// answers end.
type Family struct {
	Name string
	// Tags are single tokens in the vocabularies of the family's models.
	Tags []string
	// Stops end an answer, the tags first.
	Stops []string
	// Between is what stands between prefix and suffix where the server lays the prompt
	// out, "" elsewhere.
	Between string
	// Names are parts of the names of its models, in lower case, and Architectures what the
	// names of their architectures begin with.
	Names, Architectures []string
	// SuffixFirst: the suffix stands before the prefix.
	SuffixFirst bool
	// Told: the tags alone prove nothing.
	Told bool
}

// Families are those that a model may be of, the likeliest by its name first: the
// one chosen, or else all.
func (c Choice) Families(model string) []Family {
	var list []Family
	for _, t := range c.templates(model) {
		stops := t.stops()
		list = append(list, Family{
			Name: t.Name, Tags: stops[:len(t.tags())], Stops: stops, Between: t.between, Names: t.models, Architectures: t.architectures,
			SuffixFirst: t.suffixFirst, Told: t.named && c.Template == "",
		})
	}
	return list
}

// templates are those of [Choice.Families].
func (c Choice) templates(model string) []*Template {
	if c.Template == CustomTemplate {
		return []*Template{{Name: CustomTemplate, prefix: c.Tags[0], suffix: c.Tags[1], middle: c.Tags[2]}}
	}
	var likely, others []*Template
	model = strings.ToLower(model)
	for _, t := range templates {
		switch {
		case c.Template == t.Name:
			return []*Template{t}
		case t.isNamedIn(model):
			likely = append(likely, t)
		default:
			others = append(others, t)
		}
	}
	// "granite-code" says more than "granite".
	slices.SortStableFunc(likely, func(a, b *Template) int { return b.longestIn(model) - a.longestIn(model) })
	return append(likely, others...)
}

// Completes is whether a model's name alone says that it was trained to fill in the middle: it holds a family's name, or says
// of a family that it is the coder among its models. Others may have the tags and no use for them.
func Completes(model string) bool {
	model = strings.ToLower(model)
	return slices.ContainsFunc(templates, func(t *Template) bool {
		return t.isNamedIn(model) && (strings.Contains(model, t.Name) || strings.Contains(model, "coder"))
	})
}

func (t *Template) isNamedIn(model string) bool { return t.longestIn(model) > 0 }

// longestIn is the length of the longest of the family's names in a model's.
func (t *Template) longestIn(model string) int {
	longest := 0
	for _, part := range t.models {
		if strings.Contains(model, part) {
			longest = max(longest, len(part))
		}
	}
	return longest
}

// template is the family called family, which a backend found by evidence, or the
// likeliest.
func (c Choice) template(model, family string) *Template {
	list := c.templates(model)
	for _, t := range list {
		if t.Name == family {
			return t
		}
	}
	return list[0]
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
	p = t.clean(p)
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
		b.WriteString(t.between)
		b.WriteString(p.suffix)
	}
	b.WriteString(t.middle)
	if chat {
		b.WriteString(t.chat[1])
	}
	return b.String()
}

// SplitPrompt takes a fill-in-the-middle prompt of any family apart. It answers false
// if prompt is none.
func SplitPrompt(prompt string) (prefix, suffix string, ok bool) {
	for _, t := range templates {
		first, second, end := t.prefix, t.suffix+t.between, t.middle
		if t.suffixFirst {
			first, second = t.suffix, t.prefix
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

// clean breaks the family's own tags where [neutralise] leaves them alone because
// they are ordinary text to other models: HTML has <PRE>.
func (t *Template) clean(p parts) parts {
	for _, tag := range append(t.tags(), t.between) {
		if tag = strings.TrimSpace(tag); tag == "" || control.MatchString(tag) {
			continue
		}
		_, first := utf8.DecodeRuneInString(tag)
		for _, text := range []*string{&p.head, &p.prefix, &p.suffix} {
			*text = strings.ReplaceAll(*text, tag, tag[:first]+" "+tag[first:])
		}
	}
	return p
}

// tags are those that a prompt has.
func (t *Template) tags() []string {
	tags := []string{t.prefix, t.suffix, t.middle}
	return slices.DeleteFunc(tags, func(tag string) bool { return tag == "" })
}

// stops are the strings that end an answer.
func (t *Template) stops() []string {
	stops := t.tags()
	for i, tag := range stops {
		stops[i] = strings.TrimSpace(tag)
	}
	return append(stops, t.stop...)
}

// control matches the control tokens of every family, not only of the one in
// use: a model's vocabulary may hold tokens of its ancestors, and a prompt that
// is clean for all stays clean when the user switches models. <s> and </s>
// are left alone; they are HTML.
var control = regexp.MustCompile(
	`<[|｜][\pL\d_▁.-]{1,40}[|｜]>` +
		`|</?(?:fim_(?:prefix|suffix|middle|pad)|file_sep|repo_name|reponame|filename|gh_stars|jupyter_\w{1,20}|` +
		`start_of_turn|end_of_turn|eos|bos|EOT)>` +
		`|<\[(?:fim-(?:prefix|suffix|middle)|(?:begin|end)▁of▁sentence)\]>` +
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
		"[fim-", "▁sentence]", "eos>", "bos>", "EOT>", "PREFIX]", "SUFFIX]", "MIDDLE]", "INST]"} {
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
