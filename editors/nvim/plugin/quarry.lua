if vim.g.loaded_quarry then
  return
end
vim.g.loaded_quarry = true

-- The server also runs on an older Neovim; its ghost text needs |vim.lsp.inline_completion|. `:checkhealth quarry` says so.
if vim.fn.has('nvim-0.12') == 0 then
  return
end

vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('quarry', {}),
  desc = 'keep quarry ghost text true to the buffer',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'quarry' then
      require('quarry.ghost').attach(client, event.buf)
    end
  end,
})
