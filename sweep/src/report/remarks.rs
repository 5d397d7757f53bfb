//! Remarks that a careful reader should know before believing the leaderboard.

use super::{
    Input, budget,
    method::{MethodTrials, methods},
    new_users, number, sampled, splits, unknown, whole_lists,
};
use crate::tables::{Status, TrialRow};
use evaluator::settings::Over;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// Methods of which the same kind of remark is made one by one.
const OF_A_KIND: usize = 8;

/// A trial without a result, as a reader sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Failure {
    /// The method, its values, the split and the seed.
    pub(super) what: String,
    /// The trial's id.
    pub(super) trial: String,
    /// Why there is none.
    pub(super) error: String,
    /// Whether it would end so again: one that had no time left would go on.
    pub(super) has_ended: bool,
}

/// How many trials have no result, and why: `2 trials failed, 1 did not end`.
pub(super) fn fates(failures: &[Failure]) -> String {
    let failed = failures.iter().filter(|failure| failure.has_ended).count();
    match (failed, failures.len() - failed) {
        (failed, 0) => format!("{} failed", number::counted(failed, "trial")),
        (0, open) => format!("{} did not end", number::counted(open, "trial")),
        (failed, open) => format!("{} failed, {open} did not end", number::counted(failed, "trial")),
    }
}

/// The trials of a dataset that failed, or had no time left, in the order of the plan.
pub(super) fn failures(input: &Input, dataset: &str) -> Vec<Failure> {
    let methods = methods(input.trials, dataset);
    let failed = |method: &MethodTrials| {
        let tuned = method.tuned();
        let failed = method.trials.iter().filter(|trial| trial.error.is_some());
        failed.map(|trial| failure(method, trial, &tuned)).collect::<Vec<_>>()
    };
    methods.iter().flat_map(failed).collect()
}

fn failure(method: &MethodTrials, trial: &TrialRow, tuned: &[String]) -> Failure {
    let mut parts = vec![method.title.clone(), number::parameters(&trial.parameters, Some(tuned))];
    parts.extend(splits::repetition(trial));
    parts.retain(|part| !part.is_empty());
    let error = trial.error.clone().unwrap_or_else(|| "no reason was kept".to_owned());
    Failure { what: parts.join(", "), trial: trial.trial.clone(), error, has_ended: trial.status != Status::Missing }
}

/// Remarks on a dataset: missing trials, repeated splits, users whom no training saw, single seeds, unequal tuning, values at the edge, trainings cut short, ties, users
/// whom no model knows, sampled candidates, and what is to be said of models that other programs trained.
pub(super) fn remarks(input: &Input, dataset: &str) -> Vec<String> {
    let methods = methods(input.trials, dataset);
    let mut remarks = Vec::new();
    remarks.extend(missing(&methods));
    remarks.extend(first(methods.iter().filter_map(constant)));
    remarks.extend(stopped(&methods));
    remarks.extend(skipped(&methods));
    remarks.extend(splits::remark(input, dataset));
    remarks.extend(new_users::remark(input, dataset));
    remarks.extend(single_seed(&methods));
    remarks.extend(too_few_seeds(input, &methods));
    remarks.extend(too_few_users(input, dataset));
    remarks.extend(single_file(&methods));
    remarks.extend(budget::unequal(&methods));
    remarks.extend(first(methods.iter().filter_map(|method| edge(input, method))));
    remarks.extend(picked_by(input, &methods));
    remarks.extend(cut_short(&methods));
    remarks.extend(first(methods.iter().filter_map(|method| tied(input, dataset, method))));
    remarks.extend(unknown::remark(input, dataset));
    remarks.extend(whole_lists::remark(input, dataset));
    remarks.extend(sampled::remark(input.evaluation));
    remarks.extend(first(methods.iter().flat_map(of_files)));
    remarks
}

