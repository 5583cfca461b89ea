--- Asks for ghost text, shows it, and inserts what is accepted.
---
--- Neovim 0.12 has an inline completion of its own, which waits 200 ms after every keystroke, leaves an answer's range where
--- it was when the request was sent, draws below the window's last row, and does not ask on demand. So this module does
--- all of it, and Neovim's is turned off for quarry's clients.
---
--- An answer is kept as the text that it would make of the line from its first column on. Whatever the user types or takes
--- back is compared with that: as long as it is the beginning of it, the rest is shown at the cursor.
---
--- The invariant: the ghost text shown is exactly what accepting inserts, at the cursor, some of it is on the screen, and
--- nothing lies over what is: where a completion menu or another window would, there is no ghost text until that is gone.

local api = vim.api
local cover = require('quarry.cover')
local view = require('quarry.view')

local M = {}

local namespace = api.nvim_create_namespace('quarry.ghost')
local marks = api.nvim_create_namespace('quarry.ghost.marks')
local METHOD = 'textDocument/inlineCompletion'

--- Milliseconds after a keystroke in which the next one makes a request useless. The server waits longer where that pays:
--- it knows how fast the user types and how long the model takes.
local PAUSE = 30

local INVOKED, AUTOMATIC = 1, 2 -- lsp.InlineCompletionTriggerKind

---@class quarry.Candidate
---@field whole string What the text from the beginning of the answer's row would be, lines joined by \n.
---@field tail integer Bytes after the cursor that accepting the whole candidate replaces.
---@field command? lsp.Command To be run once the whole candidate was accepted.
---@field drawn? boolean Whether a frame has shown it.

---@class quarry.Shown
---@field client vim.lsp.Client
---@field candidates quarry.Candidate[]
---@field selected integer
---@field mark integer Extmark at the beginning of the answer's row.
---@field before string What stood before the cursor in that row when it was asked for.
---@field after string The rest of that row then: candidates are void once it changes.
---@field count? boolean Whether to show which candidate of how many this is.
---@field chosen? boolean Whether the user went to the selected candidate: no answer takes it away while they type it.
---@field rest? string What is shown: what the selected candidate adds at the cursor.
---@field row? integer Where it is shown, from 0.
---@field col? integer
---@field tick? integer The buffer's changedtick when it was last settled.
---@field view? quarry.View What the window showed then.
---@field over? string What lay over the window then.
---@field still? boolean Whether the user has scrolled the window since: it is not scrolled back.
---@field hidden? boolean Whether nothing of it is drawn, though that may come: something would lie over it, or it is scrolled away.

---@type table<integer, quarry.Shown> by buffer
local shown = {}

---@class quarry.Asked
---@field timer? uv.uv_timer_t Runs until the next request is sent.
---@field sent integer Number of the newest request.
---@field taken integer Answers to this request and to older ones are not shown any more.
---@field cancel? fun() Ends the newest request.
---@field where? string The text and the cursor that it was about.

---@type table<integer, quarry.Asked> by buffer
local asked = {}

---@return integer row, integer col from 0, in bytes
local function cursor()
  local pos = api.nvim_win_get_cursor(0)
  return pos[1] - 1, pos[2]
end

local function line_at(bufnr, row)
  return api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ''
end

local function inserting()
  return vim.startswith(api.nvim_get_mode().mode, 'i')
end

--- Hide what is shown and forget it.
local function drop(bufnr)
  shown[bufnr] = nil
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    api.nvim_buf_clear_namespace(bufnr, marks, 0, -1)
  end
end

---@return quarry.Asked
local function asked_in(bufnr)
  asked[bufnr] = asked[bufnr] or { sent = 0, taken = 0 }
  return asked[bufnr]
end

local function stop_timer(a)
  if a.timer then
    a.timer:stop()
    a.timer:close()
    a.timer = nil
  end
end

--- The text and the cursor of this moment.
---@return string
local function whereabouts(bufnr)
  return ('%d %d:%d'):format(api.nvim_buf_get_changedtick(bufnr), cursor())
end

--- Show nothing of what is under way.
local function cancel(bufnr)
  local a = asked_in(bufnr)
  stop_timer(a)
  if a.cancel then
    a.cancel()
  end
  a.taken = a.sent
