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
  local more = vim.api.nvim_strwidth(MORE) <= vim.v.echospace and MORE or ''
  local room = vim.v.echospace - vim.api.nvim_strwidth(more)
  while line ~= '' and vim.api.nvim_strwidth(line) > room do -- there may be no room at all
    line = vim.fn.strcharpart(line, 0, vim.fn.strchars(line) - 1)
  end
  local group = level == vim.log.levels.ERROR and 'ErrorMsg' or level == vim.log.levels.WARN and 'WarningMsg' or 'Normal'
  vim.api.nvim_echo({ { line .. more, group } }, false, {})
end

--- Show a buffer in a window below the code, which keeps the cursor.
---@param bufnr integer
local function show_below(bufnr)
  if vim.fn.win_findbuf(bufnr)[1] then
    return
  end
  local code = vim.iter({ vim.api.nvim_get_current_win(), unpack(vim.api.nvim_tabpage_list_wins(0)) }):find(function(win)
    return vim.api.nvim_win_get_config(win).relative == '' and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ''
  end)
  pcall(vim.api.nvim_open_win, bufnr, false, { split = 'below', win = code or -1 }) -- where there is room; the server names the file
end

--- Neovim's own handler prints an edit's label, which asks to "Press ENTER" where it is long: the key that was to take the
--- edit back would be the answer. A new file it writes empty at once, and ends with a line more than it should; here it is a
--- buffer that `:write` writes and the user sees. The server is told of all that changes, also of a buffer that is no filetype's.
local function apply_edit(err, params, context)
  params.label = nil
  local new, changes = {}, {}
  for _, change in ipairs(params.edit.documentChanges or {}) do
    if change.kind == 'create' then
      new[change.uri] = true
      vim.fn.mkdir(vim.fs.dirname(vim.uri_to_fname(change.uri)), 'p')
    else
      changes[#changes + 1] = change
      local only = #change.edits == 1 and change.edits[1].range
      if new[change.textDocument.uri] and only then
        only['end'] = { line = 1, character = 0 } -- the one line of an empty buffer: it goes
      end
    end
  end
  if #changes > 0 then
    params.edit.documentChanges = changes
  end
  local result = vim.lsp.handlers['workspace/applyEdit'](err, params, context)
  for _, change in ipairs(result.applied and changes or {}) do
    local bufnr = vim.uri_to_bufnr(change.textDocument.uri)
    vim.lsp.buf_attach_client(bufnr, context.client_id)
    if new[change.textDocument.uri] then
      show_below(bufnr)
    end
  end
  return result
end

---@type vim.lsp.Config
return {
  handlers = { ['window/showMessage'] = show_message, ['workspace/applyEdit'] = apply_edit },
  cmd = { 'quarry', 'lsp' },
  root_markers = { '.git', '.hg', '.jj', 'go.mod', 'Cargo.toml', 'package.json', 'pyproject.toml' },
}
