--- What the user has begun and waits for: how far it is, in the corner, and a way to end it.

local api = vim.api

local M = {}

---@type table<string, { client: vim.lsp.Client, token: string, title: string, message: string }> by client and progress token,
--- since one server's tokens are what every other's are
local running = {}
local window ---@type integer?
local mapped = false -- <C-c> ends what is under way

local function hide()
  if window and api.nvim_win_is_valid(window) then
    api.nvim_win_close(window, true)
  end
  window = nil
  if mapped then
    pcall(vim.keymap.del, 'n', '<C-c>')
    mapped = false
  end
end

---@param text string
---@param room integer in cells
---@return string
local function cut(text, room)
  if api.nvim_strwidth(text) <= room then
    return text
  end
  while api.nvim_strwidth(text) > room - 1 do
    text = vim.fn.strcharpart(text, 0, vim.fn.strcharlen(text) - 1)
  end
  return text .. '…'
end

local function show()
  local id = next(running)
  if not id or require('quarry.proposal').waits() then -- the change says itself what ends it
    return hide()
  end
  local job = running[id]
  local message, key = ' · ' .. job.message, (' · %s '):format(mapped and 'C-c ends it' or ':QuarryStop ends it')
  if not mapped and vim.fn.maparg('<C-c>', 'n') == '' then
    vim.keymap.set('n', '<C-c>', function()
      M.stop()
    end, { desc = 'quarry: end what is under way' })
    mapped = true
    return show()
  end
  -- The title is the user's own words, or known to them; what is done matters more, and most the key that ends it.
  local room = vim.o.columns - 2 - api.nvim_strwidth(key)
  local title = cut(' ' .. job.title, math.max(room - api.nvim_strwidth(message), 8))
  local text = title .. cut(message, math.max(room - api.nvim_strwidth(title), 2)) .. key
  if window and api.nvim_win_is_valid(window) and api.nvim_win_get_tabpage(window) ~= api.nvim_get_current_tabpage() then
    api.nvim_win_close(window, true)
  end
  local place = { relative = 'editor', anchor = 'NE', row = 0, col = vim.o.columns, width = api.nvim_strwidth(text), height = 1 }
  if window and api.nvim_win_is_valid(window) then
    api.nvim_win_set_config(window, place)
  else
    local bufnr = api.nvim_create_buf(false, true)
    vim.bo[bufnr].bufhidden = 'wipe'
    window = api.nvim_open_win(
      bufnr,
      false,
      vim.tbl_extend('error', place, { style = 'minimal', border = 'none', focusable = false, noautocmd = true })
    )
  end
  api.nvim_buf_set_lines(api.nvim_win_get_buf(window), 0, -1, false, { text })
end

api.nvim_create_autocmd('TabEnter', {
  group = api.nvim_create_augroup('quarry.progress', {}),
  callback = show,
})

--- Handler for $/progress: what the user has begun is shown here, the rest as Neovim does.
function M.progress(err, params, context)
  local token, value = params.token, params.value
  if type(token) == 'string' and vim.startswith(token, 'quarry-asked-') then
    local id = ('%d %s'):format(context.client_id, token)
    if value.kind == 'end' then
      running[id] = nil
    elseif value.kind == 'begin' then
      running[id] = { client = vim.lsp.get_client_by_id(context.client_id), token = token, title = value.title, message = '…' }
    elseif running[id] and value.message then
      running[id].message = value.message
    end
    vim.schedule(show)
  end
  return vim.lsp.handlers['$/progress'](err, params, context)
end

--- End what the user has begun.
---@param verbs? string[] only what their titles begin with
---@param client? vim.lsp.Client only of this one
---@return boolean whether there was anything to end
function M.stop(verbs, client)
  local any = false
  for _, job in pairs(running) do
    if (not client or job.client == client) and (not verbs or vim.tbl_contains(verbs, job.title:match('^%a+'))) then
      job.client:notify('window/workDoneProgress/cancel', { token = job.token })
      any = true
    end
  end
  return any
end

--- Forget what a client that has ended was doing, and say so unless that is said already.
---@param client_id integer
---@param said boolean
function M.forget(client_id, said)
  local lost = false
  for id, job in pairs(running) do
    if job.client.id == client_id then
      running[id] = nil
      lost = true
    end
  end
  show()
  if lost and not said and vim.v.exiting == vim.NIL then
    require('quarry.tell')('the server ended before it answered; ask again')
  end
end

return M
