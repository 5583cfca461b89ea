package engines

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"quarry/index"
	"quarry/lsp"
	"quarry/model"
)

// folderJobs shows what goes on in each folder of the workspace for longer than a
// moment.
type folderJobs struct {
	start func(title string, cancel func()) lsp.Job

	mu      sync.Mutex
	running map[string]lsp.Job // by what is done and where; guarded by mu
}

func (j *folderJobs) scanned(dir string, p index.Progress, stop func()) {
	const doing = "Indexing"
	switch {
	case p.Finished:
		j.end(doing, dir, fmt.Sprintf("%d files", p.Files))
	case p.Linking:
		j.report(doing, dir, stop, 0.95, fmt.Sprintf("%d files left to link", p.Left))
	default:
		j.report(doing, dir, stop, 0.95*float64(p.Done)/float64(max(p.Total, 1)), fmt.Sprintf("%d files read", p.Files))
	}
}

func (j *folderJobs) embedded(dir string, p index.EmbedProgress, stop func()) {
	const doing = "Embedding"
	if p.Finished {
		j.end(doing, dir, fmt.Sprintf("%d chunks", p.Done))
		return
	}
	j.report(doing, dir, stop, float64(p.Done)/float64(max(p.Total, 1)), fmt.Sprintf("%d of %d chunks", p.Done, p.Total))
}

func (j *folderJobs) report(doing, dir string, stop func(), fraction float64, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job := j.running[doing+dir]
	if job == nil {
		job = j.start(doing+" "+filepath.Base(dir), stop)
		j.running[doing+dir] = job
	}
	job.Report(fraction, message)
}

func (j *folderJobs) end(doing, dir, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job := j.running[doing+dir]; job != nil {
		job.End(message)
		delete(j.running, doing+dir)
	}
}

// loadingJob shows that the model is being loaded, for longer than a moment.
type loadingJob struct {
	start func(title string, cancel func()) lsp.Job
	model string

	mu    sync.Mutex
	timer *time.Timer // runs while a load is not shown yet; guarded by mu
	job   lsp.Job     // nil while none is shown; guarded by mu
}

// loadingMoment is how long a load goes unsaid: most models come back from the
// disk's cache sooner.
const loadingMoment = time.Second

// changed follows the model's state.
func (j *loadingJob) changed(s model.State) {
	if s.Phase == model.Loading {
		j.begin(s.Err.Error())
		return
	}
	j.end(string(s.Phase))
}

func (j *loadingJob) begin(message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.timer != nil || j.job != nil {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(loadingMoment, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.timer != timer {
			return // it ended meanwhile
		}
		j.timer, j.job = nil, j.start("Loading "+j.model, func() {})
		j.job.Report(0, message)
	})
	j.timer = timer
}

func (j *loadingJob) end(message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.timer != nil {
		j.timer.Stop()
	}
	if j.job != nil {
		j.job.End(message)
	}
	j.timer, j.job = nil, nil
}
