package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
)

// setupModelAnswer is the JSON of `quarry setup model`.
type setupModelAnswer struct {
	catalogue.Advice
	// Fetch and Use are the models that were, or would be, fetched and written into the
	// settings.
	Fetch []string `json:"fetch"`
	Use   []string `json:"use"`
	// Findings are of the models that were tried.
	Findings []model.Finding `json:"findings,omitempty"`
	// Done says that it was done.
	Done bool `json:"done"`
}

// setupModel does with one yes all that it takes for models to answer here.
func (a modelCommands) setupModel(ctx context.Context, opt setupOptions) error {
	if opt.undo {
		return fmt.Errorf("%w: setup model has no --undo; `quarry model use NAME` chooses another model, `quarry model rm NAME` deletes one", cli.ErrUsage)
	}
	s, m, err := a.models()
	if err != nil {
		return err
	}
	advice, have, noOllama := m.AdviseTried(ctx)
	answer := setupModelAnswer{Advice: advice, Fetch: []string{}, Use: []string{}}
	bytes := int64(0)
	recommended := engines.Recommended(advice, s)
	for _, c := range recommended {
		if !c.Installed {
			answer.Fetch = append(answer.Fetch, c.Name)
			bytes += c.Download
		}
		if used(&s, c.Name) == "" {
			answer.Use = append(answer.Use, c.Name)
		}
	}
	if !a.JSON {
		a.showAdvice(advice, s, have, noOllama)
	}
	switch {
	case noOllama != nil:
		return noOllama
	case len(recommended) == 0:
		return engines.ErrNoneSuits
	case opt.print || a.JSON && !opt.yes:
		if a.JSON {
			return a.PrintJSON(answer)
		}
		return nil
	case len(answer.Fetch)+len(answer.Use) == 0:
		if a.JSON {
			answer.Done = true
			return a.PrintJSON(answer)
		}
		if off := s.Unasked(false); off != "" {
			fmt.Fprintf(a.Stdout, "\nAll of it is set up, but %s.\n", off)
			return nil
		}
		fmt.Fprintln(a.Stdout, "\nAll of it is set up. `quarry doctor` tries it.")
		return nil
	}
	ok, err := a.confirm(a.answers(), opt.yes, question(answer, bytes))
	if err != nil || !ok {
		return err
	}
	say := a.sayFindings
	if a.JSON {
		say = func(findings []model.Finding) error {
			answer.Findings = append(answer.Findings, findings...)
			return nil
		}
	}
	err = a.setUpModels(ctx, m, answer, say)
	if answer.Done = err == nil; a.JSON {
		err = errors.Join(err, a.PrintJSON(answer))
	}
	return err
}

// setUpModels does what the user agreed to, one model after the other, those that are there first: what
// cannot be fetched keeps none of the others from being used. Nothing is written unless it works.
func (a modelCommands) setUpModels(ctx context.Context, m *engines.Models, answer setupModelAnswer, say func([]model.Finding) error) error {
	for _, name := range answer.Use {
		if in(answer.Fetch, name) {
			continue
		}
		if err := a.tryModel(ctx, m, name, name, say); err != nil {
			return err
		}
		if err := a.chooseModel(m, name); err != nil {
			return err
		}
	}
	for _, name := range answer.Fetch { // which tries it
		if err := a.fetchModel(ctx, m, name, false, say); err != nil {
			return err
		}
		if !in(answer.Use, name) {
			continue
		}
		if err := a.chooseModel(m, name); err != nil {
			return err
		}
	}
	return nil
}

// question asks for all of it at once.
func question(answer setupModelAnswer, bytes int64) string {
	var do []string
	if len(answer.Fetch) > 0 {
		do = append(do, fmt.Sprintf("fetch %s (%s)", strings.Join(answer.Fetch, " and "), catalogue.Gigabytes(bytes)))
	}
	if len(answer.Use) > 0 {
		do = append(do, fmt.Sprintf("write %s into %s", strings.Join(answer.Use, " and "), settings.UserFilePath()))
	}
	text := strings.Join(do, ", try it, and ")
	return strings.ToUpper(text[:1]) + text[1:] + "?"
}

func in(list []string, name string) bool {
	for _, n := range list {
		if model.SameModel(n, name) {
			return true
		}
	}
	return false
}

// showAdvice prints what is recommended, and why.
func (a modelCommands) showAdvice(advice catalogue.Advice, s settings.Settings, have []model.Installed, noOllama error) {
	ollama := fmt.Sprintf("has %d models", len(have))
	if noOllama != nil {
		ollama = "gives no list of its models"
	}
	fmt.Fprintf(a.Stdout, "This machine: %s. Ollama at %s %s.\n", advice.Machine, engines.ModelOf(s, &engines.Elsewhere{}).URL, ollama)
	for _, line := range adviceLines(advice, s) {
		fmt.Fprintln(a.Stdout, line)
	}
}

// adviceLines are the recommendation in words.
func adviceLines(advice catalogue.Advice, s settings.Settings) []string {
	line := func(what string, c catalogue.Choice) string {
		if c.Name == "" {
			return fmt.Sprintf("%-11s %s", what, c.Why)
		}
		how := "installed"
		if !c.Installed {
			how = catalogue.Gigabytes(c.Download) + " to fetch"
		}
		return fmt.Sprintf("%-11s %s (%s): %s", what, c.Name, how, c.Why)
	}
	lines := []string{line("completion", advice.Completion)}
	if s.Embedding.Enabled {
		return append(lines, line("search", advice.Search))
	}
	return append(lines, fmt.Sprintf("%-11s %s", "search", "embedding.enabled switches models for it off"))
}
