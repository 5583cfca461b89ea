package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"quarry/agent"
	"quarry/agent/mcp"
)

// Options say what is run.
type Options struct {
	// Corpus is the folder with one tree a repository, by name.
	Corpus string
	// Half is fit or held, "" for both; Only restricts the repositories, nil takes all.
	Half string
	Only []string
	// Serve answers what an MCP server over a folder is made of. State is a folder for its
	// index.
	Serve func(ctx context.Context, dir, state string) (mcp.Options, error)
	// Chat, if not nil, is a model that works on the tasks that want one place, with either's tools.
	Chat agent.Chat
	// Done, if not nil, is called after each task.
	Done func(task string)
}

// Pair is a task as both scripts worked on it.
type Pair struct {
	Question string  `json:"question"`
	Ripgrep  Outcome `json:"ripgrep"`
	Quarry   Outcome `json:"quarry"`
	// A model with the tools of either; nil where none worked on the task.
	ModelRipgrep *Outcome `json:"model_ripgrep,omitempty"`
	ModelQuarry  *Outcome `json:"model_quarry,omitempty"`
}

// Run works on the tasks of a set.
func (s Set) Run(ctx context.Context, opt Options) (Report, error) {
	var pairs []Pair
	for _, r := range s.Repositories {
		if opt.Half != "" && r.Half != opt.Half || len(opt.Only) > 0 && !slices.Contains(opt.Only, r.Name) {
			continue
		}
		part, err := s.run(ctx, r, opt)
		if err != nil {
			return Report{}, fmt.Errorf("%s: %w", r.Name, err)
		}
		pairs = append(pairs, part...)
	}
	if len(pairs) == 0 {
		return Report{}, errors.New("no task was chosen")
	}
	return sum(pairs), nil
}

// run works on the tasks of one repository, in a copy that is removed again.
func (s Set) run(ctx context.Context, r Repository, opt Options) (pairs []Pair, err error) {
	from := filepath.Join(opt.Corpus, r.Name)
	if _, err := os.Stat(from); err != nil {
		return nil, fmt.Errorf("its tree is not there: testdata/holes/fetch.sh %s brings it", opt.Corpus)
	}
	work, err := os.MkdirTemp("", "quarry-agents-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	dir := filepath.Join(work, r.Name)
	tree, err := plant(from, dir, r.Without)
	if err != nil {
		return nil, err
	}
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Repository == r.Name {
			if err := t.check(tree); err != nil {
				return nil, err
			}
		}
	}
	opts, err := opt.Serve(ctx, dir, filepath.Join(work, "state"))
	if err != nil {
		return nil, err
	}
	tools, err := connect(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Repository != r.Name {
			continue
		}
		by := begin(t, tree, r.Half)
		ripgrep(by)
		with := begin(t, tree, r.Half)
		if err := quarry(ctx, tools, with); err != nil {
			return nil, fmt.Errorf("task %s: %w", t.ID, err)
		}
		pair := Pair{Question: t.Question, Ripgrep: by.Outcome, Quarry: with.Outcome}
		if opt.Chat != nil && !t.Kind.wantsAll() {
			by, with := begin(t, tree, r.Half), begin(t, tree, r.Half)
			err := byModelAlone(ctx, opt.Chat, by)
			if err == nil {
				err = byModel(ctx, opt.Chat, tools, opts.Definitions, with)
			}
			if err != nil {
				return nil, fmt.Errorf("task %s by the model: %w", t.ID, err)
			}
			pair.ModelRipgrep, pair.ModelQuarry = &by.Outcome, &with.Outcome
		}
		pairs = append(pairs, pair)
		if opt.Done != nil {
			opt.Done(t.ID)
		}
	}
	return pairs, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// median of a list that is not empty, the lower one of two.
func median[T cmp.Ordered](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[(len(list)-1)/2]
}
