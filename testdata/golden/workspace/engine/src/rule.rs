//! A price rule: from how many of an item on which discount is given.

/// A rule such as "apple >= 10 : 15%".
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub sku: String,
    pub at_least: u32,
    pub percent: u32,
}

impl Rule {
    /// The price of `count` items of `cents` each under this rule.
    pub fn apply(&self, count: u32, cents: u64) -> u64 {
        let full = u64::from(count) * cents;
        if count < self.at_least {
            return full;
        }
        full * u64::from(100 - self.percent) / 100
    }
}

/// Reads a percentage such as "15%".
pub fn parse_percent(text: &str) -> Option<u32> {
    let digits = text.trim().strip_suffix('%')?;
    digits.parse().ok().filter(|p| *p <= 100)
}
