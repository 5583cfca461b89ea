--- What the current window shows of its buffer around the cursor, and room for ghost text in it.

local api = vim.api

local M = {}

--- The rows of the current window that show text: Neovim's height of a window counts its 'winbar'.
local function height_of()
  return vim.fn.getwininfo(api.nvim_get_current_win())[1].height
end

---@class quarry.View
---@field size string
---@field at string which part of the buffer

--- What the window shows now.
---@return quarry.View
function M.now()
  local v = vim.fn.winsaveview()
  return {
    size = ('%dx%d'):format(api.nvim_win_get_width(0), height_of()),
    at = ('%d %d %d'):format(v.topline, v.skipcol, v.leftcol),
  }
end

--- What 'scrolloff' and 'sidescrolloff' were in windows where they have been lowered.
---@type table<integer, table<string, integer>>
local lowered = {}

--- Have an option that keeps the cursor from the window's edge leave it `room` there, until `restore` is called.
---@param option 'scrolloff'|'sidescrolloff'
---@param room integer
local function lower(option, room)
  if vim.o[option] <= room then
    return
  end
  local win = api.nvim_get_current_win()
  lowered[win] = lowered[win] or {}
  lowered[win][option] = lowered[win][option] or api.nvim_get_option_value(option, { scope = 'local' })
  api.nvim_set_option_value(option, room, { scope = 'local' })
end

--- Give windows back what was lowered in them.
function M.restore()
  for win, options in pairs(lowered) do
    for option, value in pairs(api.nvim_win_is_valid(win) and options or {}) do
      api.nvim_set_option_value(option, value, { scope = 'local', win = win })
    end
  end
  lowered = {}
end

--- Scroll the window so that `wanted` screen rows are below the cursor's line, but leave a third of the window above.
---@param wanted integer
---@param may_scroll boolean
---@return integer rows that there are now, negative if the cursor's line goes on below the window
function M.room_below(wanted, may_scroll)
  local height, row = height_of(), api.nvim_win_get_cursor(0)[1] - 1
  local function left(top) -- rows below the cursor's line if `top`, from 1, is the window's first line
    return height - api.nvim_win_text_height(0, { start_row = top - 1, end_row = row }).all
  end
  local top = vim.fn.line('w0')
  local first, most = top, height - math.floor(height / 3)
  while may_scroll and left(top) < wanted and top <= row and left(top + 1) <= most do
    top = top + 1
  end
  if top ~= first then
    lower('scrolloff', top <= row and api.nvim_win_text_height(0, { start_row = top - 1, end_row = row - 1 }).all or 0)
    vim.fn.winrestview({ topline = top, topfill = 0 })
  end
  return left(top)
end

--- How many screen rows a line takes, with what is drawn in it.
function M.rows_of(row)
  return api.nvim_win_text_height(0, { start_row = row, end_row = row }).all
end

--- How many cells are taken, at most, by the indent and the signs of each further row of the cursor's line, of `width`.
local function taken(width)
  local signs = vim.o.showbreak == 'NONE' and 0 or vim.fn.strdisplaywidth(vim.o.showbreak)
  if not vim.wo.breakindent then
    return signs
  end
  local function option(name)
    return tonumber(vim.wo.breakindentopt:match(name .. ':(-?%d+)'))
  end
  local indent = math.max(0, vim.fn.indent('.') + (option('shift') or 0), option('column') or 0)
  if option('list') then
    indent = width -- the pattern of lists decides
  end
  return math.max(0, math.min(indent, width - (option('min') or 20))) + signs
end

--- How many further rows a text of `wanted` cells at the cursor takes, and how many it would if each were of the window's width.
---@param wanted integer
---@return integer rows, integer whole
local function further_rows(wanted)
  local info = vim.fn.getwininfo(api.nvim_get_current_win())[1]
  local width = info.width - info.textoff
  local over = math.max(0, wanted - (width - (vim.fn.wincol() - info.textoff - 1)))
  return math.ceil(over / math.max(1, width - taken(width))), math.ceil(over / width)
end

--- How many rows Neovim does not count of a text of `wanted` cells that is drawn at the cursor: 0.11 takes the indent and the
--- signs of its further rows for room.
---@param wanted integer
---@return integer
function M.uncounted(wanted)
  if vim.fn.has('nvim-0.12') == 1 or not vim.wo.wrap then
    return 0
  end
  local rows, whole = further_rows(wanted)
  return rows - whole
end

--- Whether a text of `wanted` cells at the cursor ends in the window, though the line that it is in does not. The last row
--- is left to the signs that say so.
---@param goes_on boolean whether the line goes on behind the text
---@return boolean
function M.ends_in_window(wanted, goes_on)
  return further_rows(wanted) <= height_of() - vim.fn.winline() - (goes_on and 1 or 0)
end

--- How many cells of the cursor's row are left for a text of `wanted` cells at the cursor. Where lines do not wrap, the
--- window scrolls for it, but leaves a third of itself before the cursor.
---@param wanted integer
---@param may_scroll boolean
---@return integer
function M.room_beside(wanted, may_scroll)
  local function left()
    return api.nvim_win_get_width(0) - vim.fn.wincol() + 1
  end
  local short = wanted - left()
  if may_scroll and short > 0 and not vim.wo.wrap then
    local info = vim.fn.getwininfo(api.nvim_get_current_win())[1]
    local before = vim.fn.wincol() - info.textoff - 1
    local by = math.min(short, before - math.floor((info.width - info.textoff) / 3))
    if by > 0 then
      lower('sidescrolloff', 0) -- virtual text at the cursor counts as the cursor's character
      vim.fn.winrestview({ leftcol = vim.fn.winsaveview().leftcol + by })
    end
  end
  return left()
end

return M
