--- Models of Ollama, looked after by the server (:QuarryModel), which asks before it writes or deletes anything.

local M = {}

--- What can be done, and the server's command for it.
local commands = {
  list = 'quarry.listModels',
  setup = 'quarry.setupModel',
  pull = 'quarry.pullModel',
  pause = 'quarry.pauseDownload',
  resume = 'quarry.resumeDownload',
  cancel = 'quarry.cancelDownload',
  use = 'quarry.useModel',
  verify = 'quarry.verifyModel',
  import = 'quarry.importModel',
  rm = 'quarry.removeModel',
}

--- Do something about models.
---@param what string 'list' and so on
---@param arguments? string[] a model's name, for import a file and a name
function M.run(what, arguments)
  local client = require('quarry.status').meant()
  if not client then
    return
  end
  if not commands[what] then
    vim.notify('quarry: no such command: press <Tab> after :QuarryModel', vim.log.levels.ERROR)
    return
  end
  client:request('workspace/executeCommand', { command = commands[what], arguments = arguments or {} }, function(err)
    if err then
      require('quarry.tell')(err.message, vim.lsp.protocol.MessageType.Error)
    end
  end, 0)
end

--- What begins like this.
---@param lead string
---@return string[]
function M.complete(lead)
  local found = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(commands))
  table.sort(found)
  return found
end

return M
