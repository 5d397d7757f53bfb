//! The one-way partial area under the ROC curve, and how closely it follows metrics of a list's head.
//!
//! ```text
//! OPAUC(b / N-) = 1 / (N+ N-) sum_{k <= b} c_k      c_k = positives above the k-th best negative
//! ```
//! Between 0 and b / N-; divided by that, a share. At b = N-, AUC.
//!
//! "On the Theories Behind Hard Negative Sampling for Recommendation" (WWW 2023): Equation 8, Theorem 3, Figure 6.

mod bracket;
mod correlation;
mod lists;
mod moments;
mod study;

pub use bracket::{Brackets, brackets_of_all_lists, hits_bracket};
pub use correlation::{Correlation, TopKMetric, best};
pub use lists::{RankedList, of_lists};
pub use study::{Findings, Study};

/// `sum_{k <= b} c_k` for b = 0, 1, ..., N-, of a list from its first place on, where true is a positive.
pub fn sums(list: impl IntoIterator<Item = bool>) -> Vec<u64> {
    let (mut positives, mut sums) = (0, vec![0]);
    let mut sum = 0;
    for positive in list {
        if positive {
            positives += 1;
        } else {
            sum += positives;
            sums.push(sum);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;

    /// The list + - + - - + - - + -.
    #[test]
    fn the_example_of_the_reference() {
        let list = "+-+--+--+-".chars().map(|sign| sign == '+');
        let sums = sums(list.clone());
        assert_eq!(sums, [0, 1, 3, 5, 8, 11, 15], "running sums of 1 2 2 3 3 4");
        let opauc = |depth: usize| sums[depth] as f64 / 24.0;
        for (depth, expected, share) in [(2, 0.125, 0.375), (3, 0.208_333_33, 0.416_666_67), (6, 0.625, 0.625)] {
            assert_near(opauc(depth), expected, 1e-8);
            assert_near(opauc(depth) * 6.0 / depth as f64, share, 1e-8);
        }
        assert_eq!(hits_bracket(4, 2, sums[2]), (1, 1));
        assert_eq!(hits_bracket(4, 3, sums[3]), (1, 2));
        assert_eq!(hits_bracket(4, 6, sums[6]), (2, 3));
    }
}
