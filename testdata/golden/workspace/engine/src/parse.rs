//! Reads price rules, one a line.

use crate::rule::{parse_percent, Rule};

/// Reads a rule; lines that are none give `None`.
pub fn parse_rule(line: &str) -> Option<Rule> {
    let (head, percent) = line.split_once(':')?;
    let (sku, at_least) = head.split_once(">=")?;
    Some(Rule {
        sku: sku.trim().to_string(),
        at_least: at_least.trim().parse().ok()?,
        percent: 
    })
}

/// Reads all rules of a text, leaving out comments.
pub fn parse_rules(text: &str) -> Vec<Rule> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(parse_rule)
        .collect()
}
