-- Accounts and their ledger.
local json = require("json")
local util = require "lib.util"

--- The most accounts a ledger holds.
local MAX_ACCOUNTS = 100
VERSION = "1.0"

local M = {}

---One customer's account.
---@class Account
local Account = {}
Account.__index = Account
setmetatable(Account, { __index = Base })

-- Creates one.
function Account.new(owner)
  local self = setmetatable({}, Account)
  self.owner = owner
  return self
end

--- Adds an amount.
-- @param amount the amount
function Account:deposit(amount)
  self.balance = self.balance + amount
  util.notify(self.owner)
  self:check(amount)
  local function inner(x)
    return json.encode(x)
  end
  return inner(amount)
end

local function helper(a, b) return a + b end

function transfer(from, to)
  from:deposit(helper(1, 2))
end

M.open = function(name)
  return Account.new(name)
end

local handlers = {
  onOpen = function(a) transfer(a, a) end,
  limit = 3,
}

M.handlers = handlers
M.LIMITS = { low = 1 }

local Savings = setmetatable({}, { __index = Account })

function Savings.rates.yearly(year) return year * LIMITS end

local Loan = Account:extend()

return M
