package rerank

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
)

// Model is a language model that answers in a form.
type Model interface {
	// Name is the model's.
	Name() string
	// Idle answers whether the model is there and nobody waits for it.
	Idle() bool
	// Answer answers a prompt with a JSON document that fits a schema.
	Answer(ctx context.Context, prompt string, schema json.RawMessage) (string, error)
}

// ByModel judges with a language model: each passage by itself, from 0 to 10, so that
// a score can be kept and the model stopped between two. A passage's place among the
// others, which sways small models, has no part in it.
func ByModel(m Model) Judge { return byModel{m} }

type byModel struct{ Model }

//go:embed judge.tmpl
var judgeText string

var judgePrompt = template.Must(template.New("judge").Parse(judgeText))

var judgeSchema = json.RawMessage(`{"type":"object","properties":{"score":{"type":"integer","minimum":0,"maximum":10}},"required":["score"]}`)

const (
	bestScore = 10
	// passageBytes is how much of a passage a model reads.
	passageBytes = 1500
)

func (j byModel) Judge(ctx context.Context, query string, passages []string, each func(i int, score float64)) error {
	for i, p := range passages {
		if !j.Idle() {
			return ErrBusy
		}
		answer, err := j.Answer(ctx, promptFor(query, p), judgeSchema)
		if err != nil {
			return err
		}
		var got struct {
			Score *float64 `json:"score"`
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Score == nil || *got.Score < 0 || *got.Score > bestScore {
			return fmt.Errorf("%s answered no score from 0 to %d", j.Name(), bestScore)
		}
		each(i, *got.Score/bestScore)
	}
	return nil
}

func promptFor(query, passage string) string {
	if len(passage) > passageBytes {
		passage = strings.ToValidUTF8(passage[:passageBytes], "")
	}
	var b strings.Builder
	if err := judgePrompt.Execute(&b, struct{ Query, Passage string }{query, strings.TrimRight(passage, "\n")}); err != nil {
		panic(err) // the template and its data are fixed
	}
	return b.String()
}
