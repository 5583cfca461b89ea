package service

import (
	"sync"
	"time"

	"quarry/lsp/service/client"
)

// reportEvery bounds how often clients are told of one piece of work.
const reportEvery = 100 * time.Millisecond

// Job tells clients how far a piece of work is. Its methods return at once, and may be called
// from any goroutine.
type Job struct {
	title string
	tell  func(client.Progress)

	mu   sync.Mutex
	last time.Time // when it was told; guarded by mu
}

// NewJob is work under a title, which tell tells of.
func NewJob(title string, tell func(client.Progress)) *Job { return &Job{title: title, tell: tell} }

// Report implements lsp.Job.
func (j *Job) Report(fraction float64, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if now := time.Now(); now.Sub(j.last) >= reportEvery {
		j.last = now
		j.tell(client.Progress{Title: j.title, Fraction: fraction, Message: message})
	}
}

// End implements lsp.Job.
func (j *Job) End(message string) {
	j.tell(client.Progress{Title: j.title, Fraction: 1, Message: message, Done: true})
}
