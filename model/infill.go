package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// llama.cpp fills in the middle by itself at /infill. It reads the model's tags from the
// weights file, even if quarry knows no family that has them. tools/server/README.md of
// llama.cpp describes the interface.

const infillPath = "infill"

type infillRequest struct {
	Model       string   `json:"model"` // a server of several models chooses by it
	Prefix      string   `json:"input_prefix"`
	Suffix      string   `json:"input_suffix"`
	Prompt      string   `json:"prompt"` // what the answer is to begin with
	MaxTokens   int      `json:"n_predict"`
	Temperature float64  `json:"temperature"`
	TopP        float64  `json:"top_p"`
	Stop        []string `json:"stop,omitempty"`
	Seed        int      `json:"seed,omitempty"`
	Logprobs    int      `json:"n_probs"`
	CachePrompt bool     `json:"cache_prompt"` // keep what this prompt shares with the last one
	Stream      bool     `json:"stream"`
}

// infillEvent is one event of an answer's stream.
type infillEvent struct {
	origin
	Content       string `json:"content"`
	Stop          bool   `json:"stop"`
	StopType      string `json:"stop_type"`     // "limit" where the answer was cut
	StoppedLimit  bool   `json:"stopped_limit"` // the same, of a server before 2025
	PromptTokens  int    `json:"tokens_evaluated"`
	Tokens        int    `json:"tokens_predicted"`
	Probabilities []struct {
		Logprob *float64 `json:"logprob"`
		Likely  []struct {
			Probability float64 `json:"prob"`
		} `json:"probs"` // before 2025: the likeliest first, which greedy sampling takes
	} `json:"completion_probabilities"`
	Timings struct {
		Read  float64 `json:"prompt_ms"`
		Wrote float64 `json:"predicted_ms"`
	} `json:"timings"`
}

// infill completes r, whose prompt is prefix and suffix.
func (c *openAI) infill(ctx context.Context, prefix, suffix string, r request, each func(chunk)) error {
	body := infillRequest{
		Model: c.model, Prefix: prefix, Suffix: suffix, MaxTokens: r.maxTokens, Temperature: r.Temperature, TopP: r.TopP,
		Stop: r.stop, Seed: r.seed, Logprobs: 1, CachePrompt: true, Stream: true,
	}
	return c.events(ctx, infillPath, body, func() bool { return false }, func(data string) (over bool, err error) {
		var e infillEvent
		if json.Unmarshal([]byte(data), &e) != nil {
			return false, c.notOpenAI()
		}
		if err := c.guard.lookForGood(e.origin); err != nil {
			return false, err
		}
		if piece := e.chunk(); piece.text != "" || piece.done {
			each(piece)
		}
		return e.Stop, nil
	})
}

func (e infillEvent) chunk() chunk {
	piece := chunk{text: e.Content, done: e.Stop}
	for _, p := range e.Probabilities {
		switch {
		case p.Logprob != nil:
			piece.logprobs = append(piece.logprobs, *p.Logprob)
		case len(p.Likely) > 0 && p.Likely[0].Probability > 0:
			piece.logprobs = append(piece.logprobs, math.Log(p.Likely[0].Probability))
		}
	}
	if e.Stop {
		piece.cut = e.StopType == "limit" || e.StoppedLimit
		piece.usage = usage{
			promptTokens: e.PromptTokens, tokens: e.Tokens,
			promptEval: milliseconds(e.Timings.Read), eval: milliseconds(e.Timings.Wrote),
		}
	}
	return piece
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// infills reports whether the server fills in the middle by itself. It asks with the request
// that completions send.
func (rt *Runtime) infills(ctx context.Context, f *Family) (bool, error) {
	if rt.opt.API != OpenAIAPI {
		return false, nil
	}
	err := rt.first(ctx, rt.probing(f, "x ="+f.Between+"\n", 1), func(chunk) {})
	var p *problem
	if errors.As(err, &p) && errors.Is(p.cause, errNoInfill) {
		return false, nil
	}
	return err == nil, err
}

var errNoInfill = errors.New("the server has no /infill for this model")

// noInfill is the error for an answer that says that the server, or its model, has no such
// path.
func (c *openAI) noInfill(path string, status int) error {
	switch {
	case path != infillPath:
		return nil
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusNotImplemented:
		return &problem{
			kind: ErrNoFIM, what: fmt.Sprintf("%s has no /%s", c.endpoint.Host, infillPath),
			fix: "set completion.template to auto, or to the family that " + c.model + " is of", cause: errNoInfill,
		}
	}
	return nil
}

// parts are prefix and suffix of a prompt that the server lays out; the prompt may have a
// beginning only. ok is false for a prompt that quarry laid out.
func (r request) parts() (prefix, suffix string, ok bool) {
	if r.between == "" {
		return "", "", false
	}
	prefix, suffix, _ = strings.Cut(r.prompt, r.between)
	return prefix, suffix, true
}
