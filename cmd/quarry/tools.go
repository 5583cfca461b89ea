package main

import (
	"context"
	"encoding/json"

	"quarry/agent"
	"quarry/diagnostics/patch"
	"quarry/lsp"
)

// toolbox is what models may use of the workspace. Changes they propose are put
// to the person by the server, where there is one.
func (c *core) toolbox(start lsp.Start) *agent.Toolbox {
	return agent.NewToolbox(agent.Parts{
		Workspace: c.Workspace,
		Problems:  start.Problems,
		Patcher:   patch.New(c.Workspace),
		Staging:   start.Staging,
		Apply:     start.Apply,
	})
}

// CallTool implements lsp.Tools.
func (c *core) CallTool(ctx context.Context, name string, args json.RawMessage) agent.Envelope {
	return c.tools.Call(ctx, name, args)
}

// ToolDefinitions implements lsp.Tools.
func (c *core) ToolDefinitions() json.RawMessage { return c.tools.AllDefinitions() }
