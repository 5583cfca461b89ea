package model

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"
)

// Patience is how long quarry waits for a silent server if no model has to be loaded.
const Patience = canaryPatience

// within asks Ollama for what it has at hand, and gives up if it is silent.
func (c *ollama) within(ctx context.Context, ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	return c.explainWithin(ctx, ask(ctx))
}

// longestName is how many bytes a model's name may have in Ollama, with all its parts.
const longestName = 350 + 3*80

// listed is a model in one of Ollama's lists: of the models that it has, or of those in
// memory. Fields that cannot be read are left out.
type listed struct {
	Name        string `json:"name"`
	Digest      string `json:"digest"`
	Size        int64  `json:"size"`
	RemoteHost  string `json:"remote_host"`
	RemoteModel string `json:"remote_model"`
	Modified    moment `json:"modified_at"`
	Details     struct {
		Family string `json:"family"`
		Quant  string `json:"quantization_level"`
	} `json:"details"`
	OnGPU   int64  `json:"size_vram"`
	NumCtx  int    `json:"context_length"`
	Expires moment `json:"expires_at"`
}

// moment is a time; it is zero if it cannot be read.
type moment struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (m *moment) UnmarshalJSON(text []byte) error {
	if m.Time.UnmarshalJSON(text) != nil {
		m.Time = time.Time{}
	}
	return nil
}

// have are the models that Ollama has.
func (c *ollama) have(ctx context.Context) ([]listed, error) { return c.list(ctx, "api/tags") }

// inMemory are those that it has in memory.
func (c *ollama) inMemory(ctx context.Context) ([]listed, error) { return c.list(ctx, "api/ps") }

func (c *ollama) list(ctx context.Context, path string) ([]listed, error) {
	answer, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var list struct {
		Models []listed `json:"models"`
	}
	err = json.NewDecoder(answer).Decode(&list)
	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) && list.Models != nil { // an entry or a field cannot be read, and is left out
		err = nil
	}
	if err != nil {
		return nil, c.undecoded(ctx, err)
	}
	for i := range list.Models {
		m := &list.Models[i]
		if len(m.Name) > longestName {
			m.Name = short(m.Name)
		}
		m.Details.Family, m.Details.Quant = short(m.Details.Family), short(m.Details.Quant)
	}
	return slices.DeleteFunc(list.Models, func(m listed) bool { return m.Name == "" }), nil
}
