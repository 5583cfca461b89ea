--- quarry in Neovim: `require('quarry').setup()` turns everything on. See |quarry|.

local M = {}

--- What each key does while ghost text is shown. Without ghost text a key means what it meant before.
---@class quarry.Keys
---@field accept? string|false
---@field accept_word? string|false
---@field accept_line? string|false
---@field next? string|false
---@field previous? string|false
---@field dismiss? string|false
---@field trigger? string|false
local default_keys = {
  accept = '<Tab>',
  accept_word = '<M-w>',
  accept_line = '<M-l>',
  next = '<M-n>',
  previous = '<M-p>',
  dismiss = '<M-e>',
  trigger = '<M-\\>',
}

--- Whether ghost text is shown.
function M.visible()
  return require('quarry.ghost').visible()
end

--- Accept the ghost text; false if there is none.
function M.accept()
  return require('quarry.ghost').accept('all')
end

--- Accept the next word of the ghost text; false if there is none.
function M.accept_word()
  return require('quarry.ghost').accept('word')
end

--- Accept the ghost text up to the next line end; false if there is none.
function M.accept_line()
  return require('quarry.ghost').accept('line')
end

--- Ask for ghost text now, for several candidates of it.
function M.trigger()
  require('quarry.ghost').trigger()
end

--- Show the next candidate; false if there is no ghost text.
function M.next()
  return require('quarry.ghost').cycle(1)
end

--- Show the previous candidate; false if there is no ghost text.
function M.previous()
  return require('quarry.ghost').cycle(-1)
end

--- Hide the ghost text; false if there is none.
function M.dismiss()
  return require('quarry.ghost').dismiss()
end

--- Functions that keys were mapped to before, run as commands so that they take their turn among keys typed quickly.
---@type fun()[]
M.earlier = {}

--- What `lhs` did in insert mode before: a function for an expression mapping.
---@param lhs string
---@return fun(): string
local function before(lhs)
  local map = vim.fn.maparg(lhs, 'i', false, true)
  if vim.tbl_isempty(map) or map.buffer == 1 then
    local char = lhs:match('^<[MA]%-(.)>$')
    if not char then
      return function()
        return vim.keycode(lhs)
      end
    end
    return function()
      -- What Neovim makes of Alt with a key, but for a key that was pressed once too often.
      return require('quarry.ghost').just_accepted() and '' or '\27' .. char
    end
  end
  if map.expr == 1 then
    return function()
      local keys = map.callback and map.callback() or not map.callback and vim.api.nvim_eval(map.rhs) or ''
      return map.replace_keycodes == 1 and vim.keycode(keys) or keys
    end
  end
  local keys = map.rhs
  if map.callback then
    table.insert(M.earlier, map.callback)
    keys = ("<Cmd>lua require('quarry').earlier[%d]()<CR>"):format(#M.earlier)
  end
  return function()
    return vim.keycode(keys)
  end
end

--- Whether a key for `action` is for quarry now.
---@param action string
---@return boolean
function M.takes(action)
  if action == 'trigger' then
    return true
  elseif vim.fn.reg_executing() ~= '' then
    return false -- what was offered when the macro was recorded may not be offered now
  elseif action == 'accept' and vim.snippet and vim.snippet.active({ direction = 1 }) then
    return false -- it goes to the next placeholder
  end
  return require('quarry.ghost').visible()
end

--- The keys that run `action`. Accepting is an undo step of its own: what was typed before and after it stays when it is
--- undone. It runs as a command so that it happens in its turn among keys typed quickly; an expression may not change the
--- buffer.
---@param action string a function of this module
---@return string
local function keys_of(action)
  return vim.keycode(("<C-g>u<Cmd>lua require('quarry').%s()<CR><C-g>u"):format(action))
end

---@param lhs string
---@param action string a function of this module
local function map_key(lhs, action)
  local fall_through = before(lhs)
  local run = action == 'trigger' and vim.keycode("<Cmd>lua require('quarry').trigger()<CR>") or keys_of(action)
  vim.keymap.set('i', lhs, function()
    return M.takes(action) and run or fall_through()
  end, { expr = true, replace_keycodes = false, desc = 'quarry: ' .. action:gsub('_', ' ') })
end

--- Make ghost text readable: Neovim's own group for it is linked to NonText, about 2:1 against the background in its own
--- colours. Whoever has set ComplHint, or sets QuarryGhost, has the last word.
local function highlight()
  local theirs = vim.api.nvim_get_hl(0, { name = 'ComplHint' })
  if next(theirs) and theirs.link ~= 'NonText' then
    vim.api.nvim_set_hl(0, 'QuarryGhost', { default = true, link = 'ComplHint' })
  else
    vim.api.nvim_set_hl(0, 'QuarryGhost', { default = true, fg = '#7d828c', ctermfg = 244, italic = true })
  end
  vim.api.nvim_set_hl(0, 'QuarryHint', { default = true, link = 'NonText' })
end

--- A few words on how quarry is, for a status line.
---@return string
function M.status()
  return require('quarry.status').line()
end

--- Whether setup() was called: else ghost text is Neovim's business.
M.ghost = false

--- Show quarry's ghost text, or stop showing it; without an argument the other of the two.
---@param on? boolean
function M.toggle(on)
  if on == nil then
    on = vim.g.quarry_ghost == false
  end
  vim.g.quarry_ghost = on
  if not on then
    require('quarry.ghost').dismiss()
  end
  vim.notify('quarry: ghost text is ' .. (on and 'on' or 'off'), vim.log.levels.INFO)
end

--- Without the program Neovim starts nothing and says nothing; here it is said once.
local function need_binary()
  local command = (vim.lsp.config.quarry or {}).cmd
  if type(command) == 'table' and vim.fn.executable(command[1]) == 0 then
    require('quarry.tell')(('no executable "%s"; see :checkhealth quarry'):format(command[1]))
  end
end

--- Start quarry for every buffer, show its ghost text, and map the keys.
---@param opts? { keys?: quarry.Keys } `keys.NAME = false` leaves that key alone
function M.setup(opts)
  if vim.fn.has('nvim-0.11') == 0 then
    vim.notify('quarry: this needs Neovim 0.11 or newer; see :checkhealth quarry', vim.log.levels.WARN)
    return
  end
  for action, lhs in pairs(vim.tbl_extend('force', default_keys, opts and opts.keys or {})) do
    if not default_keys[action] then
      vim.notify(("quarry: setup() knows no key '%s'; see :help quarry-keys"):format(action), vim.log.levels.WARN)
    elseif lhs then
      map_key(lhs, action)
    end
  end
  highlight()
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = vim.api.nvim_create_augroup('quarry.highlight', {}),
    callback = highlight,
  })
  M.ghost = true
  vim.cmd.runtime('plugin/quarry.lua') -- not sourced yet where a plugin manager adds the folder late
  for _, client in ipairs(vim.lsp.get_clients({ name = 'quarry' })) do
    for bufnr in pairs(client.attached_buffers) do
      require('quarry.ghost').attach(client, bufnr)
    end
  end
  require('quarry.restart').watch()
  vim.lsp.enable('quarry')
  vim.api.nvim_create_autocmd('FileType', { -- by then the user's own settings name the program
    group = vim.api.nvim_create_augroup('quarry.binary', {}),
    once = true,
    callback = vim.schedule_wrap(need_binary),
  })
end

return M
