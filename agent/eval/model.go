package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/agent/prompt"
)

// A model works on a task by itself: it is told the question and the tools, its answer can only be a
// call, and what the tools answer is counted as that of a script is. It is over when the place stands
// in an answer, when its turns are over, or when Limit is spent. (Left to itself the 1.5B that
// this was made with calls nothing: it makes up a path.)

// system is what a model is told, whichever tools it has.
const system = `You look for the code in a repository that answers a question. You cannot see the repository: call tools.
Write one call a turn, as JSON: {"name": ..., "arguments": {...}}. Read what the tool answers, then call the next one. Read files at the places that the tools name. Do not make a call again.
The tools are:
`

const (
	modelTurns = 10
	// modelWords bounds what a model writes at a time, in tokens.
	modelWords = 150
)

// offered are those of quarry's tools that a model is offered for a question: the definitions of all
// would not leave a small one room to read.
var offered = []string{"retrieve_context", "search_regex", "search_symbols", "read_file"}

// grepTools are the definitions of ripgrep and reading, as agents have them.
const grepTools = `[
{"type":"function","function":{"name":"grep","description":"List the lines that match a regular expression, as rg -n -i does, the first 30.","parameters":{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string","description":"only files whose path contains this"}},"required":["pattern"]}}},
{"type":"function","function":{"name":"read_file","description":"Read 40 lines of a file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer"}},"required":["path"]}}}
]`

// definition is one of a list of tools, as OpenAI's interface has them.
type definition struct {
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// call is what a model writes.
type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// run runs a call. path is the file that it reads, "" if it reads none.
type runner func(ctx context.Context, c call) (path, text string, err error)

// converse has a model work on a task with some tools.
func (a *attempt) converse(ctx context.Context, chat agent.Chat, definitions json.RawMessage, names []string, run runner) error {
	tools, form, err := tooled(definitions, names)
	if err != nil {
		return err
	}
	conversation := agent.Conversation{
		Messages: []agent.Message{{Role: "system", Text: system + tools}, {Role: "user", Text: a.task.Question}},
		Format:   form, MaxTokens: modelWords,
	}
	made := map[string]bool{}
	for range modelTurns {
		reply, err := chat.Chat(ctx, conversation, func(string) bool { return true })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.Read, a.Written = a.Read+reply.PromptTokens, a.Written+reply.Tokens
		var c call
		if err == nil {
			err = json.Unmarshal([]byte(reply.Text), &c)
		}
		if err != nil {
			a.Steps = append(a.Steps, fmt.Sprintf("ended by %.200q (%v)", reply.Text, err))
			return nil
		}
		say := func(text string) {
			conversation.Messages = append(conversation.Messages, agent.Message{Role: "assistant", Text: reply.Text}, agent.Message{Role: "user", Text: text})
		}
		if made[reply.Text] {
			a.Steps = append(a.Steps, "again "+c.Name)
			say("That call was made already. Make another one.")
			continue
		}
		made[reply.Text] = true
		if !slices.Contains(names, c.Name) { // a server need not keep to the form
			a.Steps = append(a.Steps, "no tool "+c.Name)
			say("There is no such tool.")
			continue
		}
		path, text, err := run(ctx, c)
		if err != nil {
			return err
		}
		if a.took(c.Name+" "+string(c.Arguments), path, text) {
			return nil
		}
		say(prompt.Quote(text))
	}
	return nil
}

// tooled are some tools of a list in words, and the form of a call of one of them as a JSON schema.
func tooled(definitions json.RawMessage, names []string) (words string, form json.RawMessage, err error) {
	var all []definition
	if err := json.Unmarshal(definitions, &all); err != nil {
		return "", nil, fmt.Errorf("the definitions of the tools: %w", err)
	}
	var forms []any
	for _, name := range names {
		i := slices.IndexFunc(all, func(d definition) bool { return d.Function.Name == name })
		if i < 0 {
			return "", nil, fmt.Errorf("no tool is called %s", name)
		}
		f := all[i].Function
		var parameters struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if err := json.Unmarshal(f.Parameters, &parameters); err != nil {
			return "", nil, fmt.Errorf("the parameters of %s: %w", name, err)
		}
		words += fmt.Sprintf("%s(%s): %s\n", name, strings.Join(sortedKeys(parameters.Properties), ", "), f.Description)
		forms = append(forms, map[string]any{
			"type": "object", "required": []string{"name", "arguments"}, "additionalProperties": false,
			"properties": map[string]any{"name": map[string]any{"enum": []string{name}}, "arguments": f.Parameters},
		})
	}
	form, err = json.Marshal(map[string]any{"anyOf": forms})
	return words, form, err
}

// byModel has a model work with quarry's tools.
func byModel(ctx context.Context, chat agent.Chat, s *server, definitions json.RawMessage, a *attempt) error {
	return a.converse(ctx, chat, definitions, offered, func(ctx context.Context, c call) (path, text string, err error) {
		var args map[string]any
		if json.Unmarshal(c.Arguments, &args) != nil {
			args = map[string]any{}
		}
		path, _ = args["path"].(string)
		text, _, err = s.call(ctx, c.Name, args)
		return path, text, err
	})
}

// byModelAlone has a model work with grep and reading.
func byModelAlone(ctx context.Context, chat agent.Chat, a *attempt) error {
	return a.converse(ctx, chat, json.RawMessage(grepTools), []string{"grep", "read_file"}, func(_ context.Context, c call) (path, text string, err error) {
		var args struct {
			Pattern string `json:"pattern"`
			Path    string `json:"path"`
			Start   int    `json:"start_line"`
		}
		if err := json.Unmarshal(c.Arguments, &args); err != nil {
			return "", "the arguments cannot be read: " + err.Error(), nil
		}
		if c.Name == "grep" {
			return "", a.grep(args.Pattern, args.Path), nil
		}
		return args.Path, a.lines(args.Path, args.Start), nil
	})
}

// grep is what rg -n prints, cut.
func (a *attempt) grep(pattern, path string) string {
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return "the pattern cannot be read: " + err.Error()
	}
	hits := a.tree.grep(func(name string) bool { return strings.Contains(name, path) }, re.MatchString)
	var b strings.Builder
	for _, h := range hits[:min(len(hits), listed)] {
		b.WriteString(a.shownAs(h))
	}
	if more := len(hits) - listed; more > 0 {
		fmt.Fprintf(&b, "%d more\n", more)
	}
	if len(hits) == 0 {
		return "nothing matches"
	}
	return b.String()
}

// lines are 40 lines of a file, numbered.
func (a *attempt) lines(path string, from int) string {
	if !slices.Contains(a.tree.names, path) {
		return "there is no such file"
	}
	all := a.tree.lines(path)
	from = max(1, from)
	var b strings.Builder
	for n := from; n < min(from+readLines, len(all)+1); n++ {
		fmt.Fprintf(&b, "%d\t%s\n", n, all[n-1])
	}
	if b.Len() == 0 {
		return fmt.Sprintf("the file ends at line %d", len(all))
	}
	return b.String()
}