end

--- The candidates that the text does not contradict, and which of these is the selected one, or the next after it.
---@param s quarry.Shown
---@return quarry.Candidate[] left, integer selected, string? typed nil where none of them can be told to fit
local function remaining(bufnr, s)
  local row = unpack(api.nvim_buf_get_extmark_by_id(bufnr, marks, s.mark, {}))
  if not row or api.nvim_get_current_buf() ~= bufnr then
    return {}, 1
  end
  local cursor_row, col = cursor()
  if cursor_row < row or line_at(bufnr, cursor_row):sub(col + 1) ~= s.after then
    return {}, 1
  end
  local typed = table.concat(api.nvim_buf_get_text(bufnr, row, 0, cursor_row, col, {}), '\n')
  if typed:match('^%s*$') and not s.before:match('^%s*$') then
    return {}, 1 -- the user takes the line back
  end
  local left, selected = {}, nil ---@type quarry.Candidate[], integer?
  for i, c in ipairs(s.candidates) do
    if #c.whole > #typed and vim.startswith(c.whole, typed) then
      left[#left + 1] = c
      selected = selected or i >= s.selected and #left or nil
    end
  end
  return left, selected or 1, typed
end

--- Leading tabs as wide as the buffer shows them: Neovim draws those of virtual lines at the wrong stops.
local function expanded(bufnr, line)
  local indent, rest = line:match('^([ \t]*)(.*)$')
  if not indent:find('\t') then
    return line
  end
  local width, stop = 0, vim.bo[bufnr].tabstop
  for c in indent:gmatch('.') do
    width = c == '\t' and width + stop - width % stop or width + 1
  end
  return (' '):rep(width) .. rest
end

--- The beginning of a text that takes at most so many cells, at least a character of it.
---@return string beginning, string rest
local function split_at(text, cells)
  local at = 0
  for _, from in ipairs(vim.str_utf_pos(text)) do
    local to = from + vim.str_utf_end(text, from)
    if at > 0 and vim.fn.strdisplaywidth(text:sub(1, to)) > cells then
      break
    end
    at = to
  end
  return text:sub(1, at), text:sub(at + 1)
end

--- A line as virtual lines of the window's width: Neovim cuts what is longer. Where lines do not wrap, there is one, and
--- its end tells that it is cut.
---@return table[] virtual lines
local function folded(line)
  local info = vim.fn.getwininfo(api.nvim_get_current_win())[1]
  local cells = math.max(2, info.width - info.textoff)
  if vim.fn.strdisplaywidth(line) <= cells then
    return { { { line, 'QuarryGhost' } } }
  end
  if not vim.wo.wrap then
    return { { { (split_at(line, cells - 1)), 'QuarryGhost' }, { '…', 'QuarryHint' } } }
  end
  local rows = {}
  repeat
    local row
    row, line = split_at(line, cells)
    rows[#rows + 1] = { { row, 'QuarryGhost' } }
  until line == ''
  return rows
end

--- How many virtual lines of other namespaces Neovim draws between a row and those of our mark there. A row's height does
--- not count them.
---@return integer
local function lines_between(bufnr, row, id)
  local lines = 0
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, -1, { row, 0 }, { row, -1 }, { details = true })) do -- as they are drawn
    local details = mark[4]
    if details.ns_id == namespace and mark[1] == id then
      break
    elseif details.virt_lines and not details.virt_lines_above then
      lines = lines + #details.virt_lines
    end
  end
  return lines
end

