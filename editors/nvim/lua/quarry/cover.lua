--- What lies over the current window: the completion menu, Neovim's own or a plugin's, and other floating windows. They
--- hide the text below them, virtual text too, and no event tells of all of them.

local api = vim.api

local M = {}

---@class quarry.Cover cells of the screen, from 0; `bottom` and `right` are the first ones beyond
---@field top integer
---@field bottom integer
---@field left integer
---@field right integer

--- The cells that are covered.
---@return quarry.Cover[]
local function all()
  local covers = {}
  if vim.fn.pumvisible() == 1 then
    local p = vim.fn.pum_getpos()
    local edge = vim.fn.exists('&pumborder') == 1 and not vim.list_contains({ '', 'none' }, vim.o.pumborder) and 1 or 0
    covers[1] = { -- the border, the blank before an item and the scrollbar are not in its size
      top = p.row,
      bottom = p.row + p.height + 2 * edge,
      left = p.col - 1 - edge,
      right = p.col + p.width + 1 + edge,
    }
  end
  local current = api.nvim_get_current_win()
  local level = api.nvim_win_get_config(current).zindex or 0
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local c = api.nvim_win_get_config(win)
    if win ~= current and c.relative ~= '' and not c.hide and c.zindex >= level then
      local row, col = unpack(api.nvim_win_get_position(win))
      local edges = vim.list_contains({ '', 'none' }, c.border or '') and 0 or 2
      covers[#covers + 1] = {
        top = row,
        bottom = row + api.nvim_win_get_height(win) + edges,
        left = col,
        right = col + api.nvim_win_get_width(win) + edges,
        -- Where it is to be, which it is only once the screen is drawn.
        wanted = ('%s %s %s'):format(c.anchor, c.row, c.col),
      }
    end
  end
  return covers
end

--- The cells that are covered, as a text that differs once they do.
---@return string
function M.key()
  local parts = {}
  for i, c in ipairs(all()) do
    parts[i] = ('%d %d %d %d %s'):format(c.top, c.bottom, c.left, c.right, c.wanted or '')
  end
  return table.concat(parts, ';')
end

--- Whether one of the cells `from` up to `to` of a row is covered.
---@param covers quarry.Cover[]
---@return boolean
local function any(covers, row, from, to)
  for _, c in ipairs(covers) do
    if row >= c.top and row < c.bottom and from < c.right and to > c.left then
      return true
    end
  end
  return false
end

--- The number of cells that the chunks of a line of virtual text take.
local function cells_of(chunks)
  local cells = 0
  for _, chunk in ipairs(chunks) do
    cells = cells + vim.fn.strdisplaywidth(chunk[1])
  end
  return cells
end

--- Whether something lies over what was drawn in the current window.
---@param row integer the cursor's, in the buffer
---@param between integer how many virtual lines of others are drawn before `below`
---@param text table[] at the cursor
---@param below table[] virtual lines
---@return boolean
function M.over(row, between, text, below)
  local covers = all()
  if #covers == 0 then
    return false
  end
  local info = vim.fn.getwininfo(api.nvim_get_current_win())[1]
  local top, left = info.winrow - 1 + info.winbar, info.wincol - 1
  local beside, right = left + info.textoff, left + info.width
  local first, from = top + vim.fn.winline() - 1, left + vim.fn.wincol() - 1
  local to = from + math.max(1, cells_of(text))
  if any(covers, first, from, math.min(to, right)) then
    return true
  end
  -- Virtual lines below a line are not counted as its own.
  local begin = top + api.nvim_win_text_height(0, { start_row = vim.fn.line('w0') - 1, end_row = row }).all
  for wrapped = first + 1, to > right and begin - 1 or first do
    if any(covers, wrapped, beside, right) then
      return true
    end
  end
  for i, chunks in ipairs(below) do
    if any(covers, begin + between + i - 1, beside, math.min(beside + cells_of(chunks), right)) then
      return true
    end
  end
  return false
end

local known, waiting = nil, false

--- Have what `wanted` answers, if anything, called once what is covered has changed. The screen's drawing tells, and the
--- completion menu's begin and end.
---@param wanted fun(): fun()?
function M.watch(wanted)
  local function look()
    local key = M.key()
    local changed = key ~= known and not waiting and wanted()
    if changed then
      waiting = true
      vim.schedule(function() -- nothing may be drawn meanwhile
        waiting = false
        changed()
      end)
    end
    known = key
  end
  api.nvim_set_decoration_provider(api.nvim_create_namespace('quarry.cover'), {
    on_start = function()
      look()
      return false
    end,
  })
  api.nvim_create_autocmd({ 'CompleteChanged', 'CompleteDone' }, {
    group = api.nvim_create_augroup('quarry.cover', {}),
    callback = vim.schedule_wrap(look), -- the menu is drawn, or gone, after them
  })
end

return M
