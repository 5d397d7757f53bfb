//! Without a model: scores that are standard normal, and the quantile of N independent ones.

use super::{Estimator, QuantileSettings, Row, Subject};
use rayon::prelude::*;
use streams::{Purpose, Stream};
use theory::{
    normal_from,
    quantile::{NormalScores, errors, place_in_sample},
};

/// Estimates for each N.
const ESTIMATES: u32 = 10_000;

/// Scores of so many items.
pub(crate) fn subject(items: u32) -> Subject {
    Subject { title: "standard normal scores".into(), trial: None, items }
}

/// The errors of [`ESTIMATES`] samples of each size.
pub(crate) fn rows(items: u32, settings: &QuantileSettings) -> Vec<Row> {
    let exact = NormalScores::new(items.into(), settings.cutoff.into(), settings.error);
    let row = |(place, &negatives): (usize, &u32)| {
        let of_sample = |sample: u32| {
            let mut stream = Stream::new(settings.seed, Purpose::Theory, 1, place as u32, sample);
            let mut numbers: Vec<f64> = (0..negatives).map(|_| stream.fraction()).collect();
            let k = place_in_sample(negatives.into(), items.into(), settings.cutoff.into()) as usize;
            // The normal quantile is increasing, so that of the K-th uniform number is the K-th normal one.
            let (_, kth, _) = numbers.select_nth_unstable_by(k - 1, |one, other| other.total_cmp(one));
            normal_from(*kth) - exact.quantile
        };
        let found: Vec<f64> = (0..ESTIMATES).into_par_iter().map(of_sample).collect();
        errors(&found, settings.error).map(|errors| Row { estimator: Estimator::Sample, negatives, errors, delta: exact.delta })
    };
    settings.negatives.iter().enumerate().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{bound, study};
    use super::*;
    use theory::quantile::two_sided;

    fn settings(negatives: Vec<u32>) -> QuantileSettings {
        QuantileSettings { cutoff: 20, negatives, error: 0.2, seed: 1 }
    }

    /// THEORY section 3: the bound at N = 1,000 is 3.99. The third largest of 1,000 uniform numbers is Beta(998, 3): by scipy, its normal
    /// quantile is -0.0220 on average with a deviation of 0.1999, and is off by more than 0.2 with probability 0.3202.
    #[test]
    fn errors_are_those_of_order_statistics() {
        let rows = rows(8_360, &settings(vec![1_000]));
        let [row] = &rows[..] else { panic!("one row") };
        assert!((bound(row, two_sided).unwrap() - 3.99).abs() < 0.005);
        assert!((row.errors.mean - -0.0220).abs() < 0.01, "{row:?}");
        assert!((row.errors.deviation - 0.1999).abs() < 0.01, "{row:?}");
        assert!((row.errors.beyond - 0.3202).abs() < 0.02, "{row:?}");
    }

    fn said(items: u32, settings: &QuantileSettings) -> String {
        let study = study(&subject(items), settings, &rows(items, settings)).unwrap();
        assert!(study.chart.svg().is_ok());
        study.text(crate::report::Style::default())
    }

    #[test]
    fn the_terminal_says_that_the_theorem_is_vacuous() {
        let text = said(8_360, &settings(vec![50, 200]));
        assert!(text.contains("is vacuous here") && text.contains("at least 1 below N = 121,109"), "{text}");
        assert!(text.contains("fails in 2 of 2"), "{text}");
    }

    /// `ln 4 / (2 (20 / 100)^2)` is 17.3.
    #[test]
    fn only_the_tested_numbers_below_are_called_vacuous() {
        let text = said(100, &settings(vec![10, 50]));
        assert!(text.contains("is vacuous for N = 10:") && text.contains("at least 1 below N = 17"), "{text}");
        let text = said(100, &settings(vec![20, 50]));
        assert!(!text.contains("vacuous"), "{text}");
    }
}
