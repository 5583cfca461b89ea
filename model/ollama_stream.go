package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ollama/ollama/api"
)

// stream posts req and calls each with every chunk of the answer, until the stream ends. It
// does what api.Client.Generate does, with two differences that matter at every keystroke:
// that method clears 8 MB of buffer for each request, and it ends without an error if the
// connection breaks.
func (c *ollama) stream(ctx context.Context, req *api.GenerateRequest, each func(api.GenerateResponse)) error {
	answer, err := c.post(ctx, "api/generate", req)
	if err != nil {
		return err
	}
	defer answer.Close()
	for dec := json.NewDecoder(answer); ; {
		var chunk struct {
			Error string `json:"error"`
			api.GenerateResponse
		}
		err := dec.Decode(&chunk)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return c.undecoded(ctx, err)
		case chunk.Error != "":
			return errors.New(chunk.Error)
		}
		if err := c.guard.lookForGood(origin{chunk.RemoteHost, chunk.RemoteModel}); err != nil {
			return err
		}
		each(chunk.GenerateResponse)
	}
}

// post is ask with a body.
func (c *ollama) post(ctx context.Context, path string, req any) (io.ReadCloser, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, http.MethodPost, path, bytes.NewReader(body))
}

// ask answers the body of an answer without an error status.
func (c *ollama) ask(ctx context.Context, method, path string, body io.Reader) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.endpoint.JoinPath(path).String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/x-ndjson")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close()
		return nil, statusError(resp, resp.Body)
	}
	return resp.Body, nil
}

// undecoded says why an answer could not be read.
func (c *ollama) undecoded(ctx context.Context, err error) error {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	var p *problem
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &p):
		return p
	case errors.As(err, &syntax), errors.As(err, &shape):
		return c.notOllama(err)
	}
	return c.brokeOff(err)
}

func statusError(resp *http.Response, body io.Reader) error {
	if resp.StatusCode == http.StatusUnauthorized {
		return api.AuthorizationError{StatusCode: resp.StatusCode, Status: resp.Status}
	}
	data, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return fmt.Errorf("read error %d: %w", resp.StatusCode, err)
	}
	status := api.StatusError{StatusCode: resp.StatusCode, Status: resp.Status}
	if json.Unmarshal(data, &status) != nil {
		status.ErrorMessage = string(data)
	}
	return status
}
