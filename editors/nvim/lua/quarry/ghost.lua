--- Keeps the ghost text on the screen, and what accepting it inserts, true to the buffer.
---
--- Neovim 0.12 asks the server, draws the answer and keeps drawing it while the person types on, but an answer's
--- range stays where it was when the request was sent. Between a keystroke and the next answer (200 ms and more)
--- |vim.lsp.inline_completion.get()| would therefore insert what was typed a second time, and text that the person
--- has typed past or away from stays on the screen. So this module stands between the client and Neovim's handler:
--- it remembers each answer with a mark at the cursor it was asked for, and whenever the buffer or the cursor moves
--- it hands the handler the answer as it reads from the cursor now: shortened by what was typed, or nothing.
---
--- The invariant: the ghost text shown is exactly what accepting inserts, at the cursor.

local api = vim.api

local M = {}

local namespace = api.nvim_create_namespace('quarry.ghost')
local METHOD = 'textDocument/inlineCompletion'

---@class quarry.Candidate
---@field text string What to insert from (row, from) on, lines joined by \n.
---@field from integer Byte column where `text` begins; before the cursor if it repeats a part of the line.
---@field tail integer Bytes after the cursor that accepting the whole candidate replaces.
---@field command? lsp.Command To be run once the whole candidate was accepted.

---@class quarry.Shown
---@field client vim.lsp.Client
---@field deliver fun(items: lsp.InlineCompletionItem[]) Makes Neovim show these items instead, the first one selected.
---@field candidates quarry.Candidate[]
---@field selected integer
---@field mark integer Extmark at the cursor of the request; text typed there pushes it along.
---@field row integer Row, from 0, of the cursor that the candidates' columns speak of.
---@field after string The rest of that line when it was asked for: candidates are void once it changes.
---@field tick integer The buffer's changedtick when it was last settled.

---@type table<integer, quarry.Shown> by buffer
local shown = {}

---@return integer row, integer col from 0, in bytes
local function cursor()
  local pos = api.nvim_win_get_cursor(0)
  return pos[1] - 1, pos[2]
end

local function line_at(bufnr, row)
  return api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ''
end

local function forget(bufnr)
  shown[bufnr] = nil
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  end
end

--- Hide what is shown and forget it.
local function drop(bufnr)
  local s = shown[bufnr]
  forget(bufnr)
  if s then
    s.deliver({})
  end
end

