package headless

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed profiles/*.json
var profiles embed.FS

// Profile is how one editor speaks LSP, as far as a server can tell. The capabilities
// of Neovim 0.12.4, Helix 25.07.1, and Emacs 30 with eglot and lsp-mode are what the real
// ones sent, quarry's own files for Neovim and Emacs loaded; Visual Studio Code's follow vscode-languageclient 11, Zed's its source.
type Profile struct {
	// ClientInfo and Capabilities are what its initialize request says.
	ClientInfo   json.RawMessage `json:"clientInfo"`
	Capabilities json.RawMessage `json:"capabilities"`
	// CancelsOlder is whether it cancels an inline completion request when it
	// sends the next one.
	CancelsOlder bool `json:"cancelsOlder"`
	// FirstVersion is the version of a newly opened document.
	FirstVersion int `json:"firstVersion"`
	// InlineCompletion is whether it asks for inline completion at all.
	InlineCompletion bool `json:"inlineCompletion"`
}

// editCapabilities are what an editor says of the workspace edits it takes.
type editCapabilities struct {
	DocumentChanges    bool
	ResourceOperations []string
}

func (p Profile) edits() editCapabilities {
	var caps struct {
		Workspace struct{ WorkspaceEdit editCapabilities }
	}
	p.read(&caps)
	return caps.Workspace.WorkspaceEdit
}

// ShowsProposals is whether it shows a change as a diff of its own; another is asked.
func (p Profile) ShowsProposals() bool {
	var caps struct {
		Experimental struct{ Quarry struct{ Proposals bool } }
	}
	p.read(&caps)
	return caps.Experimental.Quarry.Proposals
}

// ShowsDisabledActions is whether its menu has actions that cannot be done.
func (p Profile) ShowsDisabledActions() bool {
	var caps struct {
		TextDocument struct {
			CodeAction struct{ DisabledSupport bool }
		}
	}
	p.read(&caps)
	return caps.TextDocument.CodeAction.DisabledSupport
}

// read decodes the capabilities.
func (p Profile) read(caps any) {
	if err := json.Unmarshal(p.Capabilities, caps); err != nil {
		panic(fmt.Sprintf("capabilities of an editor profile: %v", err))
	}
}

// Profiles are the names LoadProfile knows.
var Profiles = []string{"vscode", "neovim", "helix", "eglot", "lsp-mode", "zed"}

// LoadProfile reads one of Profiles.
func LoadProfile(name string) (Profile, error) {
	var p Profile
	raw, err := profiles.ReadFile("profiles/" + name + ".json")
	if err != nil {
		return p, fmt.Errorf("no editor profile %q; there are %v", name, Profiles)
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, fmt.Errorf("editor profile %q: %w", name, err)
	}
	return p, nil
}
