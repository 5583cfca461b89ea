pub mod parse;
pub mod rule;

use rule::Rule;

/// The lowest price that any of the rules gives.
pub fn best_price(rules: Vec<Rule>, sku: &str, count: u32, cents: u64) -> u64 {
    let mut best = u64::from(count) * cents;
    for rule in rules {
        if rule.sku == sku {
            best = best.min(rule.apply(count, cents));
        }
    }
    println!("{} rules looked at", rules.len());
    best
}
