package cli

import (
	"context"
	"fmt"
	"sync"

	"quarry/cmd/internal/engines"
	"quarry/index"
	"quarry/lsp"
)

// Engines makes engines over this environment's folder for state and log.
func (e *Env) Engines(start lsp.Start, opt engines.Options) *engines.Core {
	opt.StateDir, opt.Log = e.StateDir, e.Log
	return engines.New(start, opt)
}

// Core makes the engines for a command without an editor, with the workspace indexed
// as it is now, or as far as Wait allows.
func (e *Env) Core(root string) *engines.Core {
	index.Awaited()
	var notified sync.Map // by key
	c := e.Engines(lsp.Start{
		Settings: e.CommandSettings(),
		Roots:    []string{root},
		Watch:    true, // an editor opened meanwhile only reads
		Notify: func(_ lsp.Severity, key, message string) {
			if _, again := notified.LoadOrStore(key, true); !again {
				fmt.Fprintln(e.Stderr, "quarry:", message)
			}
		},
		Job: e.Job,
	}, engines.Options{OneShot: true, Wait: e.WaitLimit(), Incomplete: e.Lacks})
	within, cancel := context.WithTimeout(context.Background(), e.WaitLimit())
	defer cancel()
	c.Link(within)
	return c
}

// Job shows the work of a command that nobody can cancel.
func (e *Env) Job(title string, _ func()) lsp.Job {
	return &terminalJob{to: e.Stderr, title: title, draw: OnTerminal(e.Stderr)}
}

// terminalJob shows work on one line of a terminal, and nothing elsewhere.
type terminalJob struct {
	to    *Terminal
	title string
	draw  bool
}

// Report implements lsp.Job.
func (j *terminalJob) Report(fraction float64, message string) {
	if j.draw {
		fmt.Fprintf(j.to, "%s%s: %3.0f%% %s", ClearLine, j.title, 100*fraction, message)
	}
}

// End implements lsp.Job.
func (j *terminalJob) End(string) {
	if j.draw {
		fmt.Fprint(j.to, ClearLine)
	}
}
