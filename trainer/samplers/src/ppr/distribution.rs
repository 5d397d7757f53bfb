//! From a user's PageRank to the distribution that negatives are drawn from.
//!
//! ```text
//! w_j = W(pi_j)                                 for the S negatives of the highest pi
//! w_j = g b_j                                   for all other negatives
//!     = g b_j + max(W(pi_j) - g b_j, 0)         in one line, up to the items whose pi lies below the rest's
//! ```
//! `b` is the base, the same for all users: the train counts to the power `a` where `W = pi^a`, as PageRank far from its start is in
//! proportion to them, and 1 where `W = e^(pi / T)`. The factor `g` gives the other negatives the sum of the weights that they have, so that
//! cutting moves weight among the items that are not stored, but not between them and the stored ones.

use super::super::non_positives::{NonPositives, with_test};
use super::{Base, Form, push::Estimate, row};
use std::cmp::Ordering;

/// What makes a distribution of a PageRank.
pub(super) struct Weigher<'a> {
    pub(super) form: Form,
    /// S
    pub(super) neighbours: usize,
    pub(super) base: &'a Base,
    /// d of the items
    pub(super) degrees: &'a [u32],
}

/// The distribution of one user.
pub(super) struct Distribution {
    /// Items with more than the base gives them, ascending.
    pub(super) items: Vec<u32>,
    pub(super) starts: Vec<u32>,
    pub(super) share: u32,
    /// Log-probabilities of the user's own items, as if each were another item.
    pub(super) own: Vec<f32>,
}

impl Weigher<'_> {
    pub(super) fn distribution(&self, non_positives: NonPositives, estimate: &Estimate) -> Distribution {
        let log_background = self.form.log_background(estimate.background);
        let reached = (0..).zip(estimate.items).filter(|(_, pushed)| **pushed > 0.0).map(|(item, _)| item);
        let mut weights: Vec<(u32, f64)> = with_test!(non_positives.test(estimate.items.len()), test => {
            reached.filter(|&item| test.contains(item)).map(|item| (item, self.log_weight(estimate, item))).collect()
        });
        // Weights are over the largest, so that none is infinite.
        let scale = weights.iter().map(|(_, log_weight)| *log_weight).fold(log_background, f64::max);
        weights.iter_mut().for_each(|(_, weight)| *weight = (*weight - scale).exp());

        let base = self.base.mass(non_positives);
        let [kept, cut] = split(weights, self.neighbours);
        let rest = self.rest((log_background - scale).exp(), base, &kept, &cut);
        let above = |&(item, weight): &(u32, f64)| (item, weight - rest * self.base.weight(item));
        let corrections: Vec<(u32, f64)> = kept.iter().map(above).filter(|(_, above)| *above > 0.0).collect();
        let corrected: f64 = corrections.iter().map(|(_, weight)| weight).sum();
        let total = corrected + rest * base;
        let log_total = scale + total.ln();
        Distribution {
            starts: row::starts(&corrections),
            share: row::share(corrected / total),
            items: corrections.into_iter().map(|(item, _)| item).collect(),
            own: non_positives.positives().iter().map(|&item| (self.log_weight(estimate, item) - log_total) as f32).collect(),
        }
    }

    fn log_weight(&self, estimate: &Estimate, item: u32) -> f64 {
        let item = item as usize;
        self.form.log_weight(estimate.items[item] + estimate.background * f64::from(self.degrees[item]))
    }

    /// g: the weight over the base of the negatives that are not kept.
    fn rest(&self, background: f64, base: f64, kept: &[(u32, f64)], cut: &[(u32, f64)]) -> f64 {
        if cut.is_empty() {
            return background;
        }
        let sums = |items: &[(u32, f64)]| items.iter().fold((0.0, 0.0), |(w, b), &(item, weight)| (w + weight, b + self.base.weight(item)));
        let ((_, of_kept), (weight, of_cut)) = (sums(kept), sums(cut));
        let others = (base - of_kept - of_cut).max(0.0);
        (weight + background * others) / (of_cut + others)
    }
}

/// The heaviest items, the lower id first among equals, and the others; both ascending by id.
fn split(weights: Vec<(u32, f64)>, most: usize) -> [Vec<(u32, f64)>; 2] {
    if weights.len() <= most {
        return [weights, Vec::new()];
    }
    let order = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let (_, &mut first_cut, _) = weights.clone().select_nth_unstable_by(most, order);
    weights.into_iter().partition(|weighted| order(weighted, &first_cut) == Ordering::Less).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_heaviest_are_kept(weights in prop::collection::vec(0u32..9, 0..40), most in 1usize..30) {
            let weights: Vec<(u32, f64)> = (0..).zip(weights).map(|(item, weight)| (item, f64::from(weight))).collect();
            let mut sorted = weights.clone();
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: equals by id
            let at = most.min(sorted.len());
            sorted[..at].sort_by_key(|weighted| weighted.0);
            sorted[at..].sort_by_key(|weighted| weighted.0);
            prop_assert_eq!(split(weights, most), [sorted[..at].to_vec(), sorted[at..].to_vec()]);
        }
    }
}
