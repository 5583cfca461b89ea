package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// openAIEvent is one event of an answer's stream, of either interface.
type openAIEvent struct {
	origin  // an Ollama may say it here too
	Choices []struct {
		Text  string   `json:"text"` // of completions
		Delta struct { // of chat
			Content   string           `json:"content"`
			ToolCalls []openAICallPart `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
		Logprobs     *struct {
			Tokens  []*float64 `json:"token_logprobs"` // the interface's own form
			Content []struct { // llama.cpp's
				Logprob float64 `json:"logprob"`
			} `json:"content"`
		} `json:"logprobs"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// openAICallPart is a piece of a tool call; the pieces of one have its index.
type openAICallPart struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// stream posts body and calls each with every chunk of the answer. Tool calls come as one
// chunk before the end.
func (c *openAI) stream(ctx context.Context, path string, body any, each func(chunk)) error {
	a := openAIAnswer{each: each, begin: time.Now(), last: chunk{done: true}}
	// Some servers leave out [DONE].
	err := c.events(ctx, path, body, func() bool { return a.finished }, func(data string) (over bool, err error) {
		var e openAIEvent
		switch {
		case data == "[DONE]":
			return true, nil
		case json.Unmarshal([]byte(data), &e) != nil:
			return false, c.notOpenAI()
		case len(e.Error) > 0:
			return false, c.failed(errorMessage(e.Error))
		}
		if err := c.guard.lookForGood(e.origin); err != nil {
			return false, err
		}
		a.see(e)
		return false, nil
	})
	if err == nil {
		a.end()
	}
	return err
}

// events posts body and calls see with the data of each event of the answer, until see says
// that the answer is over. The connection may also end where mayEnd allows it.
func (c *openAI) events(ctx context.Context, path string, body any, mayEnd func() bool, see func(data string) (over bool, err error)) error {
	resp, err := c.send(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		if err := c.noStream(path, lines); err != nil {
			return err
		}
	}
	for {
		line, err := lines.ReadString('\n')
		field, data, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		data = strings.TrimSpace(data)
		switch field {
		case "data":
			if over, err := see(data); over || err != nil {
				return err
			}
		case "error": // llama.cpp
			return c.failed(errorMessage(json.RawMessage(data)))
		}
		var p *problem
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &p):
			return p
		case err == io.EOF && mayEnd():
			return nil
		default:
			return &problem{kind: ErrBroken, what: fmt.Sprintf("%s broke off in its answer", c.endpoint.Host), fix: "see its log", cause: err}
		}
	}
}

// noStream is the error for an answer of status 200 that is not a stream of events: LM Studio
// refuses requests so, and other web servers send a page. It is nil if the answer begins like
// events, whatever its content type.
func (c *openAI) noStream(path string, body *bufio.Reader) error {
	begin, err := body.Peek(1)
	if err != nil || begin[0] != '{' && begin[0] != '<' {
		return nil // an error in reading comes up again
	}
	data, err := io.ReadAll(io.LimitReader(body, 64<<10))
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	switch message := messageIn(data); {
	case begin[0] == '<':
		return c.notOpenAI()
	case path == completionsPath && lacksPath(http.StatusOK, strings.ToLower(message)):
		return c.chatsOnly(message)
	case message != "":
		return c.failed(message)
	}
	return &problem{kind: ErrServer, what: fmt.Sprintf("%s does not stream its answers", c.endpoint.Host), fix: "ask a server that does"}
}

// openAIAnswer assembles an answer from the events of a stream.
type openAIAnswer struct {
	each         func(chunk)
	begin, first time.Time
	finished     bool
	calls        []openAICallPart // whole, by index
	last         chunk
}

func (a *openAIAnswer) see(e openAIEvent) {
	if e.Usage != nil {
		a.last.usage.promptTokens, a.last.usage.tokens = e.Usage.PromptTokens, e.Usage.CompletionTokens
	}
	for _, choice := range e.Choices {
		if choice.FinishReason != "" {
			a.finished, a.last.cut = true, choice.FinishReason == "length"
		}
		for _, part := range choice.Delta.ToolCalls {
			a.call(part)
		}
		piece := chunk{text: choice.Text + choice.Delta.Content}
		if piece.text == "" {
			continue
		}
		if a.first.IsZero() {
			a.first = time.Now()
		}
		if lps := choice.Logprobs; lps != nil {
			for _, lp := range lps.Tokens {
				if lp != nil {
					piece.logprobs = append(piece.logprobs, *lp)
				}
			}
			for _, token := range lps.Content {
				piece.logprobs = append(piece.logprobs, token.Logprob)
			}
		}
		a.each(piece)
	}
}

func (a *openAIAnswer) call(part openAICallPart) {
	for i := range a.calls {
		if a.calls[i].Index == part.Index {
			a.calls[i].Function.Name += part.Function.Name
			a.calls[i].Function.Arguments += part.Function.Arguments
			return
		}
	}
	a.calls = append(a.calls, part)
}

func (a *openAIAnswer) end() {
	if len(a.calls) > 0 {
		type call struct {
			ID        string `json:"id"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		}
		wrapper := struct {
			Type  string `json:"type"`
			Calls []call `json:"calls"`
		}{Type: "tool_call"}
		for _, p := range a.calls {
			wrapper.Calls = append(wrapper.Calls, call{p.ID, p.Function.Name, p.Function.Arguments})
		}
		text, err := json.Marshal(wrapper)
		if err != nil {
			panic(err) // strings only
		}
		a.each(chunk{text: string(text)})
	}
	if !a.first.IsZero() {
		a.last.usage.promptEval, a.last.usage.eval = a.first.Sub(a.begin), time.Since(a.first)
	}
	a.each(a.last)
}

// chat asks the server for the answer: it has the model's template.
func (c *openAI) chat(ctx context.Context, conv Conversation, each func(chunk)) error {
	messages := make([]map[string]string, len(conv.Messages))
	for i, m := range conv.Messages {
		messages[i] = map[string]string{"role": m.Role, "content": m.Text}
	}
	if conv.Begin != "" {
		messages = append(messages, map[string]string{"role": "assistant", "content": conv.Begin})
	}
	body := map[string]any{
		"model": c.model, "messages": messages, "max_tokens": conv.MaxTokens, "temperature": conv.Temperature,
		"stream": true, "stream_options": streamOptions{IncludeUsage: true},
	}
	if len(conv.Tools) > 0 {
		body["tools"] = conv.Tools
	}
	if len(conv.Format) > 0 {
		body["response_format"] = map[string]any{
			"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": conv.Format},
		}
	}
	return c.stream(ctx, "v1/chat/completions", body, each)
}