--- The candidates as they read from the cursor, the selected one first: what was typed since the request is cut off,
--- and those that it contradicts are gone.
---@param s quarry.Shown
---@return quarry.Candidate[]
local function remaining(bufnr, s)
  local row, col = unpack(api.nvim_buf_get_extmark_by_id(bufnr, namespace, s.mark, {}))
  local cursor_row, cursor_col = cursor()
  -- No mark: the person left insert mode while the request was on its way.
  local moved = not row or api.nvim_get_current_buf() ~= bufnr or row ~= cursor_row or col ~= cursor_col
  if moved or row < s.row or line_at(bufnr, row):sub(col + 1) ~= s.after then
    return {}
  end
  local left = {} ---@type quarry.Candidate[]
  local reach = row == s.row and col or #line_at(bufnr, s.row) -- text before the candidate may have been taken back
  for i = 0, #s.candidates - 1 do
    local c = s.candidates[(s.selected - 1 + i) % #s.candidates + 1]
    if c.from <= reach then
      local typed = table.concat(api.nvim_buf_get_text(bufnr, s.row, c.from, row, col, {}), '\n')
      if #c.text > #typed and vim.startswith(c.text, typed) then
        left[#left + 1] = { text = c.text:sub(#typed + 1), from = col, tail = c.tail, command = c.command }
      end
    end
  end
  s.row = row
  return left
end

---@param s quarry.Shown
local function show(bufnr, s)
  local line, encoding = line_at(bufnr, s.row), s.client.offset_encoding
  s.deliver(vim.tbl_map(function(c) ---@param c quarry.Candidate
    local function position(col)
      return { line = s.row, character = vim.str_utfindex(line, encoding, col) }
    end
    return {
      insertText = c.text,
      range = { start = position(c.from), ['end'] = position(c.from + c.tail) },
      command = c.command,
    }
  end, s.candidates))
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
  if s.tick == tick and s.row == row and s.candidates[1].from == col then
    return s
  end
  s.candidates, s.selected, s.tick = remaining(bufnr, s), 1, tick
  if #s.candidates == 0 then
    drop(bufnr)
    return nil
  end
  show(bufnr, s)
  return s
end

--- Turn the items of an answer into candidates. The line is read as it is now: what stands before the cursor of the
--- request and after the mark is as it was then, else `remaining` finds the answer void anyway.
---@param items lsp.InlineCompletionItem[]
---@param asked lsp.Position
---@return quarry.Candidate[]
local function candidates_from(items, asked, before, after, encoding)
  local candidates = {} ---@type quarry.Candidate[]
  for _, item in ipairs(items) do
    local from, tail = #before, 0
    if item.range then
      -- The protocol keeps an item's range on one line.
      from = vim.str_byteindex(before, encoding, item.range.start.character, false)
      tail = vim.str_byteindex(after, encoding, math.max(0, item.range['end'].character - asked.character), false)
    end
    candidates[#candidates + 1] = {
      -- Buffer lines hold no carriage return, whatever the file's line ending: the server answers in the file's.
      text = item.insertText:gsub('\r\n?', '\n'),
      from = from,
      tail = tail,
      command = item.command,
    }
  end
  return candidates
end

--- Stand between the client's inline completion requests and Neovim's handler for them.
---
--- The handler is private to Neovim and goes with each request, so the client's own `request` is where to meet it.
---@param client vim.lsp.Client
local function intercept(client)
  local request = client.request
  ---@diagnostic disable-next-line: duplicate-set-field
  client.request = function(self, method, params, handler, bufnr)
    if method ~= METHOD or not handler then
      return request(self, method, params, handler, bufnr)
    end
    if not bufnr or bufnr == 0 then
      bufnr = api.nvim_get_current_buf()
    end
    local row, col = cursor()
    local line = line_at(bufnr, row)
    local mark = api.nvim_buf_set_extmark(bufnr, namespace, row, math.min(col, #line), {})
    return request(self, method, params, function(err, result, ctx)
      if not api.nvim_buf_is_valid(bufnr) or not vim.startswith(api.nvim_get_mode().mode, 'i') then
        return -- too late: ghost text belongs to insert mode
      end
      if err or not result then -- null: a newer request has superseded this one, whose answer is still to come
        api.nvim_buf_del_extmark(bufnr, namespace, mark)
        return handler(err, result, ctx)
      end
      if shown[bufnr] then
        api.nvim_buf_del_extmark(bufnr, namespace, shown[bufnr].mark)
      end
      shown[bufnr] = {
        client = self,
        deliver = function(items)
          handler(nil, { items = items }, ctx)
        end,
        candidates = candidates_from(
          result.items or result,
          params.position,
          line:sub(1, col),
          line:sub(col + 1),
          self.offset_encoding
        ),
        selected = 1,
        mark = mark,
        row = row,
        after = line:sub(col + 1),
        tick = -1, -- never settled
      }
      settle(bufnr)
    end, bufnr)
  end
end

---@type table<integer, true> clients whose requests are intercepted
local intercepted = {}

--- Look after the ghost text that `client` gives for `bufnr`. Called for each LspAttach.
---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  if not intercepted[client.id] then
    intercepted[client.id] = true
    intercept(client)
  end
  local group = api.nvim_create_augroup('quarry.ghost.' .. bufnr, {})
  api.nvim_create_autocmd({ 'CursorMovedI', 'TextChangedI', 'TextChangedP' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      settle(bufnr)
    end,
  })
  -- Neovim hides the ghost text by itself on these.
  api.nvim_create_autocmd({ 'InsertLeave', 'LspDetach', 'BufUnload' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      forget(bufnr)
    end,
  })
end

--- Whether ghost text of quarry is shown at the cursor.
---@return boolean
function M.visible()
  return settle(api.nvim_get_current_buf()) ~= nil
end

--- The parts that can be accepted, as the piece of a candidate's text to insert next.
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

--- Insert the ghost text, or the next `part` of it, at the cursor; the rest of it stays shown.
---@param part 'all'|'word'|'line'
---@return boolean done false if nothing was shown
function M.accept(part)
  local bufnr = api.nvim_get_current_buf()
  local s = settle(bufnr)
  if not s then
    return false
  end
  local c = s.candidates[s.selected]
  local piece = parts[part](c.text)
  local whole = piece == c.text
  local lines = vim.split(piece, '\n', { plain = true })
  api.nvim_buf_set_text(bufnr, s.row, c.from, s.row, c.from + (whole and c.tail or 0), lines)
  api.nvim_win_set_cursor(0, {
    s.row + #lines,
    (#lines == 1 and c.from or 0) + #lines[#lines],
  })
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

--- Show the candidate `count` further on (or back, if negative), round and round.
---@param count integer
---@return boolean done false if nothing was shown
function M.cycle(count)
  local s = settle(api.nvim_get_current_buf())
  if not s then
    return false
  end
  s.selected = (s.selected - 1 + count) % #s.candidates + 1
  vim.lsp.inline_completion.select({ count = count })
  return true
end

--- Hide the ghost text until the next keystroke brings another.
---@return boolean done false if nothing was shown
function M.dismiss()
  local bufnr = api.nvim_get_current_buf()
  local visible = settle(bufnr) ~= nil
  drop(bufnr)
  return visible
end

return M
