--- Explain, fix, refactor and ask: what the person wants goes to the server as its commands take it. Neovim tells a
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

---@return vim.lsp.Client?
local function client_of(bufnr)
  local client = vim.lsp.get_clients({ name = 'quarry', bufnr = bufnr })[1]
  if not client then
    vim.notify('quarry: not running in this buffer; see :checkhealth quarry', vim.log.levels.WARN)
  end
  return client
end

--- A place in the server's terms.
---@param line integer 0-based
---@param col integer 0-based, in bytes
local function position(client, bufnr, line, col)
  local text = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1] or ''
  return { line = line, character = vim.str_utfindex(text, client.offset_encoding, math.min(col, #text), false) }
end

--- What every errand says of its document.
local function errand(client, bufnr, first, last)
  return {
    uri = vim.uri_from_bufnr(bufnr),
    version = vim.lsp.util.buf_versions[bufnr],
    range = { start = first, ['end'] = last },
  }
end

local function execute(client, bufnr, command, argument)
  client:request('workspace/executeCommand', { command = command, arguments = { argument } }, function(err)
    if err then
      vim.notify('quarry: ' .. err.message, vim.log.levels.ERROR)
    end
  end, bufnr)
end

--- Run a command of the server on a diagnostic of the cursor's line, whoever reported it.
---@param command string
local function on_diagnostic(command)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = client_of(bufnr)
  if not client then
    return
  end
  local found = vim.diagnostic.get(bufnr, { lnum = vim.api.nvim_win_get_cursor(0)[1] - 1 })
  if #found == 0 then
    vim.notify('quarry: there is no diagnostic on this line', vim.log.levels.INFO)
    return
  end
  local function run(d)
    if not d then
      return
    end
    local argument = errand(
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
  local client = client_of(bufnr)
  if not client then
    return
  end
  local argument = errand(client, bufnr, position(client, bufnr, first - 1, 0), position(client, bufnr, last - 1, math.huge))
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

--- Answers that are being written: their buffers by progress token.
---@type table<string, integer>
local writing = {}
local asked = 0

--- Show text at the end of an answer's buffer, or in place of all of it.
local function write(bufnr, text, replace)
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  local lines = vim.split(text, '\n', { plain = true })
  vim.bo[bufnr].modifiable = true
  if replace then
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  else
    vim.api.nvim_buf_set_text(bufnr, -1, -1, -1, -1, lines)
  end
  vim.bo[bufnr].modifiable = false
end

--- Take a part of an answer; false if the progress is about something else.
---@param params lsp.ProgressParams
function M.part(params)
  local bufnr = writing[params.token]
  if not bufnr then
    return false
  end
  write(bufnr, params.value.text)
  return true
end

--- A window for an answer. Closing it ends the answer.
local function open_answer(question, cancel)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].filetype = 'markdown'
  vim.api.nvim_buf_set_name(bufnr, ('quarry://answer/%d'):format(asked))
  local win = vim.api.nvim_open_win(bufnr, false, { split = 'below', height = math.floor(vim.o.lines / 3) })
  vim.wo[win].wrap, vim.wo[win].linebreak = true, true
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, desc = 'close the answer' })
  vim.api.nvim_create_autocmd('BufWipeout', { buffer = bufnr, once = true, callback = cancel })
  write(bufnr, '# ' .. question .. '\n\n', true)
  return bufnr
end

--- Ask a question and show the answer as it is written.
---@param question string '' to ask for it
---@param first? integer 1-based line; with `last` the question is about these lines
---@param last? integer
function M.ask(question, first, last)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = client_of(bufnr)
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
  asked = asked + 1
  local token = ('quarry-ask-%d'):format(asked)
  local params = { question = question, partialResultToken = token }
  if first then
    local about = errand(client, bufnr, position(client, bufnr, first - 1, 0), position(client, bufnr, last - 1, math.huge))
    params.textDocument, params.range = { uri = about.uri }, about.range
  end
  local request ---@type integer?
  local answer = open_answer(question, function()
    writing[token] = nil
    if request then
      client:cancel_request(request)
    end
  end)
  writing[token] = answer
  local sent, id = client:request('quarry/ask', params, function(err, result)
    request = nil
    if not writing[token] then
      return -- closed
    end
    writing[token] = nil
    local text = err and 'There is no answer: ' .. err.message or result.text
    write(answer, '# ' .. question .. '\n\n' .. text, true)
  end, bufnr)
  request = sent and id or nil
end

return M
