package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/cmd/internal/cli"
	kept "quarry/diagnostics/eval"
	"quarry/retrieval/eval/newcomer"
)

// expansion has a chat model name what the code that answers a question may be called: one
// short answer, as a search that had such a model could ask for.
const expansion = `You know the source code of many programs. Somebody searches the code of one. Write the names that functions, types and variables of the code they look for probably have, eight at most, with commas between. No sentence, no code.`

// Limits of an expansion.
const (
	expansionTokens = 48
	expansionNames  = 8
)

// identifiers are what of a model's answer may be a name.
var identifiers = regexp.MustCompile(`[\pL_][\pL\pN_]{2,}`)

// names are the different names of a model's answer that are not in what it was told, a blank
// between two. Small models repeat the question.
func names(answer, told string) string {
	var list []string
	told = strings.ToLower(told)
	for _, name := range identifiers.FindAllString(answer, -1) {
		if !strings.Contains(told, strings.ToLower(name)) && !slices.Contains(list, name) && len(list) < expansionNames {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

// expanding has the model of the settings expand a newcomer's questions, with its answers kept in a
// file. With replay it is not asked, and what the file lacks is an error.
func (a *app) expanding(file string, replay bool) (expand newcomer.Expand, end func() error, err error) {
	answers, err := kept.OpenAnswers(file, a.CommandSettings().Model)
	if err != nil {
		return nil, nil, err
	}
	var upstream agent.Chat
	end = answers.Close
	if !replay {
		scratch, err := os.MkdirTemp("", "quarry-expand")
		if err != nil {
			return nil, nil, errors.Join(err, answers.Close())
		}
		a.StateDir, a.Wait = filepath.Join(scratch, "state"), slow
		core := a.Core(scratch)
		upstream, end = core, func() error { return errors.Join(core.Close(), answers.Close(), os.RemoveAll(scratch)) }
	}
	chat := answers.Of(upstream)
	return func(ctx context.Context, r newcomer.Repository, question string) (string, error) {
		told := fmt.Sprintf("The program is called %s and is written in %s.\n%s", r.Name, r.Language, question)
		reply, err := chat.Chat(ctx, agent.Conversation{
			Messages: []agent.Message{
				{Role: "system", Text: expansion},
				{Role: "user", Text: told},
			},
			MaxTokens: expansionTokens,
		}, func(string) bool { return true })
		if err != nil {
			return "", fmt.Errorf("%w: expand %q: %w", cli.ErrUsage, question, err)
		}
		return names(reply.Text, told), nil
	}, end, nil
}
