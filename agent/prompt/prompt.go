// Package prompt is how the prompts of quarry's assistants are written.
//
// A task's prompts are text templates in a folder "prompts" of its package,
// embedded, one file a message, each with a golden test. They are short, say what
// the answer must look like, and put first what does not change from one request
// to the next, because a model server reads a common beginning once. What comes
// from a file, a user or a tool goes through Quote (in a template {{quote
// .Field}}): it is data, and no string in it can open a turn or pose as a tool's
// result.
package prompt

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"text/template"
)

// tokens are the control tokens of the families of chat models, each of which is
// one token wherever it stands; tags are those between which quarry puts tools'
// calls and results, and models their thoughts.
var (
	tokens = `<[|｜][^<>|｜\s]{1,48}[|｜]>` + // Granite, Qwen, Llama 3, Phi, DeepSeek
		`|(?i:</?(?:start_of_turn|end_of_turn|bos|eos|pad|unk|s)\b)` + // Gemma, Llama 2
		`|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]` + // Mistral
		`|<</?SYS>>`
	tags = `|(?i:</?(?:think|tool_call|tool_calls|tool_result|tool_response|tools)\b)`

	control = regexp.MustCompile(tokens)
	marks   = regexp.MustCompile(tokens + tags)
)

// Quote makes text from outside fit to stand in a prompt: a blank after the first
// sign of each token and tag makes it plain text that reads almost the same.
// Invalid UTF-8 becomes U+FFFD, because a prompt travels as JSON. The result holds
// no such mark, and quoting it again changes nothing.
func Quote(text string) string { return broken(text, marks) }

// Own makes what the model itself wrote fit to stand in its turn of the
// conversation: its calls stay, but a file may have talked it into writing a
// token that would open another turn.
func Own(text string) string { return broken(text, control) }

func broken(text string, marks *regexp.Regexp) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsAny(text, "<[") {
		return text
	}
	return marks.ReplaceAllStringFunc(text, func(mark string) string { return mark[:1] + " " + mark[1:] })
}

// Templates reads the *.tmpl files of a folder. A template that names what its
// data lacks fails, and so does its golden test.
func Templates(files fs.FS, dir string) *template.Template {
	return template.Must(template.New(dir).
		Funcs(template.FuncMap{"quote": Quote}).
		Option("missingkey=error").
		ParseFS(files, dir+"/*.tmpl"))
}

// Text fills a template. Templates and their data are fixed when quarry is built,
// so a failure is a mistake in quarry, and panics.
func Text(t *template.Template, name string, data any) string {
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("the prompt %s: %v", name, err))
	}
	return strings.TrimRight(b.String(), "\n")
}
