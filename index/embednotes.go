package index

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// What went wrong with vectors is kept with the index, so that `quarry status` and
// `quarry doctor` know of it though another process embeds, or none.
const (
	metaFailure = "embedding_failure" // who was asked, a line, and the latest error; "" after a success
	metaLost    = "vectors_lost"      // how many, and when: see decodeLost
)

// notifyAfter is how many failures in a row with the same error, none of which passes by
// itself, the user is told of: three are seven seconds of trying.
const notifyAfter = 3

// noteFailure takes in how a round of embedding ended.
func (e *Embedding) noteFailure(of Embedders, err error) {
	if !e.owner || e.store.InMemory() || of.QueriesOnly || errors.Is(err, errEmbeddingStopped) {
		return
	}
	failure := ""
	if err != nil {
		failure = of.Asked + "\n" + err.Error()
	}
	if failure != e.noted {
		e.noted, e.failed = failure, 0
		e.putMeta(metaFailure, failure)
	}
	e.failed++
	if err != nil && e.failed == notifyAfter && !errors.As(err, new(notified)) && (of.Passing == nil || !of.Passing(err)) {
		e.x.troubles.tell(fmt.Sprintf("Not all code of %s is embedded: %s. Searches go on without; embedding is tried again from time to time; `quarry status` says how far it is.", e.x.root.Dir(), err))
	}
}

// decodeFailure is what metaFailure has; one without a first line is of an earlier quarry, which did not note who was asked.
func decodeFailure(kept string) (asked, failure string) {
	asked, failure, ok := strings.Cut(kept, "\n")
	if !ok {
		return "", kept
	}
	return asked, failure
}

// noteLost takes in that vectors were damaged or gone.
func (e *Embedding) noteLost(vectors int) {
	if vectors > 0 {
		e.putMeta(metaLost, fmt.Sprintf("%d %s", vectors, e.x.cfg.Clock.Now().UTC().Format(time.RFC3339)))
	}
}

func decodeLost(value string) (vectors int, at time.Time) {
	var when string
	if _, err := fmt.Sscan(value, &vectors, &when); err != nil {
		return 0, at // nothing was ever lost
	}
	at, _ = time.Parse(time.RFC3339, when)
	return vectors, at
}

// putMeta notes what only a status shows, so that an error is no reason to stop.
func (e *Embedding) putMeta(key, value string) {
	if err := e.store.PutMeta(key, value); err != nil {
		e.x.cfg.Log.Info("note what became of vectors", "error", err)
	}
}
