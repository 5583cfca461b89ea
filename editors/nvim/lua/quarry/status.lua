--- How quarry is, as its server says (notification quarry/status), and what helps.

local M = {}

--- The last note of each client.
---@type table<integer, quarry.Note>
local notes = {}

---@class quarry.Note
---@field level 'ready'|'busy'|'warning'
---@field text string
---@field detail string
---@field remedies { title: string, command: string, arguments: string[] }[]

--- Handler for quarry/status.
function M.note(_, note, context)
  notes[context.client_id] = note
  vim.schedule(function()
    vim.cmd.redrawstatus({ bang = true })
  end)
  vim.api.nvim_exec_autocmds('User', { pattern = 'QuarryStatus', modeline = false })
end

--- Forget a client that has ended.
---@param client_id integer
function M.forget(client_id)
  notes[client_id] = nil
  vim.cmd.redrawstatus({ bang = true })
end

--- The server of a buffer, which may be a page or a change of its own.
---@param bufnr integer
---@return vim.lsp.Client?
function M.client_of(bufnr)
  return vim.lsp.get_clients({ name = 'quarry', bufnr = bufnr })[1]
    or require('quarry.page').client_of(bufnr)
    or require('quarry.proposal').client_of(bufnr)
end

--- The server that the user means in the window they are in: in one that has no file of it, such as that of the quickfix list, the one of
--- the window they came from, or else any. Says so where none runs.
---@return vim.lsp.Client?
function M.meant()
  local from = vim.fn.win_getid(vim.fn.winnr('#'))
  local client = M.client_of(0)
    or vim.bo.buftype ~= '' and (from ~= 0 and M.client_of(vim.api.nvim_win_get_buf(from)) or vim.lsp.get_clients({ name = 'quarry' })[1])
  if not client then
    vim.notify('quarry: not running in this buffer; see :checkhealth quarry', vim.log.levels.WARN)
  end
  return client or nil
end

--- The note of the server of a buffer.
---@param bufnr? integer
---@return quarry.Note?, vim.lsp.Client?
function M.of(bufnr)
  local client = M.client_of(bufnr or 0)
  return client and notes[client.id], client
end

local signs = { ready = '', busy = '… ', warning = '! ' }

--- A few words for a status line; '' where quarry does not run.
---@return string
function M.line()
  local note, client = M.of()
  if not client and vim.bo.buftype == '' and require('quarry.restart').gave_up() then
    return signs.warning .. 'quarry: ended'
  end
  return note and signs[note.level] .. 'quarry: ' .. note.text or ''
end

--- Show how quarry is, and choose what to do about it.
function M.show()
  local client = M.meant()
  local note = client and notes[client.id]
  if not note or not client then
    return
  end
  if #note.remedies == 0 then
    vim.notify(note.detail, vim.log.levels.INFO)
    return
  end
  vim.ui.select(note.remedies, {
    prompt = note.detail,
    format_item = function(remedy)
      return remedy.title
    end,
  }, function(remedy)
    if remedy then
      client:exec_cmd({ title = remedy.title, command = remedy.command, arguments = remedy.arguments })
    end
  end)
end

return M