/// The first remarks of a kind, and how many there are beside them.
fn first(remarks: impl Iterator<Item = String>) -> Vec<String> {
    let mut remarks: Vec<String> = remarks.collect();
    let more = remarks.len().saturating_sub(OF_A_KIND);
    if more > 1 {
        remarks.truncate(OF_A_KIND);
        remarks.push(format!("The same in kind is to be said of {} more methods.", number::count(more)));
    }
    remarks
}

fn missing(methods: &[MethodTrials]) -> Option<String> {
    let missing = methods.iter().flat_map(|method| &method.trials).filter(|trial| trial.status == Status::Missing).count();
    (missing > 0).then(|| {
        let were = if missing == 1 { "was" } else { "were" };
        format!("{} of the plan {were} not trained when these tables were made.", number::counted(missing, "trial"))
    })
}

/// Models that rank nothing, for which a metric would be a number all the same.
fn constant(method: &MethodTrials) -> Option<String> {
    let constant = || method.trials.iter().filter(|trial| trial.status == Status::Constant);
    let mut values = constant().filter_map(|trial| trial.parameters.as_object()).flat_map(|parameters| parameters.values());
    let why = if values.any(serde_json::Value::is_number) { "; the values are too extreme for a model" } else { "" };
    let count = constant().count();
    let trials = number::counted(method.trials.len(), "trial");
    (count > 0).then(|| {
        let what = "all items have the same score for every user, so that there is nothing to rank";
        format!("{}: in {} of {trials} {what}{why}.", method.title, number::count(count))
    })
}

/// The trials that successive halving left out, whose validation values are of fewer epochs.
fn stopped(methods: &[MethodTrials]) -> Option<String> {
    let all: usize = methods.iter().map(|method| method.trials.len()).sum();
    let mut at: BTreeMap<u32, usize> = BTreeMap::new();
    for trial in methods.iter().flat_map(|method| &method.trials).filter(|trial| trial.status == Status::Stopped) {
        *at.entry(trial.epochs.unwrap_or_default()).or_default() += 1;
    }
    let parts: Vec<String> = at.iter().map(|(epochs, count)| format!("{} after {epochs}", number::count(*count))).collect();
    let epochs = if at.last_key_value().is_some_and(|(&epochs, _)| epochs == 1) { "epoch" } else { "epochs" };
    (!parts.is_empty()).then(|| {
        let count = number::count(at.values().sum());
        format!(
            "Successive halving stopped {count} of {} early, by validation: {} {epochs}.",
            number::counted(all, "trial"),
            number::listed(&parts)
        )
    })
}

/// The trials of other seeds than values are picked by, of configurations that were not picked; of a method of which nothing could be, all.
fn skipped(methods: &[MethodTrials]) -> Vec<String> {
    let of = |method: &MethodTrials| method.trials.iter().filter(|trial| trial.status == Status::Skipped).count();
    let (picked, open): (Vec<&MethodTrials>, Vec<&MethodTrials>) = methods
        .iter()
        .filter(|method| of(method) > 0)
        .partition(|method| method.trials.iter().any(|trial| trial.selected || trial.status == Status::Constant));
    let counted = |methods: &[&MethodTrials]| {
        let count = methods.iter().map(|method| of(method)).sum();
        (number::counted(count, "trial"), if count == 1 { "was" } else { "were" })
    };
    let repeated = (!picked.is_empty()).then(|| {
        let (trials, were) = counted(&picked);
        format!("Values were picked by the first seeds alone (`tuning_seeds`), and repeated with the others: {trials} of what was not picked {were} not needed.")
    });
    let unpicked = (!open.is_empty()).then(|| {
        let titles: Vec<String> = open.iter().map(|method| method.title.clone()).collect();
        let (trials, were) = counted(&open);
        format!(
            "No value could be picked by the first seeds (`tuning_seeds`) of {}: {trials} of other seeds {were} not trained.",
            number::listed(&titles)
        )
    });
    repeated.into_iter().chain(unpicked).collect()
}

