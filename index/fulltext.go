package index

import (
	"bytes"
	"context"
	"strings"
	"time"

	"quarry/index/store"
	"quarry/index/token"
)

// The full-text table answers where there is no snapshot to begin with, until the index is
// in memory. So its rows are written when nobody waits, a few files at a time, from the
// texts as they are then. Which files are left to do stands in the database.

const (
	// fillAfter is how long nothing was indexed before the table is filled: what searches
	// begin with is written first, and a command that indexes and ends leaves it to a server.
	fillAfter = 2 * time.Second
	// fillBytes and fillFiles bound how much one step reads. An edit waits for a step at
	// most, some 20 ms on a busy machine.
	fillBytes = 128 << 10
	fillFiles = 32
)

// fill is how far the coordinator is with the full-text table.
type fill struct {
	due   bool // there may be files without a row
	at    time.Time
	bytes int64 // read since the tables were merged
	terms terms
}

// later notes that files are due, or may be.
func (f *fill) later(now time.Time) { f.due, f.at = true, now.Add(fillAfter) }

// fillStep writes the rows of the next files. An index in memory has no need of them: it
// goes on with what searches know.
func (c *coordinator) fillStep(ctx context.Context) {
	f, s := &c.fill, c.Store()
	var due []store.TextDue
	var err error
	if !s.InMemory() && !c.cfg.Brief {
		due, err = s.TextDue(ctx, fillFiles)
	}
	if len(due) == 0 || err != nil {
		*f = fill{}
		c.settleErr(ctx, err)
		return
	}
	var rows []store.FileText
	size := 0
	for _, d := range due {
		if size >= fillBytes {
			break
		}
		text, err := c.Text(d.Path)
		if err != nil || hashOf([]byte(text)) != d.Hash {
			text = "" // a scan or an event brings another record
		}
		size += len(text)
		rows = append(rows, store.FileText{ID: d.ID, Terms: f.terms.of(text)})
	}
	c.written = true
	if err = s.PutText(rows); err != nil {
		*f = fill{}
		c.settleErr(ctx, err)
		return
	}
	if f.bytes += int64(size); f.bytes > mergeAbove && len(rows) == len(due) && len(due) < fillFiles {
		c.merge, f.bytes = mergeBegin, 0
	}
}

// terms cuts texts into what the full-text table has of them.
type terms struct {
	analyzer token.Analyzer
	runs     map[string]bool
	seen     map[string]bool
	buffer   []byte
}

// of answers the terms of a text, each once, with blanks between.
func (t *terms) of(text string) string {
	if t.runs == nil {
		t.runs, t.seen = map[string]bool{}, map[string]bool{}
	}
	clear(t.runs)
	clear(t.seen)
	var all strings.Builder
	token.Runs(text, func(run string) {
		if t.runs[run] {
			return
		}
		t.runs[run] = true
		t.buffer = t.analyzer.AppendText(t.buffer[:0], run)
		for term := range bytes.FieldsSeq(t.buffer) {
			if !t.seen[string(term)] {
				t.seen[string(term)] = true
				all.Write(term)
				all.WriteByte(' ')
			}
		}
	})
	return all.String()
}
