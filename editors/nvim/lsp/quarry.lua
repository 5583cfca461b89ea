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

local MORE = '… (:messages)'

--- Neovim's own handler of messages asks to "Press ENTER" for what is longer than the last line, while the user is typing.
--- This one shows there as much as fits; the whole of it is in |:messages|.
---@param params lsp.ShowMessageParams
local function show_message(_, params)
  local level = ({ vim.log.levels.ERROR, vim.log.levels.WARN })[params.type] or vim.log.levels.INFO
  local text = params.message
  if not vim.startswith(text, 'quarry') then
    text = 'quarry: ' .. text
  end
  if not text:find('\n') and vim.api.nvim_strwidth(text) <= vim.v.echospace then
    vim.notify(text, level)
    return
  end
  local prompting = vim.o.messagesopt
  vim.o.messagesopt = prompting:gsub('hit%-enter', 'wait:0')
  vim.notify(text, level)
  vim.o.messagesopt = prompting
  vim.cmd.redraw() -- takes the long form off the screen
  local line = text:match('^[^\n]*')
  local room = vim.v.echospace - vim.api.nvim_strwidth(MORE)
  while vim.api.nvim_strwidth(line) > room do
    line = vim.fn.strcharpart(line, 0, vim.fn.strchars(line) - 1)
  end
  local group = level == vim.log.levels.ERROR and 'ErrorMsg' or level == vim.log.levels.WARN and 'WarningMsg' or 'Normal'
  vim.api.nvim_echo({ { line .. MORE, group } }, false, {})
end

--- Neovim's own handler prints an edit's label, which asks to "Press ENTER" where it is long: the key that was to take the
--- edit back would be the answer.
local function apply_edit(err, params, context)
  params.label = nil
  return vim.lsp.handlers['workspace/applyEdit'](err, params, context)
end

---@type vim.lsp.Config
return {
  handlers = { ['window/showMessage'] = show_message, ['workspace/applyEdit'] = apply_edit },
  cmd = { 'quarry', 'lsp' },
  root_markers = { '.git', '.hg', '.jj', 'go.mod', 'Cargo.toml', 'package.json', 'pyproject.toml' },
}