--- Draw what is to be seen of the selected candidate.
---@param s quarry.Shown
---@return 'seen'|'covered'|'unseen'
local function draw(bufnr, s)
  local lines = vim.split(s.rest, '\n', { plain = true })
  local text, position = { { lines[1], 'QuarryGhost' } }, 'inline'
  local tail = s.candidates[s.selected].tail
  if tail > 0 then -- what is replaced must not be seen beside what replaces it
    position = 'overlay'
    local kept = #lines == 1 and s.after:sub(tail + 1) or ''
    local over = vim.fn.strdisplaywidth(s.after) - vim.fn.strdisplaywidth(lines[1] .. kept)
    text[2] = { kept .. (' '):rep(math.max(0, over)), 'Normal' }
  end
  api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  local wanted = vim.fn.strdisplaywidth(lines[1])
  if position == 'overlay' or not vim.wo.wrap then -- text that wraps is seen
    local room = view.room_beside(wanted, not s.still)
    if wanted > room and room < 2 then
      return 'unseen'
    elseif wanted > room then
      text = { { (split_at(lines[1], room - 1)), 'QuarryGhost' }, { '…', 'QuarryHint' } }
    end
  end
  local alone = view.rows_of(s.row)
  local mark = { virt_text = text, virt_text_pos = position, hl_mode = 'combine' }
  mark.id = api.nvim_buf_set_extmark(bufnr, namespace, s.row, s.col, mark) -- the line may take more rows with it
  -- Left gravity in the first column puts its lines before those of others, as of |vim.diagnostic|'s `virtual_lines`.
  local lines_mark = { right_gravity = false }
  lines_mark.id = api.nvim_buf_set_extmark(bufnr, namespace, s.row, 0, lines_mark)
  local between = lines_between(bufnr, s.row, lines_mark.id)
  local folds, rows = {}, 0
  for i = 2, #lines do
    folds[#folds + 1] = folded(expanded(bufnr, lines[i]))
    rows = rows + #folds[#folds]
  end
  local uncounted = position == 'inline' and view.uncounted(wanted) or 0
  if rows > 0 or view.rows_of(s.row) + uncounted > alone then
    rows = view.room_below((rows > 0 and between + rows or 0) + uncounted, not s.still) - uncounted
    if rows < 0 and position == 'inline' and vim.wo.wrap and not view.ends_in_window(wanted, s.after ~= '') then
      return 'unseen'
    end
  end
  local below, hidden = {}, #folds
  for _, fold in ipairs(folds) do
    if between + #below + #fold > rows then
      break
    end
    vim.list_extend(below, fold)
    hidden = hidden - 1
  end
  local hint
  if hidden > 0 then
    hint = (' … %d more line%s'):format(hidden, hidden > 1 and 's' or '')
  elseif s.count then
    hint = (' (%d/%d)'):format(s.selected, #s.candidates)
  end
  if hint then
    table.insert(below[#below] or text, { hint, 'QuarryHint' })
  end
  lines_mark.virt_lines = below
  api.nvim_buf_set_extmark(bufnr, namespace, s.row, s.col, mark)
  api.nvim_buf_set_extmark(bufnr, namespace, s.row, 0, lines_mark)
  if lines[1] == '' and #below == 0 then
    return 'unseen'
  end
  return cover.over(s.row, between, text, below) and 'covered' or 'seen'
end

--- Show the selected candidate. What would be covered is hidden until it is not.
---@param s quarry.Shown
---@return 'seen'|'covered'|'unseen'
local function present(bufnr, s)
  local before = vim.fn.winsaveview()
  local how = draw(bufnr, s)
  if how ~= 'seen' then
    api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    vim.fn.winrestview({ topline = before.topline, topfill = before.topfill, leftcol = before.leftcol, skipcol = before.skipcol })
  end
  s.hidden = how ~= 'seen'
  s.view, s.over = view.now(), cover.key()
  return how
end

--- Bring what is shown in `bufnr` up to date with the text and the cursor; nil if nothing is left to show.
---@return quarry.Shown?
local function settle(bufnr)
  local s = shown[bufnr]
  if not s then
    return nil
  end
  local tick = api.nvim_buf_get_changedtick(bufnr)
  local row, col = cursor()
  local same = s.tick == tick and s.row == row and s.col == col and api.nvim_get_current_buf() == bufnr
  local now = view.now()
  local scrolled = same and s.view.size == now.size and s.view.at ~= now.at
  if same and not scrolled and s.view.size == now.size and s.over == cover.key() then
    return not s.hidden and s or nil
  end
  s.still = same and (scrolled or s.still)
  local left, selected, typed = remaining(bufnr, s)
  if #left == 0 then
    drop(bufnr)
    return nil
  end
  s.chosen = s.chosen and left[selected] == s.candidates[s.selected]
  s.candidates, s.selected, s.tick, s.row, s.col = left, selected, tick, row, col
  s.rest = left[selected].whole:sub(#typed + 1)
  local how = present(bufnr, s)
  if how == 'unseen' and not s.still then
    drop(bufnr)
  end
  return how == 'seen' and s or nil
end

--- Turn the items of an answer into candidates.
---@param items lsp.InlineCompletionItem[]
---@param before string of the row that was asked about
---@param after string
---@param encoding string
---@return quarry.Candidate[]
local function candidates_from(items, before, after, encoding)
  local candidates = {} ---@type quarry.Candidate[]
  local line = before .. after
  for _, item in ipairs(items) do
    local from, to = #before, #before
    if item.range then
      -- The protocol keeps an item's range on one line.
      from = vim.str_byteindex(line, encoding, item.range.start.character, false)
      to = vim.str_byteindex(line, encoding, item.range['end'].character, false)
    end
    candidates[#candidates + 1] = {
      -- Buffer lines hold no carriage return, whatever the file's line ending: the server answers in the file's.
      whole = before:sub(1, from) .. item.insertText:gsub('\r\n?', '\n'),
      tail = math.max(0, to - #before),
      command = item.command,
    }
  end
  return candidates
end

--- Have `s`, which takes the place of `old`, go on with what the user is looking at: it stays while they type it where the
--- answer has it, too, and where they went to it in any case.
---@param s quarry.Shown
---@param old quarry.Shown
local function carry_on(bufnr, s, old)
  local left, selected, typed = remaining(bufnr, old)
  local seen = left[selected]
  local _, _, now = remaining(bufnr, s)
  if not seen or seen ~= old.candidates[old.selected] or not now then
    return
  end
  local whole = now .. seen.whole:sub(#typed + 1) -- either may begin at a row of its own
  local at
  for i, c in ipairs(s.candidates) do
    if c.whole == whole then
      at, c.drawn = i, seen.drawn
      break
    end
    at = at or vim.startswith(c.whole, whole) and i or nil -- it has grown
  end
  if not at and not old.chosen then
    return
  elseif not at then
    at = 1
    table.insert(s.candidates, at, vim.tbl_extend('force', seen, { whole = whole }))
  end
  s.selected, s.chosen = at, old.chosen
  s.count = old.count and #remaining(bufnr, s) > 1 -- where one is left, the next key asks for more
end

--- Say something at the cursor until the user types on; in insert mode the mode is written over messages.
local function hint(bufnr, text)
  local row, col = cursor()
  api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  api.nvim_buf_set_extmark(bufnr, namespace, row, col, { virt_text = { { text, 'QuarryHint' } }, virt_text_pos = 'inline' })
end

--- Ask for ghost text at the cursor, now.
---@param kind integer
local function ask(bufnr, kind)
  local client = vim.lsp.get_clients({ name = 'quarry', bufnr = bufnr })[1]
  local off = kind == AUTOMATIC and (vim.g.quarry_ghost == false or vim.b[bufnr].quarry_ghost == false)
  if not client or off or not inserting() or api.nvim_get_current_buf() ~= bufnr then
    return
  end
  local a = asked_in(bufnr)
  stop_timer(a)
  a.sent, a.where = a.sent + 1, whereabouts(bufnr)
  local number, row, col = a.sent, cursor()
  local line = line_at(bufnr, row)
  local mark = api.nvim_buf_set_extmark(bufnr, marks, row, 0, { right_gravity = false })
  if kind == INVOKED then
    hint(bufnr, '…')
  end
  local _, id = client:request(METHOD, {
    textDocument = vim.lsp.util.make_text_document_params(bufnr),
    position = { line = row, character = vim.str_utfindex(line, client.offset_encoding, col, false) },
    context = { triggerKind = kind },
  }, function(err, result)
    if not api.nvim_buf_is_valid(bufnr) or number <= a.taken then
      return
    end
    local newest = number == a.sent
    a.cancel = not newest and a.cancel or nil
    local at = api.nvim_buf_get_extmark_by_id(bufnr, marks, mark, {})[1]
    local items = not err and result and (result.items or result)
    -- Nil: somebody else has asked the server meanwhile. None: it is for the newest request to say so.
    if not items or not at or not inserting() or (#items == 0 and (not newest or a.timer)) then
      api.nvim_buf_del_extmark(bufnr, marks, mark)
      if kind == INVOKED then
        drop(bufnr)
      end
      return
    end
    a.taken = number
    local s = {
      client = client,
      candidates = candidates_from(items, line:sub(1, col), line:sub(col + 1), client.offset_encoding),
      selected = 1,
      mark = mark,
      before = line:sub(1, col),
      after = line:sub(col + 1),
      count = kind == INVOKED,
    }
    if shown[bufnr] and kind ~= INVOKED then
      carry_on(bufnr, s, shown[bufnr])
    end
    drop(bufnr)
    s.mark = api.nvim_buf_set_extmark(bufnr, marks, at, 0, { right_gravity = false })
    shown[bufnr] = s
    if settle(bufnr) or kind ~= INVOKED then
      return
    elseif shown[bufnr] then
      hint(bufnr, ' covered: close the menu to see it')
    else
      hint(bufnr, ' nothing to suggest here')
    end
  end, bufnr)
  a.cancel = id and function()
    a.cancel = nil
    client:cancel_request(id)
  end
end

--- Ask for ghost text when the user pauses.
local function ask_soon(bufnr)
  local a = asked_in(bufnr)
  if a.where == whereabouts(bufnr) then
    return -- that is asked
  end
  if not shown[bufnr] then
    drop(bufnr) -- a hint
  end
  stop_timer(a)
  if vim.snippet and vim.snippet.active({ direction = 1 }) then
    return drop(bufnr) -- the keys are for its placeholders
  end
  local timer = assert(vim.uv.new_timer())
  a.timer = timer
  timer:start(PAUSE, 0, vim.schedule_wrap(function()
    if a.timer == timer then
      ask(bufnr, AUTOMATIC)
    end
  end))
end

--- The ghost text that can be accepted: a frame has shown the candidate. Of keys that come together, as over a slow line,
--- the second must not accept what the first has just brought.
---@return quarry.Shown?
local function acceptable(bufnr)
  local s = settle(bufnr)
  return s and s.candidates[s.selected].drawn and s or nil
end

api.nvim_set_decoration_provider(api.nvim_create_namespace('quarry.drawn'), {
  on_end = function()
    local s = shown[api.nvim_get_current_buf()]
    if s and s.hidden == false then
      s.candidates[s.selected].drawn = true
    end
  end,
})

--- Show the ghost text of quarry's clients in `bufnr`. Called for each LspAttach.
---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  if vim.lsp.inline_completion then
    vim.lsp.inline_completion.enable(false, { client_id = client.id })
  end
  cover.watch(function()
    local current = api.nvim_get_current_buf()
    return shown[current] and function()
      settle(current)
    end
  end)
  local group = api.nvim_create_augroup('quarry.ghost.' .. bufnr, {})
  api.nvim_create_autocmd({ 'InsertEnter', 'CursorMovedI', 'TextChangedI', 'TextChangedP' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      settle(bufnr)
      ask_soon(bufnr)
    end,
  })
  api.nvim_create_autocmd({ 'WinResized', 'VimResized', 'WinScrolled' }, { -- of any window: their pattern is no buffer
    group = group,
    callback = function()
      if api.nvim_get_current_buf() == bufnr then
        settle(bufnr)
      end
    end,
  })
  local function leave()
    cancel(bufnr)
    asked_in(bufnr).where = nil
    drop(bufnr)
    view.restore()
  end
  api.nvim_create_autocmd({ 'InsertLeave', 'BufUnload' }, { group = group, buffer = bufnr, callback = leave })
  api.nvim_create_autocmd('ModeChanged', { -- <C-c> leaves insert mode without InsertLeave
    group = group,
    pattern = 'i*:n*',
    callback = function()
      if api.nvim_get_current_buf() == bufnr then
        leave()
      end
    end,
  })
  api.nvim_create_autocmd('LspDetach', {
    group = group,
    buffer = bufnr,
    callback = function(event)
      if event.data.client_id == client.id then
        stop_timer(asked_in(bufnr))
        asked[bufnr] = nil -- there is nobody to cancel it at
        drop(bufnr)
        api.nvim_del_augroup_by_id(group)
      end
    end,
  })
  if inserting() and api.nvim_get_current_buf() == bufnr then
    ask_soon(bufnr)
  end
end

--- Whether ghost text of quarry is shown at the cursor, and was seen there.
---@return boolean
function M.visible()
  return acceptable(api.nvim_get_current_buf()) ~= nil
end

--- The parts that can be accepted, as the piece of the rest to insert next.
local parts = {
  all = function(text)
    return text
  end,
  -- A word with what stands before it, or a run of other signs: `\n  return`, `foo`, `(`.
  word = function(text)
    return text:match('^%s*[%w_\128-\255]+') or text:match('^%s*[^%s%w_\128-\255]+') or text
  end,
  -- The rest of this line or, at its end, the whole next one.
  line = function(text)
    return text:match('^\n?[^\n]*')
  end,
}

--- Insert text at the cursor, so that `.` repeats it with what is typed around it: of what Lua inserts, Neovim repeats
--- only what is pasted. What the user may do to pasted text is not for this.
---@param text string
local function insert(text)
  local paste = vim.paste
  vim.paste = function(lines)
    api.nvim_put(lines, 'c', false, true)
    return true
  end
  local ok, problem = pcall(api.nvim_paste, text, false, -1)
  vim.paste = paste
  if not ok then
    error(problem, 0)
  end
end

--- Insert the ghost text, or the next `part` of it, at the cursor; the rest of it stays shown.
---@param part 'all'|'word'|'line'
---@return boolean done false if nothing was shown
function M.accept(part)
  local bufnr = api.nvim_get_current_buf()
  local s = acceptable(bufnr)
  if not s then
    return false
  end
  local c = s.candidates[s.selected]
  local piece = parts[part](s.rest)
  local whole = piece == s.rest
  if whole and c.tail > 0 then
    api.nvim_buf_set_text(bufnr, s.row, s.col, s.row, s.col + c.tail, {})
  end
  insert(piece)
  M.accepted = { bufnr, api.nvim_buf_get_changedtick(bufnr) }
  if not whole then
    settle(bufnr)
    return true
  end
  drop(bufnr)
  if c.command then
    s.client:exec_cmd(c.command, { bufnr = bufnr })
  end
  return true
end

--- Whether nothing has changed since the last acceptance: a key that was pressed once too often is meant for the same.
---@return boolean
function M.just_accepted()
  local bufnr = api.nvim_get_current_buf()
  return M.accepted ~= nil and M.accepted[1] == bufnr and M.accepted[2] == api.nvim_buf_get_changedtick(bufnr)
end

--- Ask for ghost text now, all candidates of it, in place of waiting for a pause.
function M.trigger()
  drop(api.nvim_get_current_buf())
  ask(api.nvim_get_current_buf(), INVOKED)
end

--- Show the candidate `count` further on (or back, if negative), round and round, of those that can be seen; where there
--- is but one, ask for more.
---@param count integer
---@return boolean done false if nothing was shown
function M.cycle(count)
  local bufnr = api.nvim_get_current_buf()
  local s = settle(bufnr)
  if not s then
    return false
  end
  if #s.candidates == 1 and not s.count then
    M.trigger()
    return true
  end
  s.count, s.chosen = true, true
  local _, _, typed = remaining(bufnr, s)
  for _ = 1, #s.candidates do -- at the latest the one that is shown can be seen
    s.selected = (s.selected - 1 + count) % #s.candidates + 1
    s.rest = s.candidates[s.selected].whole:sub(#typed + 1)
    if present(bufnr, s) == 'seen' then
      return true
    end
  end
  drop(bufnr)
  return true
end

--- Hide the ghost text until the next keystroke brings another.
---@return boolean done false if nothing was shown
function M.dismiss()
  local bufnr = api.nvim_get_current_buf()
  local visible = settle(bufnr) ~= nil
  cancel(bufnr)
  drop(bufnr)
  return visible
end

return M
