package engines

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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
	// changed is called when there is more or less to tell by under.
	changed func()
	// took is called with how long each scan took, most of which are over before they would be shown; nil if nobody wants to
	// know.
	took func(time.Duration)

	mu      sync.Mutex
	running map[folderWork]*folderJob // guarded by mu
}

// folderWork is what is done, and where.
type folderWork struct{ kind, dir string }

type folderJob struct {
	lsp.Job
	work lsp.Work
}

func (j *folderJobs) scanned(dir string, p index.Progress, stop func()) {
	id := folderWork{lsp.Indexing, dir}
	switch {
	case p.Finished:
		if p.Took > 0 && j.took != nil {
			j.took(p.Took)
		}
		j.end(id, fmt.Sprintf("%d files", p.Files))
	default:
		j.report(id, stop, p.Files, p.OfFiles, 0.95*float64(p.Done)/float64(max(p.Total, 1)), fmt.Sprintf("%d of %d files", p.Files, p.OfFiles))
	}
}

func (j *folderJobs) embedded(dir string, p index.EmbedProgress, stop func()) {
	id := folderWork{lsp.Embedding, dir}
	if p.Finished {
		j.end(id, fmt.Sprintf("%d chunks", p.Done))
		return
	}
	j.report(id, stop, p.Done, p.Total, float64(p.Done)/float64(max(p.Total, 1)), fmt.Sprintf("%d of %d chunks", p.Done, p.Total))
}

func (j *folderJobs) report(id folderWork, stop func(), done, total int, fraction float64, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job := j.running[id]
	if job == nil {
		name := filepath.Base(id.dir)
		title := strings.ToUpper(id.kind[:1]) + id.kind[1:] + " " + name
		job = &folderJob{j.start(title, stop), lsp.Work{Kind: id.kind, Folder: name}}
		j.running[id] = job
	}
	job.work.Done, job.work.Total = done, total
	job.Report(fraction, message)
	j.changed()
}

func (j *folderJobs) end(id folderWork, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job := j.running[id]; job != nil {
		job.End(message)
		delete(j.running, id)
		j.changed()
	}
}

// under is how far the work of a kind in a folder is, if it is shown.
func (j *folderJobs) under(kind, dir string) (lsp.Work, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job := j.running[folderWork{kind, dir}]
	if job == nil {
		return lsp.Work{}, false
	}
	return job.work, true
}

// all are the works of a kind, by folder.
func (j *folderJobs) all(kind string) []lsp.Work {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []lsp.Work
	for id, job := range j.running {
		if id.kind == kind {
			list = append(list, job.work)
		}
	}
	slices.SortFunc(list, func(a, b lsp.Work) int { return strings.Compare(a.Folder, b.Folder) })
	return list
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
