//! The softmax over all items in its quadratic approximation, by alternating least squares (RG²).
//!
//! ```text
//! L = sum over train of (log n + mean over j of (s_uj + s_uj² / 2) - s_ui) + lambda (sum of |p_u|² + sum of |q_i|²)
//!   = sum over users of w_u (sum over j of (s_uj - t_uj)²) + lambda (...) + const      w_u = P_u / 2n,  t_uj = n / P_u - 1 for train items, else -1
//! ```
//! That is Taylor's series of the softmax loss at scores of 0, without the products of two items' scores. A user's equations are `(w_u Q^T Q + lambda) p_u =
//! (sum over train of q_i) / 2 - w_u (sum of q_j)`, an item's `(sum of w_u p_u p_u^T + lambda) q_i = (sum over train of p_u) / 2 - sum of w_u p_u`: one
//! eigendecomposition solves them all. With `negatives: K` it is the series of the softmax over the positive and K uniform items in the mean of all draws,
//! times (K + 1) / K: each positive adds `s_ui² / 2K`, and rows have equations of their own. The loss is L by train interactions, log n where all scores are
//! 0. An epoch solves users, then items. Paper RG, Equations 13 to 18.
//!
//! The paper tunes three numbers where its printed text has one. Its release has the other two as `alpha`, which adds `alpha (s_ui - 1)²` for each train
//! interaction, and as a penalty of each row's own, which `reg_scaling: 1` is: `lambda (P_u / 2 + alpha n)` of a user, `lambda (sum of w_u + alpha m)` of an
//! item, m being how many users there are. Its item update has a sign of its own, which this has not.

use super::{
    BackboneKind, Epochs, Facts, FoldIn, Init, Sizes, Stored,
    als::{
        self, Alternating, LeastSquares, Moments, Pass, SolvedSide, Solver,
        rows::{self, Terms},
        spectral,
    },
    kind::Iterative,
    limits::check_tables,
};
use crate::Result;
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `rg2` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rg2 {
    /// Length of a vector.
    pub dim: u32,
    /// lambda, the weight of the squared norms, at least 0.
    pub regularization: f64,
    /// K, the uniform negatives of a train interaction, in the mean of all draws; where left out, all items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negatives: Option<u32>,
    /// The weight of `(s_ui - 1)²` for each train interaction, at least 0. The release's.
    #[serde(default, skip_serializing_if = "als::is_zero")]
    pub alpha: f64,
    /// v of the penalties `lambda (P_u / 2 + alpha n)^v` of a user and `lambda (sum of w_u + alpha m)^v` of an item, at least 0. 1 is the release's.
    #[serde(default, skip_serializing_if = "als::is_zero")]
    pub reg_scaling: f64,
    /// How the vectors start.
    #[serde(default = "als::small")]
    pub init: Init,
}

impl BackboneKind for Rg2 {
    fn facts(&self) -> Facts {
        Facts {
            paper: "RG",
            cost: "an epoch: 2 d for each train interaction, 2 d² for each user and item; with `negatives` as `ials` by `cholesky`",
            unknown_user: "all items have the score 0: they are tied",
            values: "`dim` 64 (RG)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        als::check_weight("regularization", self.regularization)?;
        if self.negatives == Some(0) {
            return Err("negatives is 0, expected at least 1; left out it is all items".to_owned());
        }
        als::check_weight("alpha", self.alpha)?;
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

impl Rg2 {
    fn training<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Alternating<'d, Quadratic>> {
        Alternating::new(self.model(), dataset, self.init, self.dim, seed)
    }

    fn model(&self) -> Quadratic {
        let Self { regularization, negatives, alpha, reg_scaling, .. } = *self;
        Quadratic { name: "rg2", regularization, reg_scaling, negatives, alpha, with_interaction: false }
    }
}

impl Iterative for Rg2 {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Box<dyn Epochs + 'd>> {
        Ok(Box::new(self.training(dataset, seed)?))
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        let in_thread = match self.model().scale() {
            None => spectral::bytes_in_thread(u64::from(self.dim)),
            Some(_) => Solver::default().bytes(self.dim, sizes.users.max(sizes.items)),
        };
        als::memory(self.dim, in_thread, sizes, ranking)
    }
}

/// The quadratic approximation of a softmax.
pub(super) struct Quadratic {
    pub(super) name: &'static str,
    pub(super) regularization: f64,
    /// The power of a row's weight that its penalty has.
    pub(super) reg_scaling: f64,
    /// How many negatives a softmax over samples has; `None` for one over all items.
    pub(super) negatives: Option<u32>,
    /// The weight of `(s - 1)²` of a positive.
    pub(super) alpha: f64,
    /// Whether the products of two items' scores are kept.
    pub(super) with_interaction: bool,
}

impl LeastSquares for Quadratic {
    fn name(&self) -> &'static str {
        self.name
    }

