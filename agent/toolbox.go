package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"quarry/index/walk"
	"quarry/retrieval/workspace"
)

// Toolbox runs tools for a model. A tool reads what the workspace's rules let it
// read, and changes nothing: a change is staged, and applied only with a token
// that no tool can make. Toolbox is safe for concurrent use.
type Toolbox struct {
	parts     Parts
	catalogue catalogue
	// tokens bounds an answer whose call does not, 0 for MaxResultBytes alone.
	tokens int
	// views are what an agent has read, nil if nobody keeps that.
	views *views
}

// agentTokens is how long an answer to an agent is where its call does not say.
const agentTokens = 1500

// ForAgent is the toolbox for one agent that works by itself: its answers are short unless it
// asks for more, and what it reads ranks higher in what it searches for.
func (b *Toolbox) ForAgent() *Toolbox {
	return &Toolbox{b.parts, b.catalogue, agentTokens, &views{}}
}

// Parts are what the tools are made of.
type Parts struct {
	Workspace Workspace
	// Problems are the diagnostics that the editor told of, of the file at path,
	// or of all if it is "", each with the document as it is now; nil if there is
	// no editor.
	Problems func(path string) []Problem
	// Patcher and Staging make proposals of changes; without them the tools that
	// write refuse.
	Patcher Patcher
	Staging *Staging
	// Apply asks the editor to apply what the user has confirmed. It returns nil
	// only when the editor's documents have changed so. Nil if there is no editor.
	Apply func(ctx context.Context, p Proposal) error
	// Views is told what an agent that works by itself is shown; nil if nobody wants to know.
	Views Views
}

// NewToolbox makes a toolbox.
func NewToolbox(p Parts) *Toolbox { return &Toolbox{parts: p, catalogue: shipped()} }

// Definitions are the tools to offer to a model, as Conversation.Tools takes them:
// those named, else all that are offered to every conversation. The bytes are the
// same whenever the set is.
func (b *Toolbox) Definitions(names ...string) json.RawMessage {
	return b.catalogue.definitions(names, func(t *tool) json.RawMessage { return t.Parameters })
}

// AllDefinitions are the tools that are offered at all, with the arguments that bound an
// answer.
func (b *Toolbox) AllDefinitions() json.RawMessage {
	var names []string
	for _, t := range b.catalogue {
		names = append(names, t.Name)
	}
	return b.catalogue.definitions(names, func(t *tool) json.RawMessage { return t.agents })
}

// tools are what runs behind the names of the catalogue. A tool may answer both an
// error and data that goes with it.
var tools = map[string]func(b *Toolbox, ctx context.Context, args json.RawMessage) (reply, error){
	"read_file":             (*Toolbox).readFile,
	"list_files":            (*Toolbox).listFiles,
	"search_text":           (*Toolbox).searchText,
	"search_symbols":        (*Toolbox).searchSymbols,
	"get_symbol_definition": (*Toolbox).symbolDefinition,
	"get_references":        (*Toolbox).references,
	"get_diagnostics":       (*Toolbox).diagnostics,
	"retrieve_context":      (*Toolbox).retrieveContext,
	"codebase_search":       (*Toolbox).codebaseSearch,
	"search_code":           (*Toolbox).searchCode,
	"search_docs":           (*Toolbox).searchDocs,
	"find_similar":          (*Toolbox).findSimilar,
	"get_outline":           (*Toolbox).outline,
	"get_callers":           (*Toolbox).callers,
	"get_callees":           (*Toolbox).callees,
	"get_implementations":   (*Toolbox).implementations,
	"get_impact":            (*Toolbox).impact,
	"search_regex":          (*Toolbox).searchRegex,
	"repo_overview":         (*Toolbox).overview,
	"rename_symbol":         (*Toolbox).renameSymbol,
	"apply_unified_diff":    (*Toolbox).applyDiff,
	"apply_text_edits":      (*Toolbox).applyEdits,
}

// backendFiles is what a tool asks that reads the files themselves.
const backendFiles = "files"

// backends are what the others ask, where their answer does not say.
var backends = map[string]string{
	"list_files": "index", "search_text": "lexical", "search_symbols": "symbols", "get_symbol_definition": "symbols",
	"get_references": "graph", "get_diagnostics": "editor", "retrieve_context": "lexical", "codebase_search": "lexical",
	"search_code": "lexical", "search_docs": "lexical", "find_similar": "lexical",
	"get_outline": "symbols", "get_callers": "graph", "get_callees": "graph", "get_implementations": "graph", "get_impact": "graph",
	"repo_overview": "symbols", "rename_symbol": "graph",
}

