--- The server's own pages, documents of the scheme quarry: an explanation, an answer. They are shown in one window beside
--- the code, which keeps the cursor, and grow while they are written.

local api = vim.api

local M = {}

--- PATH:LINE or PATH:LINE-LINE, as quarry cites: a name with a blank, brackets or signs of Markdown is all of a piece of code.
local WORD = [[\f\+:\d\+\%(-\d\+\)\?]]
local PLACE = [[`\zs[^` ][^`]*:\d\+\%(-\d\+\)\?\ze`\|]] .. WORD

--- A server calls its pages what every other does, so a URI alone does not say whose page it is.
---@class quarry.Page
---@field client vim.lsp.Client
---@field uri string
---@field asked integer the newest request for its text: an older answer must not take the place of a newer one

---@type table<integer, quarry.Page> by the buffer that shows it
local pages = {}

---@return integer? win of the pages in this tab page, if it is open
local function open_window()
  return vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
    return vim.w[win].quarry_pages and pages[api.nvim_win_get_buf(win)]
  end)
end

--- The buffer of a client's page.
---@param client vim.lsp.Client
---@param uri string
---@param takes_over? boolean whether a page of the client that it has the place of counts as its own
---@return integer?
local function buffer_of(client, uri, takes_over)
  local heir
  for bufnr, page in pairs(pages) do
    if not api.nvim_buf_is_valid(bufnr) then
      pages[bufnr] = nil
    elseif page.uri == uri and page.client.id == client.id then
      return bufnr
    elseif takes_over and page.uri == uri and page.client:is_stopped() and page.client.root_dir == client.root_dir then
      heir = bufnr
    end
  end
  return heir
end

local function fill(bufnr, text)
  local last = api.nvim_buf_line_count(bufnr)
  local windows = vim.fn.win_findbuf(bufnr)
  -- Who has scrolled reads; who has not follows what is written.
  local follows = last == 1 and {} or vim.tbl_filter(function(win)
    return win ~= api.nvim_get_current_win() and vim.fn.line('w$', win) >= last
  end, windows)
  vim.bo[bufnr].modifiable = true
  api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(vim.trim(text), '\n', { plain = true }))
  vim.bo[bufnr].modifiable = false
  for _, win in ipairs(follows) do
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(bufnr), 0 })
  end
  for _, win in ipairs(windows) do
    if vim.w[win].quarry_pages then
      local height = math.min(api.nvim_win_text_height(win, {}).all, math.floor(vim.o.lines / 2))
      api.nvim_win_set_height(win, math.max(height, api.nvim_win_get_height(win)))
    end
  end
end

--- Get a page's text as it is now.
---@param bufnr integer
local function read(bufnr)
  local page = pages[bufnr]
  page.asked = page.asked + 1
  local this, client = page.asked, page.client
  client:request('workspace/textDocumentContent', { uri = page.uri }, function(err, result)
    if this == page.asked and client == page.client and api.nvim_buf_is_valid(bufnr) then
      fill(bufnr, err and err.message or result.text)
    end
  end, bufnr)
end

--- The file that a citation names: from a folder of the workspace or, where there are several, from the folder's name. A
--- model may have written the name, so nothing outside the folders is one.
---@return string?
local function file_of(client, path)
  local folders = vim.tbl_map(function(folder)
    return vim.uri_to_fname(folder.uri)
  end, client.workspace_folders or {})
  for _, dir in ipairs(folders) do
    dir = vim.fs.normalize(dir)
    for _, from in ipairs({ dir, vim.fs.dirname(dir) }) do
      local name = vim.fs.normalize(from .. '/' .. path)
      if vim.startswith(name, dir .. '/') and vim.uv.fs_stat(name) then
        return name
      end
    end
  end
end

--- Go to the place that is cited at the cursor, or next in its line, in a window with code.
local function jump(client)
  local line, col = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2]
  local from = 0
  while true do
    local place, first, last = unpack(vim.fn.matchstrpos(line, PLACE, from))
    if first < 0 then
      vim.notify('quarry: no place is named here; go to a line that names one', vim.log.levels.INFO)
      return
    end
    if col < last then
      local path, number = place:match('^(.*):(%d+)')
      local name = file_of(client, path)
      if not name then -- code that says more than the place
        local word = vim.fn.matchstr(place, WORD .. '$')
        path, number = (word ~= '' and word or place):match('^(.*):(%d+)')
        name = file_of(client, path)
      end
      if not name then
        vim.notify('quarry: the workspace has no file ' .. path, vim.log.levels.WARN)
        return
      end
      vim.cmd.wincmd('p')
      if pages[api.nvim_get_current_buf()] or vim.bo.buftype ~= '' then
        vim.cmd('topleft split')
      end
      vim.cmd("normal! m'")
      local bufnr = vim.fn.bufadd(vim.fn.fnamemodify(name, ':.'))
      vim.bo[bufnr].buflisted = true
      -- `:edit` reads a file again that is shown already, and refuses to where it was changed.
      if bufnr ~= api.nvim_get_current_buf() and not pcall(vim.cmd.buffer, bufnr) then -- without 'hidden' a change holds the window
        vim.cmd('topleft sbuffer ' .. bufnr)
      end
      api.nvim_win_set_cursor(0, { math.min(tonumber(number), api.nvim_buf_line_count(0)), 0 })
      vim.cmd('normal! zz^')
      return
    end
    from = last
  end
