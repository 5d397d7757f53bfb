//! A dataset with several splits: trials on each, one leaderboard, and what other sweeps share of it.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use dataset::Dataset;
use evaluator::tables::{read_metrics, read_significance};
use std::collections::HashSet;
use support::{SWEEP, Sandbox, changed};
use sweep::tables::{TrialRow, leaderboard, trials};

/// Two methods that learn, with two seeds, and popularity; on the splits with these seeds.
fn on_splits(seeds: &str) -> String {
    changed("seed: 7}", &format!("seed: {seeds}}}")).replace("training: {", "seeds: [1, 2]\ntraining: {")
}

fn rows(sandbox: &Sandbox) -> Vec<TrialRow> {
    trials::read(&sandbox.location("runs/sweeps/tiny/trials.parquet")).unwrap()
}

fn well(sandbox: &Sandbox, arguments: &str) -> String {
    let ended = sandbox.ended(&mut sandbox.command(&arguments.split(' ').collect::<Vec<_>>()));
    assert_eq!(ended.code, Some(0), "{arguments}: {}\n{}", ended.out, ended.error);
    ended.out
}

/// How often the program said a word of its log.
fn count(log: &str, word: &str) -> usize {
    log.lines().filter(|line| line.contains(word)).count()
}

#[test]
fn every_table_says_which_split() {
    let sandbox = Sandbox::new(&on_splits("[7, 8]"));
    let ended = sandbox.run_well();
    let remark = "2 random splits, with the seeds 7 and 8: every method is trained and ranked on each of them.";
    assert!(ended.out.contains(remark) && ended.out.matches("12 users, 20 items").count() == 1, "{}", ended.out);
    let repeats: Vec<_> = rows(&sandbox).iter().map(|row| (row.split_seed, row.seed)).collect();
    let learned = [(Some(7), Some(1)), (Some(7), Some(2)), (Some(8), Some(1)), (Some(8), Some(2))];
    let expected = [&learned[..], &learned[..], &[(Some(7), None), (Some(8), None)]].concat();
    assert_eq!(repeats, expected);
    assert!(rows(&sandbox).iter().all(|row| row.selected && row.dataset == "small"));
    let at = |name: &str| sandbox.location(&format!("runs/sweeps/tiny/{name}.parquet"));
    let metrics = read_metrics(&at("metrics")).unwrap();
    assert_eq!(metrics.len(), 2 * 10);
    assert_eq!(metrics.iter().step_by(2).map(|row| (row.split_seed, row.seed)).collect::<Vec<_>>(), expected);
    assert_eq!(
        metrics.iter().step_by(2).map(|row| &row.trial).collect::<Vec<_>>(),
        rows(&sandbox).iter().map(|row| &row.trial).collect::<Vec<_>>()
    );
    let board = leaderboard::read(&at("leaderboard")).unwrap();
    assert_eq!(board.len(), 3 * 2, "one row for each method and metric");
    for row in board.iter().filter(|row| row.at.metric.name() == "ndcg") {
        let own: Vec<f64> = metrics.iter().filter(|own| own.method == row.method && own.metric == row.at).map(|own| own.value).collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        assert!((row.mean.unwrap() - mean).abs() < 1e-12, "{}: the mean of its trials, which have the same users", row.method);
    }
    assert_eq!(read_significance(&at("significance")).unwrap().len(), 3 * 2 * 2, "pairs, metrics and tests");
    let how = "up to 2 seeds on each of 2 splits";
    assert!(board.iter().all(|row| row.seeds == if row.loss.is_some() { 2 } else { 1 }) && ended.out.contains(how), "{}", ended.out);
    let page = std::fs::read_to_string(sandbox.path("runs/sweeps/tiny/report.html")).unwrap();
    for words in ["<dt>split 8</dt>", remark, "One line for each split and seed"] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn users_and_items_are_the_same_in_all_splits() {
    let sandbox = Sandbox::new(&on_splits("[7, 8]"));
    sandbox.prepare();
    let folders = std::fs::read_dir(sandbox.path("runs/datasets")).unwrap();
    let read = |path: std::path::PathBuf| Dataset::read(&dataset::Location::parse(path.to_str().unwrap()).unwrap()).unwrap();
    let [one, other] = &folders.map(|entry| read(entry.unwrap().path())).collect::<Vec<_>>()[..] else { panic!("two folders") };
    assert!(one.name == other.name && one.fingerprint != other.fingerprint && one.test != other.test);
    assert!(one.user_ids == other.user_ids && one.item_ids == other.item_ids);
}

#[test]
fn a_split_is_shared_with_the_sweep_that_has_it_alone() {
    let sandbox = Sandbox::new(&on_splits("8"));
    sandbox.run_well();
    let alone = rows(&sandbox);
    assert!(alone.iter().all(|row| row.split_seed.is_none()));
    sandbox.write("s.yaml", on_splits("[7, 8]"));
    let ended = sandbox.run_well();
    assert_eq!((count(&ended.error, "INFO found"), count(&ended.error, "INFO trained")), (5, 5), "{}", ended.error);
    let of_split = |seed: u64| rows(&sandbox).into_iter().filter(move |row| row.split_seed == Some(seed));
    let ids = |rows: &mut dyn Iterator<Item = TrialRow>| rows.map(|row| row.trial).collect::<HashSet<String>>();
    assert_eq!(ids(&mut of_split(8)), ids(&mut alone.into_iter()));
    // Nothing of either split is without a sweep; without the list, what the other split has is.
    assert!(well(&sandbox, "gc s.yaml --min-age 0 --unreferenced --dry-run").starts_with("0 files"));
    sandbox.write("s.yaml", on_splits("[8]"));
    sandbox.run_well();
    assert!(rows(&sandbox).iter().all(|row| row.split_seed.is_none()));
    // What the tables of both splits are of is held by the history, for as long as it is there.
    assert!(well(&sandbox, "gc s.yaml --min-age 0 --unreferenced --dry-run").starts_with("0 files"));
    std::fs::remove_dir_all(sandbox.path("runs/sweeps/tiny/history")).unwrap();
    well(&sandbox, "gc s.yaml --min-age 0 --unreferenced --yes");
    assert_eq!((sandbox.stored("manifest.json").len(), sandbox.stored("done.json").len()), (1, 5));
}

#[test]
fn kills_change_no_byte() {
    let (whole, killed) = (Sandbox::new(&on_splits("[7, 8]")), Sandbox::new(&on_splits("[7, 8]")));
    whole.run_well();
    for lines in [4, 30, 12, 45] {
        killed.kill_after(lines);
    }
    killed.run_and_sweep();
    assert!(killed.results() == whole.results() && killed.timeless_rows() == whole.timeless_rows());
}

#[test]
fn stages_and_commands_know_the_splits() {
    let sandbox = Sandbox::new(&on_splits("[8, 7]"));
    let out = well(&sandbox, "plan s.yaml");
    assert!(out.contains("1 configuration, 2 splits, 4 trials") && out.contains("3 methods, 10 trials"), "{out}");
    let missing = sandbox.ended(&mut sandbox.command(&["train", "s.yaml", "--index", "2"]));
    assert!(missing.complaint(1).starts_with("dataset `small` (split seed 7) is not prepared"), "{}", missing.error);
    sandbox.prepare();
    assert_eq!(sandbox.stored("manifest.json").len(), 2);
    let out = well(&sandbox, "plan s.yaml");
    assert!(out.contains("small (split seed 7): ") && out.contains("12 users, 20 items"), "{out}");
    well(&sandbox, "train s.yaml --index 9");
    let refused = sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml"]));
    assert!(refused.complaint(1).starts_with("9 of 10 trials are not trained"), "{}", refused.error);
    well(&sandbox, "train s.yaml");
    well(&sandbox, "evaluate s.yaml --report");
    // Whatever its seed is, the split that stands first in the file.
    let out = well(&sandbox, "recommend s.yaml");
    assert!(out.contains("(trial ") && out.contains(", split seed 8)"), "{out}");
    let other = rows(&sandbox).into_iter().find(|row| row.split_seed == Some(7)).unwrap();
    assert!(well(&sandbox, &format!("recommend s.yaml --trial {}", other.trial)).contains(", split seed 7)"));
    let mut status = sandbox.command(&["status", "s.yaml", "--json"]);
    let status = sandbox.ended(status.env("KUBECONFIG", sandbox.path("none")).env_remove("KUBERNETES_SERVICE_HOST"));
    let status: serde_json::Value = serde_json::from_str(&status.out).unwrap();
    let seeds = |at: usize| (status["trials"][at]["split_seed"].as_u64(), status["trials"][at]["state"].as_str());
    assert_eq!([seeds(0), seeds(2)], [(Some(8), Some("done")), (Some(7), Some("done"))]);
}

#[test]
fn halving_keeps_all_splits_of_a_configuration_together() {
    let halved = on_splits("[7, 8]").replace("learning_rate: 0.05", "learning_rate: [0.05, 0.01, 0.2]")
        + "search: {kind: successive-halving, epochs: 1, factor: 3}\n";
    let sandbox = Sandbox::new(&halved);
    sandbox.run_well();
    let rows = rows(&sandbox);
    assert_eq!(rows.len(), 2 * 3 * 4 + 2);
    for method in ["bpr", "softmax"] {
        let own: Vec<&TrialRow> = rows.iter().filter(|row| row.loss.as_deref() == Some(method)).collect();
        let ended: Vec<usize> = own.chunks(4).map(|trials| trials.iter().filter(|row| row.selected).count()).collect();
        assert_eq!(ended.iter().sum::<usize>(), 4, "{ended:?}");
        assert!(ended.contains(&4), "one configuration, on both splits with both seeds: {ended:?}");
    }
}

#[test]
fn seeds_that_are_no_splits_are_refused() {
    let message = |sweep: &str| Sandbox::new(sweep).run().complaint(2).to_owned();
    assert!(message(&on_splits("[7, 7]")).ends_with("datasets[0].split.seed[1]: the seed 7 stands twice"));
    assert!(message(&on_splits("[]")).contains("split.seed: an empty list: give one seed, or several for as many splits"));
    let last = SWEEP.replace("{kind: random, test: 0.2, validation: 0.1, seed: 7}", "{kind: leave-last, validation: true, seed: [1, 2]}");
    assert!(message(&last).contains("split.seed: unknown key `seed`"));
}

#[test]
fn folds_are_splits_whose_tests_are_disjoint() {
    let with = |split: &str| changed("{kind: random, test: 0.2, validation: 0.1, seed: 7}", split);
    let sandbox = Sandbox::new(&with("{kind: cross-validation, folds: 5, validation: 0.1, seed: 3}"));
    let planned = well(&sandbox, "plan s.yaml");
    assert!(planned.contains("1 configuration, 5 splits, 5 trials") && planned.contains("(fold 2)"), "{planned}");
    let ended = sandbox.run_well();
    assert!(ended.out.contains("5 folds: every method is trained and ranked on each of them."), "{}", ended.out);
    let folders = std::fs::read_dir(sandbox.path("runs/datasets")).unwrap();
    let read = |path: std::path::PathBuf| Dataset::read(&dataset::Location::parse(path.to_str().unwrap()).unwrap()).unwrap();
    let folds: Vec<Dataset> = folders.map(|entry| read(entry.unwrap().path())).collect();
    let all: HashSet<(u32, u32)> = folds.iter().flat_map(|fold| fold.test.pairs()).collect();
    // Ten interactions of each of twelve users: two in each fold.
    assert_eq!((folds.len(), all.len()), (5, 120));
    assert!(folds.iter().all(|fold| (0..12).all(|user| fold.test.row(user).len() == 2)));
    let metrics = read_metrics(&sandbox.location("runs/sweeps/tiny/metrics.parquet")).unwrap();
    let board = leaderboard::read(&sandbox.location("runs/sweeps/tiny/leaderboard.parquet")).unwrap();
    for row in board {
        let own: Vec<f64> = metrics.iter().filter(|own| own.method == row.method && own.metric == row.at).map(|own| own.value).collect();
        assert_eq!(own.len(), 5);
        assert!((row.mean.unwrap() - own.iter().sum::<f64>() / 5.0).abs() < 1e-12, "{}", row.method);
    }
    let repetitions: HashSet<Option<u64>> = metrics.iter().map(|row| row.split_seed).collect();
    assert_eq!(repetitions, (1..=5).map(Some).collect());
    // A fold alone is the dataset of that fold.
    sandbox.write("s.yaml", with("{kind: cross-validation, folds: 5, fold: 2, validation: 0.1, seed: 3}"));
    let ended = sandbox.run_well();
    assert_eq!((count(&ended.error, "INFO found"), count(&ended.error, "INFO trained")), (3, 0), "{}", ended.error);
    let refused = |split: &str| Sandbox::new(&with(split)).run().complaint(2).to_owned();
    for split in ["{kind: cross-validation, seed: [1, 2]}", "{kind: cross-validation, fold: 1, seed: [1, 2]}"] {
        let message = refused(split);
        assert!(message.ends_with("split.seed: several seeds, and the split is repeated by its folds: give one seed"), "{message}");
    }
    assert!(refused("{kind: cross-validation, folds: 1}").contains("split.folds: dataset `small`: 1 folds part nothing"));
}
