package eval

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quarry/completion"
)

// wellRead is a model that calls a function if its prompt shows its declaration.
type wellRead struct {
	gone error
	seen []string
}

func (m *wellRead) Model() string { return "qwen2.5-coder:1.5b" }
func (m *wellRead) Ready() error  { return m.gone }
func (m *wellRead) Generate(_ context.Context, prompt string, _ int, _ []string, sample int, emit func(string, float64) bool) (int, error) {
	m.seen = append(m.seen, prompt)
	answer := "nothing()"
	if strings.Contains(prompt, "func Quench(thirst int) error") {
		answer = "Quench(12)"
	}
	emit(answer+"\n", 0)
	return len(prompt) / 3, nil
}

func TestFillByModel(t *testing.T) {
	r := Repository{Name: "r", Documents: []completion.Document{
		{Path: "far/away.go", Language: "go", Text: "package far\n\nfunc Quench(thirst int) error { return nil }\n"},
		// The only file with enough lines for holes, and letters in two lines only.
		{Path: "near/main.go", Language: "go", Text: strings.Repeat("\n", 12) + "{\n\tQuench(12)\n\tQuench(7)\n}\n" + strings.Repeat("\n", 12)},
	}}
	m := &wellRead{}
	var seen []ModelHole
	report, err := FillByModel(t.Context(), m, completion.Options{}, []Repository{r}, 8, 1, func(h ModelHole) { seen = append(seen, h) })
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Scores) != 3 || report.Scores[0].Engine != WithOthers || report.Scores[1].Engine != WithoutOthers || report.Scores[2].Engine != WithoutModel {
		t.Fatalf("%+v", report.Scores)
	}
	if len(seen) != 8 || len(report.Holes) != 8 {
		t.Errorf("%d holes told of, %d in the report, want 8", len(seen), len(report.Holes))
	}
	for _, h := range report.Holes {
		if a := h.Answers[1]; a.Right {
			t.Errorf("%s: right without the declaration", h)
		}
		// From inside the name on, what it says does not fit what is typed.
		if h.Want == "Quench(12)" && (!h.Answers[0].Right || !strings.Contains(h.String(), "  +")) {
			t.Errorf("%s: wrong with the declaration", h)
		}
		if h.Answers[0].Tokens <= h.Answers[1].Tokens || h.Answers[2].Tokens != 0 {
			t.Errorf("prompts of %d, %d and %d tokens", h.Answers[0].Tokens, h.Answers[1].Tokens, h.Answers[2].Tokens)
		}
	}
	if with := report.Scores[0]; with.Right == 0 || !strings.Contains(report.String(), "| qwen2.5-coder:1.5b |") {
		t.Errorf("%+v\n%s", with, report)
	}
	if _, err := FillByModel(t.Context(), &wellRead{gone: errors.New("gone")}, completion.Options{}, []Repository{r}, 8, 1, nil); err == nil {
		t.Error("a model that is gone: the model-free engine's answers were taken for its")
	}
}
