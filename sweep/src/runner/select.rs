//! Which values of each method are ranked on the test part: those that did best on validation, and no others.

use super::{Standing, score::Score};
use crate::plan::{Configuration, Method, Plan};
use std::{cmp::Ordering, collections::HashMap};

/// The picked configuration of each method, in the plan's order; `None` where no trial of the method was trained to its end.
///
/// The best mean over splits and seeds of the validation metric wins, the first in the plan where two are equal. A configuration with a trial
/// that failed or did not end comes after all that have none, whatever its mean, and one that was stopped is never picked.
pub(super) fn picked<'a>(plan: &'a Plan, endings: &[Standing]) -> Vec<Option<&'a Configuration>> {
    let of_trial: HashMap<&str, &Standing> = plan.trials().map(|(.., trial)| trial.id.as_str()).zip(endings).collect();
    plan.methods.iter().map(|method| best(method, &of_trial)).collect()
}

fn best<'a>(method: &'a Method, endings: &HashMap<&str, &Standing>) -> Option<&'a Configuration> {
    let mut best: Option<(Score, &Configuration)> = None;
    for configuration in &method.configurations {
        let ending = |id: &str| endings.get(id).and_then(|ending| ending.finished());
        let score = Score::of(configuration.trials.iter().filter_map(|trial| ending(&trial.id)));
        if score.lives() && best.as_ref().is_none_or(|(other, _)| score.order(other) == Ordering::Less) {
            best = Some((score, configuration));
        }
    }
    best.map(|(_, configuration)| configuration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file::SweepFile, plan};
    use trainer::Fit;

    const SWEEP: &str = "
name: s
datasets: [{name: d, source: {format: synthetic}, split: {kind: random, test: 0.2, validation: 0.1, seed: 1}}]
grid:
  - backbones: [{kind: mf, dim: 8}]
    losses: [{kind: softmax, temperature: [0.1, 0.2, 0.3]}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: 0.01}
seeds: [1, 2]
";

    fn fit(validation: f64) -> Fit {
        Fit { epochs: 1, best_epoch: 1, validation: Some(validation), seconds: 0.0, device: "cpu".to_owned(), remarks: vec![] }
    }

    fn done(validation: f64) -> Standing {
        Standing::Done(fit(validation))
    }

    fn stopped(validation: f64) -> Standing {
        Standing::Stopped(fit(validation))
    }

    fn failed() -> Standing {
        Standing::Failed("NaN".to_owned())
    }

    fn picked_temperature(endings: [Standing; 6]) -> Option<f64> {
        picked_of(SWEEP, &["f"], &endings)
    }

    fn picked_of(sweep: &str, fingerprints: &[&str], endings: &[Standing]) -> Option<f64> {
        let file = SweepFile::parse(sweep, "s.yaml").unwrap();
        let fingerprints: Vec<String> = fingerprints.iter().map(|&fingerprint| fingerprint.to_owned()).collect();
        let plan = plan::check(&file).unwrap().plan(&fingerprints).unwrap();
        picked(&plan, endings)[0].map(|configuration| configuration.values["loss.temperature"].as_f64().unwrap())
    }

    #[test]
    fn the_best_mean_over_seeds_is_picked() {
        // Means 0.30, 0.35, 0.31: the best single trial, 0.5, is not what counts.
        assert_eq!(picked_temperature([done(0.5), done(0.1), done(0.34), done(0.36), done(0.3), done(0.32)]), Some(0.2));
    }

    #[test]
    fn the_mean_is_over_splits_too() {
        let sweep = SWEEP.replace("seed: 1}", "seed: [1, 2]}");
        // Means over two splits with two seeds 0.30, 0.33, 0.32; on the first split alone 0.50, 0.30 and 0.20.
        let first = [0.5, 0.5, 0.1, 0.1, 0.3, 0.3, 0.36, 0.36, 0.2, 0.2, 0.44, 0.44];
        assert_eq!(picked_of(&sweep, &["f", "g"], &first.map(done)), Some(0.2));
    }

    #[test]
    fn the_first_of_equals_is_picked() {
        assert_eq!(picked_temperature([done(0.25), done(0.25), done(0.125), done(0.375), done(0.0), done(0.5)]), Some(0.1));
    }

    #[test]
    fn a_failed_seed_puts_a_configuration_behind_the_whole_ones() {
        assert_eq!(picked_temperature([done(0.9), failed(), done(0.1), done(0.1), failed(), failed()]), Some(0.2));
        assert_eq!(picked_temperature([failed(), failed(), failed(), done(0.2), done(0.1), failed()]), Some(0.2));
        assert_eq!(picked_temperature([failed(), failed(), failed(), failed(), failed(), failed()]), None);
    }

    #[test]
    fn what_was_stopped_is_never_picked() {
        assert_eq!(picked_temperature([stopped(0.9), stopped(0.9), done(0.1), failed(), stopped(0.5), stopped(0.5)]), Some(0.2));
        assert_eq!(picked_temperature([stopped(0.9), stopped(0.9), failed(), failed(), stopped(0.5), stopped(0.5)]), None);
    }
}