    fn half_sweep(&self, side: SolvedSide, pass: Pass) -> Option<f64> {
        let train = pass.positives.len() as f64;
        let [users, items] = match side {
            SolvedSide::Users => [pass.moved.rows, pass.fixed.rows],
            SolvedSide::Items => [pass.fixed.rows, pass.moved.rows],
        };
        let [users, items] = [users as f64, items as f64];
        let weight = |positives: usize| positives as f64 / (2.0 * items);
        let penalty = |side: SolvedSide, positives: usize| {
            let of_pairs = match side {
                SolvedSide::Users => positives as f64 / 2.0 + self.alpha * items,
                SolvedSide::Items => train / (2.0 * items) + self.alpha * users,
            };
            of_pairs.powf(self.reg_scaling)
        };
        let of_fixed = |row: usize| penalty(side.other(), pass.positives_of_fixed.row(row).len());
        let of_others = self.regularization * als::squared_norms(pass.fixed, of_fixed);
        let shared = match side {
            SolvedSide::Users => self.items_moments(&pass),
            SolvedSide::Items => Moments::of(pass.fixed, |user| weight(pass.positives_of_fixed.row(user).len())),
        };
        let of_row = |positives: usize| if side == SolvedSide::Users { weight(positives) } else { 1.0 };
        let ridge = |positives: usize| self.regularization * penalty(side, positives);
        let least = match self.scale() {
            None => spectral::solve(pass, &shared, of_row, ridge)?,
            Some(scale) => {
                let terms = |positives: usize| {
                    let shared = scale * of_row(positives);
                    Terms { gram: shared, ridge: scale * ridge(positives), target: scale * (0.5 + self.alpha), offset: -shared }
                };
                rows::solve(pass, Solver::default(), &shared, terms)? / scale
            }
        };
        let constant = self.alpha + self.negatives.map_or_else(|| items.ln(), |count| of_sampled(f64::from(count)));
        Some((least + of_others) / train + constant)
    }
}

/// The loss of a softmax over the positive and `count` items where all scores are 0, times `(count + 1) / count`.
fn of_sampled(count: f64) -> f64 {
    (count + 1.0) / count * count.ln_1p()
}

impl Quadratic {
    /// What makes the weight of a positive's own `s²` 1; `None` where it has no weight beside that which all items have.
    fn scale(&self) -> Option<f64> {
        match (self.negatives.map(f64::from), self.alpha) {
            (None, 0.0) => None,
            (Some(count), 0.0) => Some(2.0 * count),
            (None, alpha) => Some(1.0 / alpha),
            (Some(count), alpha) => Some(1.0 / (alpha + 1.0 / (2.0 * count))),
        }
    }

