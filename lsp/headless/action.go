package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"quarry/lsp/text"
)

// Diagnostic is what another language server says of a document, which the editor
// passes on where it asks for code actions.
type Diagnostic struct {
	// Start and End are its byte range.
	Start, End            int
	Severity              int // LSP's, 1 for an error
	Source, Code, Message string
}

// Action is a code action, or a command, as the server offered it.
type Action struct {
	Title    string
	Kind     string
	Command  json.RawMessage
	Disabled *struct{ Reason string }

	raw json.RawMessage
}

// CodeActions asks for the actions on [start, end) of b, those of the kinds only
// if there are some.
func (e *Editor) CodeActions(ctx context.Context, b *Buffer, start, end int, only ...string) ([]Action, error) {
	diagnostics := []any{}
	for _, d := range b.Diagnostics {
		if d.End < start || end < d.Start {
			continue
		}
		diagnostics = append(diagnostics, map[string]any{
			"range": e.Range(b, d.Start, d.End), "severity": d.Severity, "source": d.Source, "code": d.Code, "message": d.Message,
		})
	}
	about := map[string]any{"diagnostics": diagnostics, "triggerKind": 1}
	if len(only) > 0 {
		about["only"] = only
	}
	var raws []json.RawMessage
	err := e.Call(ctx, "textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": b.URI}, "range": e.Range(b, start, end), "context": about,
	}, &raws)
	var actions []Action
	for _, raw := range raws {
		a := Action{raw: raw}
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, fmt.Errorf("code action %s: %w", raw, err)
		}
		actions = append(actions, a)
	}
	return actions, err
}

// Choose runs an action as the editor does. What comes of it, Attend meets.
func (e *Editor) Choose(ctx context.Context, a Action) error {
	if a.Disabled != nil {
		return fmt.Errorf("%q is disabled: %s", a.Title, a.Disabled.Reason)
	}
	var plain string
	if json.Unmarshal(a.Command, &plain) == nil && plain != "" { // a Command where a CodeAction could be
		return e.Call(ctx, "workspace/executeCommand", a.raw, nil)
	}
	return e.Call(ctx, "workspace/executeCommand", a.Command, nil)
}

// workspaceEdit is LSP's WorkspaceEdit as a client reads it.
type workspaceEdit struct {
	Changes         map[string][]documentEdit
	DocumentChanges []documentChange
}

type documentChange struct {
	Kind         string // create, or "" for a change of a text
	URI          string // of what is created
	TextDocument struct {
		URI     string
		Version *int
	}
	Edits []documentEdit
}

type documentEdit struct {
	Range   *lspRange
	NewText string
}

var errVersion = errors.New("the document has another version")

// apply applies a workspace edit to the buffers, a file that is not open being
// opened for it, as editors do. It answers whether anything was applied.
func (e *Editor) apply(raw json.RawMessage) (bool, error) {
	var edit workspaceEdit
	if err := json.Unmarshal(raw, &edit); err != nil {
		return false, fmt.Errorf("workspace edit %s: %w", raw, err)
	}
	caps := e.opts.Profile.edits()
	changes := edit.DocumentChanges
	if len(changes) > 0 && !caps.DocumentChanges && len(caps.ResourceOperations) == 0 {
		return false, fmt.Errorf("this editor knows no documentChanges: %s", raw)
	}
	for uri, edits := range edit.Changes {
		c := documentChange{Edits: edits}
		c.TextDocument.URI = uri
		changes = append(changes, c)
	}
	for _, c := range changes { // nothing is applied in part
		if b := e.byURI(c.TextDocument.URI); b != nil && c.TextDocument.Version != nil && *c.TextDocument.Version != b.Version {
			return false, fmt.Errorf("%s is at version %d, not %d: %w", b.URI, b.Version, *c.TextDocument.Version, errVersion)
		}
	}
	for _, c := range changes {
		if err := e.changeDocument(c, caps); err != nil {
			return false, err
		}
	}
	return len(changes) > 0, nil
}

func (e *Editor) changeDocument(c documentChange, caps editCapabilities) error {
	switch c.Kind {
	case "create":
		path, err := e.pathOf(c.URI)
		if err != nil {
			return err
		}
		if !slices.Contains(caps.ResourceOperations, "create") {
			return errors.New("this editor creates no files")
		}
		_, err = e.Open(path, LanguageID(path), "")
		return err
	case "":
	default:
		return fmt.Errorf("unknown kind of change %q", c.Kind)
	}
	b := e.byURI(c.TextDocument.URI)
	if b == nil {
		path, err := e.pathOf(c.TextDocument.URI)
		if err != nil {
			return err
		}
		content, language, err := ReadDocument(e.opts.Root, path)
		if err != nil {
			return err
		}
		if b, err = e.Open(path, language, content); err != nil {
			return err
		}
	}
	cursor := b.Cursor
	for _, d := range slices.Backward(c.Edits) { // quarry sends them in order, so that each leaves the earlier in place
		start, startErr := b.Text.PositionToOffset(d.Range.Start, e.encoding)
		end, endErr := b.Text.PositionToOffset(d.Range.End, e.encoding)
		if err := errors.Join(startErr, endErr); err != nil {
			return err
		}
		if err := e.Replace(b, start, end, d.NewText); err != nil {
			return err
		}
	}
	b.Cursor = min(cursor, b.Text.Len())
	return nil
}

// byURI is the buffer that a URI names, however its drive is spelled; nil if none does.
func (e *Editor) byURI(uri string) *Buffer {
	for _, b := range e.buffers {
		if b.URI == uri {
			return b
		}
	}
	if path, err := e.pathOf(uri); err == nil && runtime.GOOS == "windows" {
		return e.buffers[path]
	}
	return nil
}

// pathOf is a URI's path relative to the root, with slashes.
func (e *Editor) pathOf(uri string) (string, error) {
	path, err := filePath(uri)
	if err != nil {
		return "", err
	}
	root, err := filepath.Abs(e.opts.Root)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s lies outside the workspace", uri)
	}
	return filepath.ToSlash(rel), nil
}

// Hover is what the editor shows at an offset of b, "" if nothing.
func (e *Editor) Hover(ctx context.Context, b *Buffer, offset int) (string, error) {
	var h *struct {
		Contents struct{ Value string }
		Range    *struct{ Start, End text.Position }
	}
	err := e.Call(ctx, "textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": b.URI}, "position": e.position(b, offset)}, &h)
	if err != nil || h == nil {
		return "", err
	}
	return h.Contents.Value, nil
}

// Execute runs a command of the server.
func (e *Editor) Execute(ctx context.Context, command string, args ...any) error {
	if args == nil {
		args = []any{}
	}
	return e.Call(ctx, "workspace/executeCommand", map[string]any{"command": command, "arguments": args}, nil)
}

// Page is the text of the document that the server had shown last, as the user
// reads it now; "" if none was.
func (e *Editor) Page() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.documents) == 0 {
		return "", nil
	}
	last := e.documents[len(e.documents)-1]
	if !strings.HasPrefix(last, "file:") {
		return e.virtual[last], nil
	}
	path, err := filePath(last)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(path)
	return string(content), err
}
