//! The softmax over all items in its quadratic approximation with products of two items' scores, by alternating least squares (RG×).
//!
//! ```text
//! L = sum over train of (log n + mean over j of (s_uj + s_uj² / 2) - (mean over j of s_uj)² / 2 - s_ui) + lambda (sum of |p_u|² + sum of |q_i|²)
//! ```
//! That is Taylor's series of the softmax loss at scores of 0, to its second order: [`rg2`](super::rg2) on scores less a user's mean. A user's equations are
//! `(w_u (Q^T Q - z z^T / n) + lambda) p_u = (sum over train of q_i) / 2 - w_u z`, z being the sum of all q_j. Solved for all items at once, z is 0, and the items'
//! equations are those of `rg2`: both models have the same stationary points and differ by where their first half sweep leads. The release has (1 - beta) Q^T Q
//! in the place of the products, which this has not. Paper RG, Equations 13 to 17.

use super::{
    BackboneKind, Epochs, Facts, FoldIn, Init, Sizes, Stored,
    als::{self, Alternating, spectral},
    kind::Iterative,
    limits::check_tables,
    rg2::Quadratic,
};
use crate::Result;
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `rgx` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rgx {
    /// Length of a vector.
    pub dim: u32,
    /// lambda, the weight of the squared norms, at least 0.
    pub regularization: f64,
    /// v of the penalties `lambda (P_u / 2)^v` of a user and `lambda (sum of w_u)^v` of an item, at least 0.
    #[serde(default, skip_serializing_if = "als::is_zero")]
    pub reg_scaling: f64,
    /// How the vectors start.
    #[serde(default = "als::small")]
    pub init: Init,
}

impl BackboneKind for Rgx {
    fn facts(&self) -> Facts {
        Facts {
            paper: "RG",
            cost: "an epoch: 2 d for each train interaction, 2 d² for each user and item",
            unknown_user: "all items have the score 0: they are tied",
            values: "`dim` 64 (RG)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        als::check_weight("regularization", self.regularization)?;
        als::check_weight("reg_scaling", self.reg_scaling)?;
        check_tables(self.dim, &self.init)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::by(self.model())
    }
}

impl Rgx {
    fn training<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Alternating<'d, Quadratic>> {
        Alternating::new(self.model(), dataset, self.init, self.dim, seed)
    }

    fn model(&self) -> Quadratic {
        let Self { regularization, reg_scaling, .. } = *self;
        Quadratic { name: "rgx", regularization, reg_scaling, negatives: None, alpha: 0.0, with_interaction: true }
    }
}

impl Iterative for Rgx {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Box<dyn Epochs + 'd>> {
        Ok(Box::new(self.training(dataset, seed)?))
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        als::memory(self.dim, spectral::bytes_in_thread(u64::from(self.dim)), sizes, ranking)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Normal, Rg2, als::testing::*};
    use super::*;
    use crate::kind::Iterative;

    fn rgx() -> Rgx {
        Rgx { dim: 2, regularization: 0.1, reg_scaling: 0.0, init: als::small() }
    }

    /// Users by NumPy's `lstsq` on centred vectors; items by the 12 equations of all items together, products and all.
    #[test]
    fn a_sweep_is_that_of_numpy() {
        let users = [0.493052312, -0.326658104, -0.094688724, 0.506094906, 0.800443718, -1.063171415, 0.185660906, 0.409855208];
        let items = [
            0.811018418,
            0.539010378,
            0.161036614,
            0.385667625,
            -0.802083108,
            0.389555003,
            0.152101303,
            -0.542897757,
            -0.169971925,
            -1.314233006,
            -0.152101303,
            0.542897757,
        ];
        assert_sweep(|dataset| rgx().training(dataset, 1).unwrap(), &users, &items, [1.7553177673457636, 1.6612416136761863]);
    }

    #[test]
    fn the_objective_falls_in_every_half_sweep() {
        assert_falls(|dataset| Rgx { dim: 12, ..rgx() }.training(dataset, 5).unwrap());
        assert_falls(|dataset| Rgx { dim: 12, reg_scaling: 1.0, ..rgx() }.training(dataset, 5).unwrap());
    }

    /// They part in the first half sweep, and meet where no sweep moves them.
    #[test]
    fn stationary_points_are_those_of_rg2() {
        let dataset = random([60, 40], 500);
        let init = Init::Normal(Normal { std: 1.0 });
        let scores = |model: &dyn Iterative, epochs: u32| {
            let mut training = model.start(&dataset, 8).unwrap();
            train(&mut *training, epochs);
            let evaluator::Scorer::Factors(evaluator::Factors { users, items, .. }) = training.scorer().unwrap() else { panic!("factors") };
            products(&embeddings::Tables { users, items })
        };
        let (dim, regularization) = (4, 0.1);
        let rgx = Rgx { dim, regularization, reg_scaling: 0.0, init };
        let rg2 = Rg2 { dim, regularization, negatives: None, alpha: 0.0, reg_scaling: 0.0, init };
        let apart = |epochs: u32| largest_difference(&scores(&rgx, epochs), &scores(&rg2, epochs));
        let (first, last) = (apart(1), apart(1_000));
        assert!(first > 0.05 && last < 1e-4, "{first} {last}");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        assert_same_bits(|dataset| Rgx { dim: 10, ..rgx() }.training(dataset, 9).unwrap());
    }

    #[test]
    fn impossible_values_are_named() {
        let message = Rgx { regularization: -0.1, ..rgx() }.check().unwrap_err();
        assert_eq!(message, "regularization is -0.1, expected a number of at least 0");
        assert_eq!(rgx().check(), Ok(()));
    }
}