/// The trainings of what was picked of each method, of those that learn.
fn seeds(methods: &[MethodTrials]) -> Vec<usize> {
    let seeds = |method: &MethodTrials| {
        let picked = method.trials.iter().filter(|trial| trial.selected && trial.seed.is_some());
        picked.map(|trial| (trial.seed, trial.split_seed)).collect::<HashSet<_>>().len()
    };
    methods.iter().map(seeds).filter(|&seeds| seeds > 0).collect()
}

/// That the deciding test has fewer seeds than it needs.
fn too_few_seeds(input: &Input, methods: &[MethodTrials]) -> Option<String> {
    let significance = &input.evaluation.significance;
    let test = significance.tests.first().filter(|test| test.counts_seeds() && significance.over != Over::Users)?;
    let dataset = methods.first().and_then(|method| method.trials.first()).map_or("", |trial| trial.dataset.as_str());
    // Over repeated splits it is splits that are drawn.
    let (numbers, what) = match splits::are_replicates(input, dataset) {
        true => (vec![splits::counted(input, dataset)], "splits"),
        false => (seeds(methods), "seeds"),
    };
    let few = numbers.into_iter().filter(|number| (2..test.fewest_seeds()).contains(number)).min()?;
    Some(format!(
        "The {} has {few} {what}, few values to draw from: where {what} are most of the variance it calls methods different that are alike more often than \
         its level says. Put another test first in `tests`, or give {} {what} or more.",
        test.words(significance.over),
        test.fewest_seeds()
    ))
}

/// That the deciding test has fewer users than it needs.
fn too_few_users(input: &Input, dataset: &str) -> Option<String> {
    let significance = &input.evaluation.significance;
    let test = significance.tests.first().filter(|_| significance.over != Over::Seeds)?;
    let (fewest, users) =
        (test.fewest_users()?, input.values.iter().filter(|values| values.dataset == dataset).map(|values| values.users.len()));
    let few = users.min()?;
    (few < fewest).then(|| {
        format!(
            "The {} has {}, few values to draw from: it calls methods different that are alike more often than its level says. With \
             fewer than {} put another test first in `tests`.",
            test.words(significance.over),
            number::counted(few, "user"),
            fewest
        )
    })
}

fn single_seed(methods: &[MethodTrials]) -> Option<String> {
    let learned = seeds(methods);
    let one = !learned.is_empty() && learned.iter().all(|&seeds| seeds == 1);
    one.then(|| "One seed: the tests say whether differences between these trained models hold for other users, not whether other seeds would give the same.".to_owned())
}

/// Models that other programs trained, of which there is one file: a closed form, for all that is known here, or one training of many.
fn single_file(methods: &[MethodTrials]) -> Option<String> {
    let is_own = |trial: &TrialRow| ["external(", "run("].iter().any(|kind| trial.backbone.starts_with(kind));
    let is_single = |method: &&MethodTrials| method.trials.iter().any(|trial| trial.selected && trial.seed.is_none() && is_own(trial));
    let titles: Vec<String> = methods.iter().filter(is_single).map(|method| method.title.clone()).collect();
    (!titles.is_empty()).then(|| {
        format!(
            "Of one file, without `{{seed}}` in its path: {}. It counts as what every training would give; if another seed would give another model, verdicts are \
             about this one.",
            number::listed(&titles)
        )
    })
}

fn edge(input: &Input, method: &MethodTrials) -> Option<String> {
    let edges: Vec<String> = method.at_the_edge(input.spaces).iter().map(|(key, value)| format!("{} {value}", number::own(key))).collect();
    (!edges.is_empty()).then(|| {
        format!(
            "{}: validation picked {} at the edge of what the sweep file has; the best may lie beyond.",
            method.title,
            number::listed(&edges)
        )
    })
}

