package lsptest

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed profiles/*.json
var profiles embed.FS

// Profile is how one editor speaks LSP, as far as a server can tell. Neovim's and
// Helix' capabilities are what the real ones sent (0.12.4, 25.07.1); Visual Studio
// Code's follow vscode-languageclient 11.
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
	if err := json.Unmarshal(p.Capabilities, &caps); err != nil {
		panic(fmt.Sprintf("capabilities of an editor profile: %v", err))
	}
	return caps.Workspace.WorkspaceEdit
}

// Profiles are the names LoadProfile knows.
var Profiles = []string{"vscode", "neovim", "helix"}

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
