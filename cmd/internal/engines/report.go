package engines

import (
	"context"

	"quarry/agent/report"
	"quarry/model"
)

// Ready waits until it is known whether a model answers, and says so. A command that asks once
// has the time.
func (c *Core) Ready(ctx context.Context) bool {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime == nil {
		return false
	}
	return e.runtime.WaitReady(ctx) == nil || c.Available() == nil
}

// ReportRequest is a request with the model and settings of now.
func (c *Core) ReportRequest(r report.Request) report.Request {
	c.mu.Lock()
	r.ContextTokens = c.engines.settings.Ollama.ContextSize
	c.mu.Unlock()
	r.Chat, r.MaxTokens, r.Temperature = c, reportTokens, model.ChatPreset.Temperature
	return r
}

// reportTokens is how long a report's answers may be: ten sections of two sentences.
const reportTokens = 900
