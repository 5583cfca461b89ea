package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/index"
	"quarry/model/catalogue"
)

// progressBar draws how far a scan is: a bar that overwrites itself on a terminal,
// a line now and then elsewhere.
type progressBar struct {
	app      *app
	terminal bool
	start    time.Time

	mu    sync.Mutex // guards the fields below
	line  time.Time  // of the last plain line
	drawn bool
	read  int64
	files int   // that were read by scans that have ended
	first int64 // bytes that were there at the start; below 0 until they are known
}

const (
	barWidth  = 30
	lineEvery = 5 * time.Second
	showEvery = 250 * time.Millisecond
)

func (b *progressBar) show(p index.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read = max(b.read, p.Done)
	now := time.Now()
	what := fmt.Sprintf("%s files, %.1f MB/s", grouped(int64(p.Files)), float64(p.Done)/1e6/max(now.Sub(b.start).Seconds(), 0.001))
	share := 0.0
	if p.Total > 0 {
		share = float64(p.Done) / float64(p.Total)
	}
	if p.Finished {
		b.files += p.Files
	} else {
		b.draw("indexing", share, what, now)
	}
}

// prepared shows for how many files searches have what they begin with.
func (b *progressBar) prepared(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what := fmt.Sprintf("%s of %s files ready to be searched", grouped(int64(done)), grouped(int64(total)))
	b.draw("preparing", float64(done)/float64(max(total, 1)), what, time.Now())
}

// embedded shows how many chunks are embedded.
func (b *progressBar) embedded(p index.EmbedProgress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); !p.Finished {
		what := fmt.Sprintf("%s of %s chunks", grouped(int64(p.Done)), grouped(int64(p.Total)))
		b.draw("embedding", float64(p.Done)/float64(max(p.Total, 1)), what, now)
	}
}

// part shows how many of how many bytes there are.
func (b *progressBar) part(doing string, done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.first < 0 {
		b.first = done
	}
	speed := float64(done-b.first) / 1e6 / max(now.Sub(b.start).Seconds(), 0.001)
	what := fmt.Sprintf("%s of %s, %.1f MB/s", catalogue.Gigabytes(done), catalogue.Gigabytes(total), speed)
	b.draw(doing, float64(done)/float64(max(total, 1)), what, now)
}

// draw shows a share of the work. mu is held.
func (b *progressBar) draw(doing string, share float64, what string, now time.Time) {
	switch {
	case b.terminal:
		full := int(share * barWidth)
		fmt.Fprintf(b.app.Stderr, "%s%3.0f%% %s%s %s", cli.ClearLine, share*100, strings.Repeat("█", full), strings.Repeat("░", barWidth-full), what)
		b.drawn = true
	case b.line.IsZero():
		b.line = b.start
		fallthrough
	default:
		if now.Sub(b.line) >= lineEvery {
			b.line = now
			fmt.Fprintf(b.app.Stderr, "%s: %.0f%%, %s\n", doing, share*100, what)
		}
	}
}

// end removes the bar.
func (b *progressBar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn {
		fmt.Fprint(b.app.Stderr, cli.ClearLine)
	}
}

// updated is how many files were read.
func (b *progressBar) updated() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files
}

// bytes is how much source was read.
func (b *progressBar) bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read
}
