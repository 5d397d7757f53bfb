//! Searches other than a grid, by the binary: what they train, what they pick, and that neither kills nor other sweeps change it.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use dataset::table;
use std::{collections::BTreeMap, path::PathBuf, process::Stdio};
use support::{Ended, Sandbox};
use sweep::tables::{Status, TrialRow, curves, trials};

const GRID: &str = "\
name: tiny
datasets:
  - name: small
    source: {format: synthetic, users: 150, items: 90, interactions: 3000}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 7}
grid:
  - backbones: [{kind: mf, dim: 8}]
    losses:
      - {kind: bpr}
      - {kind: softmax, temperature: [0.05, 0.3]}
    samplers: [{kind: uniform, negatives: 10}]
    optimizer: {kind: adam, learning_rate: [0.0005, 0.02, 0.00002, 0.004]}
  - backbones: [{kind: popularity}, {kind: ease, regularization: [10, 100]}]
training: {epochs: 9, batch_size: 64, evaluate_every: 1, select_by: ndcg@10}
seeds: [1, 2]
evaluation: {metrics: [ndcg, recall], cutoffs: [10], significance: {resamples: 1000}}
";
const RUNGS: [u32; 3] = [1, 3, 9];

fn with(search: &str) -> String {
    format!("{GRID}search: {search}\n")
}

fn halving() -> String {
    with("{kind: successive-halving, epochs: 1}")
}

fn finished(text: &str) -> Sandbox {
    let sandbox = Sandbox::new(text);
    sandbox.run_well();
    sandbox
}

fn rows(sandbox: &Sandbox) -> Vec<TrialRow> {
    trials::read(&sandbox.location("runs/sweeps/tiny/trials.parquet")).unwrap()
}

fn picked(sandbox: &Sandbox) -> Vec<String> {
    rows(sandbox).into_iter().filter(|row| row.selected).map(|row| row.trial).collect()
}

/// The tables of the sweep and what they are of; not the models of trials that were not picked, which another sweep may have taken further.
fn tables(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    sandbox.results().into_iter().filter(|(path, _)| path.starts_with("runs/sweeps")).collect()
}

fn command(sandbox: &Sandbox, arguments: &str) -> Ended {
    sandbox.ended(&mut sandbox.command(&arguments.split(' ').collect::<Vec<_>>()))
}

fn well(sandbox: &Sandbox, arguments: &str) -> Ended {
    let ended = command(sandbox, arguments);
    assert_eq!(ended.code, Some(0), "{arguments}: {}\n{}", ended.out, ended.error);
    ended
}

/// The states of all trials, as `status` says without a cluster.
fn states(sandbox: &Sandbox) -> Vec<String> {
    let mut command = sandbox.command(&["status", "s.yaml", "--json"]);
    let ended = sandbox.ended(command.env("KUBECONFIG", sandbox.path("none")).env_remove("KUBERNETES_SERVICE_HOST"));
    let status: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    status["trials"].as_array().unwrap().iter().map(|trial| trial["state"].as_str().unwrap().to_owned()).collect()
}

fn count_states(sandbox: &Sandbox) -> [usize; 3] {
    let states = states(sandbox);
    ["done", "stopped", "waiting"].map(|name| states.iter().filter(|state| *state == name).count())
}

/// The best validation value of each trial up to a number of epochs.
fn best_until(sandbox: &Sandbox, epochs: u32) -> BTreeMap<String, f64> {
    let mut best = BTreeMap::new();
    for row in curves::read(&sandbox.location("runs/sweeps/tiny/curves.parquet")).unwrap() {
        if let (true, Some(value)) = (row.epoch <= epochs, row.value) {
            let held: &mut f64 = best.entry(row.trial).or_insert(value);
            *held = held.max(value);
        }
    }
    best
}

