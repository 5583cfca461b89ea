package progress

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"go.lsp.dev/protocol"
)

// client keeps what it is told.
type client struct {
	values chan map[string]any
}

func (c client) WorkDoneProgressCreate(context.Context, *protocol.WorkDoneProgressCreateParams) error {
	return nil
}

func (c client) Progress(_ context.Context, p *protocol.ProgressParams) error {
	var value map[string]any
	err := json.Unmarshal(p.Value, &value)
	c.values <- value
	return err
}

// newJobs are jobs of a client that draws progress, or does not.
func newJobs(t *testing.T, draws bool) (*Jobs, client) {
	t.Helper()
	c := client{make(chan map[string]any, 100)}
	var tasks sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); tasks.Wait() })
	jobs := New(c, func(name string, f func(ctx context.Context) error) {
		tasks.Go(func() {
			if err := f(ctx); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	})
	jobs.Initialize(protocol.ClientCapabilities{Window: &protocol.WindowClientCapabilities{WorkDoneProgress: &draws}})
	return jobs, c
}

func TestProgressNeverGoesBack(t *testing.T) {
	jobs, c := newJobs(t, true)
	job := jobs.Start(Own, "Indexing", func() {})
	if begin := <-c.values; begin["kind"] != "begin" || begin["title"] != "Indexing" {
		t.Fatalf("the first value is %v", begin)
	}
	job.Report(0.5, "half")
	job.Report(0.25, "a quarter")
	for last := 0.0; ; {
		value := <-c.values
		if value["message"] == "a quarter" {
			if value["percentage"] != 50.0 {
				t.Errorf("the bar is at %v after it was at 50", value["percentage"])
			}
			break
		}
		if now := value["percentage"].(float64); now < last {
			t.Fatalf("the bar went from %v to %v", last, now)
		}
	}
	job.End("done")
	if end := <-c.values; end["kind"] != "end" || end["message"] != "done" {
		t.Errorf("the last value is %v", end)
	}
}

func TestCancel(t *testing.T) {
	for _, draws := range []bool{true, false} {
		jobs, _ := newJobs(t, draws)
		var cancelled []string
		own := jobs.Start(Own, "own", func() { cancelled = append(cancelled, "own") })
		if jobs.CancelAsked() {
			t.Error("something was asked for before anything was")
		}
		asked := jobs.Start(Asked, "asked", func() { cancelled = append(cancelled, "asked") })
		if !jobs.CancelAsked() || len(cancelled) != 1 || cancelled[0] != "asked" {
			t.Errorf("cancelled are %v, not what the user asked for alone", cancelled)
		}
		jobs.Cancel(protocol.String("quarry-1"))
		jobs.Cancel(protocol.String("unknown"))
		jobs.Cancel(protocol.Integer(1))
		if len(cancelled) != 2 || cancelled[1] != "own" {
			t.Errorf("cancelled are %v", cancelled)
		}
		own.End("")
		asked.End("")
	}
}

func TestJobsThatNobodySeesAreForgotten(t *testing.T) {
	jobs, _ := newJobs(t, false)
	job := jobs.Start(Asked, "work", func() { t.Error("cancelled after its end") })
	job.Report(1, "all")
	job.End("")
	if jobs.CancelAsked() {
		t.Error("work that has ended is still there")
	}
}
