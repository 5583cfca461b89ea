--- A language server within Neovim for the plugin's own tests. It offers what the test wrote in script.json, a list of
--- { before, insert, tail, asked }: each `insert` is offered where the line up to the cursor is `before`, to replace `tail`
--- UTF-16 units after it; if `asked`, only where the user asks for it. Anywhere else it answers null, as quarry does for a request that a newer one superseded: what
--- the plugin shows then is its own doing. What it has answered last, and the plugin has dealt with, stands in the file `answered`.
local script = vim.json.decode(table.concat(vim.fn.readfile('script.json'), '\n'))

local function complete(params)
  local position = params.position
  local bufnr = vim.uri_to_bufnr(params.textDocument.uri)
  local line = vim.api.nvim_buf_get_lines(bufnr, position.line, position.line + 1, true)[1]
  local before = line:sub(1, vim.str_byteindex(line, 'utf-16', position.character))
  local items = {}
  for _, offer in ipairs(script) do
    if offer.before == before and not (offer.asked and params.context.triggerKind ~= 1) then
      local last = { line = position.line, character = position.character + (offer.tail or 0) }
      items[#items + 1] = { insertText = offer.insert, range = { start = position, ['end'] = last } }
    end
  end
  return (#items > 0 or params.context.triggerKind == 1) and { items = items } or nil, before
end

vim.lsp.config('quarry', {
  cmd = function()
    local closing = false
    return {
      request = function(method, params, callback)
        if method == 'textDocument/inlineCompletion' then
          local result, before = complete(params)
          callback(nil, result)
          vim.fn.writefile({ before }, 'answered')
        elseif method == 'initialize' then
          callback(nil, { capabilities = { textDocumentSync = 1, inlineCompletionProvider = true } })
        else
          callback(nil, nil)
        end
        return true, 1
      end,
      notify = function() end,
      is_closing = function()
        return closing
      end,
      terminate = function()
        closing = true
      end,
    }
  end,
})

-- A test waits for this before it types, since Neovim asks nothing before. Neovim itself schedules what it does after
-- LspAttach, and keys may come first.
vim.api.nvim_create_autocmd('LspAttach', {
  callback = function()
    vim.schedule(function()
      vim.schedule(function()
        vim.api.nvim_echo({ { 'server attached' } }, false, {})
      end)
    end)
  end,
})