    /// The moments that users share. Products of two items' scores, `-w_u (sum of s_uj)² / n`, take the sum's square from the Gram matrix. Items need no such
    /// term: summed over all items, their equations say that the sum of their vectors is 0.
    fn items_moments(&self, pass: &Pass) -> Moments {
        let mut moments = Moments::of(pass.fixed, |_| 1.0);
        if self.with_interaction {
            let Moments { gram, sum } = &mut moments;
            for (row, one) in gram.chunks_exact_mut(sum.len()).zip(&*sum) {
                row.iter_mut().zip(&*sum).for_each(|(gram, other)| *gram -= one * other / pass.fixed.rows as f64);
            }
        }
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::super::als::testing::*;
    use super::*;

    fn rg2(negatives: Option<u32>) -> Rg2 {
        Rg2 { dim: 2, regularization: 0.1, negatives, alpha: 0.0, reg_scaling: 0.0, init: als::small() }
    }

    /// Least squares by NumPy (`lstsq` of the pairs' equations, each times the root of its weight, with the penalties below), and the objective by
    /// its formula over all pairs.
    #[test]
    fn sweeps_are_those_of_numpy() {
        let users = [0.476421189, -0.3375323, -0.110722611, 0.495337995, 0.791343669, -1.069121447, 0.161498708, 0.394056848];
        let items = [
            0.795344857,
            0.527155614,
            0.14587149,
            0.374997514,
            -0.794594823,
            0.395234452,
            0.145121456,
            -0.547392551,
            -0.146621524,
            -1.29738758,
            -0.145121456,
            0.547392551,
        ];
        assert_sweep(|dataset| rg2(None).training(dataset, 1).unwrap(), &users, &items, [1.7555769608808178, 1.6639942323952792]);
        let users = [0.452561517, -0.32910122, -0.090299116, 0.475324512, 0.708613752, -1.024107111, 0.159527116, 0.362496884];
        let items = [
            0.700117627,
            0.433155781,
            0.183165887,
            0.364859931,
            -0.804762997,
            0.404130817,
            0.040588228,
            -0.411333018,
            -0.363977602,
            -1.099345936,
            -0.202384534,
            0.5140475,
        ];
        assert_sweep(|dataset| rg2(Some(4)).training(dataset, 1).unwrap(), &users, &items, [1.978063618797416, 1.909296831904372]);
    }

    /// As above; the release's form, its parts alone, and with negatives. With alpha 0.05 and equal penalties the first user is (0.57933657, -0.32375431).
    #[test]
    fn the_release_s_weight_and_penalties_are_those_of_numpy() {
        let with = |alpha: f64, reg_scaling: f64, negatives: Option<u32>| Rg2 { alpha, reg_scaling, ..rg2(negatives) };
        let users = [0.477327618, -0.271675291, -0.032478441, 0.388621346, 0.750114728, -0.919543056, 0.191923165, 0.374586161];
        let items = [
            0.925281546,
            0.676171014,
            0.317585432,
            0.455692795,
            -0.794375215,
            0.475547964,
            0.27477465,
            -0.579915555,
            -0.167553183,
            -1.404760866,
            -0.143626052,
            0.717923374,
        ];
        assert_sweep(
            |dataset| with(0.05, 1.0, None).training(dataset, 1).unwrap(),
            &users,
            &items,
            [1.8051856573542335, 1.6973131540909363],
        );
        let users = [0.476421189, -0.3375323, -0.093669251, 0.371447028, 0.791343669, -1.069121447, 0.161498708, 0.394056848];
        let items = [
            1.071864283,
            0.817679743,
            0.147669789,
            0.340307779,
            -0.943282373,
            0.30486539,
            0.01908788,
            -0.782237354,
            -0.276251698,
            -1.462852912,
            -0.01908788,
            0.782237354,
        ];
        assert_sweep(
            |dataset| with(0.0, 1.0, None).training(dataset, 1).unwrap(),
            &users,
            &items,
            [1.7556012004942048, 1.6413760866824147],
        );
        let users = [0.503629819, -0.289862894, -0.020875902, 0.470159947, 0.747000568, -0.973712293, 0.213143442, 0.387492613];
        let items = [
            0.77939594,
            0.500175038,
            0.353809719,
            0.458326082,
            -0.776269465,
            0.467270889,
            0.200017462,
            -0.353230735,
            -0.413996545,
            -1.193221464,
            -0.211945925,
            0.574930004,
        ];
        assert_sweep(
            |dataset| with(0.05, 0.5, Some(4)).training(dataset, 1).unwrap(),
            &users,
            &items,
            [2.023127384445152, 1.9379377232851536],
        );
    }

    #[test]
    fn the_objective_falls_in_every_half_sweep() {
        for negatives in [None, Some(1), Some(20)] {
            assert_falls(|dataset| Rg2 { dim: 12, ..rg2(negatives) }.training(dataset, 5).unwrap());
            let release = Rg2 { dim: 12, alpha: 0.1, reg_scaling: 1.0, ..rg2(negatives) };
            assert_falls(|dataset| release.training(dataset, 5).unwrap());
        }
    }

    #[test]
    fn many_negatives_are_all_items() {
        let dataset = random([40, 30], 300);
        let scores = |negatives: Option<u32>| {
            let mut training = Rg2 { dim: 5, regularization: 0.01, ..rg2(negatives) }.training(&dataset, 4).unwrap();
            train(&mut training, 3);
            products(&training.tables)
        };
        assert_close(&scores(Some(10_000_000)), &scores(None), 1e-3); // six half sweeps, rows in floats
    }

    /// To the digits of floats.
    #[test]
    fn the_items_vectors_sum_to_zero() {
        let dataset = random([40, 30], 300);
        let mut training = Rg2 { dim: 5, regularization: 0.01, ..rg2(None) }.training(&dataset, 4).unwrap();
        training.epoch(1).unwrap();
        let items = &training.tables.items.values;
        let (sum, all) = (0..5).fold((0.0f64, 0.0f64), |(sum, all), at| {
            let column = items.chunks_exact(5).map(|row| f64::from(row[at]));
            (sum + column.clone().sum::<f64>().abs(), all + column.map(f64::abs).sum::<f64>())
        });
        assert!(sum < 1e-7 * all, "{sum} {all}");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        for negatives in [None, Some(20)] {
            assert_same_bits(|dataset| Rg2 { dim: 10, ..rg2(negatives) }.training(dataset, 9).unwrap());
            assert_same_bits(|dataset| Rg2 { dim: 10, alpha: 0.1, reg_scaling: 1.0, ..rg2(negatives) }.training(dataset, 9).unwrap());
        }
    }

    #[test]
    fn a_training_goes_on_from_its_state() {
        for negatives in [None, Some(20)] {
            assert_resumes(&Rg2 { dim: 10, ..rg2(negatives) });
        }
    }

    /// User 4 and item 6 have no train interactions.
    #[test]
    fn a_user_without_train_interactions_is_zero() {
        let dataset = testing::dataset_of([5, 7], &WORKED);
        for (negatives, regularization) in [(None, 0.1), (None, 0.0), (Some(3), 0.1), (Some(3), 0.0)] {
            let mut training = Rg2 { regularization, ..rg2(negatives) }.training(&dataset, 2).unwrap();
            training.epoch(1).unwrap();
            assert_eq!(training.tables.users.row(4), [0.0, 0.0]);
            assert_ne!(training.tables.items.row(6), [0.0, 0.0]);
        }
    }

    #[test]
    fn equations_without_a_solution_are_told() {
        let dataset = testing::dataset_of([2, 5], &[(0, 0), (0, 1), (1, 2), (1, 3), (1, 4)]);
        let mut training = Rg2 { dim: 3, regularization: 0.0, ..rg2(None) }.training(&dataset, 2).unwrap();
        let message = training.epoch(1).unwrap_err().to_string();
        assert_eq!(message, "rg2: an item's equations have no solution that floats can hold; raise regularization");
    }

    #[test]
    fn impossible_values_are_named() {
        let refused = |settings: Rg2| settings.check().unwrap_err();
        assert_eq!(refused(rg2(Some(0))), "negatives is 0, expected at least 1; left out it is all items");
        assert_eq!(refused(Rg2 { regularization: f64::NAN, ..rg2(None) }), "regularization is NaN, expected a number of at least 0");
        assert_eq!(refused(Rg2 { alpha: -1.0, ..rg2(None) }), "alpha is -1, expected a number of at least 0");
        assert_eq!(refused(Rg2 { reg_scaling: f64::INFINITY, ..rg2(None) }), "reg_scaling is inf, expected a number of at least 0");
        assert_eq!(refused(Rg2 { dim: 0, ..rg2(None) }), "dim is 0, expected 1 to 65536");
        assert_eq!(rg2(Some(1)).check(), Ok(()));
    }
}
