--- Explain, fix, refactor and ask: what the user wants goes to the server as its commands take it. Neovim tells a
--- server only of its own diagnostics where it asks for code actions, so those of others go along from here.

local M = {}

local kinds = {
  { 'extract', 'Extract into a function' },
  { 'rename', 'Rename to something clearer within its scope' },
  { 'simplify', 'Simplify' },
  { 'document', 'Document' },
  { 'test', 'Write tests' },
  { 'free', 'Something else…' },
}

--- A place in the server's terms.
---@param line integer 0-based
---@param col integer 0-based, in bytes
local function position(client, bufnr, line, col)
  local text = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1] or ''
  return { line = line, character = vim.str_utfindex(text, client.offset_encoding, math.min(col, #text), false) }
end

--- The arguments that every request of quarry's assistance has, from the buffer.
local function arguments(client, bufnr, first, last)
  return {
    uri = vim.uri_from_bufnr(bufnr),
    version = vim.lsp.util.buf_versions[bufnr],
    range = { start = first, ['end'] = last },
  }
end

local function execute(client, bufnr, command, argument)
  client:request('workspace/executeCommand', { command = command, arguments = { argument } }, function(err)
    if err then
      require('quarry.tell')(err.message, vim.lsp.protocol.MessageType.Error)
    end
  end, bufnr)
end

--- Run a command of the server on a diagnostic of the cursor's line, whoever reported it.
---@param command string
local function on_diagnostic(command)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = require('quarry.status').meant()
  if not client then
    return
  end
  local found = vim.diagnostic.get(bufnr, { lnum = vim.api.nvim_win_get_cursor(0)[1] - 1 })
  if #found == 0 then
    vim.notify('quarry: there is no diagnostic on this line; ]d goes to the next', vim.log.levels.INFO)
    return
  end
  local function run(d)
    if not d then
      return
    end
    local argument = arguments(
      client,
      bufnr,
      position(client, bufnr, d.lnum, d.col),
      position(client, bufnr, d.end_lnum or d.lnum, d.end_col or d.col)
    )
    argument.diagnostic = { message = d.message, severity = d.severity, source = d.source, code = d.code and tostring(d.code) }
    execute(client, bufnr, command, argument)
  end
  if #found == 1 then
    run(found[1])
    return
  end
  vim.ui.select(found, {
    prompt = 'Which one?',
    format_item = function(d)
      return d.message
    end,
  }, run)
end

function M.explain()
  on_diagnostic('quarry.explain')
end

function M.fix()
  on_diagnostic('quarry.fix')
end

--- Propose a change of whole lines.
---@param first integer 1-based
---@param last integer 1-based
---@param goal string
function M.refactor(first, last, goal)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = require('quarry.status').meant()
  if not client then
    return
  elseif not client.attached_buffers[bufnr] then
    vim.notify('quarry: these lines are not code; select code in its window', vim.log.levels.INFO)
    return
  end
  local argument = arguments(client, bufnr, position(client, bufnr, first - 1, 0), position(client, bufnr, last - 1, math.huge))
  local function run()
    execute(client, bufnr, 'quarry.refactor', argument)
  end
  if goal ~= '' then
    argument.goal = goal
    run()
    return
  end
  vim.ui.select(kinds, {
    prompt = 'What shall become of it?',
    format_item = function(kind)
      return kind[2]
    end,
  }, function(kind)
    if not kind then
      return
    elseif kind[1] ~= 'free' then
      argument.kind = kind[1]
      run()
      return
    end
    vim.ui.input({ prompt = 'Change it so that: ' }, function(wish)
      if wish and wish ~= '' then
        argument.goal = wish
        run()
      end
    end)
  end)
end

--- Ask a question; the answer is shown as it is written.
---@param question string '' to ask for it
---@param first? integer 1-based line; with `last` the question is about these lines
---@param last? integer
function M.ask(question, first, last)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = require('quarry.status').meant()
  if not client then
    return
  end
  if question == '' then
    vim.ui.input({ prompt = 'Ask quarry: ' }, function(typed)
      if typed and typed ~= '' then
        M.ask(typed, first, last)
      end
    end)
    return
  end
  local argument = {}
  if first and client.attached_buffers[bufnr] then -- a page's lines are not the server's to read
    argument = arguments(client, bufnr, position(client, bufnr, first - 1, 0), position(client, bufnr, last - 1, math.huge))
  end
  argument.question = question
  execute(client, bufnr, 'quarry.ask', argument)
end

--- Let quarry's code actions be about diagnostics of any server: Neovim tells a server of its own alone.
---@param client vim.lsp.Client
function M.attach(client)
  local request = client.request
  if client.quarry_sees_all then
    return
  end
  client.quarry_sees_all = true
  ---@diagnostic disable-next-line: duplicate-set-field
  client.request = function(self, method, params, handler, bufnr)
    if method == 'textDocument/codeAction' and type(params) == 'table' then
      local at = vim.uri_to_bufnr(params.textDocument.uri)
      local diagnostics = {}
      for _, d in ipairs(vim.diagnostic.get(at)) do
        if d.lnum <= params.range['end'].line and (d.end_lnum or d.lnum) >= params.range.start.line then
          diagnostics[#diagnostics + 1] = {
            range = { start = position(self, at, d.lnum, d.col), ['end'] = position(self, at, d.end_lnum or d.lnum, d.end_col or d.col) },
            message = d.message,
            severity = d.severity,
            source = d.source,
            code = d.code,
          }
        end
      end
      params = vim.tbl_extend('force', params, { context = vim.tbl_extend('force', params.context or {}, { diagnostics = diagnostics }) })
    end
    return request(self, method, params, handler, bufnr)
  end
end

return M