/// Where values are picked by another metric than the one that verdicts are about.
fn picked_by(input: &Input, methods: &[MethodTrials]) -> Option<String> {
    let mut all = methods.iter().flat_map(|method| &method.trials);
    let by = all.find(|trial| trial.validation.is_some() && trial.select_by != input.primary()).map(|trial| trial.select_by)?;
    let measured = if input.evaluation.metric_ats().contains(&by) { "" } else { ", which is not measured on test" };
    Some(format!("Values were picked by {by}{measured}; verdicts are about {}.", input.primary()))
}

fn cut_short(methods: &[MethodTrials]) -> Option<String> {
    let to_the_end = |trial: &&&TrialRow| {
        trial.selected && trial.validation.is_some() && trial.best_epoch.is_some_and(|best| best > 0 && Some(best) == trial.epochs)
    };
    let part = |method: &MethodTrials| {
        let (cut, all) = (method.trials.iter().filter(to_the_end).count(), method.trials.iter().filter(|trial| trial.selected).count());
        let repeated = if method.trials.iter().any(|trial| trial.split_seed.is_some()) { "trials" } else { "seeds" };
        let of = if all > 1 { format!(" ({cut} of {all} {repeated})") } else { String::new() };
        (cut > 0).then(|| format!("{}{of}", method.title))
    };
    let parts: Vec<String> = methods.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| format!("Best at the last epoch, so that more epochs may rank better: {}.", number::listed(&parts)))
}

/// The remarks on models that other programs trained: each once, with how many of the picked trials it is of.
fn of_files(method: &MethodTrials) -> Vec<String> {
    let picked: Vec<&&TrialRow> = method.trials.iter().filter(|trial| trial.selected).collect();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for remark in picked.iter().filter_map(|trial| trial.remarks.as_deref()) {
        match counts.iter_mut().find(|(said, _)| *said == remark) {
            Some((_, count)) => *count += 1,
            None => counts.push((remark, 1)),
        }
    }
    let all = picked.len();
    let words = |(remark, count): (&str, usize)| {
        let of = if all > 1 { format!(" ({count} of {all} trials)") } else { String::new() };
        format!("{}: {remark}{of}.", method.title)
    };
    counts.into_iter().map(words).collect()
}

