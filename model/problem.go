package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// What can be wrong with a runtime. An error of this package wraps one of these
// and its text says what to do; errors.Is tells them apart.
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

	// ErrSuperseded ends a completion whose place a newer one took. It is a
	// context.Canceled too, so that a caller need not know this package.
	ErrSuperseded = fmt.Errorf("a newer completion took its place: %w", context.Canceled)
)

// problem is one of the errors above in words for the user: what is so, and
// what to do about it.
type problem struct {
	kind  error
	what  string
	fix   string // may be empty
	cause error  // may be nil
}

// WhatAndFix is an error of this package in two parts, the second of which says what to do; "" where it does not.
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

// PromptTooLong tells a caller that does not know this package that a shorter
// prompt would do.
func (p *problem) PromptTooLong() bool { return p.kind == ErrTooLong }

// clean makes a server's message part of a sentence: one short line, no full stop.
func clean(message string) string {
	return strings.TrimRight(short(strings.Join(strings.Fields(message), " ")), ".")
}

// mostSaid is how many characters are shown of what a server says about itself, in one word or one sentence.
const mostSaid = 200

// short is the beginning of what a server says, which may be as long as its answer.
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

// shortList are names that a server has, as many as can be looked at.
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
