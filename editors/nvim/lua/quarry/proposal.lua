--- Changes that the server proposes. Each is shown as a diff in a window of its own, with the reason and what it rests
--- on, and applied only by a deliberate answer there.
---
--- The invariant: no key that was meant for something else decides. The window opens in normal or visual mode only, when
--- nothing was typed for a while. `ga`, which applies, edits nothing anywhere, and with another key close to it does not count.

local api = vim.api

local tell = require('quarry.tell')

local M = {}

--- How long nothing must have been typed before a window opens, in ms.
local PAUSE = 500
--- How close to `ga` another key makes it one that was meant for something else, in ms. Of the two keys only the second
--- has a known time, so there is room for the first before it.
local HASTY = 300

--- The time in ms.
function M.now()
  return vim.uv.hrtime() / 1e6
end

---@class quarry.Proposal
---@field client vim.lsp.Client
---@field params table of quarry/proposal, see docs/protocol.md
---@field win? integer once it is shown
---@field unseen? integer[] the changed lines in it that were not on the screen yet
---@field sent? boolean whether the server has been told and not answered yet
---@field refused? boolean whether it was discarded by its key

---@type quarry.Proposal[] those that nobody has decided, the oldest first; only the first is ever shown
local open = {}
local namespace = api.nvim_create_namespace('quarry.proposal')
local timer ---@type uv.uv_timer_t?
local hint ---@type integer? the window that says that something waits
local refusal = false -- whether the last line says that an answer did not count
--- When the last key was typed, when the one before it, and how many there were since the first proposal came.
local last, before, count = 0, 0, 0

local function typed(_, keys)
  if keys ~= '' then
    last, before, count = M.now(), last, count + 1
  end
end

---@param id string
---@return integer? index in `open`
local function find(client, id)
  for i, p in ipairs(open) do
    if p.client.id == client.id and p.params.id == id then
      return i
    end
  end
end

local show_next ---@type fun()

local function hide_hint()
  if hint and api.nvim_win_is_valid(hint) then
    api.nvim_win_close(hint, true)
  end
  hint = nil
end

--- Whether the mode is one in which a key types no text: a code action on a selection leaves it selected.
local function resting()
  return api.nvim_get_mode().mode:find('^[nvV\22]$') ~= nil
end

--- Say in the corner, where it takes no key, that a change waits. A message would be hidden by that of insert mode.
---@param p quarry.Proposal
local function show_hint(p)
  if hint or resting() then
    return
  end
  local names = vim.tbl_map(function(file)
    return file.name
  end, p.params.files)
  local text = (' quarry: a change of %s is ready; normal mode in a file shows it '):format(table.concat(names, ', '))
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = 'wipe'
  api.nvim_buf_set_lines(bufnr, 0, -1, false, { text })
  hint = api.nvim_open_win(bufnr, false, {
    relative = 'editor',
    style = 'minimal',
    border = 'none',
    anchor = 'NE',
    row = 0,
    col = vim.o.columns,
    width = math.min(api.nvim_strwidth(text), vim.o.columns),
    height = 1,
    focusable = false,
  })
end

--- There is nothing left to decide about a proposal.
local function forget(client, id)
  local i = find(client, id)
  if not i then
    return
  end
  local p = table.remove(open, i)
  if p.win and api.nvim_win_is_valid(p.win) then
    api.nvim_win_close(p.win, true)
  end
  if #open == 0 then
    vim.on_key(nil, namespace)
    hide_hint()
  end
  show_next()
end

---@param p quarry.Proposal
---@param apply boolean
local function decide(p, apply)
  if p.sent or not find(p.client, p.params.id) then
    return
  end
  p.sent = true
  p.client:request('quarry/decide', { id = p.params.id, apply = apply }, function(err, result)
    p.sent = false
    local message = err and err.message or result.message
    if err or not result.open then
      forget(p.client, p.params.id)
    end
    if message ~= '' then
      tell(message)
    elseif refusal then
      api.nvim_echo({ { '' } }, false, {}) -- else "not applied" stands below what was applied
    end
    refusal = false
  end)
end

