//! Which values of each method are ranked on the test part: those that did best on validation, and no others.

use super::{
    Standing,
    score::{self, Score},
};
use crate::plan::{Configuration, Method, Plan};
use std::collections::HashMap;

/// The picked configuration of each method, in the plan's order; `None` where no trial of the method was trained to its end.
///
/// The best mean over splits and seeds of the validation metric wins, the first in the plan where two are equal. A configuration with a trial
/// that failed or ran out of time comes after all that have none, whatever its mean, and one that was stopped is never picked. Where trials are not
/// trained yet, configurations are compared by the splits and seeds that all of them have trained, as one with more of them is no better, but earlier;
/// where they have none in common, that with more of them wins.
pub(super) fn picked<'a>(plan: &'a Plan, endings: &[Standing]) -> Vec<Option<&'a Configuration>> {
    let of_trial: HashMap<&str, &Standing> = plan.trials().map(|(.., trial)| trial.id.as_str()).zip(endings).collect();
    plan.methods.iter().map(|method| best(method, &of_trial)).collect()
}

fn best<'a>(method: &'a Method, endings: &HashMap<&str, &Standing>) -> Option<&'a Configuration> {
    let of_trials = |configuration: &Configuration| configuration.trials.iter().map(|trial| endings[trial.id.as_str()]).collect();
    let standings: Vec<Vec<&Standing>> = method.configurations.iter().map(of_trials).collect();
    let scores = in_common(&standings).unwrap_or_else(|| standings.iter().map(|trials| score_of(trials)).enumerate().collect());
    score::best(&scores, 1).first().map(|&place| &method.configurations[place])
}

/// The scores of the configurations that have lost the fewest trials, by the splits and seeds that all of these have trained; `None` where none of their
/// trials is missing, or they have nothing in common.
fn in_common(standings: &[Vec<&Standing>]) -> Option<Vec<(usize, Score)>> {
    let living = || standings.iter().enumerate().filter(|(_, trials)| score_of(trials).lives());
    let fewest = living().map(|(_, trials)| lost(trials)).min()?;
    let compared: Vec<(usize, &Vec<&Standing>)> = living().filter(|(_, trials)| lost(trials) == fewest).collect();
    let has = |trials: &[&Standing], place: usize| trials.get(place).is_some_and(|standing| standing.finished().is_some());
    let is_common = |place: &usize| compared.iter().all(|(_, trials)| has(trials, *place));
    let common: Vec<usize> = (0..compared.first()?.1.len()).filter(is_common).collect();
    let is_whole = compared.iter().all(|(_, trials)| !trials.contains(&&Standing::Missing));
    let by_common = |trials: &[&Standing]| Score::of(common.iter().filter_map(|&place| trials[place].finished()));
    (!is_whole && !common.is_empty()).then(|| compared.iter().map(|(configuration, trials)| (*configuration, by_common(trials))).collect())
}

fn score_of(trials: &[&Standing]) -> Score {
    Score::of(trials.iter().filter_map(|standing| standing.finished()))
}

/// How many trials have ended, or are left out, without a model that was trained to its end.
fn lost(trials: &[&Standing]) -> usize {
    trials.iter().filter(|standing| standing.finished().is_none() && ***standing != Standing::Missing).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        file::SweepFile,
        plan,
        runner::Standing::{Missing, Skipped, TimedOut},
    };
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
    fn what_was_only_trained_earlier_is_not_better() {
        // On the first seed, which both have, 0.2 and 0.3; by all that is trained 0.55 and 0.3.
        assert_eq!(picked_temperature([done(0.2), done(0.9), done(0.3), Missing, Missing, Missing]), Some(0.2));
        assert_eq!(picked_temperature([done(0.3), Missing, done(0.2), done(0.9), Missing, Missing]), Some(0.1));
        // On the second split, which all have, 0.1, 0.3 and 0.2; by all that is trained 0.5, 0.3 and 0.2.
        let sweep = SWEEP.replace("seed: 1}", "seed: [1, 2]}");
        let second = |value| [Missing, Missing, done(value), done(value)];
        let endings = [[done(0.9), done(0.9), done(0.1), done(0.1)], second(0.3), second(0.2)].concat();
        assert_eq!(picked_of(&sweep, &["f", "g"], &endings), Some(0.2));
    }

    #[test]
    fn without_a_seed_in_common_that_with_more_of_them_is_picked() {
        assert_eq!(picked_temperature([done(0.9), Missing, Missing, done(0.8), done(0.1), done(0.1)]), Some(0.3));
    }

    #[test]
    fn a_failed_seed_counts_where_others_are_not_trained_yet() {
        assert_eq!(picked_temperature([done(0.9), failed(), done(0.1), Missing, done(0.2), done(0.3)]), Some(0.3));
        assert_eq!(picked_temperature([done(0.9), failed(), Missing, done(0.1), failed(), failed()]), Some(0.2));
        let timed_out = TimedOut("its time is over".to_owned());
        assert_eq!(picked_temperature([done(0.9), timed_out, done(0.1), Missing, Missing, Missing]), Some(0.2));
    }

    /// By the first seed the search has picked 0.1, whose others train; those of what was not picked are not needed.
    #[test]
    fn what_a_search_repeats_stays_picked_while_its_seeds_train() {
        let sweep = SWEEP.replace("seeds: [1, 2]", "seeds: [1, 2, 3]");
        let endings = [[done(0.3), failed(), Missing], [done(0.2), Skipped, Skipped], [done(0.1), Skipped, Skipped]].concat();
        assert_eq!(picked_of(&sweep, &["f"], &endings), Some(0.1));
    }

    #[test]
    fn what_was_stopped_is_never_picked() {
        assert_eq!(picked_temperature([stopped(0.9), stopped(0.9), done(0.1), failed(), stopped(0.5), stopped(0.5)]), Some(0.2));
        assert_eq!(picked_temperature([stopped(0.9), stopped(0.9), failed(), failed(), stopped(0.5), stopped(0.5)]), None);
    }
}