// Call runs one tool. args is a JSON object, or nothing. What goes wrong is said
// in the envelope.
func (b *Toolbox) Call(ctx context.Context, name string, args json.RawMessage) Envelope {
	t := b.catalogue.find(name)
	if t == nil {
		return failed(Failf(NotFound, "there is no tool %q; the tools are: %s", clip(name, 100), b.names()))
	}
	if t.State == removed {
		message := fmt.Sprintf("the tool %s was removed", t.Name)
		if t.Use != "" {
			message += "; use " + t.Use
		}
		return failed(Failf(NotFound, "%s", message))
	}
	valid, warnings, err := t.arguments(args)
	if err != nil {
		return failed(b.explain(ctx, err))
	}
	if t.State == deprecated && t.Use != "" {
		warnings = append(warnings, fmt.Sprintf("%s will be removed; use %s", t.Name, t.Use))
	}
	serving := t.Name
	if tools[serving] == nil {
		serving = t.Use
	}
	ctx = workspace.Question(ctx)
	r, err := tools[serving](b, ctx, valid)
	r.warnings = append(warnings, r.warnings...)
	if err != nil {
		r.failure = b.explain(ctx, err)
	}
	var unknown *workspace.UnknownSymbol
	if errors.As(err, &unknown) && !unknown.Several {
		if err := b.gaps(ctx, &r, "", lastName(unknown.ID), false); err != nil {
			r.failure = b.explain(ctx, err)
		}
	}
	var unready *workspace.NotReady
	if errors.As(err, &unready) {
		r.missing = &unready.Missing
	}
	if r.backend == nil {
		r.backend = []string{cmp.Or(backends[serving], backendFiles)}
	}
	return seal(r, b.tokensOf(valid, r.sized))
}

// bounds are the arguments that any tool takes.
type bounds struct {
	MaxTokens int `json:"max_tokens"`
	Offset    int `json:"offset"`
}

// tokensOf is how long the answer to a call with these arguments may be, 0 for any length.
func (b *Toolbox) tokensOf(valid json.RawMessage, sized bool) int {
	var own bounds
	switch err := json.Unmarshal(valid, &own); {
	case err != nil: // the tool has refused it
		return b.tokens
	case own.MaxTokens == 0 && sized:
		return 0
	}
	return cmp.Or(own.MaxTokens, b.tokens)
}

// names are the tools that may be called, for a model that called another.
func (b *Toolbox) names() string {
	var list []string
	for _, t := range b.catalogue {
		if t.State == active || t.State == deferred {
			list = append(list, t.Name)
		}
	}
	return strings.Join(list, ", ")
}

// explain gives an error its code, and says what to do.
func (b *Toolbox) explain(ctx context.Context, err error) *Failure {
	var (
		failure   *Failure
		excluded  *walk.Excluded
		ambiguous *workspace.Ambiguous
		unknown   *workspace.UnknownSymbol
		unready   *workspace.NotReady
		gone      *fs.PathError
	)
	switch {
	case errors.As(err, &failure):
		return failure
	case ctx.Err() != nil:
		return Failf(InternalError, "the call was ended: %v", context.Cause(ctx))
	case errors.As(err, &excluded) && excluded.Reason == walk.Outside:
		return Failf(PermissionDenied, "%s is not in the workspace; only its files can be read", clip(excluded.Path, 200))
	case errors.As(err, &excluded) && excluded.Reason == walk.Special:
		return Failf(InvalidArguments, "%s is no file; list_files shows the files", clip(excluded.Path, 200))
	case errors.As(err, &excluded) && excluded.Reason == walk.Unreadable:
		return Failf(NotFound, "%s cannot be read; list_files shows the files", clip(excluded.Path, 200))
	case errors.As(err, &excluded):
		return Failf(PermissionDenied, "%s may not be read (%s); go on without it", clip(excluded.Path, 200), excluded.Reason)
	case errors.As(err, &ambiguous):
		return Failf(InvalidArguments, "%v", ambiguous)
	case errors.As(err, &unready):
		return Failf(NotReady, "%v", unready)
	case errors.As(err, &unknown):
		return Failf(NotFound, "%v", unknown)
	case errors.As(err, &gone) && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)):
		return Failf(NotFound, "%s is gone since it was indexed, as while another commit is checked out; ask again in a few seconds", clip(filepath.ToSlash(gone.Path), 200))
	}
	return Failf(InternalError, "%v", err)
}

// locate is Workspace.Locate, which also takes a place for its file, and for a file that is not
// there says which ones have its name.
func (b *Toolbox) locate(ctx context.Context, name string) (string, error) {
	at, _, _, err := b.locatePlace(ctx, name)
	return at, err
}

// locatePlace is locate with the lines of the place, 0 where name is that of a file.
func (b *Toolbox) locatePlace(ctx context.Context, name string) (file string, start, end int, err error) {
	at, err := b.parts.Workspace.Locate(ctx, name)
	if err == nil {
		return at, 0, 0, nil
	}
	// A model gives a place as it stands in an answer. Windows has more errors for such a name
	// than that it is not there.
	if of, first, last := placeIn(name); first > 0 {
		name = of
		if at, err = b.parts.Workspace.Locate(ctx, name); err == nil {
			return at, first, last, nil
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", 0, 0, err
	}
	message := fmt.Sprintf("there is no file %s", clip(name, 200))
	if near := b.likeNamed(ctx, name); len(near) > 0 {
		return "", 0, 0, Failf(NotFound, "%s; perhaps %s", message, strings.Join(near, " or "))
	}
	return "", 0, 0, Failf(NotFound, "%s; find it with list_files", message)
}

// likeNamed are a few files with the base name of a path.
func (b *Toolbox) likeNamed(ctx context.Context, name string) (near []string) {
	files, _, err := b.parts.Workspace.Files(ctx, nil)
	if err != nil {
		return nil // it would only have helped
	}
	want := path.Base(strings.ReplaceAll(name, `\`, "/"))
	for _, f := range files {
		if strings.EqualFold(path.Base(f.Name), want) && len(near) < 3 {
			near = append(near, f.Name)
		}
	}
	return near
}
