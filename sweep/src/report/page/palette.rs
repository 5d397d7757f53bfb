//! One colour and one mark for a method, on all datasets.

use super::super::{Input, Report};
use std::collections::BTreeMap;

/// Methods beyond so many are grey discs, which their labels tell apart.
const COLORS: usize = 40;

/// Which class of the style each method has: a pair of one of 8 hues and one of 5 marks, the best methods' first.
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

    /// 1 to 40, or 0 for grey.
    pub(super) fn color(&self, method: &str) -> usize {
        self.0.get(method).copied().unwrap_or(0)
    }
}
