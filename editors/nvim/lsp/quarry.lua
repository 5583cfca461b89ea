---@brief
---
--- quarry, a local and private coding assistant: inline completion ("ghost text") from a model on your own machine.
---
--- The server attaches to every filetype: what it completes is chosen by its own settings, not by the editor.
--- Settings go to the server as they stand, either way Neovim has for them:
---
--- ```lua
--- vim.lsp.config('quarry', { settings = { quarry = { ... } } })
--- vim.lsp.config('quarry', { init_options = { ... } })
--- ```

---@type vim.lsp.Config
return {
  cmd = { 'quarry', 'lsp' },
  root_markers = { '.git', '.hg', '.jj', 'go.mod', 'Cargo.toml', 'package.json', 'pyproject.toml' },
}
