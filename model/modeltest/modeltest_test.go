package modeltest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"quarry/model/modeltest"
)

func post(ctx context.Context, url string, body map[string]any) (*http.Response, error) {
	data, _ := json.Marshal(body)
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/api/generate", bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

type chunk struct {
	Response, Error string
	Done            bool
	DoneReason      string `json:"done_reason"`
	PromptEvalCount int    `json:"prompt_eval_count"`
}

// generate answers the text, the last chunk, and the error that ended the body.
func generate(t *testing.T, s *modeltest.Server, body map[string]any) (text string, last chunk, status int, err error) {
	t.Helper()
	resp, err := post(t.Context(), s.URL, body)
	if err != nil {
		return "", chunk{}, 0, err
	}
	defer resp.Body.Close()
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		if line != "" {
			last = chunk{}
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				t.Fatalf("not a JSON line: %q", line)
			}
			text += last.Response
		}
		if err == io.EOF {
			return text, last, resp.StatusCode, nil
		} else if err != nil {
			return text, last, resp.StatusCode, err
		}
	}
}

func request(prompt string, options map[string]any) map[string]any {
	return map[string]any{"model": "granite4.1:3b", "prompt": prompt, "raw": true, "truncate": false, "options": options}
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestAnswers(t *testing.T) {
	s := modeltest.NewServer(t)
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		body   map[string]any
		text   string
		status int
		done   bool
		reason string
		err    string
	}{
		{name: "pieces", answer: modeltest.Answer{Pieces: []string{"a", "b"}}, body: request("p", nil), text: "ab", status: 200, done: true, reason: "stop"},
		{name: "stop over two pieces", answer: modeltest.Answer{Pieces: []string{"a<", "|x|>", "b"}}, body: request("p", map[string]any{"stop": []string{"<|x|>"}}), text: "a", status: 200, done: true, reason: "stop"},
		{name: "beginning of a stop that is none", answer: modeltest.Answer{Pieces: []string{"a<", "|", "y"}}, body: request("p", map[string]any{"stop": []string{"<|x|>"}}), text: "a<|y", status: 200, done: true, reason: "stop"},
		{name: "token limit", answer: modeltest.Answer{Pieces: []string{"a", "b", "c"}}, body: request("p", map[string]any{"num_predict": 2}), text: "ab", status: 200, done: true, reason: "length"},
		{name: "load", body: request("", nil), status: 200, done: true, reason: "load"},
		{name: "missing model", body: map[string]any{"model": "other", "prompt": "p"}, status: 404, err: "model 'other' not found"},
		{name: "busy", answer: modeltest.Answer{Status: 503, Message: "server busy"}, body: request("p", nil), status: 503, err: "server busy"},
		{name: "too long", body: request(strings.Repeat("word", 20), map[string]any{"num_ctx": 19}), status: 400, err: "the input length exceeds the context length"},
		{name: "error line", answer: modeltest.Answer{Pieces: []string{"a"}, ErrorLine: "runner gone"}, body: request("p", nil), text: "a", status: 200, err: "runner gone"},
		{name: "no done", answer: modeltest.Answer{Pieces: []string{"a"}, NoDone: true}, body: request("p", nil), text: "a", status: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Script(func(modeltest.Request) modeltest.Answer { return c.answer })
			text, last, status, err := generate(t, s, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if text != c.text || status != c.status || last.Done != c.done || last.DoneReason != c.reason || last.Error != c.err {
				t.Errorf("got %q, status %d, last %+v", text, status, last)
			}
		})
	}
}

func TestDisconnectEndsTheBodyInAnError(t *testing.T) {
	s := modeltest.NewServer(t)
	s.Queue(modeltest.Answer{Pieces: []string{"a"}, Disconnect: true})
	if text, _, _, err := generate(t, s, request("p", nil)); err == nil || text != "a" {
		t.Errorf("got %q and %v, want \"a\" and an unexpected end", text, err)
	}
}

func TestOneRunsTheOthersQueueAndLeaveWhenCancelled(t *testing.T) {
	s := modeltest.NewServer(t)
	gate := make(chan struct{})
	s.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"a", "b"}, Gate: gate}
	})
	first := make(chan error, 1)
	go func() {
		resp, err := post(t.Context(), s.URL, request("first", nil))
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		first <- err
	}()
	gate <- struct{}{} // the first one's first piece: it holds the slot
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() {
		_, err := post(ctx, s.URL, request("second", nil))
		second <- err
	}()

	if err := s.Wait(soon(t), func([]modeltest.Request) bool { return s.MaxQueued() == 1 }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-second; err == nil {
		t.Error("the cancelled request was answered")
	}
	if err := s.Wait(soon(t), func(l []modeltest.Request) bool { return l[1].Outcome == modeltest.Cancelled }); err != nil {
		t.Fatal(err)
	}
	close(gate)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if l := s.Requests(); l[0].Outcome != modeltest.Finished || l[0].Sent != "ab" || l[1].Sent != "" {
		t.Errorf("got %+v", l)
	}
}

func TestStopRefusesAndRestartServesAtTheSameAddress(t *testing.T) {
	s := modeltest.NewServer(t)
	s.Stop()
	if _, err := post(t.Context(), s.URL, request("p", nil)); err == nil {
		t.Fatal("a stopped server answered")
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	s.Queue(modeltest.Answer{Pieces: []string{"back"}})
	if text, _, _, err := generate(t, s, request("p", nil)); err != nil || text != "back" {
		t.Errorf("after a restart: %q, %v", text, err)
	}
	if s.Loads() != 1 {
		t.Errorf("loads = %d, want 1", s.Loads())
	}
}

func TestTagsCountAsOneTokenOnlyWithFIM(t *testing.T) {
	tags := "<|fim_prefix|><|fim_suffix|><|fim_middle|>"
	if n := modeltest.CountTokens(tags+"12345", false); n != 5 {
		t.Errorf("with fill-in-the-middle: %d tokens, want 5", n)
	}
	if n := modeltest.CountTokens(tags, true); n < 9 {
		t.Errorf("without: %d tokens, want at least 9", n)
	}
}
