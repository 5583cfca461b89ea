package engines

import (
	"context"
	"encoding/json"

	"quarry/agent"
	"quarry/cmd/internal/usage"
	"quarry/diagnostics/patch"
	"quarry/lsp"
)

// toolbox is what models may use of the workspace. Changes they propose are put
// to the user by the server, where there is one.
func (c *Core) toolbox(start lsp.Start) *agent.Toolbox {
	return agent.NewToolbox(agent.Parts{
		Workspace: c.Workspace,
		Problems:  start.Problems,
		Patcher:   patch.New(c.Workspace),
		Staging:   start.Staging,
		Views:     traced{c.usage.Trace(), usage.ByAgent},
		Apply:     start.Apply,
	})
}

// CallTool implements assist.Tools.
func (c *Core) CallTool(ctx context.Context, name string, args json.RawMessage) agent.Envelope {
	return c.tools.Call(ctx, name, args)
}

// ToolDefinitions implements assist.Tools.
func (c *Core) ToolDefinitions() json.RawMessage { return c.tools.AllDefinitions() }

// Tools are what models and other agents may use of the workspace.
func (c *Core) Tools() *agent.Toolbox { return c.tools }
