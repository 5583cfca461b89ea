--- Messages of the server that do not stop the user.

local M = {}

local MORE = '… (:messages)'

--- Handler for window/showMessage. Neovim's own asks to "Press ENTER" for what is longer than the last line, while the
--- user is typing. This one shows there as much as fits; the whole of it is in |:messages|.
---@param params lsp.ShowMessageParams
function M.show(_, params)
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

return M
