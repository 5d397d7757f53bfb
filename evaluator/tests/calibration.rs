//! How often the verdicts err on simulated sets of which the truth is known: the short form of `docs/calibration.md`.
//!
//! Sets are keyed, so that each rate is the same in every run. A range is the target with three standard errors of its rate beyond either end.

#![allow(clippy::unwrap_used)]

#[path = "../examples/calibration/simulated/mod.rs"]
mod simulated;

use simulated::{
    Form, Interaction, Population, Rate, Scenario, Variances,
    family::family,
    pair::{bootstrap, pair},
};
use std::ops::RangeInclusive;

const FALSE_POSITIVES: RangeInclusive<f64> = 0.03..=0.06;
/// Offset, deviation, mean.
const EXPECTED: [(f64, f64, f64); 3] = [(-5.7, 2.6, 0.06153245658981765), (-4.0, 1.5, 0.0825459226078425), (0.5, 3.0, 0.7041561301764118)];
const COVERAGE: RangeInclusive<f64> = 0.93..=0.97;

/// Sets with seeds whose part of the variance is half.
fn population(form: Form, methods: usize, seeds: usize) -> Population {
    Population::new(Scenario { form, methods, seeds, share: 0.5, interaction: Interaction::Some, variances: Variances::Equal })
}

fn assert_within(rate: Rate, target: RangeInclusive<f64>, of: &str) {
    let low = target.start() - 3.0 * rate.standard_error_at(*target.start());
    let high = target.end() + 3.0 * rate.standard_error_at(*target.end());
    assert!((low..=high).contains(&rate.value()), "{of}: {}, expected {low:.3} to {high:.3}", rate.value());
}

#[test]
fn a_pair_is_called_different_as_often_as_it_should() {
    for form in [Form::Normal, Form::Sparse] {
        for seeds in [2, 3, 5] {
            let rates = pair(&population(form, 2, seeds), 1000);
            let of = format!("{seeds} seeds, {}", form.name());
            assert_within(rates.false_positives, FALSE_POSITIVES, &of);
            assert_within(rates.coverage, COVERAGE, &of);
            assert_within(rates.coverage_of_means, COVERAGE, &of);
            assert!(rates.false_positives_users.value() > 0.1, "{of}: users alone err {:?}", rates.false_positives_users);
            assert!(rates.power.value() > 0.3 && rates.power_users.value() > rates.power.value(), "{of}: {:?}", rates.power);
        }
    }
}

/// Without interaction, and where one method's seeds lie further apart.
#[test]
fn variances_over_seeds_may_differ() {
    let scenario =
        Scenario { form: Form::Sparse, methods: 6, seeds: 3, share: 0.5, interaction: Interaction::None, variances: Variances::Unequal };
    let rates = pair(&Population::new(scenario), 1000);
    assert_within(rates.false_positives, FALSE_POSITIVES, "unequal");
    assert_within(rates.coverage, COVERAGE, "unequal");
}

#[test]
fn no_pair_of_a_family_is_called_different_more_often_than_it_should() {
    for form in [Form::Normal, Form::Sparse] {
        let population = population(form, 6, 3);
        let (equal, half_better) = (family(&population, 0, 300).unwrap(), family(&population, 3, 300).unwrap());
        assert_within(equal.false_positives, 0.0..=0.055, form.name());
        assert_within(half_better.false_positives, 0.0..=0.055, form.name());
        assert_within(half_better.coverage, 0.945..=1.0, form.name());
        assert!(equal.false_positives.value() > 0.0, "{}: none of 300 families errs", form.name());
    }
}

/// With ten seeds; with few it calls too little different.
#[test]
fn the_bootstrap_errs_as_often_as_it_should() {
    assert_within(bootstrap(&population(Form::Sparse, 2, 10), 300), FALSE_POSITIVES, "bootstrap");
}

/// What the expectation of the sparse form is by SciPy: the integral of its value by the normal density.
#[test]
fn the_sparse_form_has_its_expectation() {
    for (offset, deviation, expected) in EXPECTED {
        let found = Form::Sparse.mean(offset, deviation);
        assert!((found - expected).abs() < 1e-9, "{offset} {deviation}: {found}");
        assert!((Form::Sparse.offset(expected, deviation) - offset).abs() < 1e-6);
    }
    // Rank 3 of a latent score of -log 2.5: 1 / log2(4); rank 21 is beyond the cutoff.
    assert_eq!([-(2.5f64.ln()), -(20.5f64.ln()), 1.0].map(|latent| Form::Sparse.value(latent)), [0.5, 0.0, 1.0]);
}
