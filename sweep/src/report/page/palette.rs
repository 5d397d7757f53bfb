//! One colour for a method, on all datasets.

use super::super::{Input, Report};
use std::collections::BTreeMap;

/// Methods beyond so many are grey.
const COLORS: usize = 8;

/// Which colour of the style each method has: the best methods have one each.
pub(super) struct Palette(BTreeMap<String, usize>);

impl Palette {
    /// The colours by the best rank over datasets.
    pub(super) fn new(input: &Input, report: &Report) -> Self {
        let mut best: BTreeMap<&str, u32> = BTreeMap::new();
        for row in report.rows.iter().filter(|row| row.at == input.primary()) {
            let rank = row.rank.unwrap_or(u32::MAX);
            best.entry(&row.method).and_modify(|best| *best = rank.min(*best)).or_insert(rank);
        }
        let mut order: Vec<(&str, u32)> = best.into_iter().collect();
        order.sort_by_key(|&(_, rank)| rank);
        Self(order.into_iter().take(COLORS).zip(1..).map(|((method, _), color)| (method.to_owned(), color)).collect())
    }

    /// 1 to 8, or 0 for grey.
    pub(super) fn color(&self, method: &str) -> usize {
        self.0.get(method).copied().unwrap_or(0)
    }
}
