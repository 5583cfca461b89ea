package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"

	"quarry/index"
)

// Status is what a running server does and has done.
type Status struct {
	Version       string           `json:"version"`
	UptimeSeconds float64          `json:"uptime_seconds"`
	Memory        MemoryStatus     `json:"memory"`
	Model         ModelStatus      `json:"model"`
	Completion    CompletionStatus `json:"completion"`
	Index         []index.Status   `json:"index"`
	// Now is what an editor shows.
	Now StatusNote `json:"now"`
}

// MemoryStatus is what quarry and its models take of the machine's memory.
type MemoryStatus struct {
	// HeapBytes is what Go objects take.
	HeapBytes uint64 `json:"heap_bytes"`
	// ResidentBytes is all of the process.
	ResidentBytes uint64 `json:"resident_bytes"`
	// ModelBytes is what the models had that quarry and those others ask when it looked last, 0 of a server that runs
	// elsewhere. Of a server that is no Ollama it is what the weights have; ModelsUntold: it does not tell, and they do not count.
	ModelBytes   uint64 `json:"model_bytes"`
	ModelsUntold bool   `json:"models_untold"`
	// OthersBytes is what the user's other quarry processes had then, without models.
	OthersBytes uint64 `json:"others_bytes"`
	// BudgetBytes is what all may take together, 0 if that is not known.
	BudgetBytes uint64 `json:"budget_bytes"`
	// Step is how much is done without to stay within: 0 is nothing, 4 the most.
	Step int `json:"step"`
}

// ModelStatus is the state of the model and what was asked of it since the
// server began, whatever model the settings named then. Waiting and the times are of the engines of now.
type ModelStatus struct {
	Name string `json:"name"`
	// URL is the server's. Remote is whether any text that models are asked with leaves this machine: Now.Sends says
	// which, and for where.
	URL    string `json:"url"`
	Remote bool   `json:"remote"`
	// Phase is "starting", "loading", "ready", "unreachable" and so on; Problem
	// says what is wrong and what to do, "" if nothing is.
	Phase   string `json:"phase"`
	Problem string `json:"problem,omitempty"`
	// Sent requests reached the backend; of these Failed ended in an error and
	// Stopped because nobody needed more. NotSent lost their turn in the queue;
	// Waiting are in it now.
	Sent    int `json:"sent"`
	Failed  int `json:"failed"`
	Stopped int `json:"stopped"`
	NotSent int `json:"not_sent"`
	Waiting int `json:"waiting"`
	// Reloaded is how often a stuck backend had to load the model anew.
	Reloaded int `json:"reloaded"`
	// Of the last 256 answers.
	FirstTokenP50   float64 `json:"first_token_p50_ms"`
	FirstTokenP95   float64 `json:"first_token_p95_ms"`
	QueueP50        float64 `json:"queue_p50_ms"`
	QueueP95        float64 `json:"queue_p95_ms"`
	TokensPerSecond float64 `json:"tokens_per_second"`
	// PromptTokens are those of all prompts, PromptTokensReused those of them that
	// stood in the prompt before, which the backend's cache need not evaluate.
	PromptTokens       int `json:"prompt_tokens"`
	PromptTokensReused int `json:"prompt_tokens_reused"`
}

// CompletionStatus is what became of the requests for ghost text since the
// server began. Each counts once, under Model to Unanswered.
type CompletionStatus struct {
	Requests int `json:"requests"`
	// Model made the backend work, Reused were served from what it had said, Local
	// by the model-free engine.
	Model  int `json:"model"`
	Reused int `json:"reused"`
	Local  int `json:"local"`
	// Overtaken gave way to a newer request or were cancelled; Unanswered were
	// made where completion is off.
	Overtaken  int `json:"overtaken"`
	Unanswered int `json:"unanswered"`
	// Shown had something to show, Accepted were taken by the user.
	Shown    int `json:"shown"`
	Accepted int `json:"accepted"`
	// Launched are the requests to the model, those ahead of the user included.
	Launched int `json:"launched"`
	// Of the last 256: finding code of other places, and whole answers.
	RetrievalP50 float64 `json:"retrieval_p50_ms"`
	RetrievalP95 float64 `json:"retrieval_p95_ms"`
	AnswerP50    float64 `json:"answer_p50_ms"`
	AnswerP95    float64 `json:"answer_p95_ms"`
	// By is what was shown and accepted since the server began, most shown first.
	By []GhostStatus `json:"by"`
}

