package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"go.lsp.dev/protocol"

	"quarry/lsp/search"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// slow is a Core whose model answers after a batch of results has been sent.
type slow struct {
	search.Core
	batch  chan struct{} // has one for each batch
	failed error         // of the signals that ask no model
	asked  []retrieval.Signals
}

func result(path string, line int) workspace.Result {
	return workspace.Result{Root: "/barn", Result: retrieval.Result{Path: path, StartLine: line, EndLine: line}}
}

func (s *slow) Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error) {
	s.asked = append(s.asked, req.Signals)
	if req.Signals == retrieval.SignalsLexical {
		return workspace.Answer{Results: []workspace.Result{result("a.go", 1), result("b.go", 1)}, Total: 2}, s.failed
	}
	if s.failed == nil {
		select {
		case <-s.batch:
		case <-ctx.Done():
			return workspace.Answer{}, ctx.Err()
		}
	}
	return workspace.Answer{Results: []workspace.Result{result("c.go", 9), result("b.go", 1)}, Total: 2}, nil
}

func (s *slow) Answered(*retrieval.Query, int, []workspace.Result) {}

// S1: what the fast signals find is sent before the model has answered, and then what it adds; the
// response has the fused order.
func TestResultsAreSentAsSignalsFinish(t *testing.T) {
	ask := func(core *slow, method string, params map[string]any) (batches [][]string, last []string, err error) {
		paths := func(list any) (of []string) {
			raw, err := json.Marshal(list)
			var results []struct{ Path string }
			if err != nil || json.Unmarshal(raw, &results) != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				of = append(of, r.Path)
			}
			return of
		}
		core.batch = make(chan struct{}, 9)
		service := search.New(search.Options{
			Core: func() search.Core { return core },
			Progress: func(_ context.Context, _ protocol.ProgressToken, value any) error {
				batches = append(batches, paths(value.(map[string]any)["results"]))
				core.batch <- struct{}{}
				return nil
			},
		})
		raw, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := service.Methods()[method].Serve(t.Context(), raw)
		if err != nil {
			return batches, nil, err
		}
		raw, err = json.Marshal(answer)
		var response struct{ Results json.RawMessage }
		if err != nil || json.Unmarshal(raw, &response) != nil {
			t.Fatal(err)
		}
		return batches, paths(response.Results), nil
	}
	asked := map[string]any{"query": "harvest", "partialResultToken": "t"}
	core := &slow{}
	batches, last, err := ask(core, "quarry/search.hybrid", asked)
	if err != nil || len(batches) != 2 || !slices.Equal(batches[0], []string{"a.go", "b.go"}) || !slices.Equal(batches[1], []string{"c.go"}) || !slices.Equal(last, []string{"c.go", "b.go"}) {
		t.Errorf("%v, then %v, %v", batches, last, err)
	}
	// Whoever asks for no batches, or for one kind of signals, has one search.
	for method, params := range map[string]map[string]any{
		"quarry/search.hybrid":   {"query": "harvest"},
		"quarry/search.semantic": asked,
		"quarry/search.lexical":  asked,
	} {
		core := &slow{}
		core.failed = errors.New("not asked")
		if method == "quarry/search.lexical" {
			core.failed = nil
		}
		if _, _, err := ask(core, method, params); err != nil || len(core.asked) != 1 {
			t.Errorf("%s %v: %v, %v", method, params, core.asked, err)
		}
	}
	// Without words the others answer, and an index that is not ready is waited for once.
	core = &slow{failed: errors.New("the words cannot be read")}
	if batches, last, err = ask(core, "quarry/search.hybrid", asked); err != nil || len(batches) != 1 || len(last) != 2 {
		t.Errorf("%v, then %v, %v", batches, last, err)
	}
	core = &slow{failed: &workspace.NotReady{}}
	if _, _, err = ask(core, "quarry/search.hybrid", asked); err == nil || len(core.asked) != 1 {
		t.Errorf("asked %v: %v", core.asked, err)
	}
}
