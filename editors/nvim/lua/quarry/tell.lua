--- Says something in the last line, as messages of the server are said: what is longer than it must not ask to "Press ENTER".

---@param text string
---@param kind? integer of lsp.MessageType; a warning if nil
return function(text, kind)
  -- lsp/quarry.lua has it, which works without the plugin.
  vim.lsp.config.quarry.handlers['window/showMessage'](nil, { type = kind or vim.lsp.protocol.MessageType.Warning, message = text })
end
