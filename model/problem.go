package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// These are the kinds of problem that a runtime can have. An error of this package wraps one
// of them, and its text says what to do. errors.Is tells them apart.
var (
	ErrUnreachable  = errors.New("the model server does not answer")
	ErrModelMissing = errors.New("the model is not installed")
	ErrEmbeds       = errors.New("the model embeds text")
	ErrRefused      = errors.New("the model runs on another machine")
	ErrNoFIM        = errors.New("the model cannot fill in the middle")
	ErrLoading      = errors.New("the model is being loaded")
	ErrBusy         = errors.New("the model server is busy")
	ErrTooLong      = errors.New("the prompt is too long")
	ErrBroken       = errors.New("the answer broke off")
	ErrNoTools      = errors.New("the model's chat template knows no tools")
	ErrServer       = errors.New("the model server failed")

	// ErrSuperseded ends a completion that a newer one has replaced. It is a context.Canceled
	// too, so that a caller need not know this package.
	ErrSuperseded = fmt.Errorf("a newer completion took its place: %w", context.Canceled)
)

// problem is one of the errors above in words for the user: what is wrong, and what to do
// about it.
type problem struct {
	kind  error
	what  string
	fix   string // may be empty
	cause error  // may be nil
}

// WhatAndFix splits an error of this package into what is wrong and what to do; fix is "" if
// the error does not say that.
func WhatAndFix(err error) (what, fix string) {
	var p *problem
	if errors.As(err, &p) {
		return p.what, p.fix
	}
	return err.Error(), ""
}

func (p *problem) Error() string {
	if p.fix == "" {
		return p.what
	}
	return p.what + ": " + p.fix
}

func (p *problem) Unwrap() []error {
	if p.cause == nil {
		return []error{p.kind}
	}
	return []error{p.kind, p.cause}
}

// PromptTooLong tells a caller that does not know this package that a shorter prompt would
// work.
func (p *problem) PromptTooLong() bool { return p.kind == ErrTooLong }

// clean makes a server's message fit into a sentence: one short line without a full stop.
func clean(message string) string {
	return strings.TrimRight(short(strings.Join(strings.Fields(message), " ")), ".")
}

// mostSaid is how many characters are shown of one word or sentence from a server.
const mostSaid = 200

// short is the beginning of a server's text, which may be as long as its answer.
func short(text string) string {
	n := 0
	for i := range text {
		if n++; n == mostSaid {
			if rest := text[i:]; utf8.RuneCountInString(rest) > 1 {
				return text[:i] + "…"
			}
		}
	}
	return text
}

// shortList names models of a server, not more than a user can read.
func shortList(names []string) string {
	const most = 20
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, short(name))
	}
	if more := len(names) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d others", more))
	}
	return strings.Join(list, ", ")
}
