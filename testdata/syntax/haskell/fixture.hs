{-# LANGUAGE OverloadedStrings #-}
-- | Accounts and their ledger.
module Bank.Account
  ( Account (..)
  , deposit
  ) where

import qualified Data.Map as Map

-- | One customer's account.
--
-- Kept in a ledger.
data Account = Account
  { owner :: String
  , balance :: Int
  } deriving (Show)

newtype Id = Id Int

type Ledger = Map.Map Id Account

-- | Where accounts are kept.
class Store s where
  find :: s -> Id -> Maybe Account

instance Store Ledger where
  find l i = Map.lookup i l

-- | Adds an amount.
deposit :: Int -> Account -> Account
deposit n a = a { balance = balance a + n' }
  where
    n' = abs n

(<+>) :: Int -> Int -> Int
a <+> b = a + b
