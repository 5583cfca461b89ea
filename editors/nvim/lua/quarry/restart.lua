--- Starts a server that was killed or has crashed again.

local M = {}

local MOST, WITHIN = 3, 180 -- restarts in so many seconds; more are a fault that repeats itself

---@type table<string, number[]> when the server of a root was restarted, in seconds
local times = {}

---@type table<string, true> the roots whose server ended too often and was not started again since
local alone = {}

--- Whether a server is left alone, since it ended again and again.
---@return boolean
function M.gave_up()
  for _, client in ipairs(vim.lsp.get_clients({ name = 'quarry' })) do
    alone[client.root_dir or ''] = nil
  end
  return next(alone) ~= nil
end

--- Neovim says "quit with exit code" of a server that it did not stop, which asks to "Press ENTER" while the user types.
--- What is said here is shorter and true.
local function hush()
  local notify = vim.notify
  local quiet
  quiet = function(message, ...)
    if type(message) == 'string' and vim.startswith(message, 'Client quarry quit with exit code') then
      if vim.notify == quiet then
        vim.notify = notify
      end
      return
    end
    return notify(message, ...)
  end
  vim.notify = quiet
end

--- For the client's on_exit, which runs in a fast context.
---@param code integer
---@param signal integer
---@param client_id integer
function M.exited(code, signal, client_id)
  local wanted = code == 0 and (signal == 0 or signal == 15)
  local client = vim.lsp.get_client_by_id(client_id)
  local root = client and client.root_dir or ''
  vim.schedule(function()
    require('quarry.status').forget(client_id)
    require('quarry.progress').forget(client_id, require('quarry.proposal').forget(client_id))
    if wanted or vim.v.exiting ~= vim.NIL then
      return
    end
    hush()
    local now = vim.uv.now() / 1000
    local of_late = vim.tbl_filter(function(t)
      return now - t < WITHIN
    end, times[root] or {})
    times[root] = of_late
    if #of_late >= MOST then
      alone[root] = true
      vim.schedule(function()
        vim.notify('quarry: the server ends again and again; see :checkhealth quarry', vim.log.levels.ERROR)
      end)
      return
    end
    of_late[#of_late + 1] = now
    vim.defer_fn(function()
      if not vim.lsp.is_enabled or vim.lsp.is_enabled('quarry') then
        vim.lsp.enable('quarry') -- which attaches the buffers that have no server now
      end
    end, 200 * 4 ^ (#of_late - 1))
  end)
end

--- Be told of the ends of quarry's servers, beside what the user's own settings call then: of two `on_exit` for a server
--- Neovim takes the last.
function M.watch()
  local theirs = vim.lsp.config.quarry.on_exit
  local all = type(theirs) == 'table' and theirs or { theirs }
  if not vim.list_contains(all, M.exited) then
    vim.lsp.config('quarry', { on_exit = vim.list_extend({ M.exited }, all) })
  end
end

return M