end

--- Close the window of a page; where there is no other, show code in it.
local function close()
  if not pcall(api.nvim_win_close, 0, false) then
    local last = vim.iter(vim.fn.getbufinfo({ buflisted = 1 })):fold({ lastused = -1 }, function(newest, buf)
      return buf.lastused > newest.lastused and buf or newest
    end)
    if vim.w.quarry_pages then
      vim.fn.matchdelete(vim.w.quarry_pages)
      vim.w.quarry_pages, vim.wo.winfixheight = nil, false
    end
    if last.bufnr then
      vim.cmd.buffer(last.bufnr)
    else
      vim.cmd.enew()
    end
  end
end

--- Name a buffer as its page; where another project's has that name, the folder's name stands in it.
---@param bufnr integer
---@param client vim.lsp.Client
---@param uri string
local function name(bufnr, client, uri)
  local scheme, path = uri:match('^(%a+:)(.*)$')
  local folder = vim.fs.basename(client.root_dir or '')
  for _, dir in ipairs({ '', '/' .. folder, ('/%s/%d'):format(folder, client.id) }) do
    if pcall(api.nvim_buf_set_name, bufnr, scheme .. dir .. path) then
      return
    end
  end
end

--- A buffer for a page.
local function buffer(client, uri)
  local bufnr = buffer_of(client, uri, true)
  if bufnr then
    pages[bufnr].client = client
    return bufnr
  end
  bufnr = api.nvim_create_buf(false, true)
  pages[bufnr] = { client = client, uri = uri, asked = 0 }
  name(bufnr, client, uri)
  vim.bo[bufnr].modifiable, vim.bo[bufnr].filetype = false, 'markdown'
  pcall(vim.treesitter.start, bufnr, 'markdown') -- Neovim has the parser, a build of one's own may not
  local function map(keys, action, desc)
    vim.keymap.set('n', keys, action, { buffer = bufnr, nowait = true, desc = 'quarry: ' .. desc })
  end
  map('q', function()
    require('quarry.progress').stop({ 'Explain', 'Ask' }, pages[bufnr].client)
    close()
  end, 'close this page, and end what is being written')
  for _, keys in ipairs({ '<CR>', 'gf', 'gF', '<C-]>' }) do
    map(keys, function()
      jump(pages[bufnr].client)
    end, 'go to the place that is cited')
  end
  return bufnr
end

--- Show a page beside the code.
local function show(client, uri)
  local bufnr = buffer(client, uri)
  local win = open_window()
  if win then
    api.nvim_win_set_buf(win, bufnr)
  else
    win = api.nvim_open_win(bufnr, false, { split = 'below', win = -1, height = math.floor(vim.o.lines / 3) })
    vim.w[win].quarry_pages = vim.fn.matchadd('Underlined', PLACE, 10, -1, { window = win })
  end
  local w = vim.wo[win][0]
  w.wrap, w.linebreak, w.number, w.relativenumber, w.signcolumn, w.winfixheight = true, true, false, false, 'no', true
  w.conceallevel, w.concealcursor = 2, 'nc' -- the signs of Markdown, but for what is being selected
  w.statusline = [[%f%=%{line('$') > line('w$') ? line('$') - line('w$') .. ' more lines below ' : ''}]]
  read(bufnr)
end

--- The client whose page a buffer shows or, once it has ended, the one that has its place.
---@param bufnr integer
---@return vim.lsp.Client?
function M.client_of(bufnr)
  local page = pages[bufnr == 0 and api.nvim_get_current_buf() or bufnr]
  if not page then
    return
  end
  local client = page.client
  if not client:is_stopped() then
    return client
  end
  return vim.iter(vim.lsp.get_clients({ name = 'quarry' })):find(function(other)
    return other.root_dir == client.root_dir
  end)
end

--- Handler for window/showDocument.
function M.show_document(err, params, context)
  if not vim.startswith(params.uri, 'quarry:') then
    return vim.lsp.handlers['window/showDocument'](err, params, context)
  end
  show(assert(vim.lsp.get_client_by_id(context.client_id)), params.uri)
  return { success = true }
end

--- Handler for workspace/textDocumentContent/refresh.
function M.refresh(_, params, context)
  local bufnr = buffer_of(assert(vim.lsp.get_client_by_id(context.client_id)), params.uri)
  if bufnr then
    read(bufnr)
  end
  return vim.NIL
end

return M