// GhostStatus is what became of ghost text of one engine in one language. What only goes on
// while the user types through it is shown once.
type GhostStatus struct {
	Language string `json:"language"`
	Engine   string `json:"engine"`
	Shown    int    `json:"shown"`
	Accepted int    `json:"accepted"`
}

// Engines tells of the engines behind the server.
type Engines interface {
	// EngineStatus does not wait for anything.
	EngineStatus() (ModelStatus, CompletionStatus)
	// Memory does not wait for anything.
	Memory() MemoryStatus
	// StatusNote is the note of this moment but for its words. It may read the
	// index, and waits for nothing else.
	StatusNote(context.Context) StatusNote
}

// MethodStatus asks what the server does, MethodMetrics for its numbers as text. As
// a notification MethodStatus tells a client of the StatusNote.
const (
	MethodStatus  = "quarry/status"
	MethodMetrics = "quarry/metrics"
)

var started = time.Now()

func (s *Server) status(ctx context.Context, _ json.RawMessage) (any, error) {
	jsonrpc2.Async(ctx)
	return s.statusNow(ctx)
}

func (s *Server) statusNow(ctx context.Context) (*Status, error) {
	core := s.currentCore()
	st := &Status{
		Version: s.opts.Version, UptimeSeconds: time.Since(started).Seconds(),
		Memory: core.Memory(),
	}
	st.Model, st.Completion = core.EngineStatus()
	st.Now = s.statusNote(ctx)
	var err error
	st.Index, err = core.IndexStatus(ctx)
	return st, err
}

// metricsText is the result of MethodMetrics.
type metricsText struct {
	// Text has a line for each number: quarry_ and its place in a Status joined by
	// underscores, with the root of an index, the language and engine of ghost text, or what text is sent for and to which
	// model and host as labels.
	Text string `json:"text"`
}

func (s *Server) metrics(ctx context.Context, _ json.RawMessage) (any, error) {
	jsonrpc2.Async(ctx)
	text, err := s.metricsNow(ctx)
	return metricsText{text}, err
}

// metricsNow is the numbers of this moment in Prometheus' text format.
func (s *Server) metricsNow(ctx context.Context) (string, error) {
	if s.currentCore() == nil {
		return "", errors.New("the server is starting: ask again in a moment")
	}
	st, err := s.statusNow(ctx)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return "", err
	}
	var lines []string
	flatten("quarry", "", tree, func(line string) { lines = append(lines, line) })
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n", nil
}

// flatten calls yield with a line of Prometheus' text format for each number and
// truth value in v.
func flatten(name, labels string, v any, yield func(line string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, sub := range v {
			flatten(name+"_"+metricName(key), labels, sub, yield)
		}
	case []any:
		for _, sub := range v {
			if item, ok := sub.(map[string]any); ok {
				if labels := labelsOf(item); labels != "" {
					flatten(name, labels, sub, yield)
				}
			}
		}
	case float64:
		yield(name + labels + " " + strconv.FormatFloat(v, 'g', -1, 64))
	case bool:
		n := 0
		if v {
			n = 1
		}
		yield(fmt.Sprintf("%s%s %d", name, labels, n))
	}
}

// labelsOf tells one item of a list from the others.
func labelsOf(item map[string]any) string {
	var pairs []string
	for _, key := range []string{"root", "language", "engine", "use", "model", "host"} {
		if value, ok := item[key].(string); ok {
			pairs = append(pairs, fmt.Sprintf("%s=%q", key, value))
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// metricName replaces what a metric's name may not have.
func metricName(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, key)
}
