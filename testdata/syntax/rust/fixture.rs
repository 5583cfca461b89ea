//! Accounts and their ledger.

use std::collections::HashMap;
use std::fmt::{self, Display as Show};
use crate::{money::*, store::{rows::Row, disk::{Page, Log}}};
pub use super::base::Base;
extern crate serde;
mod util;

/// The most accounts a ledger holds.
pub const MAX_ACCOUNTS: usize = 100;
static mut COUNTER: u32 = 0;

/// One customer's account.
///
/// Kept in a ledger.
#[derive(Debug, Clone)]
pub struct Account<T: Money> {
    /// The owner.
    pub owner: String,
    balance: T,
}

struct Pair(i32, i32);

/// Direction of a booking.
#[derive(Copy)]
pub enum Direction {
    Debit,
    Credit { amount: u64 },
}

pub type Id = u64;

/// Where accounts are kept.
pub trait Store: Display + Send {
    type Key;
    const LIMIT: usize = 3;
    fn find(&self, id: Self::Key) -> Option<Account<u64>>;
    fn len(&self) -> usize { self.iter().count() }
}

impl<T: Money> Account<T> {
    /// Creates one.
    #[must_use]
    pub fn new(owner: &str) -> Self {
        Account { owner: owner.to_string(), balance: T::zero() }
    }

    async fn deposit(&mut self, amount: T) -> Result<(), Error> {
        self.balance.add(amount);
        util::notify(&self.owner).await?;
        Ok(())
    }
}

impl<T: Money> fmt::Display for Account<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.owner)
    }
}

/// Makes a map.
#[macro_export]
macro_rules! map {
    () => { HashMap::new() };
}

mod inner {
    pub fn helper() -> Vec<u8> {
        fn local() {}
        local();
        Vec::<u8>::with_capacity(3)
    }
}

// Sends money.
pub fn transfer<'a, S: Store>(store: &'a S, from: Id) -> Option<&'a Account<u64>>
where
    S::Key: Hash,
{
    let all: HashMap<Id, Direction> = map!();
    parse::<Id>(from);
    store.find(from)
}

#[cfg(test)]
mod tests {
    #[test]
    fn works() {
        assert_eq!(super::transfer(), None);
    }
}
