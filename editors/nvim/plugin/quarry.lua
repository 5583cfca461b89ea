if vim.g.loaded_quarry then
  return
end
vim.g.loaded_quarry = true

if vim.fn.has('nvim-0.11') == 0 then
  return -- `:checkhealth quarry` says so
end

vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('quarry', {}),
  desc = 'show the ghost text of quarry',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'quarry' then
      require('quarry.assist').attach(client)
      if require('quarry').ghost then
        require('quarry.ghost').attach(client, event.buf)
      end
    end
  end,
})

-- Here and not in lsp/quarry.lua, which works without the plugin.
vim.lsp.config('quarry', {
  capabilities = {
    experimental = { quarry = { proposals = true, status = true } },
    workspace = { textDocumentContent = { dynamicRegistration = false } },
    textDocument = { inlineCompletion = { dynamicRegistration = false } }, -- Neovim 0.11 has none of its own
  },
  handlers = {
    ['quarry/status'] = function(...)
      require('quarry.status').note(...)
    end,
    ['$/progress'] = function(...)
      return require('quarry.progress').progress(...)
    end,
    ['window/showDocument'] = function(...)
      return require('quarry.page').show_document(...)
    end,
    ['workspace/textDocumentContent/refresh'] = function(...)
      return require('quarry.page').refresh(...)
    end,
    ['quarry/proposal'] = function(...)
      require('quarry.proposal').propose(...)
    end,
    ['quarry/proposal.end'] = function(...)
      require('quarry.proposal').withdraw(...)
    end,
  },
})

require('quarry.restart').watch()
vim.api.nvim_create_autocmd({ 'BufReadPre', 'BufNewFile', 'FileType' }, { -- what the user has set since, before it starts a server
  group = 'quarry',
  callback = function()
    require('quarry.restart').watch()
  end,
})

local command = vim.api.nvim_create_user_command

command('QuarryStatus', function()
  require('quarry.status').show()
end, { desc = 'how quarry is, and what helps' })

command('QuarryModel', function(c)
  require('quarry.models').run(c.fargs[1] or 'list', vim.list_slice(c.fargs, 2))
end, {
  nargs = '*',
  complete = function(lead)
    return require('quarry.models').complete(lead)
  end,
  desc = 'look after models: list, setup, pull, use, verify, import, rm',
})

command('QuarryStop', function()
  if not require('quarry.progress').stop() then
    vim.notify('quarry: nothing is under way that could be ended', vim.log.levels.INFO)
  end
end, { desc = 'end what is being explained, answered or proposed' })

command('QuarryExplain', function()
  require('quarry.assist').explain()
end, { desc = 'explain a diagnostic of this line' })

command('QuarryFix', function()
  require('quarry.assist').fix()
end, { desc = 'propose a fix of a diagnostic of this line' })

command('QuarryRefactor', function(c)
  require('quarry.assist').refactor(c.line1, c.line2, c.args)
end, { range = true, nargs = '*', desc = 'propose a change of these lines' })

command('QuarryAsk', function(c)
  if c.range == 0 then
    require('quarry.assist').ask(c.args)
  else
    require('quarry.assist').ask(c.args, c.line1, c.line2)
  end
end, { range = true, nargs = '*', desc = 'ask about the workspace, or about these lines' })

for name, run in pairs({
  explain = ':QuarryExplain<CR>',
  fix = ':QuarryFix<CR>',
  refactor = ':QuarryRefactor<CR>',
  ask = ':QuarryAsk<CR>',
  stop = ':QuarryStop<CR>',
  status = ':QuarryStatus<CR>',
}) do
  vim.keymap.set('n', ('<Plug>(quarry-%s)'):format(name), run:gsub('^:(.*)<CR>$', '<Cmd>%1<CR>'), { desc = 'quarry: ' .. name })
  if name == 'refactor' or name == 'ask' then
    vim.keymap.set('x', ('<Plug>(quarry-%s)'):format(name), run, { desc = 'quarry: ' .. name .. ' about these lines' })
  end
end
for _, name in ipairs({ 'accept', 'accept_word', 'accept_line', 'next', 'previous', 'dismiss', 'trigger' }) do
  vim.keymap.set(
    'i',
    ('<Plug>(quarry-%s)'):format(name:gsub('_', '-')),
    ("<Cmd>lua require('quarry').%s()<CR>"):format(name),
    { desc = 'quarry: ' .. name:gsub('_', ' ') }
  )
end
