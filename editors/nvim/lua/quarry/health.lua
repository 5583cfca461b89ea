--- `:checkhealth quarry`

local health = vim.health

local M = {}

--- Whether `version` answers, and with what.
local function check_binary()
  local config = vim.lsp.config.quarry
  if not config then
    health.error('vim.lsp.config has no "quarry"', 'Put editors/nvim of quarry on the runtimepath.')
    return
  end
  if type(config.cmd) ~= 'table' then
    health.info('the server is started by a function of your own; its version is not checked')
    return
  end
  local path = vim.fn.exepath(config.cmd[1])
  if path == '' then
    health.error(('no executable "%s" on your PATH'):format(config.cmd[1]), {
      'Build it with `make build` in the quarry repository and put bin/ on your PATH, or',
      "name it: vim.lsp.config('quarry', { cmd = { '/path/to/quarry', 'lsp' } })",
    })
    return
  end
  local started, result = pcall(function()
    return vim.system({ path, 'version' }, { text = true, timeout = 5000 }):wait()
  end)
  if not started or result.code ~= 0 then
    local said = started and vim.trim(result.stderr or '') or result
    health.error(('`%s version` failed: %s'):format(path, said), 'Build quarry again with `make build`.')
    return
  end
  health.ok(('%s: %s'):format(path, vim.split(vim.trim(result.stdout), '\n')[1]))
end

--- What the server says of the model and the folders now.
local function check_status(client)
  local answer, err = client:request_sync('quarry/status', vim.empty_dict(), 5000)
  local said = err or answer.err and answer.err.message
  if said then
    health.error(('server %d does not say how it is: %s'):format(client.id, said), 'Its log: :lua= vim.lsp.log.get_filename()')
    return
  end
  local now = answer.result.now
  local lines = vim.split(now.detail, '\n', { plain = true })
  if now.level == 'warning' then
    local advice = vim.list_slice(lines, 2)
    for _, remedy in ipairs(now.remedies) do
      advice[#advice + 1] = remedy.title .. ': :QuarryStatus'
    end
    advice[#advice + 1] = 'In a shell: quarry doctor'
    health.warn(lines[1], advice)
    return
  end
  health.ok(table.concat(lines, ' '))
end

local function check_clients()
  if vim.lsp.is_enabled and not vim.lsp.is_enabled('quarry') then
    health.warn('quarry is not enabled', "Call require('quarry').setup(), or vim.lsp.enable('quarry').")
    return
  end
  health.ok('enabled')
  local clients = vim.lsp.get_clients({ name = 'quarry' })
  if require('quarry.restart').gave_up() then
    health.warn('the server ended again and again, and was not started any more', {
      "Start it: :lua vim.lsp.enable('quarry')",
      'Its log: :lua= vim.lsp.log.get_filename()',
    })
  elseif #clients == 0 then
    health.info('no server is running yet: it starts with the first file you open')
  end
  for _, client in ipairs(clients) do
    check_status(client)
    local serves = client:supports_method('textDocument/inlineCompletion')
    local report = serves and health.ok or health.error
    report(('server %d runs in %s, %s inline completion, %d buffer(s)'):format(
      client.id,
      client.root_dir or 'no workspace',
      serves and 'with' or 'without',
      vim.tbl_count(client.attached_buffers)
    ))
  end
end

function M.check()
  health.start('quarry: Neovim')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.11') == 0 then
    health.error('Neovim ' .. version .. ' is too old', 'Install Neovim 0.11 or newer.')
    return
  end
  health.ok('Neovim ' .. version)
  if require('quarry').ghost then
    health.ok('ghost text is shown' .. (vim.g.quarry_ghost == false and ', but turned off by toggle()' or ''))
  elseif vim.lsp.inline_completion and vim.lsp.inline_completion.is_enabled() then
    health.ok("ghost text is shown by Neovim's own inline completion; require('quarry').setup() has quarry's")
  else
    health.warn('no ghost text is shown', "Call require('quarry').setup().")
  end

  health.start('quarry: server')
  check_binary()
  check_clients()
end

return M