--- What `ga` and `q` do: `act`, unless another key comes close to them. Of "qa", which was to record a macro, `q` is none.
---@param keys_of string
---@param done string what is not done else
---@param act fun()
local function calmly(keys_of, done, act)
  local function refuse()
    tell(('not %s: a key came close to %s; press %s again'):format(done, keys_of, keys_of))
    refusal = true
  end
  if M.now() - before < 2 * HASTY then
    refuse()
    return
  end
  local keys = count
  vim.defer_fn(function()
    if keys ~= count then
      refuse()
    else
      act()
    end
  end, HASTY)
end

--- Whether the user is doing nothing that a window would be in the way of.
local function free()
  return M.now() - last >= PAUSE
    and resting()
    and vim.fn.state('mo') == ''
    and vim.fn.reg_executing() == ''
    and vim.fn.reg_recording() == ''
    and vim.fn.getcmdwintype() == ''
    and vim.bo.buftype ~= 'prompt'
end

--- The window of a change was opened, moved or resized: note which changed lines are seen, and say below it what its keys
--- are and how much is below the window.
---@param p quarry.Proposal
local function look(p)
  if not p.win or not api.nvim_win_is_valid(p.win) then
    return
  end
  local top, bottom = vim.fn.line('w0', p.win), vim.fn.line('w$', p.win)
  p.unseen = vim.tbl_filter(function(line)
    return line < top or line > bottom
  end, p.unseen)
  local more = api.nvim_buf_line_count(api.nvim_win_get_buf(p.win)) - bottom
  local keys, text = ' ga apply · q discard ', nil
  for _, rest in ipairs(more > 0 and { ('· %d more line%s below '):format(more, more > 1 and 's' or ''), ('· %d more '):format(more), '' } or { '' }) do
    text = keys .. rest
    if api.nvim_strwidth(text) <= api.nvim_win_get_width(p.win) then -- else Neovim cuts off its beginning, the key that applies
      break
    end
  end
  api.nvim_win_set_config(p.win, { footer = text, footer_pos = 'center' })
end

--- Apply a change that was seen; of one that was not, show the next lines.
---@param p quarry.Proposal
local function apply(p)
  if #p.unseen == 0 or not p.win or not api.nvim_win_is_valid(p.win) then
    decide(p, true)
    return
  end
  local count = #p.unseen
  api.nvim_win_call(p.win, function()
    api.nvim_win_set_cursor(p.win, { p.unseen[1], 0 })
    vim.cmd.normal({ 'zt', bang = true })
  end)
  look(p)
  tell(('not applied: look and press ga again (unseen: %d)'):format(count))
  refusal = true
end