/// Where held-out items share their score with others for more than one user in a hundred.
fn tied(input: &Input, dataset: &str, method: &MethodTrials) -> Option<String> {
    let mut values = input.values.iter().filter(|values| values.dataset == dataset && values.method == method.key);
    let worst = values.by_ref().max_by_key(|values| values.tied_users)?;
    let (tied, users) = (worst.tied_users, worst.users.len());
    (tied * 100 > users).then(|| {
        format!(
            "{}: a held-out item shares its score with others for {} of {} users.",
            method.title,
            number::count(tied),
            number::count(users)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn failures_say_what_and_why() {
        let sweep = example::sweep();
        let failures = failures(&sweep.input(), "books");
        assert_eq!(failures.len(), 2);
        assert_eq!(failures[0].what, "bpr on mf-64, learning_rate 1, seed 1");
        assert_eq!(failures[0].error, "step 7: the gradient of the item vectors is NaN <&>");
        assert_eq!(fates(&failures), "2 trials failed");
    }

    /// Whose time was over has an error too, and goes on when it is given more.
    #[test]
    fn what_had_no_time_left_has_not_failed() {
        let mut sweep = example::sweep();
        let said = |sweep: &example::Sweep| fates(&failures(&sweep.input(), "books"));
        let failed: Vec<usize> = (0..sweep.trials.len()).filter(|&place| sweep.trials[place].error.is_some()).collect();
        sweep.trials[failed[0]].status = Status::Missing;
        assert_eq!(said(&sweep), "1 trial failed, 1 did not end");
        sweep.trials[failed[1]].status = Status::Missing;
        assert_eq!(said(&sweep), "2 trials did not end");
    }

    #[test]
    fn what_was_not_trained_is_said_of_the_time_of_the_tables() {
        let mut sweep = example::sweep();
        let said = |sweep: &example::Sweep| remarks(&sweep.input(), "books").remove(0);
        sweep.trials.iter_mut().filter(|trial| trial.dataset == "books").take(2).for_each(|trial| trial.status = Status::Missing);
        assert_eq!(said(&sweep), "2 trials of the plan were not trained when these tables were made.");
        sweep.trials[0].status = Status::Done;
        assert_eq!(said(&sweep), "1 trial of the plan was not trained when these tables were made.");
    }

    /// bpr has two rates with three seeds: of a method of which a value is picked, what is skipped was not needed; of another it waits.
    #[test]
    fn values_that_nothing_was_picked_of_were_not_repeated() {
        let mut sweep = example::sweep();
        let said = |sweep: &example::Sweep| remarks(&sweep.input(), "books").join(" ");
        let bpr = |trial: &&mut crate::tables::TrialRow| trial.dataset == "books" && trial.method.contains("bpr");
        sweep.trials.iter_mut().filter(bpr).filter(|trial| !trial.selected).take(2).for_each(|trial| trial.status = Status::Skipped);
        assert!(said(&sweep).contains("repeated with the others: 2 trials of what was not picked were not needed."));
        sweep.trials.iter_mut().filter(bpr).for_each(|trial| trial.selected = false);
        let is_done =
            |trial: &crate::tables::TrialRow| trial.method.contains("bpr") && trial.dataset == "books" && trial.status == Status::Done;
        let done = sweep.trials.iter().position(is_done).unwrap();
        sweep.trials[done].status = Status::Constant;
        assert!(said(&sweep).contains("repeated with the others"), "picked, and left out as it ranks nothing");
        sweep.trials[done].status = Status::Done;
        let unpicked =
            "No value could be picked by the first seeds (`tuning_seeds`) of bpr on mf-64: 2 trials of other seeds were not trained.";
        assert!(said(&sweep).contains(unpicked) && !said(&sweep).contains("repeated"), "{}", said(&sweep));
    }

    #[test]
    fn another_metric_that_picked_is_told() {
        let mut sweep = example::sweep();
        let said = |sweep: &example::Sweep| remarks(&sweep.input(), "books").join(" ");
        assert!(!said(&sweep).contains("Values were picked by"));
        sweep.trials.iter_mut().for_each(|trial| trial.select_by = "mrr@7".parse().unwrap());
        let expected = "Values were picked by mrr@7, which is not measured on test; verdicts are about ndcg@20.";
        assert!(said(&sweep).contains(expected), "{}", said(&sweep));
        sweep.trials.iter_mut().for_each(|trial| trial.select_by = "recall@20".parse().unwrap());
        assert!(said(&sweep).contains("Values were picked by recall@20; verdicts"), "{}", said(&sweep));
    }

    #[test]
    fn what_a_reader_should_know() {
        let sweep = example::sweep();
        let remarks = remarks(&sweep.input(), "books");
        let said = |words: &str| assert!(remarks.iter().any(|remark| remark.contains(words)), "{words}: {remarks:?}");
        said("popularity: a held-out item shares its score with others for 210 of 400 users.");
        said("bpr on mf-64: validation picked learning_rate 0.001 at the edge");
        said("Best at the last epoch, so that more epochs may rank better: bpr on mf-64 (1 of 3 seeds), softmax on mf-64 (1");
        assert!(!remarks.iter().any(|remark| remark.starts_with("One seed")), "{remarks:?}");
    }

    #[test]
    fn a_bootstrap_of_few_seeds_is_told() {
        use evaluator::settings::Test;
        let mut sweep = example::sweep();
        let said =
            |sweep: &example::Sweep| remarks(&sweep.input(), "books").iter().any(|remark| remark.starts_with("The bootstrap has 3 seeds"));
        assert!(!said(&sweep), "the t-test decides");
        sweep.evaluation.significance.tests = vec![Test::Bootstrap, Test::PairedT];
        assert!(said(&sweep));
        sweep.evaluation.significance.over = Over::Users;
        assert!(!said(&sweep));
    }

    #[test]
    fn many_remarks_of_a_kind_are_counted() {
        let said = |count: usize| first((0..count).map(|method| format!("method {method}: tied.")));
        assert_eq!(said(9).len(), 9);
        let many = said(200);
        assert_eq!((many.len(), many[8].as_str()), (9, "The same in kind is to be said of 192 more methods."));
    }

    #[test]
    fn what_is_remarkable_of_files_is_said_once() {
        let mut sweep = example::sweep();
        let of_bpr =
            sweep.trials.iter_mut().filter(|trial| trial.dataset == "books" && trial.loss.as_deref() == Some("bpr") && trial.selected);
        of_bpr.take(2).for_each(|trial| trial.remarks = Some("2 users have no list".into()));
        let remarks = remarks(&sweep.input(), "books");
        assert_eq!(remarks.iter().filter(|remark| remark.ends_with("2 users have no list (2 of 3 trials).")).count(), 1, "{remarks:?}");
    }

    #[test]
    fn one_file_of_an_own_model_is_said_to_be_one_training() {
        let mut sweep = example::sweep();
        let said = |sweep: &example::Sweep| remarks(&sweep.input(), "books").into_iter().find(|remark| remark.starts_with("Of one file"));
        assert_eq!(said(&sweep), None);
        let of_popularity = sweep.trials.iter_mut().filter(|trial| trial.dataset == "books" && trial.method == "popularity");
        of_popularity.for_each(|trial| trial.backbone = "external(als)".into());
        assert!(said(&sweep).is_some_and(|remark| remark.contains("verdicts are about this one")));
    }

    #[test]
    fn models_that_rank_nothing_are_said() {
        let mut sweep = example::sweep();
        let mut of_bpr = sweep.trials.iter_mut().filter(|trial| trial.dataset == "books" && trial.loss.as_deref() == Some("bpr"));
        of_bpr.next().unwrap().status = Status::Constant;
        let remarks = remarks(&sweep.input(), "books");
        let said = remarks.iter().find(|remark| remark.contains("all items have the same score for every user")).unwrap();
        assert!(said.starts_with("bpr on mf-64: in 1 of ") && said.ends_with("; the values are too extreme for a model."), "{said}");

        let mut of_popularity = sweep.trials.iter_mut().filter(|trial| trial.dataset == "books" && trial.method == "popularity");
        let popularity = of_popularity.next().unwrap();
        (popularity.status, popularity.parameters) = (Status::Constant, serde_json::json!({}));
        let remarks = super::remarks(&sweep.input(), "books");
        let said = remarks.iter().find(|remark| remark.starts_with("popularity: in 1 of 1 trial all items")).unwrap();
        assert!(said.ends_with("so that there is nothing to rank."), "{said}");
    }

    #[test]
    fn stopped_trials_are_counted_by_epochs() {
        let mut sweep = example::sweep();
        let stop =
            |trial: &mut TrialRow, epochs| (trial.status, trial.epochs, trial.best_epoch) = (Status::Stopped, Some(epochs), Some(epochs));
        for (trial, epochs) in sweep.trials.iter_mut().filter(|trial| trial.dataset == "books" && !trial.selected).zip([4, 12, 4]) {
            stop(trial, epochs);
        }
        let all = sweep.trials.iter().filter(|trial| trial.dataset == "books").count();
        let expected = format!("Successive halving stopped 3 of {all} trials early, by validation: 2 after 4 and 1 after 12 epochs.");
        assert!(remarks(&sweep.input(), "books").contains(&expected), "{:?}", remarks(&sweep.input(), "books"));
        assert!(!remarks(&sweep.input(), "films").iter().any(|remark| remark.contains("halving")));
    }
}
