//! Expected best validation value of a search that stops after so many configurations.
//!
//! ```text
//! E[max of n draws] = sum_i v_(i) ((i / N)^n - ((i - 1) / N)^n)        v_(1) <= ... <= v_(N): the values of all N configurations
//! ```
//! Draws are with replacement from the empirical distribution, as in Dodge et al., EMNLP 2019, doi:10.18653/v1/D19-1224. So the best of N
//! draws is expected below the best of the N values. As an estimate for a new search it is biased downwards, the more the nearer n is to N
//! (Tang et al., ACL 2020, doi:10.18653/v1/2020.acl-main.246).

/// The best of so many configurations drawn from those that were tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedBest {
    /// Configurations drawn.
    pub budget: u32,
    /// The expectation of their best value.
    pub mean: f64,
    /// The standard deviation of their best value.
    pub std: f64,
}

/// The expected best of 1, 2, up to all of the values that configurations reached; empty for no values. Takes time that grows with the square
/// of their number.
///
/// # Panics
/// When there are more than 2^32 - 1 values.
pub fn expected_best(values: &[f64]) -> Vec<ExpectedBest> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let all = u32::try_from(sorted.len()).expect("configurations are counted in 32 bits");
    let shares: Vec<f64> = (1..=all).map(|place| f64::from(place) / f64::from(all)).collect();
    let mut below = vec![1.0; shares.len()]; // the probability that no draw is above the value of a place
    let mut of_budget = |budget| {
        below.iter_mut().zip(&shares).for_each(|(below, share)| *below *= share);
        best_of(budget, &sorted, &below)
    };
    (1..=all).map(&mut of_budget).collect()
}

fn best_of(budget: u32, sorted: &[f64], below: &[f64]) -> ExpectedBest {
    let probability = |place: usize| below[place] - if place == 0 { 0.0 } else { below[place - 1] };
    let expectation =
        |of: &dyn Fn(f64) -> f64| -> f64 { sorted.iter().enumerate().map(|(place, &value)| probability(place) * of(value)).sum() };
    // As deviations, so that equal values have themselves for their mean.
    let mean = sorted[0] + expectation(&|value| value - sorted[0]);
    ExpectedBest { budget, mean, std: expectation(&|value| (value - mean).powi(2)).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(found: &[ExpectedBest], expected: &[(f64, f64)]) {
        assert_eq!(found.len(), expected.len());
        for (place, (found, &(mean, std))) in found.iter().zip(expected).enumerate() {
            assert_eq!(found.budget as usize, place + 1);
            assert!((found.mean - mean).abs() < 1e-12 && (found.std - std).abs() < 1e-12, "{found:?}: {mean}, {std}");
        }
    }

    /// By hand: of 3 values the best of 2 draws is the least in 1 of 9 cases, the middle in 3 and the largest in 5; of 3 draws in 1, 7 and 19
    /// of 27.
    #[test]
    fn three_values_by_hand() {
        let variances = [0.63 / 9.0 - 0.49 / 9.0, 0.93 / 9.0 - 0.09, 3.33 / 27.0 - (9.1_f64 / 27.0).powi(2)];
        let means = [0.7 / 3.0, 0.3, 9.1 / 27.0];
        let expected: Vec<(f64, f64)> = means.into_iter().zip(variances.map(f64::sqrt)).collect();
        is(&expected_best(&[0.4, 0.1, 0.2]), &expected);
    }

    #[test]
    fn equal_values_are_their_own_best() {
        let value = 0.253_408_574_760_188_24;
        assert!(expected_best(&[value; 5]).iter().all(|found| found.mean == value && found.std == 0.0));
    }

    /// The best of all 5, 25, .. 3125 lists of draws, listed in NumPy; two values are equal.
    #[test]
    fn five_values_as_all_draws_listed() {
        let expected = [
            (0.092_12, 0.032_649_251_139_957_26),
            (0.108_72, 0.019_183_492_904_056_857),
            (0.114_276_8, 0.011_366_351_294_940_694),
            (0.116_565_12, 0.007_300_787_860_607_92),
            (0.117_662_912, 0.005_036_279_626_892_85),
        ];
        is(&expected_best(&[0.0312, 0.1190, 0.1190, 0.0871, 0.1043]), &expected);
    }

    #[test]
    fn one_value_is_certain_and_none_is_nothing() {
        is(&expected_best(&[0.25]), &[(0.25, 0.0)]);
        assert_eq!(expected_best(&[]), []);
    }
}