--- A line as rows of the window if it takes many: one that is longer than the window would never be seen to its end, and
--- nothing would tell.
---@param line string of a diff
---@param width integer of the window
---@return string[]
local function rows_of(line, width)
  if vim.fn.strdisplaywidth(line) <= 2 * width then
    return { line }
  end
  local sign, rows, row, cells = line:sub(1, 1), {}, '', 0
  for _, character in ipairs(vim.fn.split(line, '\\zs')) do
    local w = vim.fn.strdisplaywidth(character, cells)
    if cells + w > width then
      rows[#rows + 1], row, cells = row, sign, 1
    end
    row, cells = row .. character, cells + w
  end
  rows[#rows + 1] = row
  return rows
end

---@param p quarry.Proposal
local function show(p)
  hide_hint()
  local params = p.params
  local lines = {}
  local width = math.min(100, vim.o.columns - 4)
  -- A blank before them keeps the words from being taken for lines of the diff.
  for _, text in ipairs({ params.reason, params.basis }) do
    for line in vim.gsplit(vim.trim(text), '\n', { plain = true }) do
      lines[#lines + 1] = ' ' .. line
    end
  end
  lines[#lines + 1] = ''
  p.unseen = {}
  local old, new = 0, 0 -- how many lines of the hunk are still to come: only they tell `--- a/file` from a removed `-- note`
  for _, line in ipairs(vim.split(vim.trim(params.diff), '\n', { plain = true })) do
    local first = #lines + 1
    vim.list_extend(lines, rows_of(line, width))
    local sign = line:sub(1, 1)
    if old <= 0 and new <= 0 then
      local removed, added = line:match('^@@ %-%d+(,?%d*) %+%d+(,?%d*) @@')
      if removed then
        old, new = tonumber(removed:sub(2)) or 1, tonumber(added:sub(2)) or 1
      end
    elseif sign == '-' or sign == '+' then
      for row = first, #lines do
        p.unseen[#p.unseen + 1] = row
      end
      old, new = old - (sign == '-' and 1 or 0), new - (sign == '+' and 1 or 0)
    elseif sign ~= '\\' then
      old, new = old - 1, new - 1
    end
  end

  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].bufhidden, vim.bo[bufnr].modifiable, vim.bo[bufnr].filetype = 'wipe', false, 'diff'
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  height = math.max(1, math.min(height, vim.o.lines - 6))
  p.win = api.nvim_open_win(bufnr, true, {
    relative = 'editor',
    style = 'minimal',
    border = 'rounded',
    width = width,
    height = height,
    row = vim.o.lines - vim.o.cmdheight - height - 3,
    col = math.floor((vim.o.columns - width) / 2),
    title = (' quarry: %s '):format(params.title:match('^[^\n]*')),
  })
  vim.wo[p.win].wrap, vim.wo[p.win].linebreak = true, true
  vim.wo[p.win].foldenable, vim.wo[p.win].conceallevel = false, 0 -- no line is hidden, whatever other windows fold
  look(p)
  local scrolled = api.nvim_create_autocmd({ 'WinScrolled', 'WinResized' }, {
    pattern = tostring(p.win),
    callback = function()
      look(p)
    end,
  })
  last = M.now() -- nobody has read it before
  local function map(keys, action, desc)
    vim.keymap.set('n', keys, action, { buffer = bufnr, nowait = true, desc = desc })
  end
  map('ga', function()
    calmly('ga', 'applied', function()
      apply(p)
    end)
  end, 'apply this change')
  map('q', function()
    calmly('q', 'discarded', function()
      if p.win and api.nvim_win_is_valid(p.win) then
        p.refused = true
        api.nvim_win_close(p.win, true)
      end
    end)
  end, 'discard this change')
  api.nvim_create_autocmd('BufWipeout', {
    buffer = bufnr,
    once = true,
    callback = function()
      p.win = nil
      api.nvim_del_autocmd(scrolled)
      if not p.refused and not p.sent and find(p.client, p.params.id) and vim.v.exiting == vim.NIL then
        tell('discarded, since its window was closed; ask for the change again')
      end
      decide(p, false)
    end,
  })
end

function show_next()
  local p = open[1]
  if timer or not p or p.win then
    return
  end
  timer = assert(vim.uv.new_timer())
  timer:start(
    0,
    100,
    vim.schedule_wrap(function()
      local first = open[1]
      if timer and (not first or first.win or free()) then
        timer:close()
        timer = nil
        if first and not first.win then
          show(first)
        end
      elseif timer then
        show_hint(first)
      end
    end)
  )
end

--- Drop the changes of a client that has ended: there is nobody left to apply them.
---@param client_id integer
---@return boolean whether there was one, which the user is told
function M.forget(client_id)
  local lost = vim.tbl_filter(function(p)
    return p.client.id == client_id
  end, open)
  for _, p in ipairs(lost) do
    forget(p.client, p.params.id)
  end
  if #lost > 0 and vim.v.exiting == vim.NIL then
    tell('the server ended; ask for the change again')
  end
  return #lost > 0
end

--- Whether a change is there to be decided.
---@return boolean
function M.waits()
  return #open > 0
end

--- The client whose change a buffer shows.
---@param bufnr integer
---@return vim.lsp.Client?
function M.client_of(bufnr)
  local p = open[1]
  if p and p.win and api.nvim_win_is_valid(p.win) and api.nvim_win_get_buf(p.win) == (bufnr == 0 and api.nvim_get_current_buf() or bufnr) then
    return p.client
  end
end

--- Handler for quarry/proposal.
function M.propose(_, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local shown = open[1] and open[1].win
  if shown and api.nvim_win_get_tabpage(shown) ~= api.nvim_get_current_tabpage() then
    tell(('a change waits to be decided in tab page %d'):format(api.nvim_tabpage_get_number(api.nvim_win_get_tabpage(shown))))
  end
  if find(client, params.id) then
    return -- on the screen, or about to be
  end
  if #open == 0 then
    last, before = M.now(), 0
    vim.on_key(typed, namespace)
  end
  open[#open + 1] = { client = client, params = params }
  show_next()
end

--- Handler for quarry/proposal.end.
function M.withdraw(_, params, context)
  forget(assert(vim.lsp.get_client_by_id(context.client_id)), params.id)
end

return M