/// The sums over seeds of a method's configurations, largest first, each with the parameters.
fn order(sandbox: &Sandbox, method: &str, epochs: u32) -> Vec<(f64, String)> {
    let best = best_until(sandbox, epochs);
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for row in rows(sandbox).into_iter().filter(|row| row.method == method) {
        *sums.entry(row.parameters.to_string()).or_default() += best[&row.trial];
    }
    let mut order: Vec<(f64, String)> = sums.into_iter().map(|(values, sum)| (sum, values)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    order
}

#[test]
fn halving_picks_what_the_grid_picks_where_that_leads_at_every_rung() {
    let grid = finished(GRID);
    let halved = finished(&halving());
    for method in ["mf-8 / bpr / uniform-10", "mf-8 / softmax / uniform-10"] {
        let leaders = RUNGS.map(|epochs| order(&grid, method, epochs)[0].1.clone());
        assert!(leaders.iter().all(|leader| *leader == leaders[2]), "not a case for this test: {leaders:?}");
        // Who came how far follows from the grid's curves alone: of 4 and 8 configurations one and two come to the second rung.
        let count = order(&grid, method, 9).len();
        let promoted: Vec<String> = order(&grid, method, 1).into_iter().take(count / 3).map(|(_, values)| values).collect();
        for row in rows(&halved).into_iter().filter(|row| row.method == method) {
            let values = row.parameters.to_string();
            let expected = match (values == leaders[2], promoted.contains(&values)) {
                (true, _) => (Status::Done, 9),
                (false, true) => (Status::Stopped, 3),
                (false, false) => (Status::Stopped, 1),
            };
            assert_eq!((row.status, row.epochs.unwrap()), expected, "{values}");
        }
    }
    assert_eq!(picked(&halved), picked(&grid));
    assert!(rows(&halved).iter().filter(|row| row.loss.is_none()).all(|row| row.status == Status::Done));
    // The metadata of tables names their plan.
    let columns = |sandbox: &Sandbox, name: &str| table::read(&sandbox.location(name)).unwrap().columns().to_vec();
    let same = |name: &str| columns(&halved, name) == columns(&grid, name);
    assert!(["metrics", "significance", "leaderboard"].iter().all(|table| same(&format!("runs/sweeps/tiny/{table}.parquet"))));
    let said = "Successive halving stopped 20 of 27 trials early, by validation: 18 after 1 and 2 after 3 epochs.";
    assert!(command(&halved, "report s.yaml").out.contains(said), "{}", command(&halved, "report s.yaml").out);
    let page = std::fs::read_to_string(halved.path("runs/sweeps/tiny/report.html")).unwrap();
    assert!(page.contains(said) && page.contains("<td>stopped</td>"));
}

#[test]
fn a_grid_and_a_halving_share_their_trials_in_either_order() {
    let (grid, halved) = (finished(GRID), finished(&halving()));
    let both = finished(GRID);
    both.write("s.yaml", halving());
    let after_grid = both.run_well();
    assert!(!after_grid.error.contains(" training trial="), "{}", after_grid.error);
    assert!(tables(&both) == tables(&halved), "halving after a grid");
    let stopped_at = |sandbox: &Sandbox| rows(sandbox).into_iter().map(|row| (row.status, row.epochs, row.validation)).collect::<Vec<_>>();
    assert_eq!(stopped_at(&both), stopped_at(&halved));
    let curve = |sandbox: &Sandbox| {
        let rows = curves::read(&sandbox.location("runs/sweeps/tiny/curves.parquet")).unwrap();
        rows.into_iter().map(|row| (row.trial, row.epoch, row.loss, row.value)).collect::<Vec<_>>()
    };
    assert_eq!(curve(&both), curve(&halved));
    // What was stopped goes on from its state to the bits of a training that never was.
    halved.write("s.yaml", GRID);
    halved.run_well();
    assert!(halved.results() == grid.results(), "a grid after halving");
}

#[test]
fn kills_change_no_decision_and_no_byte() {
    for search in [
        "{kind: successive-halving, epochs: 1}",
        "{kind: successive-halving, epochs: 1, asynchronous: true, trials: 6}",
        "{kind: grid, tuning_seeds: 1}",
    ] {
        let whole = finished(&with(search));
        let killed = Sandbox::new(&with(search));
        for lines in [4, 9, 17, 40, 45, 38, 61, 60] {
            killed.kill_after(lines);
            let (early, late) = (states(&killed), rows(&whole));
            let is_kept = |(state, row): (&String, &TrialRow)| !["stopped", "skipped"].contains(&&**state) || row.status.name() == state;
            assert!(early.iter().zip(&late).all(is_kept), "{search}: {early:?}");
        }
        killed.run_and_sweep();
        assert!(killed.results() == whole.results(), "{search}");
        let fates = |sandbox: &Sandbox| rows(sandbox).into_iter().map(|row| (row.status, row.epochs)).collect::<Vec<_>>();
        assert_eq!(fates(&killed), fates(&whole));
        assert_eq!(states(&killed), rows(&whole).iter().map(|row| row.status.name().to_owned()).collect::<Vec<_>>());
    }
}

#[test]
fn pods_that_train_one_trial_of_a_rung_each_make_the_run_of_one_machine() {
    let whole = finished(&halving());
    let pods = Sandbox::new(&halving());
    well(&pods, "prepare s.yaml");
    assert!(command(&pods, "train s.yaml --index 0 --rung 1").complaint(1).starts_with("nothing has trained in rung 0 yet; run"));
    let plan = well(&pods, "plan s.yaml").out;
    for (rung, trials) in [(0, 27), (1, 6), (2, 4)] {
        let epochs = ["1 epoch", "3 epochs", "9 epochs"][rung];
        assert!(plan.contains(&format!("\nrung {rung}: {trials} trials to {epochs}\n")), "{plan}");
        for index in (0..trials).rev() {
            well(&pods, &format!("train s.yaml --index {index} --rung {rung}"));
            // The three that fit without sampling come first, then the sixteen of `softmax`: only when all of them have come to the rung
            // it is decided who goes on, and that of `bpr` later.
            match (rung, index) {
                (0, 9) => assert_eq!(count_states(&pods), [3, 0, 24]),
                (0, 8) => assert_eq!(count_states(&pods), [3, 12, 12]),
                _ => {}
            }
        }
        let beyond = well(&pods, &format!("train s.yaml --index {trials} --rung {rung}"));
        assert!(beyond.error.contains("nothing to do"), "{}", beyond.error);
        assert_eq!(command(&pods, "evaluate s.yaml").code, Some(i32::from(rung < 2)));
        well(&pods, "evaluate s.yaml --partial");
        let count = |status| rows(&pods).iter().filter(|row| row.status == status).count();
        let expected = [[3, 18, 6], [3, 20, 4], [7, 20, 0]][rung];
        assert_eq!([Status::Done, Status::Stopped, Status::Missing].map(count), expected);
        assert_eq!(count_states(&pods), expected);
    }
    well(&pods, "status s.yaml --watch");
    well(&pods, "report s.yaml");
    assert!(pods.results() == whole.results());
}

/// The grid with a third seed, of which the first picks values.
fn picked_by_one_seed(search: &str) -> String {
    with(search).replace("seeds: [1, 2]", "seeds: [1, 2, 3]")
}

#[test]
fn the_first_seed_picks_and_the_others_repeat_what_is_picked() {
    let values = |sandbox: &Sandbox| -> Vec<String> {
        let rows = rows(sandbox).into_iter().filter(|row| row.selected && row.seed == Some(1));
        rows.map(|row| format!("{} {}", row.method, row.parameters)).collect()
    };
    let three = finished(&GRID.replace("seeds: [1, 2]", "seeds: [1, 2, 3]"));
    for (search, alone) in [
        ("{kind: grid, tuning_seeds: 1}", "{kind: grid}"),
        ("{kind: successive-halving, epochs: 1, tuning_seeds: 1}", "{kind: successive-halving, epochs: 1}"),
        (
            "{kind: successive-halving, epochs: 1, asynchronous: true, tuning_seeds: 1}",
            "{kind: successive-halving, epochs: 1, asynchronous: true}",
        ),
    ] {
        let one = finished(&with(alone).replace("seeds: [1, 2]", "seeds: [1]"));
        let tuned = finished(&picked_by_one_seed(search));
        assert_eq!(values(&tuned), values(&one), "{search}");
        let (rows_of_one, rows, of_three) = (rows(&one), rows(&tuned), rows(&three));
        for row in &rows {
            let of_seed_one = rows_of_one.iter().find(|other| other.trial == row.trial);
            let expected = match (row.seed, of_seed_one) {
                (Some(2 | 3), None) if row.selected => (Status::Done, Some(9)),
                (Some(2 | 3), None) => (Status::Skipped, None),
                (None | Some(1), Some(other)) => (other.status, other.epochs),
                _ => panic!("{row:?}"),
            };
            assert_eq!((row.status, row.epochs), expected, "{search}: {row:?}");
            let trained_alike = of_three.iter().find(|other| other.trial == row.trial).unwrap();
            assert!(row.status != Status::Done || row.validation == trained_alike.validation, "{search}: {row:?}");
            assert_eq!(tuned.path(&format!("runs/trials/{}", row.trial)).exists(), row.status != Status::Skipped, "{search}");
        }
        // Four configurations of `bpr` and eight of `softmax`: all but one of each are left without their other two seeds.
        assert_eq!(rows.iter().filter(|row| row.status == Status::Skipped).count(), (3 + 7) * 2);
        assert_eq!(rows.iter().filter(|row| row.selected && row.loss.is_some()).count(), 2 * 3);
        assert_eq!(states(&tuned), rows.iter().map(|row| row.status.name().to_owned()).collect::<Vec<_>>(), "{search}");
        let said = "and repeated with the others: 20 trials of what was not picked were not needed.";
        let report = command(&tuned, "report s.yaml");
        assert!(report.code == Some(0) && report.out.contains(said), "{}", report.out);
        let again = tuned.run_well();
        assert!(!again.error.contains(" training trial="), "{}", again.error);
    }
    let plan = well(&Sandbox::new(&picked_by_one_seed("{kind: grid, tuning_seeds: 1}")), "plan s.yaml").out;
    let lines = "\nrung 0: 15 trials to 9 epochs\nrung 1: 4 trials to 9 epochs, of the picked configurations with the other seeds\n\
                 144 epochs in all; all trials to the end take 324 (56 % saved)\n";
    assert!(plan.contains(lines), "{plan}");
    let too_many = Sandbox::new(&picked_by_one_seed("{kind: grid, tuning_seeds: 3}"));
    let said = "search.tuning_seeds: tuning_seeds is 3, and `seeds` has 3: expected fewer";
    assert!(command(&too_many, "plan s.yaml").complaint(2).contains(said));
}

/// A trial of a repeated configuration that is damaged or gone is trained again, and no other in its stead.
#[test]
fn what_repeats_is_missed_where_it_is_not_trained() {
    let whole = finished(&picked_by_one_seed("{kind: grid, tuning_seeds: 1}"));
    let repeated = rows(&whole).into_iter().find(|row| row.selected && row.seed == Some(3)).unwrap();
    std::fs::remove_dir_all(whole.path(&format!("runs/trials/{}", repeated.trial))).unwrap();
    let before = whole.results();
    well(&whole, "evaluate s.yaml --partial");
    let count = |status| rows(&whole).iter().filter(|row| row.status == status).count();
    assert_eq!([Status::Done, Status::Skipped, Status::Missing].map(count), [18, 20, 1]);
    let again = whole.run_well();
    assert_eq!(again.error.matches(" training trial=").count(), 1, "{}", again.error);
    assert!(before.keys().all(|path| whole.results().contains_key(path)));
    assert_eq!([Status::Done, Status::Skipped, Status::Missing].map(count), [19, 20, 0]);
}

#[test]
fn pods_pick_by_the_first_seeds_and_repeat_in_a_rung_of_its_own() {
    let text = picked_by_one_seed("{kind: grid, tuning_seeds: 1}");
    let whole = finished(&text);
    let pods = Sandbox::new(&text);
    well(&pods, "prepare s.yaml");
    for (rung, trials) in [(0, 15), (1, 4)] {
        for index in (0..trials).rev() {
            well(&pods, &format!("train s.yaml --index {index} --rung {rung}"));
        }
        let beyond = well(&pods, &format!("train s.yaml --index {trials} --rung {rung}"));
        assert!(beyond.error.contains("nothing to do"), "{}", beyond.error);
        let states = states(&pods);
        let count = |name: &str| states.iter().filter(|state| *state == name).count();
        assert_eq!(["done", "skipped", "waiting"].map(count), [[15, 20, 4], [19, 20, 0]][rung]);
    }
    well(&pods, "evaluate s.yaml --report");
    assert!(pods.results() == whole.results());
}

#[test]
fn processes_share_one_rung_after_the_other() {
    let tuning = picked_by_one_seed("{kind: grid, tuning_seeds: 1}");
    let shared = [halving(), tuning].map(|text| {
        let (whole, shared) = (finished(&text), Sandbox::new(&text));
        well(&shared, "prepare s.yaml");
        let train = || shared.command(&["train", "s.yaml", "--share=1"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut processes = [train(), train()];
        assert!(processes.iter_mut().all(|process| process.wait().unwrap().success()));
        well(&shared, "evaluate s.yaml --report");
        assert!(shared.results() == whole.results());
        shared
    });
    let shared = &shared[0];
    shared.write("s.yaml", with("{kind: successive-halving, epochs: 1, asynchronous: true}"));
    assert!(command(shared, "train s.yaml --share").complaint(2).starts_with("--share: an `asynchronous` search is of one process"));
}

#[test]
fn rungs_that_are_not_there_are_refused() {
    let refused = |text: &str, rung: &str| {
        let sandbox = Sandbox::new(text);
        command(&sandbox, &format!("train s.yaml --index 0 --rung {rung}")).complaint(2).to_owned()
    };
    assert_eq!(
        refused(GRID, "0"),
        "--rung 0: the sweep has no rungs, as its `search` is not `successive-halving` and has no `tuning_seeds`"
    );
    assert_eq!(refused(&halving(), "3"), "--rung 3: the sweep has 3 rungs, counted from 0");
    let asynchronous = with("{kind: successive-halving, epochs: 1, asynchronous: true}");
    assert!(refused(&asynchronous, "0").starts_with("--rung 0: an `asynchronous` search has no complete rungs"));
}

#[test]
fn what_explodes_is_left_behind_and_the_rest_goes_on() {
    let text = halving().replace("0.00002", "1.0e+38").replace("dim: 8}", "dim: 8, init: {kind: normal, std: 0.1}}");
    let sandbox = Sandbox::new(&text);
    let ended = sandbox.run();
    assert_eq!(ended.complaint(1), "6 trials failed; everything else was done");
    let rows = rows(&sandbox);
    assert!(rows.iter().all(|row| row.selected == (row.status == Status::Done && row.loss.is_some()) || row.loss.is_none()));
    assert_eq!(rows.iter().filter(|row| row.selected && row.loss.is_some()).count(), 4);
}

#[test]
fn a_random_search_trains_what_it_draws_and_picks_of_that() {
    let sandbox = finished(
        &with("{kind: random, trials: 3, seed: 4}")
            .replace("learning_rate: [0.0005, 0.02, 0.00002, 0.004]", "learning_rate: {log_uniform: [0.0005, 0.05]}"),
    );
    let rows = rows(&sandbox);
    assert_eq!(rows.len(), 3 * 2 * 2 + 3);
    assert!(rows.iter().all(|row| row.status == Status::Done));
    let rates: std::collections::BTreeSet<String> = rows.iter().map(|row| row.parameters["optimizer.learning_rate"].to_string()).collect();
    assert_eq!(rates.len(), 7, "six rates, and none");
    let before = tables(&sandbox);
    sandbox.run_well();
    assert!(tables(&sandbox) == before);
}
