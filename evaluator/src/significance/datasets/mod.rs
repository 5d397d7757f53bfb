//! Methods compared over several datasets, each dataset one observation: do the methods differ at all, and which of them?
//!
//! | step | module |
//! |---|---|
//! | each method's rank on each dataset, averaged | [`AverageRanks`] |
//! | whether the methods differ at all | [`friedman`] |
//! | which pairs differ, all pairs compared | [`nemenyi`], [`critical_difference`], [`groups`] |
//! | which pairs differ, by a step-down test of any family of pairs | [`z_tests`] |
//! | on how many datasets the one is better than the other | [`Record`] |
//! | how surely a training of the one beats a training of the other | [`improvement`] |
//!
//! Ranks need no common scale, so datasets may differ in how hard they are and even in the spread of their values. What is concluded is about
//! datasets like these: users and seeds within a dataset are another question, which the tests of a dataset answer.
//! Demsar, JMLR 7 (2006), 1-30.

mod average_ranks;
mod blocks;
mod exact;
mod friedman;
mod groups;
mod improvement;
mod nemenyi;
mod record;
mod studentized_range;
mod z_tests;

pub use average_ranks::AverageRanks;
pub use blocks::CompleteBlocks;
pub use friedman::{Friedman, fewest_datasets, friedman};
pub use groups::groups;
pub use improvement::{Improvement, Resampling, improvement};
pub use nemenyi::{critical_difference, nemenyi};
pub use record::Record;
pub use studentized_range::{studentized_range_quantile, studentized_range_tail};
pub use z_tests::{ZTest, z_tests};

#[cfg(test)]
mod tests {
    use super::CompleteBlocks;

    /// AUC of C4.5, and of C4.5 with its parameters m, cf, and both tuned, on 14 datasets: Demsar 2006, Table 6.
    const DEMSAR: [[f64; 14]; 4] = [
        [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957],
        [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978],
        [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.0, 0.965, 0.614, 0.975, 0.946],
        [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.0, 0.962, 0.669, 0.973, 0.970],
    ];

    pub(super) fn demsar() -> CompleteBlocks {
        blocks(&DEMSAR.map(|method| method.to_vec()))
    }

    pub(super) fn blocks(values: &[Vec<f64>]) -> CompleteBlocks {
        CompleteBlocks::new(values.to_vec()).unwrap()
    }
}
