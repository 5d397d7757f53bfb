//! SLIM: each item's column is told from the other items' by few weights, none of which is negative.
//!
//! ```text
//! w_j = argmin over w >= 0, w_jj = 0 of |r_j - R w|² / 2 + l1 |w|_1 + l2 |w|² / 2        s(u, j) = r_u w_j
//! ```
//! R is the binary train matrix and r_j its column of item j. Coordinate descent on the Gram matrix R^T R (Friedman et al., Journal of Statistical
//! Software 2010) finds the weights of one item after the other. `l1` and `l2` weigh the sum of squared errors, as in the authors' library. scikit-learn
//! divides that sum by twice the m users, so that its `alpha` and `l1_ratio` are `l1` = m alpha l1_ratio and `l2` = m alpha (1 - l1_ratio): RecBole's
//! 0.2 and 0.02 are an `l1` of 0.004 m and an `l2` of 0.196 m. Ning and Karypis, ICDM 2011.

mod descent;
mod gram;
#[cfg(test)]
mod tests;

use super::{BackboneKind, Facts, Sizes, Stored, kind::ClosedForm};
use crate::{Error, Result};
use dataset::Dataset;
use descent::{Descent, KEPT};
use evaluator::{Scorer, SparseItemWeights, SparseMatrix};
use gram::{Gram, GramEntryCounts};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// `slim` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slim {
    /// Weight of the sum of the weights, at least 0: items that fewer users have together get no weight.
    #[serde(default = "one")]
    pub l1: f64,
    /// Weight of half their squared norm, at least 0.
    #[serde(default = "one")]
    pub l2: f64,
    /// Sweeps over an item's weights at most; those of the last stay.
    #[serde(default = "thousand")]
    pub max_iterations: u32,
    /// An item's weights are found when none of them moves further in a sweep, above 0.
    #[serde(default = "tolerance")]
    pub tolerance: f64,
}

fn one() -> f64 {
    1.0
}

fn thousand() -> u32 {
    1_000
}

fn tolerance() -> f64 {
    1e-4
}

impl BackboneKind for Slim {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Ning and Karypis 2011",
            cost: "an addition for each two train items of a user, and sweeps over each item's weights",
            unknown_user: "all items have the score 0: they are tied",
            values: "`l1` 1, `l2` 1 (the authors' library)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        for (key, value) in [("l1", self.l1), ("l2", self.l2)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(format!("{key} is {value}, expected a number of at least 0"));
            }
        }
        if self.max_iterations == 0 {
            return Err("max_iterations is 0, expected at least 1".to_owned());
        }
        match self.tolerance > 0.0 && self.tolerance.is_finite() {
            true => Ok(()),
            false => Err(format!("tolerance is {}, expected a number above 0", self.tolerance)),
        }
    }

    fn stored(&self) -> Stored {
        Stored::ItemsTogether
    }
}

impl ClosedForm for Slim {
    /// The weights, from item i to item j.
    fn fit(&self, dataset: &Dataset, memory: usize) -> Result<Scorer> {
        let items = dataset.items();
        let users_of = dataset.train.transpose(items);
        let pairs = GramEntryCounts::count(&users_of, &dataset.train, self.l1);
        let needed = usize::try_from(peak(Sizes::of(dataset), pairs.all as u64, pairs.above as u64)).unwrap_or(usize::MAX);
        if needed > memory {
            let what = format!("slim on {items} items, {} pairs of which users have together,", pairs.all);
            return Err(Error::Memory { what, needed, limit: memory });
        }
        let gram = Gram::new(&users_of, &dataset.train, &pairs);
        let new = || Descent::new(items, KEPT);
        let of_item = |descent: &mut Descent, item: usize| descent.weights(self, &gram, item);
        let of_items: Vec<Vec<(u32, f32)>> = (0..items).into_par_iter().map_init(new, of_item).collect();
        drop(gram);
        Ok(SparseItemWeights { weights: SparseMatrix::from_rows(items, &of_items).transpose() }.into())
    }

    /// The pairs of items that users have together follow from the histories, of which only the mean is known here.
    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        let (met, weighed) = (sizes.met_items(), sizes.weighed_items());
        peak(sizes, sizes.items * met, sizes.items * weighed).max(self.stored().fitted(sizes, ranking))
    }
}

/// Bytes of a fit at its peak: the interactions by items, the Gram matrix, what each thread needs, and the weights, as lists and joined, of
/// which there is one for each pair that can have one at most.
fn peak(Sizes { items, train, .. }: Sizes, pairs: u64, with_weight: u64) -> u64 {
    let transposed = 4 * train + 3 * 8 * (items + 1);
    let weights = 2 * 8 * with_weight + 32 * items;
    transposed + Gram::bytes(items, pairs) + rayon::current_num_threads() as u64 * Descent::bytes(items) + weights
}
